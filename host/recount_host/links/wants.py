"""What a session asks of the ledger, and what it is told in return: plain values that threads hand over."""

from dataclasses import dataclass
from typing import Any, TypeAlias

from recount_host.ledger.rows import Outcome
from recount_host.links.crop_under_way import CropPlace


@dataclass(frozen=True, slots=True)
class Introduce:
    """A device says who it is, and has proved it."""

    device: str
    name: str
    public_key: bytes
    next_n: int
    head: bytes
    boot: int
    """Which start of the device's program this is."""


@dataclass(frozen=True, slots=True)
class KeepRecords:
    """Records came, in their order, each with its signature."""

    items: tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True, slots=True)
class KeepCrop:
    """The last part of a crop came."""

    device: str
    n: int
    png: bytes


@dataclass(frozen=True, slots=True)
class FetchProgram:
    """The device needs a contest program, from this byte on."""

    program: bytes
    offset: int


Want: TypeAlias = Introduce | KeepRecords | KeepCrop | FetchProgram


@dataclass(frozen=True, slots=True)
class Introduced:
    """What the ledger says to the introduction; `crop_n` is the crop to begin with (0 none)."""

    outcome: Outcome
    crop_n: int
    crop_place: CropPlace
    """What of a crop came over the connections before."""


@dataclass(frozen=True, slots=True)
class RecordsKept:
    """What became of the oldest records not yet answered, in their order."""

    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class CropKept:
    """What became of the crop of record `n`, and which crop is the lowest that is still due (0 none)."""

    n: int
    outcome: Outcome
    next_crop_n: int


@dataclass(frozen=True, slots=True)
class ProgramFetched:
    """The file of a contest program, or None when it is not here."""

    program: bytes
    offset: int
    data: bytes | None


@dataclass(frozen=True, slots=True)
class DutiesChanged:
    """What this device is to be told until its records show that it did it: message kinds and fields."""

    duties: tuple[tuple[str, dict[str, Any]], ...]


@dataclass(frozen=True, slots=True)
class Dismissed:
    """This device is not taken any more, and why."""

    why: str


Reply: TypeAlias = Dismissed | Introduced | RecordsKept | CropKept | ProgramFetched | DutiesChanged
