"""What the court's acts do to a precinct, and when they are refused (D 2 s. 5, F, G).

F s. 2: only a ballot that was segregated before the conclusion has a tag here, so no other can be ruled on.
G: once certified nothing changes, except by a new version that the court orders.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from recount_host.act import Act
from recount_host.law.challenges import CHALLENGED, Segregated, find_tag
from recount_host.law.confirmation import check_confirmed
from recount_host.law.court_words import ACCEPTED, OTHER_MATTER
from recount_host.law.errors import NotAllowed
from recount_host.law.hand_count import check_outcomes, voteable
from recount_host.law.precinct_state import PrecinctState
from recount_host.law.printed_forms import check_may_print
from recount_host.law.result import result_of, scanners_count
from recount_host.law.rulings import (
    Heard,
    ResultRuling,
    Ruling,
    check_clerk,
    effect,
    sides_heard,
    standing,
)
from recount_host.law.states import Event, after


def _court_opened(state: PrecinctState, act: Act) -> PrecinctState:
    check_clerk(act.by)
    return replace(state, state=after(state.state, Event.SUBMIT))


def _ballot_heard(state: PrecinctState, act: Act) -> PrecinctState:
    reached, body = after(state.state, Event.HEAR), act.body
    check_clerk(act.by)
    ballot = _on_docket(state, body["tag"])
    if body["side"] not in state.order.side_keys:
        raise NotAllowed(
            f'F: the parties inspect and argue, and "{body["side"]}" is none: they are '
            f"{', '.join(state.order.side_keys)}"
        )
    entry = Heard(ballot.tag, body["side"], body["inspected"], body["argument"], act.n)
    return replace(state, state=reached, heard=(*state.heard, entry))


def _ballot_ruled(state: PrecinctState, act: Act) -> PrecinctState:
    reached, body = after(state.state, Event.RULE), act.body
    clerk, ballot = check_clerk(act.by), _on_docket(state, body["tag"])
    wanting = [side for side in state.order.side_keys if side not in sides_heard(state.heard, ballot.tag)]
    if wanting:
        raise NotAllowed(
            f"F: the court rules after the parties could inspect the ballot and were heard: {wanting[0]} "
            f"still has to (court hear {state.precinct.id} {ballot.tag})"
        )
    if body["outcome"] == CHALLENGED:
        raise NotAllowed("F: the court rules what the ballot is; it does not stay challenged")
    _check_outcome(state, body["outcome"])
    check_confirmed(state, ballot, clerk, body["counted_as"], body["finding"])
    before = standing(state.rulings, ballot.tag)
    if body["instead_of"] != (before.number if before else 0):
        raise NotAllowed(
            f"ruling {before.number} on tag {ballot.tag} stands: where the court reconsidered it, name it "
            f"(--instead-of {before.number})"
            if before
            else f"there is no ruling on tag {ballot.tag} yet: leave --instead-of out"
        )
    ruling = Ruling(
        act.n, ballot.tag, body["outcome"], body["counted_as"], body["reason"], act.utc, clerk,
        body["instead_of"], body["finding"],
    )  # fmt: skip
    changed = replace(state, state=reached, rulings=(*state.rulings, ruling))
    for key in changes_by_court(changed):
        _check_not_below_none(changed, OTHER_MATTER, key)
    return changed


def _on_docket(state: PrecinctState, tag: str) -> Segregated:
    ballot = find_tag(state.questioned, tag)
    if ballot is None:
        raise NotAllowed(
            f"F: no ballot of precinct {state.precinct.id} with the tag {tag} was segregated before the "
            "conclusion, so the court may not consider it; it can be recorded as offered (challenge proffer)"
        )
    return ballot


def _check_outcome(state: PrecinctState, outcome: str) -> None:
    contest = state.contest
    assert contest is not None  # no precinct with a ballot in an envelope is concluded without one
    check_outcomes({outcome: 1}, contest, state.order)


def _result_ruled(state: PrecinctState, act: Act) -> PrecinctState:
    reached, body = after(state.state, Event.RULE), act.body
    clerk = check_clerk(act.by)
    ruling = ResultRuling(
        act.n, body["part"], dict(body["votes"]), body["reason"], body["ruling"], act.utc, clerk
    )
    if body["part"] == ACCEPTED and not scanners_count(state):
        raise NotAllowed(
            "D 2: no ballot that a scanner accepted is in this precinct's result: all were counted by hand; "
            "write --part other"
        )
    _check_votes(state, ruling)
    return replace(state, state=reached, result_rulings=(*state.result_rulings, ruling))


def _check_votes(state: PrecinctState, ruling: ResultRuling) -> None:
    """Raise NotAllowed for a change of nothing, of no option, or to fewer votes than none."""
    options = state.order.side_keys if state.contest is None else voteable(state.contest, state.order)
    changed = replace(state, result_rulings=(*state.result_rulings, ruling))
    for key, change in ruling.votes.items():
        if key not in options:
            raise NotAllowed(f'"{key}" is no option of this contest: the options are {", ".join(options)}')
        if not change:
            raise NotAllowed(f"a change of 0 votes for {key} is none: leave it out")
        _check_not_below_none(changed, ruling.part, key)


def _check_not_below_none(state: PrecinctState, part: str, key: str) -> None:
    left = _left(state, part, key)
    if left < 0:
        raise NotAllowed(
            f"that would leave {left} votes for {key}: look at the rulings again, and enter by how many "
            "votes the result changes"
        )


def _left(state: PrecinctState, part: str, key: str) -> int:
    """Return the votes for an option after all rulings; of the accepted ballots alone for that part."""
    if part == ACCEPTED:
        own = [ruling for ruling in state.result_rulings if ruling.part == ACCEPTED]
        return result_of(state).accepted.get(key, 0) + sum(ruling.votes.get(key, 0) for ruling in own)
    return result_of(state).votes(key) + changes_by_court(state).get(key, 0)


def changes_by_court(state: PrecinctState) -> dict[str, int]:
    """Return by how many votes all rulings that stand change each option of this precinct."""
    total: dict[str, int] = {}
    changes = [ruling.votes for ruling in state.result_rulings]
    for ballot in state.questioned:
        ruling = standing(state.rulings, ballot.tag)
        if ruling is not None:
            changes.append(effect(ballot, ruling))
    for change in changes:
        for key, votes in change.items():
            total[key] = total.get(key, 0) + votes
    return {key: votes for key, votes in sorted(total.items()) if votes}


def _certified(state: PrecinctState, act: Act) -> PrecinctState:
    reached = after(state.state, Event.CERTIFY)
    check_clerk(act.by)
    for ballot in state.segregated:
        if standing(state.rulings, ballot.tag) is None:
            raise NotAllowed(
                f"F: the court rules on all questioned ballots before it certifies, and tag {ballot.tag} of "
                f"precinct {state.precinct.id} is not ruled on (court rule)"
            )
    return replace(state, state=reached)


def _amendment_ordered(state: PrecinctState, act: Act) -> PrecinctState:
    check_clerk(act.by)
    return replace(state, state=after(state.state, Event.AMEND))


def _form_printed(state: PrecinctState, act: Act) -> PrecinctState:
    check_may_print(state, act.body["form"])
    return replace(state, forms_printed=(*state.forms_printed, act))


COURT_STEPS: Mapping[str, Callable[[PrecinctState, Act], PrecinctState]] = {
    "court_opened": _court_opened,
    "ballot_heard": _ballot_heard,
    "ballot_ruled": _ballot_ruled,
    "result_ruled": _result_ruled,
    "certified": _certified,
    "amendment_ordered": _amendment_ordered,
    "form_printed": _form_printed,
}
"""By kind of act."""
