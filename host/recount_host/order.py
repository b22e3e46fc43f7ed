"""The order profile: what the recount court's order says, as a text file that the host is started with.

citation = "§ 24.2-802.2"          # may be left out
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
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import msgspec

from recount_host.act import Act
from recount_host.errors import OperatorError
from recount_host.law import DEFAULT_SECTION
from recount_host.law.acts import check_stored

MAX_ORDER_BYTES = 200_000
"""A locality has at most a few hundred precincts of some fifty bytes each."""

_Word = Annotated[str, msgspec.Meta(min_length=1, max_length=32, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.\-]*$")]
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
        raise OrderError(f"the order profile does not fit: {error}") from error
    _refuse_unprintable(order)
    _refuse_repeats("side", [side.key for side in order.sides])
    _refuse_repeats("precinct", [precinct.id for precinct in order.precincts])
    return order


def read_order_text(path: Path) -> str:
    """Return the text of the order file at `path`. Raises OrderError when it cannot be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise OrderError(f"the order profile {path} cannot be read: {error.strerror}") from error
    if len(data) > MAX_ORDER_BYTES:
        raise OrderError(
            f"the order profile {path} is longer than {MAX_ORDER_BYTES} bytes: name the right file"
        )
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


def order_text_of(acts: Iterable[Act]) -> str | None:
    """Return the text of the order that the ledger works under, or None before it has one.

    Raises LedgerContradiction when the act that holds it is damaged.
    """
    for act in acts:
        if act.kind == "order_set":
            check_stored(act)
            return bytes(act.body["toml"]).decode("utf-8")
    return None


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


def _refuse_unprintable(order: Order) -> None:
    """Raise OrderError for a text that a form or a terminal cannot show as it is."""
    names = [entry.name for entry in (*order.sides, *order.precincts)]
    for line in (order.citation, order.title, order.locality, *names):
        for letter in line:
            if not letter.isprintable():
                raise OrderError(
                    f"{line!r} in the order profile holds U+{ord(letter):04X}, which does not print"
                )
