"""The fold of a batch: the tally, what is unresolved, and identity I9."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recount_device.batch import Batch, FeederCounts
from recount_protocol.fates import BINS, COUNTED, NOT_ACCEPTED, RETURNED, SET_ASIDE
from recount_protocol.records import NO_HASH, Record, encode_record

NOBODY = FeederCounts(71, 10, 4, 3, 2, 1)
"""The board had counted before this batch began."""
JUDGED = {
    "choices": [], "reasons": [], "style": "", "length_mm": 279, "evidence": {}, "crop_sha256": b"",
    "crop_bytes": 0, "place": 0,
}  # fmt: skip


class Story:
    """A batch told record by record, with the feeder's sensors in step."""

    def __init__(self) -> None:
        self.counts = list(NOBODY)
        self.batch = Batch("r1", 1, NOBODY)
        self.sheet = 0

    def add(self, kind: str, **body: Any) -> None:
        fields = {**body, "feeder": list(self.counts)}
        encode_record(Record("0123456789abcdef", 1, NO_HASH, kind, "r1", 1, fields))
        self.batch.take(Record("", 0, b"", kind, "r1", 1, fields))

    def feed(self) -> int:
        self.sheet += 1
        self.counts[1] += 1
        return self.sheet

    def judge(self, fate: str = COUNTED, choices: tuple[str, ...] = (), reasons: tuple[str, ...] = ()) -> int:
        sheet = self.feed()
        fields = {**JUDGED, "choices": list(choices), "reasons": list(reasons)}
        self.add("sheet_judged", sheet=sheet, fate=fate, **fields)
        return sheet

    def land(self, fate: str = COUNTED, choices: tuple[str, ...] = (), reasons: tuple[str, ...] = ()) -> None:
        sheet = self.judge(fate, choices, reasons)
        self.counts[2 + BINS.index(fate)] += 1
        self.add("sheet_landed", sheet=sheet, bin=fate, by="feeder")

    def come_back(self) -> None:
        sheet = self.feed()
        self.counts[5] += 1
        self.add("sheet_returned", sheet=sheet, reasons=["blurred"], out="entry")

    def jam(self) -> None:
        self.add("sheet_returned", sheet=self.feed(), reasons=["jam"], out="hand")

    def jam_again(self) -> None:
        sheet = self.judge(NOT_ACCEPTED, (), ("jam",))
        self.add("sheet_landed", sheet=sheet, bin=NOT_ACCEPTED, by="hand")

    def doubt(self, fate: str, settled: str, choices: tuple[str, ...] = ()) -> None:
        sheet = self.judge(fate, choices)
        self.add("sheet_in_doubt", sheet=sheet, why="the feeder stopped")
        self.add("doubt_settled", sheet=sheet, fate=settled, by=["Ann Lee", "Bob Ray"])

    def start_board_anew(self) -> None:
        self.counts = [self.counts[0] + 1, 0, 0, 0, 0, 0]

    def close(self) -> dict[str, Any]:
        return self.batch.closing_body(FeederCounts(*self.counts))

    def why_not(self) -> list[str]:
        self.batch.observe(FeederCounts(*self.counts))
        return self.batch.why_not_close()


def test_i9_holds_for_a_batch_in_which_everything_happened() -> None:
    story = Story()
    story.land(COUNTED, ("D",))
    story.land(SET_ASIDE, (), ("overvote", "marginal_mark"))
    story.land(NOT_ACCEPTED, (), ("wrong_style",))
    story.come_back()
    story.jam()
    story.jam_again()
    story.start_board_anew()
    story.doubt(COUNTED, COUNTED, ("R",))
    story.doubt(COUNTED, RETURNED, ("R",))
    story.land(COUNTED, ("D",))
    assert story.why_not() == []
    body = story.close()
    assert body["votes"] == {"D": 2, "R": 1}
    assert body["set_aside"] == {"marginal_mark": 1, "overvote": 1}, (
        "a sheet counts under each of its reasons"
    )
    assert (body["set_aside_sheets"], body["not_accepted"]) == (1, {"jam": 1, "wrong_style": 1})
    assert (body["entries"], body["by_hand"], body["returned"]) == (9, 4, 3)


