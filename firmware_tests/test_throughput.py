"""What `make throughput` prints, and the stopwatch in the station."""

from pathlib import Path

import pytest

from firmware_tests.demo import FAIRVIEW
from firmware_tests.throughput import joined, precinct, tell
from firmware_tests.timed_station import PARTS, Stopwatch
from recount_ballots.deck import read_deck


def test_the_parts_of_a_sheets_work_are_timed_only_within_it() -> None:
    watch = Stopwatch()
    read = watch.part("read", lambda: "verdict")
    read()
    whole = watch.whole(read)
    assert whole() == "verdict"
    whole()
    assert {name: len(values) for name, values in watch.sheets.items()} == dict.fromkeys(PARTS, 2)
    assert all(whole >= read for whole, read in zip(watch.sheets["whole"], watch.sheets["read"], strict=True))


def test_a_precinct_of_many_sheets_has_as_many_ids_and_only_sheets_that_end_in_a_pile() -> None:
    deck = read_deck(FAIRVIEW)
    stack = precinct(deck, Path("pictures"), 300)
    assert len({sheet["id"] for sheet in stack}) == 300
    faulty = {f"{sheet.id}-front" for sheet in deck.sheets if sheet.fault}
    assert faulty
    assert not faulty & {Path(str(sheet["front"])).stem for sheet in stack}


@pytest.mark.parametrize(
    ("seconds", "own_ms", "code"), [(100.0, 40.0, 0), (300.0, 40.0, 1), (100.0, 90.0, 1)]
)
def test_a_missed_goal_is_an_exit_code_of_1(seconds: float, own_ms: float, code: int) -> None:
    figures, ended = tell(1000, 2, seconds, dict.fromkeys(PARTS, [own_ms] * 20))
    assert ended == code
    assert f"{60_000 / seconds:.0f} sheets a minute of wall time" in figures
    assert f"| {own_ms:.1f} | {own_ms:.1f} |" in figures


def test_the_times_of_all_stations_are_put_together(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text('{"whole": [1.0], "read": [0.5]}', encoding="utf-8")
    times = joined([tmp_path / "a", tmp_path / "b"])
    assert (times["whole"], times["read"], times["journal"]) == ([1.0, 1.0], [0.5, 0.5], [])
