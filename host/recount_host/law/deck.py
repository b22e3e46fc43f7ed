"""A logic-and-accuracy deck: its sheets in the order of feeding, and what a right scanner makes of each.

D 2 s. 4: logic and accuracy tests after programming and before the rerun. The deck is written as a TOML file;
whoever composed it said what is right, by rule and never by reading the sheets.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import msgspec

from recount_host.errors import OperatorError
from recount_protocol.fates import COUNTED, NOT_ACCEPTED, RETURNED, SET_ASIDE

MAX_DECK_BYTES = 4_000_000
MARGINAL = "marginal"
"""What stands in a deck for any of the reasons that begin so: which of them a hand's mark meets is chance."""

WRONG_STYLE = "wrong_style"
OTHER_BALLOT = frozenset({WRONG_STYLE, "other_contest", "names_exchanged", "name_changed"})
"""Reasons for which a ballot of another style is not accepted: how alike the two are decides which it is."""

READ_BEFORE = "read_before"
"""Why a sheet that is fed a second time is given back: the device has found that it was read already."""

_Word = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
_Line = Annotated[str, msgspec.Meta(max_length=200)]
_Hash = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class DeckError(OperatorError):
    """A file that is no deck."""


class DeckSheet(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One sheet of a deck."""

    code: _Word
    """What its overlay prints beside TEST; also the name of its picture."""
    style: _Word
    what: _Line
    """How the sheet is marked, in words."""
    fate: Annotated[str, msgspec.Meta(pattern=f"^({COUNTED}|{SET_ASIDE}|{NOT_ACCEPTED}|{RETURNED})$")]
    """Returned is what becomes of a sheet that is fed a second time, and of no other."""
    choices: tuple[_Word, ...] = ()
    reasons: tuple[_Word, ...] = ()
    """All of them, without order; "marginal" stands for any marginal reason."""
    comes_back: _Line = ""
    """For what it comes back first, before it is fed again and lands; empty where it does not."""
    turned: bool = False
    """Fed upside down."""
    face_down: bool = False
    """Fed with the contest's side down: a device without a camera below gives it back to be turned over."""
    test_mark: bool = True
    """Whether it bears TEST; one sheet of each style does not, and must not be accepted."""
    again: Annotated[str, msgspec.Meta(max_length=64)] = ""
    """The code of the sheet before it that this is, fed a second time; empty for a sheet of its own."""
    front: _Line = ""
    """The picture of the side with the contest, beside the deck's file, for a simulated device."""
    back: _Line = ""
    """The picture of its other side, where it is looked at."""
    length_mm: float = 279.4
    fault: dict[str, Any] = {}
    """What the paper does in the feeder of a simulated device."""


class Deck(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename={"sheets": "sheet"}
):
    """A deck for one contest program."""

    title: _Line
    contest: _Word
    program: _Hash
    options: tuple[_Word, ...]
    """The keys of the printed options, in the ballot's order."""
    sheets: Annotated[tuple[DeckSheet, ...], msgspec.Meta(min_length=1, max_length=20_000)]
    """In the order of feeding; a sheet that is fed twice stands there twice."""

    @property
    def papers(self) -> tuple[DeckSheet, ...]:
        """Return the sheets of paper, each once."""
        return tuple(sheet for sheet in self.sheets if not sheet.again)


class Totals(msgspec.Struct, frozen=True):
    """What a deck comes to."""

    counted: int
    set_aside: int
    not_accepted: int
    read_before: int
    """Sheets that the device told as fed a second time: they count nowhere."""
    votes: Mapping[str, int]
    set_aside_reasons: Mapping[str, int]
    not_accepted_reasons: Mapping[str, int]


def parse_deck(text: bytes) -> Deck:
    """Return the deck in a TOML text. Raises DeckError in one sentence."""
    if len(text) > MAX_DECK_BYTES:
        raise DeckError(f"it has more than {MAX_DECK_BYTES} bytes")
    try:
        deck = msgspec.toml.decode(text, type=Deck)
    except msgspec.ValidationError as error:
        raise DeckError(str(error)) from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise DeckError(f"it is not TOML: {error}") from error
    codes = Counter(sheet.code for sheet in deck.sheets)
    for code, number in codes.items():
        if number > 1:
            raise DeckError(f"sheet {code} stands there {number} times")
    known: set[str] = set()
    for sheet in deck.sheets:
        if (sheet.fate == COUNTED) != (not sheet.reasons):
            raise DeckError(f"sheet {sheet.code}: a sheet has reasons exactly when it is not counted")
        if (sheet.fate == RETURNED) != bool(sheet.again):
            raise DeckError(f"sheet {sheet.code}: a sheet is returned exactly when it is fed a second time")
        if sheet.again and sheet.again not in known:
            raise DeckError(f"sheet {sheet.code}: no sheet {sheet.again} goes before it")
        known.add(sheet.code)
    return deck


def deck_text(deck: Deck) -> str:
    """Return the TOML text of a deck, which `parse_deck` reads again."""
    fields: dict[str, Any] = msgspec.to_builtins(deck)
    sheets = fields.pop("sheet")
    return _lines(fields) + "".join(f"\n[[sheet]]\n{_lines(sheet)}" for sheet in sheets)


def _lines(fields: Mapping[str, Any]) -> str:
    return "".join(f"{key} = {_value(value)}\n" for key, value in fields.items())


def _value(value: Any) -> str:
    """Return a value as TOML; text, numbers, flags and lists are written as in JSON."""
    if isinstance(value, dict):
        entries: Mapping[str, Any] = value
        return "{ " + ", ".join(f"{key} = {_value(entry)}" for key, entry in entries.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def reason_class(reason: str) -> str:
    """Return how a deck names a reason."""
    if reason in OTHER_BALLOT:
        return WRONG_STYLE
    return MARGINAL if reason.startswith(f"{MARGINAL}_") else reason


def classes_of(reasons: Iterable[str]) -> tuple[str, ...]:
    """Return the reasons as a deck names them, each once, sorted."""
    return tuple(sorted({reason_class(reason) for reason in reasons}))


def totals_of(sheets: Sequence[tuple[str, Sequence[str], Sequence[str]]]) -> Totals:
    """Return what sheets come to; each is (fate, choices, reasons)."""
    fates = Counter(fate for fate, _, _ in sheets)
    votes = Counter(key for fate, choices, _ in sheets if fate == COUNTED for key in choices)
    reasons = {
        kind: Counter(reason for fate, _, own in sheets if fate == kind for reason in classes_of(own))
        for kind in (SET_ASIDE, NOT_ACCEPTED)
    }
    return Totals(
        fates[COUNTED],
        fates[SET_ASIDE],
        fates[NOT_ACCEPTED],
        fates[RETURNED],
        dict(sorted(votes.items())),
        dict(sorted(reasons[SET_ASIDE].items())),
        dict(sorted(reasons[NOT_ACCEPTED].items())),
    )


def lacking(deck: Deck, printed: Iterable[str]) -> tuple[str, ...]:
    """Return what a deck proves nothing of although it must, in words; nothing of a whole one.

    `printed`: the keys of the program's printed options.
    """
    totals = expected_totals(deck)
    found = {f"no sheet that counts for {key}": totals.votes.get(key, 0) for key in printed}
    found["no sheet that is set aside"] = totals.set_aside
    found["no sheet that is not accepted"] = totals.not_accepted
    found["no sheet that is fed twice"] = totals.read_before
    return tuple(words for words, number in found.items() if not number)


def expected_totals(deck: Deck) -> Totals:
    """Return what a right scanner makes of the deck."""
    return totals_of([(sheet.fate, sheet.choices, sheet.reasons) for sheet in deck.sheets])
