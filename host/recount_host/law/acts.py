"""What people can do, as one table: each kind of act with its meaning, its fields, their types and bounds.

The sentence of each kind is written for an auditor who reads the log with nothing else at hand. Devices write
records, never acts; acts never carry what only a device can know, except as witness of what people were
shown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recount_host.act import Act, Person
from recount_host.law.challenges import GROUNDS, QUESTIONED_PILES
from recount_host.law.conclusion import ANSWERS
from recount_host.law.counts import LETTERS
from recount_host.law.court_words import COURT_FORMS, INSPECTED, PARTS, PRECINCT_FORMS
from recount_host.law.custody import CONTENTS, COUNTED_CONTENTS, EXCLUDED, SEALED_AGAIN, SEALS, STREAMS
from recount_host.law.errors import BadEntry, LedgerContradiction
from recount_host.law.piles import PILES
from recount_host.law.signed_papers import SCAN_TYPES
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
_WORDS_OF_PERSON = Field(list, 3, 3, item=Field(str, 0, 80))
_SHEETS = Field(int, 0, MAX_SHEETS)
_SHEETS_BY_WORD = Field(dict, 0, 1000, item=_SHEETS)
_HASH = Field(bytes, 32, 32)
_WORDS = Field(list, 0, 1000, item=_WORD)
_BATCH = Field(int, 1, 2**32 - 1)
_SHEET = Field(int, 1, 2**32 - 1)
_PILE = Field(str, 0, 0, choices=BINS)
_SCAN = {"sha256": _HASH, "type": Field(str, 0, 0, choices=SCAN_TYPES), "pages": Field(int, 1, 1000)}

KINDS: Mapping[str, Kind] = {
    "order_set": Kind(
        "The host works under this order of the recount court; its text is kept whole.",
        {
            "toml": Field(bytes, 1, 200_000),
            "sha256": _HASH,
            "signatures": Field(list, 0, 50, item=Field(dict, 3, 3)),
        },
    ),
    "official_sworn": Kind(
        "This person took the oath and stands on the roster, for a side or for none, as the court let the "
        "parties choose.",
        {"person": _WORDS_OF_PERSON, "before": _TEXT},
    ),
    "program_added": Kind(
        "This contest program was taken into the ledger with the signatures of those who proved it; devices "
        "may be given it.",
        {
            "program": _HASH,
            "contest": _WORD,
            "title": _TEXT,
            "vote_for": Field(int, 1, 50),
            "options": Field(list, 1, 500, item=Field(dict, 3, 3)),
            "signatures": Field(list, 0, 50, item=Field(dict, 3, 3)),
        },
    ),
    "device_enrolled": Kind(
        "Both sides together compared the words of this device's key on two screens and found them the same; "
        "records that this key signed are taken from here on.",
        {"device": _DEVICE, "name": _WORD, "public_key": _HASH, "words": _TEXT},
        two_persons=True,
    ),
    "device_revoked": Kind(
        "Both sides together took this device out of the recount; nothing more that its key signs is taken.",
        {"device": _DEVICE, "name": _WORD, "reason": _TEXT},
        two_persons=True,
    ),
    "test_assigned": Kind(
        "This device is to run this logic-and-accuracy deck with this program, before it counts.",
        {
            "run": _WORD,
            "device": _DEVICE,
            "program": _HASH,
            "contest": _WORD,
            "deck": Field(bytes, 1, 4_000_000),
        },
    ),
    "test_doubt_settled": Kind(
        "Both sides together saw that the sheet of a test about which the device asked is the very sheet "
        "that it had read before: it was fed twice, and counts once.",
        {
            "run": _WORD,
            "device": _DEVICE,
            "batch": _BATCH,
            "sheet": _SHEET,
            "fate": Field(str, 0, 0, choices=(RETURNED,)),
        },
        two_persons=True,
    ),
    "test_ended": Kind(
        "The logic-and-accuracy test on this device is over; it is told to close the run.",
        {"run": _WORD, "device": _DEVICE},
    ),
    "device_armed": Kind(
        "Both sides together saw the deck come out exactly as it must on this device, and signed its "
        "certificate: with this program, thresholds, software and firmware, and no other, it may count live "
        "sheets.",
        {
            "run": _WORD,
            "device": _DEVICE,
            "program": _HASH,
            "thresholds": _HASH,
            "thresholds_told": Field(str, 1, 4000),
            "software": Field(str, 1, 1000),
            "firmware": Field(str, 1, 1000),
            "deck_sha256": _HASH,
            "sha256": _HASH,
        },
        two_persons=True,
    ),
    "zero_report_printed": Kind(
        "A report was printed that this armed device stood at zero; its records up to this number were seen.",
        {"device": _DEVICE, "program": _HASH, "head_n": Field(int, 1, 2**53), "sha256": _HASH},
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
        "A team of both sides counted the ballots of one pile by hand and entered the outcome of each "
        "ballot, once through; the standards are the edition that they read the marks by.",
        {
            "precinct": _WORD,
            "pile": Field(str, 0, 0, choices=tuple(PILES)),
            "pass": Field(int, 1, 99),
            "outcomes": _SHEETS_BY_WORD,
            "standards": _TEXT,
        },
        two_persons=True,
        figures=("outcomes",),
    ),
    "device_withdrawn": Kind(
        "Both sides together took this device out of the precinct: all that it recorded of it counts "
        "nothing, and is kept; its sheets are gathered and fed on another device.",
        {"precinct": _WORD, "device": _DEVICE, "reason": _TEXT},
        two_persons=True,
    ),
    "hand_count_ordered": Kind(
        "Both sides together sent all ballots of the precinct cast on scanners to the hand count, because no "
        "scanner can give a total that stands; what scanners recorded counts nothing, and is kept.",
        {"precinct": _WORD, "reason": _TEXT},
        two_persons=True,
    ),
    "container_received": Kind(
        "Custody in: both sides took this container from the clerk, and saw its seal and label.",
        {
            "precinct": _WORD,
            "container": _WORD,
            "holds": Field(str, 0, 0, choices=tuple(CONTENTS)),
            "seal": Field(str, 0, 64),
            "seal_was": Field(str, 0, 0, choices=SEALS),
            "stated": Field(list, 0, 1, item=_SHEETS),
            "from": _TEXT,
        },
        two_persons=True,
        figures=("stated",),
    ),
    "container_opened": Kind(
        "Both sides together opened this container, to count its ballots.",
        {"precinct": _WORD, "container": _WORD},
        two_persons=True,
    ),
    "container_not_found": Kind(
        "Both sides together declared that this container cannot be found; nothing is topped up for it.",
        {
            "precinct": _WORD,
            "container": _WORD,
            "holds": Field(str, 0, 0, choices=tuple(COUNTED_CONTENTS)),
            "stated": Field(list, 0, 1, item=_SHEETS),
            "reason": _TEXT,
        },
        two_persons=True,
        figures=("stated",),
    ),
    "ballots_not_found": Kind(
        "Both sides together declared that the ballots of this stream cannot be found: the statement of "
        "results of the election stands in for them.",
        {"precinct": _WORD, "stream": Field(str, 0, 0, choices=STREAMS), "reason": _TEXT},
        two_persons=True,
    ),
    "container_sorted": Kind(
        "Both sides together sorted out of this container the ballots that lack the contest, without "
        "counting any vote.",
        {"precinct": _WORD, "container": _WORD, "out_of_scope": _SHEETS},
        two_persons=True,
    ),
    "excluded_recorded": Kind(
        "Both sides together found ballots among the others that are no part of the recount, and laid them "
        "apart, not fed and not counted.",
        {
            "precinct": _WORD,
            "kind": Field(str, 0, 0, choices=tuple(EXCLUDED)),
            "ballots": Field(int, 1, MAX_SHEETS),
            "where": _TEXT,
        },
        two_persons=True,
    ),
    "container_resealed": Kind(
        "Custody out: both sides sealed these ballots again and gave them into custody.",
        {
            "precinct": _WORD,
            "container": _WORD,
            "holds": Field(str, 0, 0, choices=SEALED_AGAIN),
            "seal": _WORD,
            "to": _TEXT,
        },
        two_persons=True,
    ),
    "results_keyed": Kind(
        "One person, alone, keyed in the statement of results of the election.",
        {"precinct": _WORD, "figures": _SHEETS_BY_WORD},
        figures=("figures",),
    ),
    "official_substituted": Kind(
        "A recount official left the team; another of the same side may have taken the seat.",
        {"precinct": _WORD, "leaves": _WORDS_OF_PERSON, "comes": _WORDS_OF_PERSON, "reason": _TEXT},
    ),
    "ballot_segregated": Kind(
        "A ballot whose validity is in question was laid into an envelope, apart from its pile.",
        {
            "precinct": _WORD,
            "tag": _WORD,
            "envelope": _WORD,
            "pile": Field(str, 0, 0, choices=QUESTIONED_PILES),
            "counted_as": Field(str, 1, 200),
            "question": _TEXT,
            "device": _DEVICE_OR_NONE,
            "batch": Field(int, 0, 2**32 - 1),
            "sheet": Field(int, 0, 2**32 - 1),
        },
    ),
    "tag_corrected": Kind(
        "Tag or envelope of a segregated ballot had been entered otherwise than they are written on its "
        "envelope; an official entered what stands there. The wrong entry is kept.",
        {"precinct": _WORD, "tag": _WORD, "right_tag": _WORD, "right_envelope": _WORD, "reason": _TEXT},
    ),
    "challenge_stated": Kind(
        "One recount official challenged this ballot in writing: enough to bring it before the court.",
        {
            "precinct": _WORD,
            "tag": _WORD,
            "ground": Field(str, 0, 0, choices=tuple(GROUNDS)),
            "text": Field(str, 1, 4000),
        },
    ),
    "challenge_withdrawn": Kind(
        "The official who had challenged this ballot withdrew the statement; the ballot stays segregated.",
        {"precinct": _WORD, "statement": Field(int, 1, 2**53), "reason": _TEXT},
    ),
    "call_answered": Kind(
        "At the call for challenges this official said whether there is any further question about a ballot.",
        {"precinct": _WORD, "answer": Field(str, 0, 0, choices=ANSWERS)},
    ),
    "precinct_concluded": Kind(
        "All recount officials signed the statement of the precinct: its recount is concluded, for good.",
        {"precinct": _WORD, "sha256": _HASH, "facts_sha256": _HASH},
    ),
    "signed_statement_kept": Kind(
        "The statement that all officials signed in ink was scanned, and the scan was taken into the ledger; "
        "this is the hash of its file.",
        {"precinct": _WORD, **_SCAN},
    ),
    "ballot_proffered": Kind(
        "A ballot that was not segregated before the conclusion was offered; the court may not consider it.",
        {"precinct": _WORD, "text": _TEXT},
    ),
    "court_opened": Kind(
        "All precincts are concluded: the questioned ballots, these and no others, lie before the court.",
        {"ballots": Field(list, 0, 5000, item=Field(list, 2, 2, item=_WORD))},
    ),
    "ballot_heard": Kind(
        "A party was allowed to inspect this questioned ballot, and was heard on it.",
        {
            "precinct": _WORD,
            "tag": _WORD,
            "side": _WORD,
            "inspected": Field(str, 0, 0, choices=INSPECTED),
            "argument": Field(str, 0, 4000),
        },
    ),
    "ballot_ruled": Kind(
        "The court ruled on this questioned ballot; the clerk entered what it ruled, and what the ballot was "
        "counted as before, by the paper and its pile. A finding is where the court wrote that this is "
        "otherwise than the official entered who segregated it.",
        {
            "precinct": _WORD,
            "tag": _WORD,
            "outcome": Field(str, 1, 200),
            "counted_as": Field(str, 1, 200),
            "finding": Field(str, 0, 500),
            "reason": _TEXT,
            "instead_of": Field(int, 0, 2**53),
        },
    ),
    "result_ruled": Kind(
        "The court ruled that the result of this precinct is another, by these votes; the clerk entered it.",
        {
            "precinct": _WORD,
            "part": Field(str, 0, 0, choices=tuple(PARTS)),
            "votes": Field(dict, 1, 100, item=Field(int, -MAX_SHEETS, MAX_SHEETS)),
            "reason": _TEXT,
            "ruling": _TEXT,
        },
    ),
    "certified": Kind(
        "The court signed this certification: the recount is final and everything is sealed.",
        {"version": Field(int, 1, 99), "sha256": _HASH, "facts_sha256": _HASH},
    ),
    "signed_certification_kept": Kind(
        "The certification that the court signed was scanned, and the scan was taken into the ledger; this "
        "is the hash of its file.",
        {"version": Field(int, 1, 99), **_SCAN},
    ),
    "amendment_ordered": Kind(
        "The court ordered a new version of its certification; every earlier version is kept.",
        {"version": Field(int, 2, 99), "order": _TEXT, "reason": _TEXT},
    ),
    "form_printed": Kind(
        "A form of the precinct was printed; these are the hashes of its file and of the facts on it.",
        {
            "precinct": _WORD,
            "form": Field(str, 0, 0, choices=tuple(PRECINCT_FORMS)),
            "sha256": _HASH,
            "facts_sha256": _HASH,
        },
    ),
    "court_form_printed": Kind(
        "A form of the whole locality was printed; these are the hashes of its file and of the facts on it.",
        {"form": Field(str, 0, 0, choices=tuple(COURT_FORMS)), "sha256": _HASH, "facts_sha256": _HASH},
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
