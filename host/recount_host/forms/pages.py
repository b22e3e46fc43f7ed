"""Facts and a typst template in, a PDF out: tagged for screen readers (PDF/UA-1), reproducible byte for byte.

Only the fonts that typst carries in itself are used, so every machine prints the same page. The date in the
file is that of the facts; typst derives the file's id from its content.
"""

import json
import tempfile
from collections.abc import Iterable, Mapping
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import typst


def print_form(
    template: str, facts: Mapping[str, Any], utc: str, pictures: Mapping[str, bytes] | None = None
) -> bytes:
    """Return the PDF of the form `template` filled with `facts`; `utc`, ISO 8601 with Z, is their date.

    `pictures` are PNG files by the names that the facts call them by.
    """
    source = files("recount_host.forms").joinpath(template).read_bytes()
    written = json.dumps(facts, ensure_ascii=False, sort_keys=True)
    if not pictures:
        return _printed(source, written, utc)
    with tempfile.TemporaryDirectory(prefix="recount-form-") as folder:
        root = Path(folder)
        (root / template).write_bytes(source)
        for name, png in pictures.items():
            (root / name).write_bytes(png)
        return _printed(str(root / template), written, utc, root=folder)


_Template = TypeVar("_Template", bytes, str)
"""Its text, or the path of its file among its pictures."""


def _printed(template: _Template, facts: str, utc: str, root: _Template | None = None) -> bytes:
    try:
        return _compile(template, facts, utc, root)
    except typst.TypstError:
        # A name may hold a letter that no font here has; it must not keep a statement from being printed.
        return _compile(template, printable(facts, utc), utc, root)


def _compile(template: _Template, facts: str, utc: str, root: _Template | None = None) -> bytes:
    return typst.compile(
        template,
        root=root,
        ignore_system_fonts=True,
        format="pdf",
        pdf_standards=["ua-1"],
        sys_inputs={"facts": facts},
        timestamp=int(datetime.fromisoformat(utc).timestamp()),
    )


def printable(text: str, utc: str) -> str:
    """Return `text` with every letter that none of typst's own fonts can print written as its number."""
    return _spelled(text, _letters_without_print(text, utc))


_ONE_LETTER = b"""#set document(title: "letter")
#set text(font: "Libertinus Serif", lang: "en")
#sys.inputs.facts"""


def _letters_without_print(text: str, utc: str) -> list[str]:
    """Return the letters of `text`, each once, that none of typst's own fonts can print."""
    return [letter for letter in sorted(set(text)) if not letter.isascii() and not _prints(letter, utc)]


def _prints(letter: str, utc: str) -> bool:
    try:
        _compile(_ONE_LETTER, letter, utc)
    except typst.TypstError:
        return False
    return True


def _spelled(text: str, letters: Iterable[str]) -> str:
    """Return `text` with these letters written as their numbers, [U+674E], so that none is lost."""
    return text.translate({ord(letter): f"[U+{ord(letter):04X}]" for letter in letters})
