"""The contest as the act `program_added` holds it: its options and N, enough to read every figure by."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from recount_host.act import Act
from recount_host.law.acts import check_stored
from recount_host.law.errors import BadEntry
from recount_host.order import Order


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

    @property
    def printed(self) -> tuple[Option, ...]:
        """Return the options whose names are printed on the ballot."""
        return tuple(option for option in self.options if not option.write_in)


def contest_of(act: Act) -> Contest:
    """Return the contest that an act `program_added` holds. Raises LedgerContradiction when it is damaged."""
    check_stored(act)
    body = act.body
    options = tuple(Option(str(o["key"]), str(o["name"]), o["write_in"] is True) for o in body["options"])
    return Contest(body["program"], body["contest"], body["title"], body["vote_for"], options)


def contests_of(acts: Iterable[Act]) -> Mapping[bytes, Contest]:
    """Return every contest program in the ledger by its hash."""
    return {act.body["program"]: contest_of(act) for act in acts if act.kind == "program_added"}


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
    keys = {option.key for option in contest.options}
    for side in order.sides:
        if side.key not in keys:
            raise BadEntry(
                f'this program has no option "{side.key}", which the order names as a side: build it again'
            )
