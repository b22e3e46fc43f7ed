"""The order profile: what the recount court's order says, as a text file that the host is started with.

contest = "governor"               # key of the contest in the contest program
title = "Governor"
locality = "Fairview County"
vote_for = 1
[[side]]                           # a party to the recount: the option's key, the name on forms
key = "D"
name = "Josiah Bartlett"
[[precinct]]
id = "101"
name = "Courthouse"
kind = "election_day"              # may be left out, as everything below; the words are PRECINCT_KINDS

citation = "§ 24.2-802.2"
court = "Circuit Court of Fairview County"
office_class = "governor"          # the words are OFFICE_CLASSES; left out: the court says what follows a tie
standards = "Ballot Examples, State Board of Elections, 2020"
teams = 4                          # teams of recount officials; 0: the court has not fixed their number
stack_counted = "before_feeding"   # when people count H; or "before_reconciling"
run_again = "before_identities"    # until when both sides may void a batch; or "before_figures"
rerun_is = "H - x"                 # what R, the ballots rerun, includes; or "H"
pollbook = "ballots"               # what is held against the names on the pollbook; or "votes"
[retention]                        # shown, never enforced by deleting anything
contest_days = 10
ballots_months = 12
statements_months = 24

(TOML wants every key without a table of its own before the first [[side]].) The defaults are the readings
that docs/statute.md gives; the court's procedural order (§ 24.2-802.1) may choose the other word.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec

from recount_host.act import Act
from recount_host.errors import OperatorError
from recount_host.given_files import read_given
from recount_host.law import DEFAULT_SECTION
from recount_host.law.acts import check_stored
from recount_host.law.errors import LedgerContradiction
from recount_host.misfits import in_words
from recount_host.signatures import signatures_in
from recount_protocol.records import TEST_PRECINCT

MAX_ORDER_BYTES = 200_000
"""A locality has at most a few hundred precincts of some fifty bytes each."""

OfficeClass = Literal[
    "", "governor", "lieutenant_governor", "attorney_general", "presidential_electors", "office", "primary",
    "question",
]  # fmt: skip
OFFICE_CLASSES: tuple[str, ...] = tuple(word for word in get_args(OfficeClass) if word)
"""H: which law governs a tie hangs on them."""

PrecinctKind = Literal["election_day", "early", "absentee", "post_election", "provisional"]
PRECINCT_KINDS: tuple[str, ...] = get_args(PrecinctKind)
"""§ 24.2-101: a central absentee voter precinct is a precinct; each group of its ballots is one here."""

_Word = Annotated[str, msgspec.Meta(min_length=1, max_length=32, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.\-]*\Z")]
_Line = Annotated[str, msgspec.Meta(min_length=1, max_length=120)]


class OrderError(OperatorError):
    """The order profile is missing, not readable, or says something impossible."""


class Side(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A party to the recount: a candidate, or one answer to a question."""

    key: _Word
    name: _Line


class Precinct(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A precinct whose ballots are recounted, as the order lists it."""

    id: _Word
    name: _Line
    kind: PrecinctKind = "election_day"


_Months = Annotated[int, msgspec.Meta(ge=1, le=1200)]


class Retention(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long things are kept; shown to people, and nothing is ever deleted by it."""

    contest_days: Annotated[int, msgspec.Meta(ge=1, le=3650)] = 10
    """§ 24.2-814: the loser of a recount may contest the election so long."""
    ballots_months: _Months = 12
    """§ 24.2-669: 24 where a federal office was on the ballot."""
    statements_months: _Months = 24


class Order(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"sides": "side", "precincts": "precinct"}
):
    """The recount court's order, as far as the host acts on it."""

    contest: _Word
    title: _Line
    locality: _Line
    vote_for: Annotated[int, msgspec.Meta(ge=1, le=50)]
    sides: Annotated[tuple[Side, ...], msgspec.Meta(min_length=2, max_length=50)]
    precincts: Annotated[tuple[Precinct, ...], msgspec.Meta(min_length=1, max_length=5000)]
    citation: _Line = DEFAULT_SECTION
    court: _Line | None = None
    office_class: OfficeClass = ""
    """H. Without it nothing is said of what follows a tie."""
    standards: _Line = "Standards of the State Board under § 24.2-802, edition not named in the order"
    """D 2 s. 2: by which edition the officials read marks."""
    teams: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 0
    stack_counted: Literal["before_feeding", "before_reconciling"] = "before_feeding"
    """When people count H: a count before feeding also finds what never came out of the feeder."""
    run_again: Literal["before_identities", "before_figures"] = "before_identities"
    """D 2 s. 3: until when both sides together may void a batch and feed it again."""
    rerun_is: Literal["H - x", "H"] = "H - x"
    """D 2 s. 3: whether R leaves out the not accepted, which have a hand count of their own (D 2 s. 2)."""
    pollbook: Literal["ballots", "votes"] = "ballots"
    """E s. 4: what is held against the names on the pollbook, as a note."""
    retention: Retention = Retention()

    @property
    def side_keys(self) -> tuple[str, ...]:
        """Return the keys of the parties to the recount, in the order's sequence."""
        return tuple(side.key for side in self.sides)

    def precinct(self, precinct_id: str) -> Precinct:
        """Return the precinct with this id. Raises OrderError that names the ids there are."""
        for precinct in self.precincts:
            if precinct.id == precinct_id:
                return precinct
        known = ", ".join(precinct.id for precinct in self.precincts[:8])
        more = ", ..." if len(self.precincts) > 8 else ""
        raise OrderError(f'the order has no precinct "{precinct_id}": its precincts are {known}{more}')


