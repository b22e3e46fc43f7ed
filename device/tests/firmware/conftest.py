"""Every test of the firmware runs it in the real interpreter."""

import pytest


@pytest.fixture(autouse=True)
def _in_the_real_interpreter(micropython: str) -> None:
    """Skip where there is no interpreter."""
