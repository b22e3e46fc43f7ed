"""A sheet that looks like one already read in its batch: two officials are asked (VVSG 2.0, 1.1.6-F)."""

from collections.abc import Sequence
from pathlib import Path

import cv2

from device.tests.station.bench import ANN_AND_BOB, Bench, InlineReader, Paper, overvote
from device.tests.station.ink_pages import ink_of, scanned, voted
from device.tests.station.test_simulated_device import World, read_as_counted
from recount_device.camera import Page
from recount_device.ink_memory import InkMemory
from recount_device.page_ink import PageInk
from recount_protocol.fates import COUNTED, NOT_ACCEPTED, RETURNED


class ThirdLooksLikeFirst(InkMemory):
    """A memory for which the third sheet is the first one again."""

    looks = 0

    def look(self, page: PageInk | None) -> int | None:  # noqa: ARG002  as the real one has it
        self.looks += 1
        return 1 if self.looks == 3 else None


def a_question(tmp_path: Path, *papers: Paper) -> Bench:
    """Return a device that asks about its third sheet."""
    bench = Bench(tmp_path, papers or [Paper(str(n)) for n in range(1, 5)])
    bench.reader = InlineReader(bench.camera.read, inks=ThirdLooksLikeFirst())
    bench.restart()
    bench.scan()
    return bench


def settle(bench: Bench, fate: str) -> None:
    """Take the sheet out, have the officials say what it is, and go on."""
    paper = bench.machine.take_out()
    pile = "counted" if fate == RETURNED else fate
    bench.machine.bins[pile].append(paper)
    bench.host.order("settle_doubt", run="r1", batch=1, sheet=3, fate=fate, by=ANN_AND_BOB)
    bench.go_on()
    bench.end_batch()


def test_the_officials_are_asked_and_the_sheet_rests_under_the_camera(tmp_path: Path) -> None:
    bench = a_question(tmp_path)
    assert bench.panel.key == "ask_officials"
    assert "Sheet 3 looks like sheet 1" in bench.panel.text
    assert "in the tray COUNTED" in bench.panel.text
    assert bench.kinds()[-3:] == ["sheet_judged", "repeat_suspected", "sheet_in_doubt"]
    assert bench.records("repeat_suspected")[0].body["like"] == 1
    assert [fields["sheet"] for name, fields in bench.feeder.sent if name == "divert"] == [1, 2]
    assert ("halt", {}) in bench.feeder.sent


def test_the_same_sheet_is_not_counted_again(tmp_path: Path) -> None:
    bench = a_question(tmp_path)
    settle(bench, RETURNED)
    (closed,) = bench.records("batch_closed")
    assert (closed.body["counted"], closed.body["returned"], closed.body["by_hand"]) == (3, 1, 1)
    (settled,) = bench.records("doubt_settled")
    assert (settled.body["sheet"], settled.body["by"]) == (3, ANN_AND_BOB)


def test_another_sheet_is_counted_as_it_was_judged(tmp_path: Path) -> None:
    bench = a_question(tmp_path)
    settle(bench, COUNTED)
    (closed,) = bench.records("batch_closed")
    assert (closed.body["counted"], closed.body["returned"], closed.body["by_hand"]) == (4, 0, 1)


def test_the_question_outlives_a_restart(tmp_path: Path) -> None:
    bench = a_question(tmp_path, Paper("1"), Paper("2"), overvote("3"), Paper("4"))
    bench.restart()
    bench.steps()
    assert "Sheet 3 looks like sheet 1" in bench.panel.text
    assert "in the tray SET ASIDE" in bench.panel.text
    settle(bench, NOT_ACCEPTED)
    assert bench.records("batch_closed")[0].body["not_accepted_sheets"] == 1


def pages_of(folder: Path, count: int) -> str:
    """Draw the pages of so many voters; return the world's sheets."""
    sheets = ""
    for voter in range(1, count + 1):
        cv2.imwrite(str(folder / f"{voter}.png"), scanned(voted(voter), voter))
        sheets += f'[[sheet]]\nid = "{voter}"\nfront = "{voter}.png"\n'
    return sheets


def ink_of_picture(pages: Sequence[Page]) -> PageInk:
    """Return the ink of the page that the world's camera shows."""
    return ink_of(pages)


def test_a_sheet_taken_from_the_counted_tray_and_fed_again_is_found(tmp_path: Path) -> None:
    voters = 17
    world = World(
        tmp_path,
        sheets=pages_of(tmp_path, voters),
        make_reader=lambda _clock: InlineReader(read_as_counted, ink_of_picture),
    )
    try:
        world.assign()
        world.work(lambda: len(world.records("sheet_landed")) == voters and world.panel.key == "hopper_empty")
        world.control.move("17", "hopper", "counted")
        world.work(lambda: world.panel.key == "ask_officials")
        assert "looks like sheet 17" in world.panel.text
        doubt = world.station.passage.doubt
        assert doubt is not None
        world.control.set(cover_open=True)
        assert world.control.take_out("path") == ["17"]
        world.control.set(cover_open=False)
        world.control.move("17", "counted")
        world.host.order("settle_doubt", run="r1", batch=1, sheet=doubt.number, fate=RETURNED, by=ANN_AND_BOB)
        world.work(world.batch_is_closed)
        (closed,) = world.records("batch_closed")
        assert closed.body["counted"] == voters == len(world.control.positions()["counted"])
    finally:
        world.close()
