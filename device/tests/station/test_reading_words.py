"""What the station and its reading process say: it comes out as it went in, and nothing else comes in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recount_classifier.lens import Lens
from recount_classifier.streaks import PaleLine
from recount_device.glass import Lines
from recount_device.reader import Outcome, ReadingFailed, SheetRead
from recount_device.reading_words import (
    Forget,
    Keep,
    Read,
    Word,
    outcome_bytes,
    outcome_from,
    word_bytes,
    word_from,
)
from recount_protocol.fields import FieldError, write_map

LENS = Lens(1700, 2200, 849.5, 1099.5, 0.01, 0.0, 0.0, 0.001, 0.0)
LINES = Lines(0, 12.5, 900.0, (PaleLine(40.25, 0.03, 17.5), PaleLine(800.0, 0.1, 3.0)))
READ = SheetRead("counted", ("D",), (), "card-3", {"gates": {"white": 250.5}}, b"PNG", LINES, 7)


@pytest.mark.parametrize(
    "word",
    [
        Keep(1),
        Forget(2**32 - 1),
        Read(((2200, 1700), (0, 0)), b"program", expects_test=True, batch=3, lens=LENS),
        Read(((2200, 1700),), b"", expects_test=False, batch=0, lens=None),
    ],
)
def test_a_word_of_the_station_comes_out_as_it_went_in(word: Word) -> None:
    assert word_from(word_bytes(word)) == word


@pytest.mark.parametrize(
    "outcome", [READ, SheetRead("returned", (), ("blurred",)), ReadingFailed("no memory")]
)
def test_an_answer_comes_out_as_it_went_in(outcome: Outcome) -> None:
    there = outcome_from(outcome_bytes(outcome))
    assert type(there) is type(outcome)
    assert vars(there) == vars(outcome)


def test_what_broke_the_reader_is_told_in_one_line_of_bounded_length() -> None:
    there = outcome_from(outcome_bytes(ReadingFailed("error:\n\x1b[2J" + "x" * 5000)))
    assert isinstance(there, ReadingFailed)
    assert there.why.startswith("error:  [2Jxxx")
    assert len(there.why) == 1000


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({"said": "keep"}, "no word 'keep'"),
        ({"fate": "counted twice"}, "fate must be"),
        ({"choices": ["D"] * 1000}, "choices must be"),
        ({"like": -1}, "like must be"),
        ({"evidence": {"deep": [[[[[[[[[[1]]]]]]]]]]}}, "nested deeper"),
        ({"lines": {"side": 0}}, "no lines on the glass"),
        ({"lines": {"side": 0, "left": 0.0, "right": 1.0, "found": [[1.0, 2.0]]}}, "no lines on the glass"),
        ({"more": 1}, "no field 'more'"),
    ],
)
def test_an_answer_outside_its_bounds_is_refused(change: dict[str, object], refused: str) -> None:
    said = {
        "said": "sheet_read",
        "fate": "counted",
        "choices": ["D"],
        "reasons": [],
        "style": "card-3",
        "evidence": {},
        "crop": b"",
        "lines": {},
        "like": 0,
    }
    assert isinstance(outcome_from(write_map(said)), SheetRead)
    with pytest.raises(FieldError, match=refused):
        outcome_from(write_map({**said, **change}))


@given(st.binary(max_size=200))
def test_bytes_that_are_no_word_are_refused_in_words(data: bytes) -> None:
    for take in (word_from, outcome_from):
        with pytest.raises(FieldError):
            take(data)
