"""Making a locality's evidence bundle from its ledger: a folder, a tar, or a tar sealed to a court's key."""

import importlib.metadata
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from recount_host.act import Act
from recount_host.commands.desk import facts_of
from recount_host.errors import RecountError
from recount_host.exports import layout
from recount_host.exports.errors import ExportRefused
from recount_host.exports.layout import Entry, Manifest, chain_item, crop_path, refused_path
from recount_host.exports.printed import PRINTED, print_again
from recount_host.exports.sealed import padded, seal
from recount_host.exports.tar import tar_bytes
from recount_host.law.precinct import Facts, fold_all
from recount_host.law.signed_papers import KEPT
from recount_host.ledger import Ledger
from recount_host.ledger.contents import crop_sha256
from recount_host.order import order_text_of

COMPARED = ("typst", "opencv-python-headless", "numpy", "recount-scanner")
"""The programs whose output a verification compares; the manifest names their versions."""

Progress = Callable[[str, int, int], None]
"""Told what is worked on, how much of it is done, and how much there is."""


@dataclass(frozen=True)
class Piece:
    """A file of the bundle to be made, and how to get its bytes: twice, for its hash and for itself."""

    path: str
    content: Callable[[], bytes]


@dataclass(frozen=True)
class Made:
    """What an export has made."""

    files: int
    bytes: int
    manifest_sha256: str
    missing: tuple[str, ...]
    """What the ledger should hold and does not, each a sentence: the bundle is the evidence as it is."""
    closed: str
    """A precinct whose figures may not be shown yet, else "": nobody is told then how much is in it."""


def versions() -> dict[str, str]:
    """Return the versions of the programs whose output is compared."""
    return {name: importlib.metadata.version(name) for name in COMPARED}


def closed_precinct(facts: Facts) -> str:
    """Return the first precinct whose figures may not be shown yet, "" when there is none.

    A precinct that both sides sent to the hand count is never shown its scanners' figures before that agrees.
    """
    for precinct in fold_all(facts).values():
        is_closed = precinct.shown is None and precinct.agreeing_act is None
        if is_closed and (precinct.runs or precinct.batches or precinct.counts.entries):
            return precinct.precinct.id
    return ""


def check_may_leave(facts: Facts) -> None:
    """Raise ExportRefused while figures of a precinct are closed: a plain bundle holds all of them."""
    closed = closed_precinct(facts)
    if closed:
        raise ExportRefused(
            f"the figures of precinct {closed} may not be shown yet, and a bundle holds "
            "them: export after figures, or seal it to the court's key (--court-key)"
        )


def _say_nothing(_what: str, _done: int, _of: int) -> None:
    """Show no progress: a sheet is two records and a picture, so their number tells the stack."""


def export_bundle(
    ledger: Ledger,
    host_key: Ed25519PrivateKey,
    target: Path,
    court: X25519PublicKey | None,
    utc: str,
    progress: Progress,
) -> Made:
    """Write the bundle of all that the ledger holds now to `target`.

    A name that ends in .tar, or a key of the court, makes a tar; any other name a folder.
    Raises ExportRefused where figures may not leave, or something is there already. Of a sealed bundle no
    progress is told while they may not.
    """
    facts = facts_of(ledger)
    if court is None:
        check_may_leave(facts)
    closed = closed_precinct(facts)
    progress = _say_nothing if closed else progress
    pieces, missing = _pieces(ledger, facts, progress)
    manifest = _manifest(facts, pieces, host_key, utc, progress)
    data = layout.write_manifest(manifest)
    head = [(layout.MANIFEST, data), (layout.MANIFEST_SIGNATURE, host_key.sign(data))]
    files = _files(head, pieces, manifest.files, progress)
    try:
        if court is None and target.suffix != ".tar":
            _write_folder(target, files)
        else:
            plain = tar_bytes(files)
            _write_file(target, plain if court is None else seal(padded(plain), court))
    except FileExistsError:
        raise ExportRefused(f"{target} is there already: name a new folder or file") from None
    except OSError as error:
        raise ExportRefused(f"{target} cannot be written: {error.strerror}") from None
    total = sum(entry.bytes for entry in manifest.files)
    return Made(len(manifest.files) + len(head), total, sha256(data).hexdigest(), tuple(missing), closed)


