"""The device is cut off at each write to its journal and each command to the feeder: nothing lost or doubled.

Each case: a day with every kind of sheet, one cut, a restart, and the day finished with people's answers as
taken from where the paper really lies. Then the tally on record must be that of the paper in the bins.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from device.tests.station.bench import (
    ANN_AND_BOB,
    EXITS,
    Bench,
    Paper,
    QuickJournal,
    foreign,
    overvote,
    upside_down,
)
from recount_device.identity import Identity, open_identity
from recount_device.journal import Entry, Journal

DAY = (
    Paper("1"),
    overvote("2"),
    foreign("3"),
    upside_down("4"),
    Paper("5", mishaps=("jam", "")),
    Paper("6", choices=("R",), mishaps=("double_feed", "")),
    Paper("7", mishaps=("jam", "jam")),
    Paper("8", "set_aside", (), ("undervote",), ("jam_after", "")),
    Paper("9"),
)
"""All that can happen to a sheet."""


class Cut(BaseException):
    """The power goes, or the process is killed: no handler of the station may see it."""


class CutJournal(QuickJournal):
    """A journal at whose n-th write the device is cut off, before or after the commit."""

    cut_at = 0
    cut_after_commit = False
    writes = 0

    def _maybe_cut(self, *, after: bool) -> None:
        if not after:
            self.writes += 1
        if self.writes == self.cut_at and after == self.cut_after_commit:
            raise Cut

    def write(self, *entries: Entry) -> None:
        self._maybe_cut(after=False)
        super().write(*entries)
        self._maybe_cut(after=True)

    def reserve(self, sheet: int, batch: int, boot: int) -> None:
        self._maybe_cut(after=False)
        super().reserve(sheet, batch, boot)
        self._maybe_cut(after=True)


def settle_as_it_lies(bench: Bench) -> None:
    """Have the officials look where the sheet in doubt lies and say so."""
    doubt = bench.passage.doubt
    assert doubt is not None
    if bench.machine.path is not None:
        bench.machine.put_back()
    lies_in_hopper = bench.machine.papers[doubt.number] in bench.machine.hopper
    fate = "returned" if lies_in_hopper else doubt.fate
    bench.host.order("settle_doubt", run="r1", batch=1, sheet=doubt.number, fate=fate, by=ANN_AND_BOB)
    bench.steps()


def finish(bench: Bench) -> None:
    """Finish the day: all sheets through, every doubt settled, the batch closed."""
    for _ in range(20):
        bench.assign()
        if bench.journal.history.batches and bench.journal.history.batch is None:
            return
        bench.go_on()
        if bench.panel.key == "ask_officials":
            settle_as_it_lies(bench)
        else:
            bench.end_batch()
            assert bench.panel.key != "batch_void_needed", bench.panel.text
    raise AssertionError("the day has no end")


def check(bench: Bench) -> None:
    """Compare the record with the paper."""
    machine = bench.machine
    assert sorted(paper.name for paper in machine.all_paper()) == sorted(paper.name for paper in DAY)
    assert machine.hopper == []
    assert machine.path is None
    (closed,) = bench.records("batch_closed")
    in_bins = {name: machine.bins[name] for name in EXITS}
    assert closed.body["counted"] == len(in_bins["counted"])
    assert closed.body["set_aside_sheets"] == len(in_bins["set_aside"])
    assert closed.body["not_accepted_sheets"] == len(in_bins["not_accepted"])
    assert closed.body["votes"] == dict(Counter(paper.choices[0] for paper in in_bins["counted"]))
    numbers = [record.body["sheet"] for record in bench.records("sheet_judged")]
    assert len(numbers) == len(set(numbers)), "no number is judged twice"
    assert len(bench.records("sheet_in_doubt")) <= 2, (
        "the one that jams by itself, and at most one of the cut"
    )


def a_day(folder: Path, cut_at: int, *, after_commit: bool) -> Bench:
    bench = Bench(folder, DAY)
    bench.journal.close()

    def make(folder: Path) -> Journal:
        journal = CutJournal(folder, open_identity(folder))
        journal.cut_at, journal.cut_after_commit = cut_at, after_commit
        return journal

    bench.make_journal = make
    bench.start()
    bench.make_journal = lambda folder: QuickJournal(folder, open_identity(folder))
    return bench


def count_writes(folder: Path) -> int:
    bench = a_day(folder, 0, after_commit=False)
    finish(bench)
    check(bench)
    writes = bench.journal.writes if isinstance(bench.journal, CutJournal) else 0
    bench.journal.close()
    return writes


def test_the_day_without_a_cut_ends_well(tmp_path: Path) -> None:
    assert count_writes(tmp_path) > 40


def run_until_cut(bench: Bench) -> bool:
    try:
        finish(bench)
    except Cut:
        return True
    return False


def nothing_more(_bench: Bench) -> None:
    """Only the station's process died."""


