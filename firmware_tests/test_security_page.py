"""docs/security.md: each attack has its line, and each line the tests that show what stands against it."""

import re
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
PAGE = (REPOSITORY / "docs" / "security.md").read_text(encoding="utf-8")
HEAD = ("| attack", "| ---")
TEST_FOLDERS = ("protocol/tests", "device/tests", "host/tests", "firmware_tests")
ATTACKS = (
    "a record is replayed",
    "a row of the device's journal is edited",
    "the tail of a journal is deleted",
    "two devices with one key",
    "a copied SD card",
    "a forged command of the host",
    "an old contest program after a new one was made",
    "records of a test or training run in a live precinct",
    "a swapped device",
    "a man in the middle",
    "a stranger with a key of his own sends records, or asks for programs, behind his introduction",
    "somebody who answers at the host's address speaks another protocol version",
    "strangers show key after key, or count records down",
    "connections without end that say nothing",
    "a device asks on and on, takes no answer, or sends faster than the disk writes",
    "the processes that check signatures are ended, hang or answer nonsense",
    "the disk is full in the middle of a batch",
    "a host administrator edits the ledger",
    "an evil contest program",
    "an evil image",
    "an evil bundle",
    "pictures of ballots are read at rest",
)


def rows() -> dict[str, str]:
    lines = (line.split(" | ") for line in PAGE.splitlines() if line.startswith("| "))
    cells_of_attacks = (cells for cells in lines if len(cells) == 3 and cells[0] not in HEAD)
    return {cells[0].removeprefix("| "): cells[2] for cells in cells_of_attacks}


def names_there_are() -> set[str]:
    files = (path for folder in TEST_FOLDERS for path in (REPOSITORY / folder).rglob("test_*.py"))
    return {name for path in files for name in re.findall(r"^def (test_\w+)", path.read_text(), re.MULTILINE)}


def test_every_attack_has_its_line() -> None:
    assert set(ATTACKS) <= set(rows())


def test_every_line_names_tests_that_exist() -> None:
    known = names_there_are()
    for attack, tests in rows().items():
        named = re.findall(r"`(test_\w+)`", tests)
        assert named, attack
        assert set(named) <= known, (attack, set(named) - known)
