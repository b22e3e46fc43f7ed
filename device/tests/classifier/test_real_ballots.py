"""Real scanned ballots with truth: no wrong count at all, and few sheets set aside without need."""

from pathlib import Path

import pytest

from device.tests.classifier.real_ballots import DRAWN, FILLED, Read, figures, read_set

LETTER_BLANK = "006"

# Some 600 readings stand behind the first test of each fixture.
pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def letter(shared_folder: Path) -> list[Read]:
    """Read all contests of all sheets of the New Hampshire set, with programs from its blank sheet."""
    return read_set(shared_folder / "ballots" / "new-hampshire-letter", skip=frozenset({LETTER_BLANK}))


@pytest.fixture(scope="module")
def others(shared_folder: Path) -> list[Read]:
    """Read the other three sets."""
    names = ("new-hampshire-conditions", "durant", "juneau")
    return [reading for name in names for reading in read_set(shared_folder / "ballots" / name)]


def counted(readings: list[Read]) -> int:
    return sum(reading.fate == "counted" for reading in readings)


def report(capsys: pytest.CaptureFixture[str], title: str, readings: list[Read]) -> None:
    votes = [reading for reading in readings if reading.outcome == "vote"]
    with capsys.disabled():
        print(f"\n{title}: {counted(votes)} of {len(votes)} votes counted\n{figures(readings)}")
        for reading in votes:
            if reading.fate != "counted":
                print(f"  not counted: sheet {reading.sheet}, contest {reading.contest}: {reading.reasons}")


def test_no_new_hampshire_sheet_is_counted_wrongly(letter: list[Read], capsys: pytest.CaptureFixture[str]):
    report(capsys, "new-hampshire-letter", letter)
    assert len(letter) == 39 * 14
    assert [reading for reading in letter if reading.is_fault] == []


def test_clean_full_and_partial_marks_are_counted(letter: list[Read]):
    votes = [r for r in letter if r.outcome == "vote" and r.is_clean and r.kinds <= FILLED]
    assert len(votes) == 139
    assert counted(votes) >= 138


def test_clean_crosses_checks_and_lines_are_counted(letter: list[Read]):
    votes = [r for r in letter if r.outcome == "vote" and r.is_clean and r.kinds & DRAWN]
    assert len(votes) == 6
    assert counted(votes) >= 5


def test_most_votes_are_counted_even_beside_stray_ink(letter: list[Read]):
    votes = [reading for reading in letter if reading.outcome == "vote"]
    assert len(votes) == 203
    assert counted(votes) >= 179


def test_no_sheet_of_worn_scanners_or_other_vendors_is_counted_wrongly(
    others: list[Read], capsys: pytest.CaptureFixture[str]
):
    report(capsys, "new-hampshire-conditions, durant, juneau", others)
    assert [reading for reading in others if reading.is_fault] == []


def test_votes_on_worn_scanners_and_of_other_vendors_are_counted(others: list[Read]):
    votes = [reading for reading in others if reading.outcome == "vote"]
    assert len(votes) == 52
    assert counted(votes) >= 44
