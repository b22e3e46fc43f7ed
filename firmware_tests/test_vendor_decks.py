"""A deck for a real blank of each vendor passes on the whole virtual device; `make decks` runs them all."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware_tests.day import Day
from firmware_tests.decks import main, run_all
from firmware_tests.races import Made, blank_of, make_race, order_of_race, races_on

pytestmark = pytest.mark.timeout(240)

RACES = ("juneau-5", "durant-2", "new-hampshire-letter-8")
"""A question on a back; one candidate and a line to write on; one person printed twice, and a line."""


def test_a_deck_for_a_blank_of_each_vendor_passes_on_the_whole_device(
    shared_folder: Path, tmp_path: Path
) -> None:
    made: list[str] = []

    def making() -> Iterator[Made]:
        """Make the next deck while the device runs the one before."""
        for vendor in sorted({name.rpartition("-")[0] for name in RACES}):
            for race in races_on(blank_of(vendor, shared_folder / "ballots"), tmp_path / vendor):
                if race.name in RACES:
                    made.append(race.name)
                    yield make_race(race, tmp_path / race.name)

    (tmp_path / "day").mkdir()
    with Day(tmp_path / "day", order_of_race(1), tmp_path / "none") as day:
        day.open_host()
        day.add_table("alpha", [], duplex=False)
        assert run_all(day, making()) == []
    assert sorted(made) == sorted(RACES)


def test_a_name_that_is_no_blanks_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        main(["hart"])
    assert leaving.value.code == 2
    assert "the blanks at hand are those of fairview-101" in capsys.readouterr().err