@pytest.mark.parametrize("bin_name", BINS)
def test_i9_fails_when_a_sheet_slips_into_a_bin_past_the_camera(bin_name: str) -> None:
    story = Story()
    story.land()
    story.counts[2 + BINS.index(bin_name)] += 1
    why = " ".join(story.why_not())
    assert bin_name.replace("_", "-") in why
    assert "entered the feeder" in why


def test_i9_fails_when_a_sheet_entered_and_left_no_trace() -> None:
    story = Story()
    story.land()
    story.feed()
    assert story.why_not() == ["the sheets that entered the feeder are not those that left it"]


def test_i9_fails_when_a_sheet_landed_in_another_bin_than_recorded() -> None:
    story = Story()
    sheet = story.judge(SET_ASIDE, (), ("undervote",))
    story.counts[2] += 1
    story.add("sheet_landed", sheet=sheet, bin=SET_ASIDE, by="feeder")
    assert len(story.why_not()) == 2


def test_a_batch_with_a_sheet_whose_place_is_not_known_cannot_be_closed() -> None:
    story = Story()
    story.judge()
    assert "it is not known where sheet 1 lies" in story.why_not()


def test_a_set_aside_sheet_settled_as_returned_is_in_no_pile() -> None:
    story = Story()
    story.doubt(SET_ASIDE, RETURNED)
    body = story.close()
    assert (body["set_aside_sheets"], body["returned"], body["by_hand"]) == (0, 1, 1)


def test_why_a_batch_cannot_close_never_tells_a_figure() -> None:
    story = Story()
    for _ in range(37):
        story.land(COUNTED, ("D",))
    story.counts[2] += 5
    assert not any(figure in " ".join(story.why_not()) for figure in ("37", "42", "5"))


STEPS = st.sampled_from(["D", "R", "set_aside", "not_accepted", "back", "jam", "jam_again", "doubt", "boot"])


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, max_size=60))
def test_the_tally_is_what_happened_and_i9_holds_for_every_true_story(steps: list[str]) -> None:
    story = Story()
    happens = {
        "D": lambda: story.land(COUNTED, ("D",)),
        "R": lambda: story.land(COUNTED, ("R",)),
        "set_aside": lambda: story.land(SET_ASIDE, (), ("overvote",)),
        "not_accepted": lambda: story.land(NOT_ACCEPTED, (), ("wrong_style",)),
        "back": story.come_back,
        "jam": story.jam,
        "jam_again": story.jam_again,
        "doubt": lambda: story.doubt(COUNTED, NOT_ACCEPTED, ("D",)),
        "boot": story.start_board_anew,
    }
    for step in steps:
        happens[step]()
    assert story.why_not() == []
    body, times = story.close(), Counter(steps)
    assert body["votes"] == {key: times[key] for key in ("D", "R") if times[key]}
    assert body["counted"] == times["D"] + times["R"]
    assert body["set_aside_sheets"] == times["set_aside"]
    assert body["not_accepted_sheets"] == times["not_accepted"] + times["jam_again"] + times["doubt"]
    assert body["returned"] == times["back"] + times["jam"]
    assert body["entries"] == sum(times.values()) - times["boot"]


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, max_size=20), st.sampled_from([1, 2, 3, 4, 5]), st.integers(1, 3))
def test_no_sensor_can_count_something_else_unnoticed(steps: list[str], sensor: int, more: int) -> None:
    story = Story()
    for step in steps:
        if step == "back":
            story.come_back()
        elif step != "boot":
            story.land(COUNTED, ("D",))
    story.counts[sensor] += more
    assert story.why_not() != []
