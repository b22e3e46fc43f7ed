"""What people can do, as one table: each kind of act with its meaning, its fields, their types and bounds.

The sentence of each kind is written for an auditor who reads the log with nothing else at hand. Devices write
records, never acts; acts never carry what only a device can know, except as witness of what people were
shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recount_host.act import Act, Person
from recount_host.law.counts import LETTERS
from recount_host.law.errors import BadEntry, LedgerContradiction
from recount_protocol.fates import BINS, RETURNED
from recount_protocol.fields import Field, FieldError, Fields, check_fields
from recount_protocol.records import MODES

MAX_SHEETS = 10_000_000
"""No precinct holds more sheets; a number above is a slip of the keyboard."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of act."""

    says: str
    """The sentence for auditors."""
    fields: Fields
    """Its fields with their types and bounds."""
    two_persons: bool = False
    """Whether two persons of different sides must do it together."""
    figures: tuple[str, ...] = ()
    """Its fields that are figures: no log shows them before they may be shown."""


_WORD = Field(str, 1, 64)
_DEVICE = Field(str, 16, 16)
_DEVICE_OR_NONE = Field(str, 16, 16, or_empty=True)
_TEXT = Field(str, 1, 500)
_SHEETS = Field(int, 0, MAX_SHEETS)
_SHEETS_BY_WORD = Field(dict, 0, 1000, item=_SHEETS)
_HASH = Field(bytes, 32, 32)
_WORDS = Field(list, 0, 1000, item=_WORD)
_BATCH = Field(int, 1, 2**32 - 1)
_SHEET = Field(int, 1, 2**32 - 1)
_PILE = Field(str, 0, 0, choices=BINS)

KINDS: Mapping[str, Kind] = {
    "order_set": Kind(
        "The host works under this order of the recount court; its text is kept whole.",
        {"toml": Field(bytes, 1, 200_000), "sha256": _HASH},
    ),
    "program_added": Kind(
        "This contest program was taken into the ledger; devices may be given it.",
        {
            "program": _HASH,
            "contest": _WORD,
            "title": _TEXT,
            "vote_for": Field(int, 1, 50),
            "options": Field(list, 1, 500, item=Field(dict, 3, 3)),
        },
    ),
    "run_assigned": Kind(
        "This device is to scan the ballots of this precinct with this program.",
        {
            "run": _WORD,
            "precinct": _WORD,
            "device": _DEVICE,
            "program": _HASH,
            "contest": _WORD,
            "mode": Field(str, 0, 0, choices=MODES),
        },
    ),
    "run_ended": Kind(
        "This device is done with this precinct; it is told to close the run.",
        {"precinct": _WORD, "run": _WORD, "device": _DEVICE},
    ),
    "batch_void_ordered": Kind(
        "Both sides together declared this batch void before any figure was shown; it counts "
        "nothing, and is kept.",
        {"precinct": _WORD, "run": _WORD, "device": _DEVICE, "batch": _BATCH, "reason": _TEXT},
        two_persons=True,
    ),
    "doubt_settled_ordered": Kind(
        "Both sides together say where this sheet lies, which the device had judged and not seen land.",
        {
            "precinct": _WORD,
            "run": _WORD,
            "device": _DEVICE,
            "batch": _BATCH,
            "sheet": _SHEET,
            "fate": Field(str, 0, 0, choices=(*BINS, RETURNED)),
        },
        two_persons=True,
    ),
    "scanning_finished": Kind(
        "All sheets of the precinct went through; the records up to these numbers are what the "
        "scanners report.",
        {
            "precinct": _WORD,
            "heads": Field(dict, 0, 1000, item=Field(int, 0, 2**53)),
            "head_sha256": Field(dict, 0, 1000, item=_HASH),
        },
        # A sheet is two records: their number tells the stack to whoever still has to count it blind.
        figures=("heads",),
    ),
    "count_entered": Kind(
        "One person, alone and not shown any other figure, counted sheets by hand and entered their number.",
        {
            "precinct": _WORD,
            "letter": Field(str, 0, 0, choices=tuple(LETTERS)),
            "value": _SHEETS,
            "attempt": Field(int, 1, 99),
        },
        figures=("value",),
    ),
    "identities_told": Kind(
        "The host compared people's counts with the scanners' and said only which identities "
        "hold and which fail.",
        {
            "precinct": _WORD,
            "attempt": Field(int, 1, 2),
            "held": _WORDS,
            "failed": _WORDS,
            "disarmed": _WORDS,
        },
    ),
    "sheet_moved": Kind(
        "Both sides together found a sheet in the wrong pile by its notice and laid it into the right one.",
        {
            "precinct": _WORD,
            "device": _DEVICE_OR_NONE,
            "batch": Field(int, 0, 2**32 - 1),
            "sheet": Field(int, 0, 2**32 - 1),
            "from_pile": _PILE,
            "to_pile": _PILE,
        },
        two_persons=True,
    ),
    "figures_shown": Kind(
        "The figures were shown for the first time; from here on no count is entered and nothing "
        "is run again.",
        {
            "precinct": _WORD,
            "outcome": Field(str, 0, 0, choices=("reconciled", "hand_count")),
            "counted": _SHEETS,
            "set_aside": _SHEETS,
            "not_accepted": _SHEETS,
            "votes": _SHEETS_BY_WORD,
        },
        figures=("counted", "set_aside", "not_accepted", "votes"),
    ),
    "hand_count_entered": Kind(
        "A team of both sides counted the ballots by hand and entered the outcome of each "
        "ballot, once through.",
        {"precinct": _WORD, "pass": Field(int, 1, 99), "outcomes": _SHEETS_BY_WORD},
        two_persons=True,
        figures=("outcomes",),
    ),
    "statement_printed": Kind(
        "The precinct's statement was printed; these are the hashes of its file and of the facts on it.",
        {"precinct": _WORD, "sha256": _HASH, "facts_sha256": _HASH},
    ),
}


def check_act(kind: str, by: Sequence[Person], body: Mapping[str, Any]) -> None:
    """Raise BadEntry unless `body` holds exactly the fields of `kind`, each within its bounds."""
    if kind not in KINDS:
        raise BadEntry(f'there is no act of kind "{kind}"')
    if not by:
        raise BadEntry('say who does this: --by "name, role, side"')
    try:
        check_fields(body, KINDS[kind].fields)
    except FieldError as error:
        raise BadEntry(f"{kind}: {error}") from error


def check_stored(act: Act) -> None:
    """Raise LedgerContradiction when an act that is stored is none of the table."""
    try:
        check_act(act.kind, act.by, act.body)
    except BadEntry as error:
        raise LedgerContradiction(f"act {act.n} is none that this program writes: {error}") from error
