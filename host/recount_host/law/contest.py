"""The contest as the act `program_added` holds it: its options and N, enough to read every figure by."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from recount_host.act import Act
from recount_host.law.acts import check_stored
from recount_host.law.errors import BadEntry, LedgerContradiction, NotAllowed
from recount_host.law.persons import letters_of, parse_person
from recount_host.order import Order
from recount_host.signatures import SignatureError, signatures_in
from recount_protocol.fields import Field, FieldError, check_fields

_OPTION_WORDS = {"key": Field(str, 1, 200), "name": Field(str, 0, 500)}


@dataclass(frozen=True, slots=True)
class Option:
    """One option of the contest."""

    key: str
    name: str
    write_in: bool


@dataclass(frozen=True, slots=True)
class Contest:
    """What one contest program counts."""

    program: bytes
    key: str
    title: str
    vote_for: int
    options: tuple[Option, ...]
    signed_by: tuple[str, ...] = ()
    """Who signed the program, as "name, role, side"."""

    @property
    def printed(self) -> tuple[Option, ...]:
        """Return the options whose names are printed on the ballot."""
        return tuple(option for option in self.options if not option.write_in)


def contest_of(act: Act) -> Contest:
    """Return the contest that an act `program_added` holds. Raises LedgerContradiction when it is damaged."""
    check_stored(act)
    body = act.body
    try:
        options = tuple(map(_option, body["options"]))
        signed_by = tuple(signature.name for signature in signatures_in(body["signatures"]))
    except (FieldError, SignatureError) as error:
        raise LedgerContradiction(f"act {act.n} is none that this program writes: {error}") from error
    return Contest(body["program"], body["contest"], body["title"], body["vote_for"], options, signed_by)


def _option(entry: Mapping[str, Any]) -> Option:
    """Return an option as the act holds it. Raises FieldError for anything else."""
    words = {name: value for name, value in entry.items() if name != "write_in"}
    check_fields(words, _OPTION_WORDS)
    write_in = entry.get("write_in")
    if not isinstance(write_in, bool):
        raise FieldError("an option does not say whether it is a write-in")
    return Option(words["key"], words["name"], write_in)


def contests_of(acts: Iterable[Act]) -> Mapping[bytes, Contest]:
    """Return every contest program in the ledger by its hash, each as it was added last."""
    return {act.body["program"]: contest_of(act) for act in acts if act.kind == "program_added"}


def check_signed(signed_by: Iterable[str], order: Order) -> None:
    """Raise NotAllowed unless two persons of different sides signed the program: they proved it together.

    Nothing less may count: the law asks that each scanner is programmed to count only the votes for the
    parties in question (D 2 s. 1), and the two sides answer for it.
    """
    sides: dict[str, str] = {}
    for name in signed_by:
        person = parse_person(name)
        if person.side in order.side_keys:
            sides.setdefault(letters_of(person.name), person.side)
    if len(set(sides.values())) < 2:
        who = "; ".join(signed_by) or "nobody"
        raise NotAllowed(
            f"this contest program is signed by {who}: one person of each side proves and signs it first "
            '(program proof, program sign --name "Ann Lee, official, D"), then program add'
        )


def check_fits_order(contest: Contest, order: Order) -> None:
    """Raise BadEntry unless the program counts what the order says (D 2 s. 1: only the issue in question)."""
    if contest.key != order.contest:
        raise BadEntry(
            f'this program counts the contest "{contest.key}", the order is about "{order.contest}"'
        )
    if contest.vote_for != order.vote_for:
        raise BadEntry(
            f"this program says vote for {contest.vote_for}, the order says vote for "
            f"{order.vote_for}: build it again"
        )
    _check_keys(contest)
    _check_names(contest, order)
    keys = {option.key for option in contest.options}
    for side in order.sides:
        if side.key not in keys:
            raise BadEntry(
                f'this program has no option "{side.key}", which the order names as a side: build it again'
            )


_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,31}")
NO_OPTION = frozenset({"no_vote", "overvote", "other_write_in", "excluded", "challenged"})
"""Words of the hand count: an option called so would lose its votes there."""


def _check_keys(contest: Contest) -> None:
    keys = [option.key for option in contest.options]
    for key in keys:
        if not _KEY.fullmatch(key) or key in NO_OPTION or keys.count(key) > 1:
            raise BadEntry(
                f'this program has an option with the key "{key}", which cannot be one: build it again'
            )


def _check_names(contest: Contest, order: Order) -> None:
    """Raise BadEntry where order and program give one name to two keys: all votes would be exchanged."""
    keys = {letters_of(option.name): option.key for option in contest.printed}
    for side in order.sides:
        key = keys.get(letters_of(side.name), side.key)
        if key != side.key:
            raise BadEntry(
                f'"{side.name}" is option "{key}" in this program, but side "{side.key}" in the order: '
                "the votes would be exchanged; build the program with the keys of the order"
            )
