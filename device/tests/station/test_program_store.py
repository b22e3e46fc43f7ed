"""Programs on the device's disk: kept under their hash, refused when they are not what the hash says."""

from pathlib import Path

import pytest

from device.tests.least_program import least_program
from recount_classifier.program import Option, Program
from recount_device.errors import OperatorError
from recount_device.program_store import ProgramStore


@pytest.fixture
def store(tmp_path: Path) -> ProgramStore:
    return ProgramStore(tmp_path)


def a_program(title: str = "Governor") -> Program:
    options = (Option("D", "Bartlett", write_in=False), Option("R", "Ritchie", write_in=False))
    return least_program("governor", title, options)


def test_a_program_is_there_after_it_was_added(store: ProgramStore) -> None:
    program = a_program()
    assert store.load(program.program_hash) is None
    store.add(program.program_hash, program.to_bytes())
    loaded = store.load(program.program_hash)
    assert loaded is not None
    assert (loaded.program_hash, loaded.title) == (program.program_hash, "Governor")


def test_another_program_than_was_asked_for_is_refused(store: ProgramStore) -> None:
    with pytest.raises(OperatorError, match="the file holds program"):
        store.add(a_program().program_hash, a_program("Senator").to_bytes())
    assert store.load(a_program().program_hash) is None


def test_a_program_that_was_edited_in_transit_is_refused(store: ProgramStore) -> None:
    program = a_program()
    content = bytearray(program.to_bytes())
    content[-1] ^= 1
    with pytest.raises(OperatorError, match="cannot be used"):
        store.add(program.program_hash, bytes(content))


def test_a_file_that_changed_on_the_disk_is_refused(store: ProgramStore, tmp_path: Path) -> None:
    program = a_program()
    store.add(program.program_hash, program.to_bytes())
    (file,) = (tmp_path / "programs").iterdir()
    file.write_bytes(a_program("Senator").to_bytes())
    with pytest.raises(OperatorError, match="cannot be used"):
        store.load(program.program_hash)
