"""A signed paper at the keyboard: scanned, kept with the evidence, and nothing else taken for it."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from host.tests.commands.test_a_day_at_the_keyboard import ANN, BOTH, Keyboard
from host.tests.commands.test_before_the_court import CLERK_OF_COURT, conclude
from recount_host.ledger import Ledger
from recount_host.ledger.ledger import LEDGER_FILE
from recount_host.scanned_paper import MAX_SCAN_BYTES


@pytest.fixture
def keyboard(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Keyboard:
    """A keyboard whose precinct is counted."""
    keyboard = Keyboard(tmp_path, capsys)
    keyboard.up_to_counted()
    return keyboard


def a_picture(folder: Path, name: str) -> Path:
    path = folder / name
    cv2.imwrite(str(path), np.full((400, 300), 250, np.uint8))
    return path


def test_the_scan_of_the_signed_statement_is_kept_once_the_precinct_is_concluded(keyboard: Keyboard) -> None:
    picture = a_picture(keyboard.folder, "signed.png")
    keep = ("signed", "keep", "101", str(picture), *ANN)
    assert "not possible to keep a scan of the signed statement" in keyboard.refused(*keep)
    conclude(keyboard)
    assert "scan the signed statement and keep the scan (signed keep)" in keyboard.do("show", "101")
    said = keyboard.do(*keep)
    assert "the scan of the statement of precinct 101 is kept (1 page, SHA-256 " in said
    assert "look again: the paper was printed with 3 pages" in said
    assert "this very file is kept already" in keyboard.refused(*keep)
    whole = keyboard.folder / "statement.pdf"
    told = keyboard.ask("signed", "keep", "101", str(whole), *ANN)
    assert (told["type"], told["pages"], told["pages_printed"]) == ("pdf", 3, 3)
    with Ledger(keyboard.data / LEDGER_FILE, create=False) as ledger:
        assert ledger.scan(bytes.fromhex(str(told["sha256"]))) == whole.read_bytes()


def test_the_scan_of_what_the_court_signed_is_kept_by_the_clerk(keyboard: Keyboard) -> None:
    conclude(keyboard)
    keyboard.do("court", "open", *CLERK_OF_COURT)
    picture = str(a_picture(keyboard.folder, "signed.jpg"))
    keep = ("court", "keep-signed", "1", picture)
    assert "version 1 is not certified" in keyboard.refused(*keep, *CLERK_OF_COURT)
    keyboard.do("court", "forms", str(keyboard.folder / "court"), *CLERK_OF_COURT)
    keyboard.do("court", "certify", *CLERK_OF_COURT)
    assert "the clerk of the court enters this" in keyboard.refused(*keep, *ANN)
    assert "the scan of version 1 of the certification is kept" in keyboard.do(*keep, *CLERK_OF_COURT)


def test_what_is_no_scan_of_a_paper_is_refused_in_one_sentence(keyboard: Keyboard) -> None:
    conclude(keyboard)

    def refused(content: bytes) -> str:
        path = keyboard.folder / "file"
        path.write_bytes(content)
        return keyboard.refused("signed", "keep", "101", str(path), *BOTH[:2])

    assert "is no PDF, PNG or JPEG" in refused(b"GIF89a")
    assert "is no PDF, PNG or JPEG" in refused(b"")
    assert "it is damaged, or locked" in refused(b"%PDF-1.7 cut off")
    assert "it is damaged, or locked" in refused(b"\x89PNG\r\n\x1a\n cut off")
    assert "is larger than 64 MB" in refused(bytes(MAX_SCAN_BYTES + 1))
    assert "cannot be read: No such file" in keyboard.refused("signed", "keep", "101", "nowhere.pdf", *ANN)
    assert "VERSION" in keyboard.refused("court", "keep-signed", "one", "x.pdf", *CLERK_OF_COURT)
