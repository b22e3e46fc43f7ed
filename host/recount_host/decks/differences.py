"""The sheets of a deck that did not come out as they must, as a page with their pictures."""

import html
from pathlib import Path

from recount_host.act import Act
from recount_host.errors import OperatorError
from recount_host.law.logic_accuracy import Comparison, Difference
from recount_host.ledger.ledger import Ledger
from recount_host.sheet_pictures import SheetPictures

_HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Differences of {run}</title>
<style>body {{ font: 16px serif; max-width: 60em; margin: 2em auto }} img {{ max-width: 100% }}
section {{ border-top: 1px solid #888; padding: 1em 0 }}</style>
<h1>Differences of {run}</h1><p>{number} of {sheets} sheets differ.</p>
"""
_SHEET = """<section><h2>Sheet {code}</h2><p>{what}</p>
<p>Expected: <b>{expected}</b><br>Actual: <b>{actual}</b></p>{picture}</section>
"""
_NO_PICTURE = "<p>There is no picture: the contest was not found on the sheet, or the sheet was not fed.</p>"


def write_differences(folder: Path, ledger: Ledger, test: Act, comparison: Comparison) -> None:
    """Write index.html and the pictures of the sheets that differ. Raises OperatorError."""
    pictures = SheetPictures(ledger.crop, ledger.program)
    records = {
        record.n: record
        for record in ledger.records()
        if record.device == test.body["device"] and record.kind == "sheet_judged"
    }
    run = str(test.body["run"])
    page = _HEAD.format(
        run=html.escape(run), number=len(comparison.differences), sheets=len(comparison.deck.papers)
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for n, difference in enumerate(comparison.differences, 1):
            record = records.get(difference.judged_n)
            png = None if record is None else pictures.explained(record, test.body["program"])
            name = f"{n:03}.png"
            if png is not None:
                (folder / name).write_bytes(png)
            page += _section(difference, name if png is not None else "")
        (folder / "index.html").write_text(page, encoding="utf-8")
    except OSError as error:
        raise OperatorError(f"the pictures cannot be written to {folder}: {error.strerror}") from error


def _section(difference: Difference, name: str) -> str:
    told = {part: html.escape(getattr(difference, part)) for part in ("code", "what", "expected", "actual")}
    picture = f'<p><img src="{name}" alt="sheet {told["code"]}, with its measurements"></p>' if name else ""
    return _SHEET.format(**told, picture=picture or _NO_PICTURE)
