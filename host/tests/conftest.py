"""Every test of the host folds with a memory of its own; see `remembering`."""

import pytest

from host.tests import remembering

remembering.remember()


@pytest.fixture(autouse=True)
def _own_memory() -> None:  # pyright: ignore[reportUnusedFunction] - pytest uses it
    remembering.forget()
