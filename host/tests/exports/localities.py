"""A locality whose recount is done, with sheets that were really read, in a real ledger, and its bundle."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from host.tests.enrolling import enrol
from host.tests.rehearsal import BOTH, CLERK, Day
from host.tests.sound_device import Sheet
from host.tests.web import read_sheets
from host.tests.web.read_sheets import ReadingDevice, sheet_of
from recount_classifier.program import Program, make_program
from recount_host.exports.bundle import Made, export_bundle
from recount_host.exports.opened import open_bundle
from recount_host.exports.printed import print_again
from recount_host.exports.report import Report
from recount_host.exports.verify import verify_bundle
from recount_host.law.enrolment import ENROLLED, enrolment_body
from recount_host.law.statement import statement
from recount_host.ledger import Ledger

HOST_KEY = Ed25519PrivateKey.from_private_bytes(b"host" * 8)
UTC = "2026-12-01T18:00:00Z"
MARKS = ("D", "D", "R", "DR", "")
"""Three sheets to be counted, an overvote, a blank."""


@cache
def reading_program() -> Program:
    """Return the demonstration's program under the name of the rehearsed order's contest."""
    made = read_sheets.program()
    return make_program("governor", "Governor", 1, made.options, made.styles, made.thresholds)


class MixedDevice(ReadingDevice):
    """A device that feeds sheets with these marks, one after the other."""

    def __init__(self, name: str, marks: Sequence[str]) -> None:
        super().__init__(name, "D")
        self._coming = list(marks)

    def judge(self, sheet: Sheet) -> int:
        """Feed the next sheet."""
        self.marks = self._coming.pop(0)
        return super().judge(sheet)

    def open_run(self, run: str, precinct: str, program: bytes = b"", mode: str = "training") -> None:
        """Open a run with the program that really read the sheets."""
        del program  # the rehearsed one read nothing
        super().open_run(run, precinct, reading_program().program_hash, mode)


def a_scanned_day(marks: Sequence[str] = MARKS, device: MixedDevice | None = None) -> Day:
    """Return a day whose sheets all went through (this device)."""
    made = reading_program()
    day = Day(program=False)
    options = [{"key": o.key, "name": o.name, "write_in": o.write_in} for o in made.options]
    body: dict[str, Any] = {"program": made.program_hash, "contest": made.key, "title": made.title}
    day.append(
        "program_added", (CLERK,), {**body, "vote_for": made.vote_for, "options": options, "signatures": []}
    )
    device = device or MixedDevice("alpha", marks)
    day.append(ENROLLED, BOTH, enrolment_body("alpha", device.public_key))
    day.devices["alpha"] = device
    day.assign("alpha", program=made.program_hash)
    device.open_batch()
    for mark in marks:
        device.scan(sheet_of(mark))
    device.close_batch()
    return day


def a_finished_day(day: Day | None = None) -> Day:
    """Return a day (this scanned one) whose figures are shown and whose statement was printed."""
    day = day or a_scanned_day()
    day.finish()
    day.reconcile_with(H=5, c=3, s=2, x=0)
    day.lock(p=0)
    day.hand_count({"overvote": 1, "no_vote": 1})
    print_statement_of(day)
    return day


def print_statement_of(day: Day) -> None:
    """Print the precinct's statement, and say so in an act."""
    facts = day.facts()
    hashes = {"facts_sha256": bytes.fromhex(statement(facts, "101").facts_sha256)}
    act = day.append("statement_printed", BOTH, {"precinct": "101", "sha256": bytes(32), **hashes})
    pdf = print_again(facts, replace(act, n=len(facts.acts) + 1))
    day.acts.pop()
    day.act("statement_printed", BOTH, "101", sha256=sha256(pdf).digest(), **hashes)


def conclude(day: Day) -> None:
    """Let every official answer the call and sign the statement, which was really printed."""
    for person in day.state().team:
        day.act("call_answered", (person,), answer="no_further_question")
    print_statement_of(day)
    printed = {name: day.state().statements[-1].body[name] for name in ("sha256", "facts_sha256")}
    day.act("precinct_concluded", day.state().team, **printed)


def no_progress(_what: str, _done: int, _of: int) -> None:
    """Show nothing."""


def fill(ledger: Ledger, day: Day, records: Sequence[tuple[bytes, bytes]] = ()) -> None:
    """Write the whole day into a ledger (of its records only these)."""
    ledger.add_program(reading_program().program_hash, reading_program().to_bytes())
    for act in day.acts:
        ledger.append_act(act.kind, act.by, act.body)
    for device in day.devices.values():
        enrol(ledger, device.name, device.public_key)
        ledger.add_records(records or device.signed())
        for n, png in getattr(device, "crops", {}).items():
            ledger.add_crop(device.id, n, png)


def export(
    folder: Path, target: str, day: Day, court: X25519PublicKey | None = None, scans: Sequence[bytes] = ()
) -> tuple[Path, Made]:
    """Write the day (and scans of signed papers) into a new ledger with the day's clock, and export it."""
    times = iter([act.utc for act in day.acts])
    with Ledger(folder / f"{target}.ledger", clock=lambda: next(times, UTC)) as ledger:
        fill(ledger, day)
        for scan in scans:
            ledger.add_scan(scan)
        made = export_bundle(ledger, HOST_KEY, folder / target, court, UTC, no_progress)
    return folder / target, made


def verified(path: Path, court: X25519PrivateKey | None = None, host: str = "") -> Report:
    """Verify the bundle at `path`."""
    with open_bundle(path, court) as opened:
        return verify_bundle(opened, host, no_progress)