def board_too(bench: Bench) -> None:
    """The power of all went: the board starts anew as well."""
    bench.machine.start_anew()


def hands_in_the_path(bench: Bench) -> None:
    """While nothing ran, a person took the sheet out of the path and laid it back on the hopper."""
    bench.machine.put_back()


@pytest.mark.parametrize("also", [nothing_more, board_too, hands_in_the_path])
@pytest.mark.parametrize("after_commit", [False, True], ids=["before the commit", "after the commit"])
def test_a_cut_at_any_write_to_the_journal_loses_and_doubles_nothing(
    tmp_path_factory: pytest.TempPathFactory, also: Callable[[Bench], None], *, after_commit: bool
) -> None:
    writes = count_writes(tmp_path_factory.mktemp("uncut"))
    for cut_at in range(1, writes + 1):
        bench = a_day(tmp_path_factory.mktemp("day"), cut_at, after_commit=after_commit)
        assert run_until_cut(bench), cut_at
        bench.kill()
        also(bench)
        bench.start()
        finish(bench)
        check(bench)
        bench.journal.close()


@pytest.mark.parametrize("also", [nothing_more, board_too])
def test_a_cut_at_any_command_to_the_feeder_loses_and_doubles_nothing(
    tmp_path_factory: pytest.TempPathFactory, also: Callable[[Bench], None]
) -> None:
    cut_at = 0
    was_cut = True
    while was_cut:
        cut_at += 1
        bench = Bench(tmp_path_factory.mktemp("day"), DAY)
        commands = 0

        def cut(name: str, _fields: dict[str, int], at: int = cut_at) -> None:
            nonlocal commands
            commands += name in ("feed", "divert", "clear")
            if commands == at:
                raise Cut

        bench.feeder.fail_at_send = cut
        was_cut = run_until_cut(bench)
        if was_cut:
            bench.kill()
            also(bench)
            bench.start()
            finish(bench)
        check(bench)
        bench.journal.close()
    assert cut_at > 25


def test_a_restart_while_the_sheet_lands_finds_it_landed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [Paper("1"), Paper("2")])
    bench.machine.holds_divert = True
    bench.assign()
    bench.panel.press("start")
    bench.steps()
    bench.journal.close()
    bench.machine.land(0)
    bench.machine.said.clear()
    bench.machine.holds_divert = False
    bench.start()
    bench.go_on()
    assert bench.records("sheet_in_doubt") == []
    assert [record.body["by"] for record in bench.records("sheet_landed")] == ["feeder", "feeder"]
    bench.journal.close()


def test_a_judged_sheet_that_still_waits_under_the_camera_is_sent_on_after_a_quick_restart(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path, [Paper("1")])

    def cut(name: str, _fields: dict[str, int]) -> None:
        if name == "divert":
            raise Cut

    bench.feeder.fail_at_send = cut
    assert run_until_cut(bench)
    bench.journal.close()
    bench.machine.said.clear()
    bench.start()
    bench.go_on()
    assert [kinds for _, kinds in bench.sheets()] == [["sheet_judged", "sheet_landed"]]
    bench.journal.close()


def test_a_sheet_under_the_camera_that_the_journal_does_not_know_is_driven_back_out(tmp_path: Path) -> None:
    bench = a_day(tmp_path, 0, after_commit=False)
    journal: Any = bench.journal
    bench.assign()
    journal.cut_at = journal.writes + 3  # batch_opened, the reservation, sheet_judged
    with pytest.raises(Cut):
        bench.press("start")
    bench.kill()
    bench.start()
    bench.until("take_out_and_return")
    (returned,) = bench.records("sheet_returned")
    assert (returned.body["reasons"], returned.body["out"]) == (["restart"], "entry")
    bench.journal.close()


def test_the_identity_outlives_every_restart(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [Paper("1")])
    first: Identity = open_identity(tmp_path)
    bench.restart()
    assert open_identity(tmp_path).public_key == first.public_key
    bench.journal.close()
