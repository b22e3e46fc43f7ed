"""A device in memory that writes records as a sound one does: signed, chained, and told in its tally.

It lies only where a test tells it to.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from recount_protocol.fates import BINS, COUNTED, NOT_ACCEPTED, RETURNED, SET_ASIDE
from recount_protocol.records import NO_HASH, Record, device_id, encode_record, record_hash, sign

PROGRAM = hashlib.sha256(b"a contest program").digest()


class Sheet(NamedTuple):
    """A sheet as a device judges it."""

    fate: str
    choices: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


TWELVE_SHEETS = (
    *(Sheet(COUNTED, ("D",)) for _ in range(5)),
    *(Sheet(COUNTED, ("R",)) for _ in range(3)),
    Sheet(COUNTED, ("T",)),
    Sheet(SET_ASIDE, (), ("overvote",)),
    Sheet(SET_ASIDE, (), ("undervote",)),
    Sheet(NOT_ACCEPTED, (), ("wrong_style",)),
)
"""C = 9 (5 for D, 3 for R, 1 for T), S = 2, X = 1."""


class Device:
    """A device that writes records as a sound one does, and lies only where it is told to."""

    def __init__(self, name: str = "alpha") -> None:
        self.name = name
        self.key = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())
        self.public_key = self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.id = device_id(self.public_key)
        self.records: list[Record] = []
        self.hash = NO_HASH
        self.run = ""
        self.number = 0
        self.sheet = 0
        self.boot = 7
        self.counters = [0, 0, 0, 0, 0]
        self._start = [0, 0, 0, 0, 0]
        self._places: Counter[str] = Counter()
        self._told = _Tally()

    def signed(self) -> list[tuple[bytes, bytes]]:
        """Return the bytes and signature of every record, as they are sent."""
        written = [encode_record(record) for record in self.records]
        return [(data, sign(self.key, data)) for data in written]

    def write(self, kind: str, body: Mapping[str, Any], *, batch: int | None = None) -> None:
        """Write one record of the run and batch at hand."""
        number = self.number if batch is None else batch
        record = Record(self.id, len(self.records) + 1, self.hash, kind, self.run, number, dict(body))
        self.hash = record_hash(encode_record(record))
        self.records.append(record)

    def open_run(self, run: str, precinct: str, program: bytes = PROGRAM, mode: str = "training") -> None:
        """Open a run."""
        self.run = run
        what = {"precinct": precinct, "contest": "governor", "program": program, "mode": mode}
        self.write("run_opened", {**what, "software": "1.0", "firmware": "1.0"}, batch=0)

    def close_run(self) -> None:
        """Close the run."""
        self.write("run_closed", {}, batch=0)
        self.run = ""

    def open_batch(self) -> int:
        """Open the next batch and return its number."""
        self.number += 1
        self._start = list(self.counters)
        self._told = _Tally()
        self.write("batch_opened", {"feeder": self.feeder})
        return self.number

    @property
    def feeder(self) -> list[int]:
        """The feeder board's counters as every record carries them."""
        return [self.boot, *self.counters]

    def judge(self, sheet: Sheet) -> int:
        """Feed a sheet and judge it; it has not landed. Return its number."""
        self.sheet += 1
        self.counters[0] += 1
        self._places[sheet.fate] += 1
        self.write(
            "sheet_judged",
            {
                "sheet": self.sheet,
                "fate": sheet.fate,
                "choices": list(sheet.choices),
                "reasons": list(sheet.reasons),
                "style": "card-1",
                "length_mm": 279,
                "evidence": {},
                "crop_sha256": b"",
                "crop_bytes": 0,
                "place": 0 if sheet.fate == COUNTED else self._places[sheet.fate],
                "feeder": self.feeder,
            },
        )
        return self.sheet

    def land(self, number: int, pile: str, by: str = "feeder") -> None:
        """Let a judged sheet land in a bin, through its sensor or by hand."""
        if by == "feeder":
            self.counters[1 + BINS.index(pile)] += 1
        else:
            self._told.by_hand += 1
        self.write("sheet_landed", {"sheet": number, "bin": pile, "by": by, "feeder": self.feeder})

    def tell(self, sheet: Sheet) -> None:
        """Put a sheet into the device's own tally."""
        self._told.add(sheet)

    def scan(self, sheet: Sheet) -> int:
        """Feed, judge and land a sheet."""
        number = self.judge(sheet)
        self.land(number, sheet.fate)
        self.tell(sheet)
        return number

    def give_back(self, out: str = "entry", reasons: Sequence[str] = ("jam",)) -> None:
        """Give a sheet back unjudged: out through the entry, or taken out by hand."""
        self.sheet += 1
        self.counters[0] += 1
        if out == "entry":
            self.counters[4] += 1
        else:
            self._told.by_hand += 1
        self._told.returned += 1
        body = {"sheet": self.sheet, "reasons": list(reasons), "out": out, "feeder": self.feeder}
        self.write("sheet_returned", body)

    def doubt(self, number: int, like: int = 0) -> None:
        """Write down that a judged sheet's landing is unknown, or that it looks like another sheet."""
        if like:
            self.write("repeat_suspected", {"sheet": number, "like": like, "feeder": self.feeder})
        why = f"it looks like sheet {like}, which was read in this batch" if like else "power cut"
        self.write("sheet_in_doubt", {"sheet": number, "why": why, "feeder": self.feeder})

    def settle(self, number: int, fate: str) -> None:
        """Write down what the officials said of a sheet in doubt."""
        self._told.by_hand += 1
        self._told.returned += fate == RETURNED
        by = ["Ann Lee, official, D", "Bob Ray, official, R"]
        self.write("doubt_settled", {"sheet": number, "fate": fate, "by": by, "feeder": self.feeder})

    def close_batch(self, **changed: Any) -> None:
        """Close the batch with the device's tally; `changed` makes it lie."""
        entries, *exits = (now - then for now, then in zip(self.counters, self._start, strict=True))
        body = self._told.fields() | {
            "entries": entries,
            "exits": dict(zip((*BINS, "back"), exits, strict=True)),
            "feeder": self.feeder,
        }
        self.write("batch_closed", {**body, **changed})


class _Tally:
    """What a device reports of a batch, kept as it goes and not folded from its records."""

    def __init__(self) -> None:
        self.sheets: Counter[str] = Counter()
        self.votes: Counter[str] = Counter()
        self.reasons: dict[str, Counter[str]] = {SET_ASIDE: Counter(), NOT_ACCEPTED: Counter()}
        self.returned = 0
        self.by_hand = 0

    def add(self, sheet: Sheet) -> None:
        self.sheets[sheet.fate] += 1
        self.votes.update(sheet.choices)
        if sheet.fate in self.reasons:
            self.reasons[sheet.fate].update(sheet.reasons)

    def fields(self) -> dict[str, Any]:
        return {
            "counted": self.sheets[COUNTED],
            "set_aside": dict(self.reasons[SET_ASIDE]),
            "set_aside_sheets": self.sheets[SET_ASIDE],
            "not_accepted": dict(self.reasons[NOT_ACCEPTED]),
            "not_accepted_sheets": self.sheets[NOT_ACCEPTED],
            "returned": self.returned,
            "votes": dict(self.votes),
            "by_hand": self.by_hand,
        }