def _pieces(ledger: Ledger, facts: Facts, progress: Progress) -> tuple[list[Piece], list[str]]:
    """Return the files of the bundle in their order, and what is missing."""
    missing = [gap.sentence for gap in ledger.gaps()]
    text = order_text_of(facts.acts) or ""
    pieces = [
        _fixed(layout.README, README.encode()),
        _fixed(layout.ORDER, text.encode()),
        *_refusals(ledger),
        _fixed(layout.ACTS, b"".join(map(chain_item, ledger.act_bytes()[: len(facts.acts)]))),
    ]  # fmt: skip
    pieces += _chains(ledger)
    pieces += [
        Piece(f"programs/{program.hex()}.program", _taker(ledger.program, program))
        for program in sorted(ledger.program_hashes())
    ]
    statements, failed = _statements(facts, progress)
    signed, lost = _signed(ledger, facts)
    crops, absent = _crops(ledger)
    return [*pieces, *statements, *signed, *crops], [*missing, *failed, *lost, *absent]


def _fixed(path: str, content: bytes) -> Piece:
    return Piece(path, lambda: content)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=True, indent=1).encode("ascii") + b"\n"


def _refusals(ledger: Ledger) -> list[Piece]:
    """Return the list of what was refused, and its bytes."""
    refusals = ledger.refusals()
    told = [
        {
            "device": r.device,
            "name": r.name,
            "why": r.why,
            "record": r.record_n,
            "utc": r.utc,
            "file": refused_path(r.n),
        }
        for r in refusals
    ]
    return [
        _fixed(layout.REFUSALS, _json(told)),
        *(Piece(refused_path(r.n), _taker(ledger.refused_bytes, r.n)) for r in refusals),
    ]


def _chains(ledger: Ledger) -> Iterator[Piece]:
    for device in sorted(device.device for device in ledger.devices()):
        stored = ledger.stored_records(device)
        yield _fixed(f"records/{device}.chain", b"".join(chain_item(r.data, r.signature) for r in stored))
    early = ledger.early_records()
    for device in sorted({record.record.device for record in early}):
        own = (chain_item(r.data, r.signature) for r in early if r.record.device == device)
        yield _fixed(f"early/{device}.chain", b"".join(own))


def _taker(take: Callable[..., bytes | None], *key: object) -> Callable[[], bytes]:
    def content() -> bytes:
        data = take(*key)
        assert data is not None, "the ledger never loses what it holds"
        return data

    return content


def _statements(facts: Facts, progress: Progress) -> tuple[list[Piece], list[str]]:
    pieces: list[Piece] = []
    failed: list[str] = []
    acts = [act for act in facts.acts if act.kind in PRINTED]
    for done, act in enumerate(acts, 1):
        try:
            pdf = print_again(facts, act)
        except RecountError as error:
            failed.append(f"the form of act {act.n} cannot be made again: {error}")
        else:
            pieces.append(_fixed(statement_path(act), pdf))
        progress("statements", done, len(acts))
    return pieces, failed


_OF_A_DEVICE: Mapping[str, str] = {"device_armed": "certificate", "zero_report_printed": "zero-report"}
"""The papers of logic and accuracy: they belong to no precinct."""


def statement_path(act: Act) -> str:
    """Return where the form stands that this act printed."""
    words = [
        act.body.get("precinct", _OF_A_DEVICE.get(act.kind, "court")),
        *([act.body["form"]] if "form" in act.body else []),
    ]
    return f"statements/{act.n:06d}-{'-'.join(words)}.pdf"


