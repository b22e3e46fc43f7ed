"""Fixtures every test folder may use."""

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """Return the folder of real ballots and law texts that lies beside the checkout, or skip."""
    folder = REPOSITORY.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the folder ../shared with the real ballots is not here")
    return folder