def parse_order(text: str) -> Order:
    """Return the order that the TOML `text` holds. Raises OrderError with the place of the fault."""
    try:
        order = msgspec.toml.decode(text, type=Order)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeError, RecursionError) as error:
        raise OrderError(f"the order profile does not fit: {in_words(error)}") from error
    _refuse_unprintable(order)
    _refuse_repeats("side", [side.key for side in order.sides])
    _refuse_repeats("precinct", [precinct.id for precinct in order.precincts])
    _refuse_test_precinct(order)
    return order


def read_order_text(path: Path) -> str:
    """Return the text of the order file at `path`. Raises OrderError when it cannot be read."""
    data = read_given(path, "the order profile", MAX_ORDER_BYTES, OrderError)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise OrderError(f"the order profile {path} is not a text file in UTF-8") from error


def read_order(path: Path) -> Order:
    """Return the order in the file at `path`. Raises OrderError that names the file."""
    try:
        return parse_order(read_order_text(path))
    except OrderError as error:
        raise OrderError(str(error) if str(path) in str(error) else f"{path}: {error}") from error


def order_hash(text: str) -> bytes:
    """Return the SHA-256 of the order's text, which every form carries."""
    return hashlib.sha256(text.encode("utf-8")).digest()


def order_signers(acts: Iterable[Act]) -> tuple[str, ...]:
    """Return who signed the order that the ledger works under, each with the fingerprint of the key.

    Raises SignatureError for a signature that is none.
    """
    return tuple(
        f"{signature.name}, key {signature.fingerprint}"
        for act in acts
        if act.kind == "order_set"
        for signature in signatures_in(act.body["signatures"])
    )


def order_text_of(acts: Iterable[Act]) -> str | None:
    """Return the text of the order that the ledger works under, or None before it has one.

    It may have been set more than once, with more signatures. Raises LedgerContradiction when an act that
    holds it is damaged, or holds another.
    """
    texts: set[bytes] = set()
    for act in acts:
        if act.kind == "order_set":
            check_stored(act)
            texts.add(bytes(act.body["toml"]))
    if len(texts) > 1:
        raise LedgerContradiction("this ledger holds two different orders: no step of it was done under one")
    try:
        return next((text.decode("utf-8") for text in texts), None)
    except UnicodeDecodeError as error:
        raise LedgerContradiction("the order in this ledger is not a text in UTF-8") from error


def order_of(acts: Iterable[Act]) -> Order:
    """Return the order that the ledger works under. Raises OrderError before it has one."""
    text = order_text_of(acts)
    if text is None:
        raise OrderError(
            "this ledger has no order yet: give it one with `recount-host order set ORDER.toml --data DIR`"
        )
    return parse_order(text)


def _refuse_repeats(what: str, keys: list[str]) -> None:
    for key in keys:
        if keys.count(key) > 1:
            raise OrderError(f'the order profile names {what} "{key}" twice')


def _refuse_test_precinct(order: Order) -> None:
    """Raise OrderError for a precinct whose runs would be taken for tests."""
    if any(precinct.id == TEST_PRECINCT for precinct in order.precincts):
        raise OrderError(
            f'the order profile names a precinct "{TEST_PRECINCT}": tests of devices are recorded under that '
            "id; give the precinct another"
        )


def _refuse_unprintable(order: Order) -> None:
    """Raise OrderError for a text that a form or a terminal cannot show as it is."""
    names = [entry.name for entry in (*order.sides, *order.precincts)]
    for line in (order.citation, order.title, order.locality, order.court or "", order.standards, *names):
        for letter in line:
            if not letter.isprintable():
                raise OrderError(
                    f"{line!r} in the order profile holds U+{ord(letter):04X}, which does not print"
                )