def _signed(ledger: Ledger, facts: Facts) -> tuple[list[Piece], list[str]]:
    """Return the scans of signed papers, and which the ledger lacks."""
    pieces: list[Piece] = []
    lost: list[str] = []
    for act in facts.acts:
        if act.kind in KEPT:
            digest = act.body["sha256"]
            if ledger.scan(digest) is None:
                lost.append(f"the scan that act {act.n} kept is not in the ledger")
            else:
                pieces.append(Piece(signed_path(act), _taker(ledger.scan, digest)))
    return pieces, lost


def signed_path(act: Act) -> str:
    """Return where the scan stands that this act kept."""
    paper = act.body["precinct"] if "precinct" in act.body else f"court-{act.body['version']}"
    return f"signed/{act.n:06d}-{paper}.{act.body['type']}"


def _crops(ledger: Ledger) -> tuple[list[Piece], list[str]]:
    here = ledger.crops()
    names = {device.device: device.name for device in ledger.devices()}
    due = sorted((r.device, r.n) for r in ledger.records() if crop_sha256(r))
    pieces = [Piece(crop_path(*key), _taker(ledger.crop, *key)) for key in due if key in here]
    return pieces, [
        f"the picture of record {n} of {names[d]} has not come" for d, n in due if (d, n) not in here
    ]


def _manifest(
    facts: Facts, pieces: Sequence[Piece], host_key: Ed25519PrivateKey, utc: str, progress: Progress
) -> Manifest:
    entries: list[Entry] = []
    for done, piece in enumerate(pieces, 1):
        content = piece.content()
        entries.append(Entry(piece.path, len(content), sha256(content).hexdigest()))
        progress("hashing", done, len(pieces))
    public_key = host_key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    order = facts.order
    return Manifest(
        layout.FORMAT, order.locality, order.contest, utc, versions(), public_key.hex(), tuple(entries)
    )


def _files(
    head: Iterable[tuple[str, bytes]], pieces: Sequence[Piece], entries: Sequence[Entry], progress: Progress
) -> Iterator[tuple[str, int, Iterable[bytes]]]:
    for path, content in head:
        yield path, len(content), (content,)
    for done, (piece, entry) in enumerate(zip(pieces, entries, strict=True), 1):
        yield piece.path, entry.bytes, (piece.content(),)
        progress("writing", done, len(pieces))


def _write_file(target: Path, chunks: Iterable[bytes]) -> None:
    """Write a new file; what could not be finished is removed, so that nobody takes it for a bundle."""
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            target.unlink()
        raise


def _write_folder(target: Path, files: Iterable[tuple[str, int, Iterable[bytes]]]) -> None:
    target.mkdir(mode=0o700)
    for path, _, chunks in files:
        place = target / path
        place.parent.mkdir(mode=0o700, exist_ok=True, parents=True)
        _write_file(place, chunks)


README = """\
Evidence bundle of a recount
============================

Everything by which the recount of this locality can be checked without trusting who made it. On any computer
with the recount-scanner software, without a network:

    recount-host verify THIS-FOLDER-OR-TAR

It reads and changes nothing. It checks every signature and chain, folds every count anew, judges the picture
of every sheet again, holds the identities against each other, and prints the statements again, byte for byte.
Then compare by eye what only paper can tell: the record code and the last page of the signed statements
(their scans lie in signed/) with what it prints, and the fingerprint of the host's key with the one the
officials wrote down.

manifest.json, manifest.signature   all files with their SHA-256; the host's signature
order.toml                          the court's order
acts.chain                          what people did, each act bound to the one before
records/                            what each device wrote, each record signed and bound to the one before
early/                              records whose predecessors never came
refusals.json, refused/             what the host refused from devices, why, and its bytes
programs/                           the contest programs by which sheets were judged
statements/                         the printed statements and forms
signed/                             scans of the papers that were signed in ink
crops/                              the contest as the camera saw it, of each sheet judged
"""
