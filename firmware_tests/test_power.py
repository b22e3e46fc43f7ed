"""A short `make soak-power`, and its plans."""

import subprocess
import sys
from collections import Counter

import pytest

from firmware_tests import power
from firmware_tests.power_runs import BOARD, CUT, HOST, KEPT, PEOPLE, STATION
from firmware_tests.rig import ROOT


def test_the_plans_hit_every_sync_and_more_than_half_of_them_the_disk() -> None:
    planned = power.plans(seed=5, number=1200)
    assert len(planned) == 1200
    assert planned == power.plans(seed=5, number=1200)
    firsts = [plan.cuts[0] for plan in planned]
    for by in (STATION, HOST, PEOPLE):
        hit = {cut.at for cut in firsts if cut.by == by and cut.counts == power.SYNCS}
        assert hit == set(range(1, power.STEPS[f"{by} syncs"] + 1))
    assert Counter(cut.storage for cut in firsts)[CUT] >= len(firsts) / 2
    assert all(cut.storage != CUT for plan in planned for cut in plan.cuts if cut.victim == BOARD)


@pytest.mark.timeout(300)
def test_a_few_precincts_with_power_cuts_come_out_right() -> None:
    # A process of its own: what forks must have no threads.
    words = (sys.executable, "-m", "firmware_tests.power", "--runs", "6", "--seed", "3")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for must_be_0 in ("sheets lost", "sheets doubled", "runs that did not end as they must"):
        assert f"| {must_be_0} | 0 |" in done.stdout
    assert "| all | | | 6 |" in done.stdout


def test_a_soak_of_no_runs_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        power.main(["--runs", "0"])
    assert "--runs and --at-a-time must be at least 1" in capsys.readouterr().err


def test_a_whole_soak_asks_for_enough_cuts_and_enough_torn_disks() -> None:
    def told(runs: int, torn: int, uncut: int = 0) -> bool:
        tally = power.Tally()
        tally.runs.update({("forked", STATION, CUT): torn, ("forked", STATION, KEPT): runs - torn})
        tally.uncut = uncut
        return tally.is_good

    assert told(1200, 600)
    assert not told(1200, 599), "too few disks were torn"
    assert not told(1200, 1200, uncut=201), "too few runs had a cut"
    assert told(20, 1), "a short one asks for neither"
