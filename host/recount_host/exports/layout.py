"""The form of an evidence bundle: its files, their order, how large they may be, and its manifest.

A bundle is a folder or a tar of plain files, nothing compressed:

    manifest.json           every file below with its size and SHA-256, in this order; the host's public key
    manifest.signature      the host's Ed25519 signature of the manifest's bytes
    README.txt              for people
    order.toml              the court's order as the host works under it
    refusals.json           what was refused from devices, and why; each names its file in refused/
    refused/N.bytes         the bytes that were refused, as far as the host kept them
    acts.chain              what people did: for each act 4 bytes of length (big-endian), then its bytes
    records/DEVICE.chain    each record as written: 4 bytes of length, its bytes, 64 bytes of signature
    early/DEVICE.chain      records whose predecessors never came, in the same form: the proof of a gap
    programs/HASH.program   contest programs
    statements/ACT-PRECINCT.pdf   the statement that act ACT printed; ACT-PRECINCT-FORM.pdf another form;
                            ACT-certificate.pdf and ACT-zero-report.pdf a device's
    signed/ACT-PRECINCT.pdf (.png, .jpg)   the scan of a signed statement that act ACT kept; ACT-court-VERSION
                            that of a certification
    crops/DEVICE/N.png      the contest as the camera saw it, of the sheet of record N

Names are made of a few letters and digits by these patterns: no path from outside is ever opened.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import msgspec

from recount_host.act import MAX_ACT_BYTES
from recount_host.exports.errors import NoBundle
from recount_host.ledger.intake import MAX_EVIDENCE_BYTES
from recount_host.order import MAX_ORDER_BYTES
from recount_host.scanned_paper import MAX_SCAN_BYTES
from recount_protocol.records import MAX_CROP_BYTES, MAX_RECORD_BYTES, SIGNATURE_BYTES

FORMAT = "recount-bundle-3"
MANIFEST, MANIFEST_SIGNATURE = "manifest.json", "manifest.signature"
README, ORDER, REFUSALS, ACTS = (
    "README.txt",
    "order.toml",
    "refusals.json",
    "acts.chain",
)

MAX_MANIFEST_BYTES = 64 * 1024 * 1024
"""Some 400,000 files: a locality of that many sheets."""
MAX_CHAIN_BYTES = 512 * 1024 * 1024
"""Acts, or the records of one device."""
MAX_CHAINS_BYTES = 1024 * 1024 * 1024
"""All chains of a bundle together: they are held in memory while they are folded."""
CHUNK_BYTES = 256 * 1024

_MIB = 1024 * 1024


class Part(NamedTuple):
    """One kind of file in a bundle."""

    kind: str
    pattern: re.Pattern[str]
    max_bytes: int


PARTS: tuple[Part, ...] = (
    Part("readme", re.compile(r"README\.txt"), _MIB),
    Part("order", re.compile(r"order\.toml"), MAX_ORDER_BYTES),
    Part("refusals", re.compile(r"refusals\.json"), 128 * _MIB),
    Part("refused", re.compile(r"refused/(?P<n>[0-9]{6,15})\.bytes"), MAX_EVIDENCE_BYTES),
    Part("acts", re.compile(r"acts\.chain"), MAX_CHAIN_BYTES),
    Part("records", re.compile(r"records/(?P<device>[0-9a-f]{16})\.chain"), MAX_CHAIN_BYTES),
    Part("early", re.compile(r"early/(?P<device>[0-9a-f]{16})\.chain"), 64 * _MIB),
    Part("program", re.compile(r"programs/(?P<hash>[0-9a-f]{64})\.program"), 65 * _MIB),
    Part(
        "statement",
        re.compile(r"statements/(?P<act>[0-9]{6,15})-(?P<precinct>[A-Za-z0-9][A-Za-z0-9_.\-]{0,63})\.pdf"),
        64 * _MIB,
    ),
    Part(
        "signed",
        re.compile(
            r"signed/(?P<act>[0-9]{6,15})-(?P<precinct>[A-Za-z0-9][A-Za-z0-9_.\-]{0,63})\.(?:pdf|png|jpg)"
        ),
        MAX_SCAN_BYTES,
    ),
    Part("crop", re.compile(r"crops/(?P<device>[0-9a-f]{16})/(?P<n>[0-9]{9,15})\.png"), MAX_CROP_BYTES),
)
"""The kinds of files in the order in which they stand in a bundle."""

_SINGLE = frozenset(("readme", "order", "refusals", "acts"))


class Place(NamedTuple):
    """What a path in a bundle stands for."""

    part: Part
    words: Mapping[str, str]
    """What the pattern's named pieces say: device, n, hash, act, precinct."""


def place_of(path: str) -> Place:
    """Return what the file at `path` is. Raises NoBundle for any path that no bundle has."""
    for part in PARTS:
        match = part.pattern.fullmatch(path)
        if match:
            return Place(part, match.groupdict())
    raise NoBundle(f"no bundle has a file called {path!r:.120}")


