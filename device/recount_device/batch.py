"""One batch: folded from its records alone, so that a restart and a run without one arrive at the same state.

The fold gives the tally (C, S, X, returned, votes), what is unresolved, and identity I9: the feeder's entries
are its exits and the sheets taken out by hand, and each bin's exits are the landings on record. A batch that
fails I9 cannot be closed: people void it and run it again.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from recount_protocol.fates import BINS, COUNTED, NOT_ACCEPTED, RETURNED, SET_ASIDE
from recount_protocol.records import Record

MAX_FEEDER_COUNT = 10_000_000
"""No batch has more sheets; a tally with more could not be written down."""


class FeederCounts(NamedTuple):
    """What the feeder board counted by its sensors since its boot `boot`."""

    boot: int
    entries: int
    counted: int
    set_aside: int
    not_accepted: int
    back: int


BIN_FIELDS: Mapping[str, int] = {COUNTED: 2, SET_ASIDE: 3, NOT_ACCEPTED: 4}
"""Where each bin's exits stand in FeederCounts."""


@dataclass
class JudgedSheet:
    """A sheet with a verdict, and where it lies if that is known."""

    sheet: int
    fate: str
    choices: Sequence[str]
    reasons: Sequence[str]
    boot: int
    final: str | None = None
    """The bin it lies in, RETURNED where the officials said so, None while its landing is not known."""
    in_doubt: bool = False
    like: int = 0
    """The sheet of this batch that it looks like; 0 for none."""


@dataclass
class Batch:
    """The fold of one batch's records."""

    run: str
    number: int
    first: FeederCounts
    sheets: dict[int, JudgedSheet] = field(default_factory=dict[int, JudgedSheet])
    last: dict[int, FeederCounts] = field(default_factory=dict[int, FeederCounts])
    """The latest counts of each boot of the board."""
    by_feeder: Counter[str] = field(default_factory=Counter[str])
    """Landings in each bin that the feeder's sensor saw."""
    by_hand: int = 0
    """Sheets that left the path in a person's hand, each confirmed."""
    returned: int = 0
    returned_last: frozenset[str] = frozenset()
    """The reasons of the sheet before, if it was returned."""
    fed: int = 0
    """Sheets that ended or were judged; bounds the batch."""

    def __post_init__(self) -> None:
        self.last.setdefault(self.first.boot, self.first)

    def observe(self, counts: FeederCounts) -> None:
        """Take note of the feeder's counts."""
        self.last[counts.boot] = counts

    def take(self, record: Record) -> None:
        """Fold one record of this batch."""
        body: Mapping[str, Any] = record.body
        if "feeder" in body:
            self.observe(FeederCounts(*body["feeder"]))
        match record.kind:
            case "sheet_judged":
                self._judged(body)
            case "sheet_landed":
                self._landed(body)
            case "sheet_returned":
                self._returned(body)
            case "repeat_suspected":
                self.sheets[body["sheet"]].like = body["like"]
            case "sheet_in_doubt":
                self.sheets[body["sheet"]].in_doubt = True
            case "doubt_settled":
                self._settled(body)
            case _:
                pass

    def _judged(self, body: Mapping[str, Any]) -> None:
        self.fed += 1
        self.returned_last = frozenset()
        self.sheets[body["sheet"]] = JudgedSheet(
            body["sheet"], body["fate"], tuple(body["choices"]), tuple(body["reasons"]), body["feeder"][0]
        )

    def _landed(self, body: Mapping[str, Any]) -> None:
        sheet = self.sheets[body["sheet"]]
        sheet.final = body["bin"]
        sheet.in_doubt = False
        if body["by"] == "hand":
            self.by_hand += 1
        else:
            self.by_feeder[body["bin"]] += 1

    def _returned(self, body: Mapping[str, Any]) -> None:
        self.fed += 1
        self.returned += 1
        self.returned_last = frozenset(body["reasons"])
        if body["out"] == "hand":
            self.by_hand += 1

    def _settled(self, body: Mapping[str, Any]) -> None:
        sheet = self.sheets[body["sheet"]]
        sheet.final = body["fate"]
        sheet.in_doubt = False
        self.by_hand += 1
        if body["fate"] == RETURNED:
            self.returned += 1

    def unresolved(self) -> list[JudgedSheet]:
        """Return the sheets whose landing is not known."""
        return [sheet for sheet in self.sheets.values() if sheet.final is None]

    def lying_in(self, name: str) -> int:
        """Return how many sheets of this batch lie in a bin or tray, as far as is known."""
        return sum(sheet.final == name for sheet in self.sheets.values())

    def feeder_sums(self) -> FeederCounts:
        """Return what the feeder counted during this batch, over all boots of its board (`boot` is 0)."""
        sums = [0] * len(FeederCounts._fields)
        for boot, last in self.last.items():
            first = self.first if boot == self.first.boot else FeederCounts(boot, 0, 0, 0, 0, 0)
            sums = [total + after - before for total, after, before in zip(sums, last, first, strict=True)]
        return FeederCounts(*sums)._replace(boot=0)

    def entries_outstanding(self) -> int:
        """Return how many sheets the feeder counted in that left by no exit and in nobody's hand."""
        sums = self.feeder_sums()
        return sums.entries - sums.counted - sums.set_aside - sums.not_accepted - sums.back - self.by_hand

    def why_not_close(self) -> list[str]:
        """Return why this batch may not be closed, in sentences; none where I9 holds and nothing is open."""
        sums = self.feeder_sums()
        why = [f"it is not known where sheet {sheet.sheet} lies" for sheet in self.unresolved()]
        if not all(0 <= count <= MAX_FEEDER_COUNT for count in sums):
            why.append("the feeder's counters went back, or are beyond all paper")
        if self.entries_outstanding():
            why.append("the sheets that entered the feeder are not those that left it")
        why.extend(
            f"the feeder's count at the {name.replace('_', '-')} exit differs from the sheets on record"
            for name in BINS
            if sums[BIN_FIELDS[name]] != self.by_feeder[name]
        )
        return why

    def closing_body(self, counts: FeederCounts) -> dict[str, Any]:
        """Return the body of `batch_closed`: the tally. A sheet with several reasons counts under each."""
        self.observe(counts)
        sums = self.feeder_sums()
        lying = {name: [sheet for sheet in self.sheets.values() if sheet.final == name] for name in BINS}
        return {
            "counted": len(lying[COUNTED]),
            "set_aside": _by_reason(lying[SET_ASIDE]),
            "set_aside_sheets": len(lying[SET_ASIDE]),
            "not_accepted": _by_reason(lying[NOT_ACCEPTED]),
            "not_accepted_sheets": len(lying[NOT_ACCEPTED]),
            "returned": self.returned,
            "votes": _sorted(Counter(choice for sheet in lying[COUNTED] for choice in sheet.choices)),
            "entries": sums.entries,
            "exits": {
                COUNTED: sums.counted,
                SET_ASIDE: sums.set_aside,
                NOT_ACCEPTED: sums.not_accepted,
                "back": sums.back,
            },
            "by_hand": self.by_hand,
            "feeder": list(counts),
        }


def _by_reason(sheets: Sequence[JudgedSheet]) -> dict[str, int]:
    return _sorted(Counter(reason for sheet in sheets for reason in set(sheet.reasons)))


def _sorted(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items()))
