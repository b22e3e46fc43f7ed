"""A short `make soak-power`, and its plans."""

from collections import Counter

from firmware_tests import power
from firmware_tests.power_runs import BOARD, CUT, HOST, PEOPLE, STATION

SHORT = 6


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


def test_a_few_precincts_with_power_cuts_come_out_right() -> None:
    said: list[str] = []
    tally = power.soak(seed=3, number=SHORT, only=None, say=said.append, at_a_time=SHORT)
    assert tally.runs.total() == SHORT
    assert (tally.lost, tally.doubled, tally.failed) == (0, 0, 0), "\n".join(said)
    assert tally.cuts >= SHORT - 1