def crop_path(device: str, n: int) -> str:
    """Return where the crop of record `n` stands."""
    return f"crops/{device}/{n:09d}.png"


def refused_path(n: int) -> str:
    """Return where the bytes of refusal `n` stand."""
    return f"refused/{n:06d}.bytes"


_Hex = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$")]
_Line = Annotated[str, msgspec.Meta(max_length=200)]
_Path = Annotated[str, msgspec.Meta(min_length=1, max_length=99)]


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file of the bundle."""

    path: _Path
    bytes: Annotated[int, msgspec.Meta(ge=0, le=MAX_CHAIN_BYTES)]
    sha256: _Hex


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a bundle is made of; signed by the host."""

    format: _Line
    locality: _Line
    contest: _Line
    made_utc: _Line
    made_with: dict[str, str]
    """Versions of the programs whose output is compared byte for byte."""
    host_public_key: _Hex
    files: Annotated[tuple[Entry, ...], msgspec.Meta(max_length=450_000)]


def write_manifest(manifest: Manifest) -> bytes:
    """Return the manifest's bytes: JSON that people can read, in the only form that is accepted."""
    fields = msgspec.to_builtins(manifest)
    return json.dumps(fields, ensure_ascii=True, indent=0, separators=(",", ":")).encode("ascii") + b"\n"


def read_manifest(data: bytes) -> Manifest:
    """Return the manifest in `data`.

    Raises NoBundle for anything that `write_manifest` would not write, a path that no bundle has, a path that
    stands twice, files out of order, or sizes beyond what such files have.
    """
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeError, RecursionError) as error:
        raise NoBundle(f"its manifest does not fit: {error}") from error
    if manifest.format != FORMAT:
        raise NoBundle(f"it is of format {manifest.format!r}, this program reads {FORMAT!r}")
    if write_manifest(manifest) != data:
        raise NoBundle(
            "its manifest is not in the form that an export writes (a key twice, or other spacing)"
        )
    _check_files(manifest.files)
    return manifest


def _check_files(files: Iterable[Entry]) -> None:
    chains = 0
    last: tuple[int, str] = (-1, "")
    for entry in files:
        part = place_of(entry.path).part
        if entry.bytes > part.max_bytes:
            raise NoBundle(
                f"{entry.path} would have {entry.bytes} bytes; at most {part.max_bytes} are possible"
            )
        position = PARTS.index(part), entry.path
        if position <= last:
            raise NoBundle(f"{entry.path} stands twice in its manifest, or out of order")
        last = position
        chains += entry.bytes if part.kind in ("acts", "records", "early") else 0
        if chains > MAX_CHAINS_BYTES:
            raise NoBundle(f"its acts and records have more than {MAX_CHAINS_BYTES} bytes")


def has_all_single(files: Iterable[Entry]) -> str:
    """Return the first kind of file that every bundle has and this one lacks, "" when none is missing."""
    there = {place_of(entry.path).part.kind for entry in files}
    return min(_SINGLE - there, default="")


# Chains: items one after the other, each with its length before it


@dataclass(frozen=True, slots=True)
class ChainForm:
    """How the items of a chain file are delimited."""

    max_item_bytes: int
    tail_bytes: int
    """Bytes of signature after each item."""


ACTS_FORM = ChainForm(MAX_ACT_BYTES, 0)
RECORDS_FORM = ChainForm(MAX_RECORD_BYTES, SIGNATURE_BYTES)
_LENGTH_BYTES = 4


class ChainBroken(Exception):
    """A chain file ends within an item, or an item is longer than any can be."""


def chain_item(data: bytes, tail: bytes = b"") -> bytes:
    """Return an item as it stands in a chain file."""
    return len(data).to_bytes(_LENGTH_BYTES, "big") + data + tail


def chain_items(chunks: Iterable[bytes], form: ChainForm) -> Iterator[tuple[bytes, bytes]]:
    """Yield (item, its tail) from a chain file's bytes, however they are cut up; holds one item at a time.

    Raises ChainBroken.
    """
    kept = bytearray()
    for chunk in chunks:
        kept += chunk
        at = 0
        while len(kept) - at >= _LENGTH_BYTES:
            length = int.from_bytes(kept[at : at + _LENGTH_BYTES], "big")
            if length > form.max_item_bytes:
                raise ChainBroken(
                    f"an entry would have {length} bytes; at most {form.max_item_bytes} are possible"
                )
            middle = at + _LENGTH_BYTES + length
            end = middle + form.tail_bytes
            if len(kept) < end:
                break
            yield bytes(kept[at + _LENGTH_BYTES : middle]), bytes(kept[middle:end])
            at = end
        del kept[:at]
    if kept:
        raise ChainBroken("it ends within an entry")
