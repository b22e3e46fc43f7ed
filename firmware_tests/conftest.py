"""A day of recount on the real sheets, for the tests of the whole path."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware_tests.day import Day, DayError, a_day
from firmware_tests.real_sheets import ORDER, RealSheets, read_real_sheets


@pytest.fixture(scope="session")
def real_sheets(shared_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> RealSheets:
    """Build the program of contest 1, and read every sheet but the blank."""
    return read_real_sheets(
        shared_folder / "ballots" / "new-hampshire-letter", tmp_path_factory.mktemp("program")
    )


@pytest.fixture
def day(real_sheets: RealSheets, tmp_path: Path) -> Iterator[Day]:
    """Yield a day with the host open, before any device is there; every process is ended afterwards."""
    with a_day(tmp_path, ORDER, real_sheets.program) as day:
        try:
            yield day
        except DayError as error:
            pytest.fail(str(error))
