"""What the page of the docket shows, as plain values for its template; all comes from `law/docket.py`."""

from collections.abc import Mapping
from dataclasses import dataclass

from recount_host.law.certification import RulingLine
from recount_host.law.challenges import CHALLENGED
from recount_host.law.court import court_over
from recount_host.law.docket import DocketLine, DocketView, docket_view
from recount_host.law.hand_count import NOT_VOTES, OTHER_WRITE_IN
from recount_host.law.precinct import Facts, PrecinctState
from recount_host.order import Order
from recount_host.plain_words import plain_words
from recount_host.web.words import Sign

DRAFT = Sign("wait", "◔", "Draft")
OPEN = Sign("work", "§", "Before the court")
SEALED = Sign("go", "★", "Certified")

RULED = Sign("go", "✓", "Ruled on")
NOT_RULED = Sign("wait", "◔", "Not ruled on")


@dataclass(frozen=True, slots=True)
class DocketPage:
    """The questioned ballots of the locality in order, with the rulings as they stand."""

    order: Order
    view: DocketView
    names: Mapping[str, str]
    """The name of each option, by key."""
    pictures: frozenset[tuple[str, int]]
    """Device and record number of every picture that has come."""
    training: bool

    @property
    def sign(self) -> Sign:
        """Return where the court's part stands."""
        return SEALED if self.view.is_sealed else OPEN if self.view.is_open else DRAFT

    def line_sign(self, line: DocketLine) -> Sign:
        """Return whether the court has ruled on a ballot."""
        return RULED if line.ruling is not None else NOT_RULED

    def outcome(self, words: str) -> str:
        """Return what a ballot was counted as or ruled, with names for keys."""
        what, bracket, rest = words.partition(" (")
        known = {plain_words(key): said for key, said in NOT_VOTES.items()}
        named = {**self.names, plain_words(OTHER_WRITE_IN): "Write-in of another person"}
        told = known.get(what) or " and ".join(named.get(part, part) for part in what.split("+"))
        return f"{told}{bracket}{rest}"

    def stood_as(self, line: DocketLine) -> str:
        """Return what a ballot was counted as, and whether its vote is in the totals meanwhile."""
        what = "" if line.counted_as in ("", CHALLENGED) else f", counted as: {self.outcome(line.counted_as)}"
        who = f". What it was counted as: {line.confirmed}" if line.confirmed else ""
        if not line.in_totals:
            return f"{what}; in no total before the court rules{who}"
        return f"{what}; its vote stays in the totals until the court rules{who}"

    def effect(self, ruling: RulingLine) -> str:
        """Return by how many votes a ruling changes what the officials wrote down."""
        changes = (f"{self.names.get(key, key)} {votes:+d}" for key, votes in ruling.effect.items())
        return ", ".join(changes) or "no change of votes"

    def picture(self, line: DocketLine) -> str:
        """Return the address of a ballot's picture; empty where there is none that may be shown."""
        if line.picture is None or line.picture not in self.pictures:
            return ""
        device, n = line.picture
        return f"/precincts/{line.precinct}/pictures/{device}/{n}.png"


def docket_page(
    facts: Facts, states: Mapping[str, PrecinctState], pictures: frozenset[tuple[str, int]]
) -> DocketPage:
    """Return the page of the docket."""
    view = docket_view(facts.order, court_over(states, facts.acts))
    contest = next((state.contest for state in states.values() if state.contest is not None), None)
    printed = {option.key: option.name for option in contest.printed} if contest is not None else {}
    names = {**printed, **{side.key: side.name for side in facts.order.sides}}
    training = any(state.mode != "live" for state in states.values())
    return DocketPage(facts.order, view, names, pictures, training)
