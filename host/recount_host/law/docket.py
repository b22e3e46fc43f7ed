"""The docket of questioned ballots as it may be shown: each with what was said and ruled of it (F).

Before the clerk opens it this is a draft: the ballots that would lie on it, if nothing more were segregated.
For whom a ballot was counted is told only once the court has ruled on it: the clerk enters it without seeing
what the official entered.
"""

from dataclasses import asdict, dataclass
from typing import Any

from recount_host.law.certification import PartyVotes, RulingLine, ruling_lines, to_declare, totals
from recount_host.law.challenges import Segregated
from recount_host.law.confirmation import confirmation, counted_as_told
from recount_host.law.court import Court, all_ruled
from recount_host.law.disclosure import challenged, notices, notices_open
from recount_host.law.piles import PILES
from recount_host.law.precinct import PrecinctState
from recount_host.law.rulings import is_in_totals, sides_heard
from recount_host.law.ties import TIE_BRANCHES, is_tied
from recount_host.order import Order

ACCEPTED_PILE = "the ballots that a scanner accepted"


@dataclass(frozen=True, slots=True)
class Said:
    """What a party did with a questioned ballot before the court, and argued."""

    party: str
    inspected: str
    argument: str
    """Empty where it made none."""


@dataclass(frozen=True, slots=True)
class DocketLine:
    """One questioned ballot."""

    precinct: str
    precinct_name: str
    tag: str
    envelope: str
    pile: str
    """Where it comes from, in words."""
    counted_as: str
    """What it was counted as; empty while the docket is a draft, and until the clerk has confirmed it."""
    confirmed: str
    """Who entered what it was counted as, and whether that is confirmed; empty while a draft."""
    in_totals: bool
    """Whether its vote is in the totals until the court rules."""
    question: str
    statements: tuple[tuple[int, str, str, str], ...]
    """(number, who, what, standing) of each."""
    said: tuple[Said, ...]
    not_heard: tuple[str, ...]
    """The parties that the court still has to hear on it."""
    rulings: tuple[RulingLine, ...]
    """Every ruling on it, those that another one replaced too."""
    picture: tuple[str, int] | None
    """Device and record of its picture, where the officials named its notice and notices are open."""

    @property
    def ruling(self) -> RulingLine | None:
        """Return the ruling that stands, None while the court has not ruled."""
        return next((line for line in self.rulings if line.stands), None)


@dataclass(frozen=True, slots=True)
class DocketView:
    """Where the locality is before the court."""

    is_open: bool
    situation: str
    next: str
    not_concluded: tuple[str, ...]
    """The precincts that the docket waits for."""
    lines: tuple[DocketLine, ...]
    unruled: int
    """How many of them the court has not ruled on."""
    on_results: tuple[RulingLine, ...]
    """Rulings on a precinct's result, apart from single ballots."""
    not_considered: tuple[tuple[str, str], ...]
    """Precinct and what was offered after its conclusion."""
    version: int
    is_sealed: bool
    totals: tuple[PartyVotes, ...]
    """The vote for each party; none before every ballot is ruled on."""
    to_declare: tuple[str, ...]
    """What is left for the court to declare, with the branch of a tie; none before."""

    def to_json(self) -> dict[str, Any]:
        """Return the view as plain maps, lists, strings and numbers."""
        return asdict(self)


def docket_view(order: Order, court: Court) -> DocketView:
    """Return the docket as it may be shown now."""
    is_open = court.opened is not None
    ruled = ruling_lines(court)
    situation, following = court.situation
    sums = totals(court) if all_ruled(court) else ()
    declared = to_declare(order, sums) if sums else ()
    if sums and is_tied(court.precincts):
        declared = (*declared, TIE_BRANCHES[order.office_class])
    return DocketView(
        is_open,
        situation,
        following,
        court.not_concluded,
        tuple(_line(state, ballot, ruled, is_open=is_open) for state, ballot in court.docket),
        len(court.unruled),
        tuple(line for line in ruled if not line.tag),
        tuple(
            (state.precinct.id, act.body["text"])
            for state in court.precincts.values()
            for act in state.proffered
        ),
        court.version,
        court.is_sealed,
        sums,
        declared,
    )


def _line(
    state: PrecinctState, ballot: Segregated, ruled: tuple[RulingLine, ...], *, is_open: bool
) -> DocketLine:
    names = {side.key: side.name for side in state.order.sides}
    heard = sides_heard(state.heard, ballot.tag)
    return DocketLine(
        state.precinct.id,
        state.precinct.name,
        ballot.tag,
        ballot.envelope,
        PILES.get(ballot.pile, ACCEPTED_PILE),
        counted_as_told(state.rulings, ballot) if is_open else "",
        confirmation(state.rulings, ballot) if is_open else "",
        is_in_totals(ballot),
        ballot.question_and_corrections,
        next(shown.statements for shown in challenged(state) if shown.tag == ballot.tag),
        tuple(
            Said(names[entry.side], entry.inspected, entry.argument)
            for entry in state.heard
            if entry.tag == ballot.tag
        ),
        tuple(name for key, name in names.items() if key not in heard),
        tuple(line for line in ruled if (line.precinct, line.tag) == (state.precinct.id, ballot.tag)),
        _picture(state, ballot),
    )


def _picture(state: PrecinctState, ballot: Segregated) -> tuple[str, int] | None:
    if ballot.notice is None or not notices_open(state):
        return None
    return next(
        (
            (notice.device, notice.record_n)
            for notice in notices(state)
            if (notice.device, notice.batch, notice.sheet) == ballot.notice
        ),
        None,
    )
