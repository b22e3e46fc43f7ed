"""Verifying an evidence bundle: everything in it is checked against everything else, and nothing is believed.

What is wrong becomes a Problem: where, and what. A bundle that no export can have made raises NoBundle. Reads
only; needs no network, no ledger and no key but the court's, where the bundle is sealed.
"""

import hmac
from collections.abc import Iterator
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from recount_host.exports import layout
from recount_host.exports.bundle import Progress
from recount_host.exports.errors import NoBundle
from recount_host.exports.folded import fold_all_again
from recount_host.exports.gathered import READERS, Evidence, Input
from recount_host.exports.judging import Judges
from recount_host.exports.layout import Entry, Place, place_of
from recount_host.exports.opened import Opened
from recount_host.exports.report import Report
from recount_host.exports.tar import Member


def verify_bundle(opened: Opened, host_fingerprint: str, progress: Progress) -> Report:
    """Return what the verification of an opened bundle found.

    `host_fingerprint` is the SHA-256 of the host's public key as the officials wrote it down, or its first
    digits; "" where it is not known. Raises NoBundle.
    """
    report = Report()
    _check_signature(opened, host_fingerprint, report)
    with Judges(report) as judges:
        _check_content(opened, Evidence(judges), report, progress)
    return report


def _check_content(opened: Opened, evidence: Evidence, report: Report, progress: Progress) -> None:
    lacking = layout.has_all_single(opened.manifest.files)
    if lacking:
        raise NoBundle(f"it is no bundle: its manifest names no {lacking}")
    is_folded = False
    for done, (entry, member) in enumerate(_matched(opened, report), 1):
        place = place_of(entry.path)
        if place.part.kind == "crop" and not is_folded:
            # The crops come last: with all records here, the counts are told before the long work begins.
            fold_all_again(opened.manifest, evidence, report, progress)
            evidence.judges.begin(evidence.programs, len(evidence.crops_due))
            is_folded = True
        _read(place, entry, member, evidence, report)
        progress("files", done, len(opened.manifest.files))
    evidence.judges.finish()
    if not is_folded:
        fold_all_again(opened.manifest, evidence, report, progress)
    for device, n in evidence.crops_due:
        report.fails(f"records/{device}.chain", f"record {n}: its picture is not in the bundle")


def _check_signature(opened: Opened, host_fingerprint: str, report: Report) -> None:
    public_key = bytes.fromhex(opened.manifest.host_public_key)
    report.host_fingerprint = sha256(public_key).hexdigest()
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(opened.signature, opened.manifest_bytes)
    except (InvalidSignature, ValueError):
        report.fails(layout.MANIFEST_SIGNATURE, "the manifest does not bear the signature of the host's key")
    wanted = host_fingerprint.replace(" ", "").lower()
    if wanted and not hmac.compare_digest(report.host_fingerprint[: len(wanted)].encode(), wanted.encode()):
        report.fails(
            layout.MANIFEST,
            f"it is signed by another host: its key's fingerprint is {report.host_fingerprint}",
        )


def _matched(opened: Opened, report: Report) -> Iterator[tuple[Entry, Member]]:
    """Yield each file with its entry in the manifest; tell of those missing and of those too many."""
    waiting = iter(opened.manifest.files)
    entries = {entry.path: entry for entry in opened.manifest.files}
    for member in opened.members:
        if member.path not in entries:
            report.fails(member.path, "the manifest names no such file")
            continue
        for entry in waiting:
            if entry.path == member.path:
                yield entry, member
                break
            report.fails(entry.path, "this file is missing")
        else:
            raise NoBundle(f"{member.path} stands twice in it, or out of order")
    for entry in waiting:
        report.fails(entry.path, "this file is missing")


def _read(place: Place, entry: Entry, member: Member, evidence: Evidence, report: Report) -> None:
    """Take one file in; its size and hash are compared with the manifest's while it is read."""
    if member.size != entry.bytes:
        report.fails(entry.path, f"it has {member.size} bytes, the manifest says {entry.bytes}")
        return
    digest = sha256()

    def hashed() -> Iterator[bytes]:
        for chunk in member.chunks:
            digest.update(chunk)
            yield chunk

    chunks = hashed()
    READERS[place.part.kind](Input(place, entry.path, chunks), evidence, report)
    for _ in chunks:
        pass
    if digest.hexdigest() != entry.sha256:
        report.fails(
            entry.path, "its content does not have the SHA-256 that the manifest names: it was changed"
        )
