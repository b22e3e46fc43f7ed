"""Scans of what was signed in ink: in the bundle, and each the very file that its act names."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from host.tests.exports.localities import a_finished_day, conclude, export, verified
from host.tests.exports.tampering import files_of, signed_anew
from host.tests.rehearsal import CLERK, Day
from recount_host.exports.report import Report

SCAN = b"%PDF-1.7 of two pages, with the signatures of all officials"


def a_scanned_statement() -> Day:
    """Return a day whose precinct is concluded and whose signed statement was scanned."""
    day = a_finished_day()
    conclude(day)
    what: dict[str, Any] = {"sha256": sha256(SCAN).digest(), "type": "pdf", "pages": 2}
    day.act("signed_statement_kept", (CLERK,), **what)
    return day


def problems(report: Report) -> list[str]:
    return [f"{problem.where}: {problem.what}" for problem in report.problems]


def report_on(folder: Path, files: dict[str, bytes]) -> list[str]:
    path = folder / "changed.tar"
    path.write_bytes(signed_anew({name: data for name, data in files.items() if "manifest" not in name}))
    return problems(verified(path))


def test_a_scan_goes_into_the_bundle_and_is_held_against_its_act(tmp_path: Path) -> None:
    day = a_scanned_statement()
    path, made = export(tmp_path, "bundle.tar", day, scans=[SCAN])
    name = f"signed/{day.acts[-1].n:06d}-101.pdf"
    files = files_of(path.read_bytes())
    assert made.missing == ()
    assert files[name] == SCAN
    report = verified(path)
    assert problems(report) == []
    assert report.checked["scans"] == 1

    left_out = {path: data for path, data in files.items() if path != name}
    assert report_on(tmp_path, left_out) == [
        f"{name}: the scan that act {day.acts[-1].n} kept is not in the bundle"
    ]
    other = {**files, name: b"%PDF of another paper"}
    assert report_on(tmp_path, other) == [f"{name}: it is not the scan that act {day.acts[-1].n} kept"]
    more = {**files, "signed/000999-102.png": b"\x89PNG of nothing"}
    assert report_on(tmp_path, more) == ["signed/000999-102.png: no act says that this scan was kept"]


def test_a_scan_that_the_ledger_lacks_is_told_at_the_export(tmp_path: Path) -> None:
    day = a_scanned_statement()
    _, made = export(tmp_path, "bundle.tar", day)
    assert made.missing == (f"the scan that act {day.acts[-1].n} kept is not in the ledger",)


def test_a_scan_of_a_certification_is_named_by_its_version(tmp_path: Path) -> None:
    day = a_finished_day()
    conclude(day)
    day.open_docket()
    day.certify()
    what: dict[str, Any] = {"version": 1, "sha256": sha256(SCAN).digest(), "type": "jpg", "pages": 1}
    day.court_act("signed_certification_kept", **what)
    path, _ = export(tmp_path, "bundle.tar", day, scans=[SCAN])
    assert f"signed/{day.acts[-1].n:06d}-court-1.jpg" in files_of(path.read_bytes())
    assert not [line for line in problems(verified(path)) if "signed/" in line]
