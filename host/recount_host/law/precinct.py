"""One precinct, folded from records, acts and the order: everything that pages, commands and forms need.

`fold` is the only way to a precinct's state. `admit` says whether a further act is allowed: it folds,
applies the act, and refuses with a sentence what the law or the design does not let happen. D lead: one
recount a precinct.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from recount_host.act import Act, Person
from recount_host.errors import OperatorError
from recount_host.law.acts import check_act
from recount_host.law.contest import check_fits_order, contests_of
from recount_host.law.enrolment import enrolments
from recount_host.law.errors import LedgerContradiction, NotAllowed
from recount_host.law.live import open_test, why_not_live
from recount_host.law.obstacles import check_no_obstacles, check_scanning_done
from recount_host.law.persons import check_one_side_each, check_sides_known
from recount_host.law.precinct_state import (
    Facts,
    PrecinctState,
    attempt_due,
    devices_of,
    find_batch,
    heads_body,
)
from recount_host.law.roster import check_may_act
from recount_host.law.steps import apply, begun
from recount_host.law.tally import Gap
from recount_host.order import order_signers
from recount_protocol.records import LIVE

__all__ = [
    "Facts",
    "PrecinctState",
    "admit",
    "attempt_due",
    "devices_of",
    "find_batch",
    "fold",
    "fold_all",
    "heads_body",
]


COURT_WIDE = frozenset({"court_opened", "certified", "amendment_ordered"})
"""Acts of the court that are about every precinct of the order at once."""


def fold(facts: Facts, precinct_id: str) -> PrecinctState:
    """Return the state of one precinct. Raises LedgerContradiction when its acts cannot have been allowed."""
    state = _untouched(facts, precinct_id)
    for act in facts.acts:
        if act.body.get("precinct") == precinct_id or act.kind in COURT_WIDE:
            try:
                check_act(act.kind, act.by, act.body)
                state = apply(state, act)
            except (OperatorError, LedgerContradiction) as error:
                raise LedgerContradiction(
                    f"act {act.n} ({act.kind}) cannot have been done: {error}"
                ) from error
    return begun(state)


def fold_all(facts: Facts) -> Mapping[str, PrecinctState]:
    """Return the state of every precinct of the order, by id."""
    return {precinct.id: fold(facts, precinct.id) for precinct in facts.order.precincts}


def apply_all(states: Mapping[str, PrecinctState], act: Act) -> Mapping[str, PrecinctState]:
    """Return every precinct after an act of the court that is about all of them. Raises NotAllowed."""
    if act.kind not in COURT_WIDE:
        return states
    return {name: apply(state, act) for name, state in states.items()}


def admit(facts: Facts, kind: str, by: Sequence[Person], body: Mapping[str, Any]) -> PrecinctState:
    """Return the precinct as it would be after this act. Raises BadEntry or NotAllowed.

    The caller appends the act in the same turn at the ledger, so that what was looked at still holds.
    """
    check_act(kind, by, body)
    check_sides_known(by, facts.order.side_keys)
    check_one_side_each(by, facts.acts)
    check_may_act(by, facts.acts)
    state = fold(facts, body["precinct"])
    guard = _WHEN_ADMITTED.get(kind)
    act = Act(len(facts.acts) + 1, b"", kind, "", tuple(by), body)
    if guard is not None:
        guard(facts, state, act)
    return begun(apply(state, act))


def _untouched(facts: Facts, precinct_id: str) -> PrecinctState:
    precinct = facts.order.precinct(precinct_id)
    runs = tuple(
        run
        for device in facts.devices.values()
        for run in device.runs.values()
        if run.precinct == precinct_id
    )
    own = {(run.device, run.run) for run in runs}
    batches = tuple(
        batch
        for device in facts.devices.values()
        for batch in device.batches
        if (batch.device, batch.run) in own
    )
    known_gaps = (*facts.gaps, *(gap for device in facts.devices.values() for gap in device.gaps))
    heads = {device: (told.head_n, told.head_sha256) for device, told in facts.devices.items()}
    signed = bool(order_signers(facts.acts))
    state = PrecinctState(
        precinct, facts.order, contests_of(facts.acts), facts.names, runs, batches, heads, (), signed
    )
    return replace(state, gaps=_gaps_that_matter(facts, state, known_gaps))


def _gaps_that_matter(facts: Facts, state: PrecinctState, gaps: Sequence[Gap]) -> tuple[Gap, ...]:
    """Return the gaps in which records of this precinct can be missing.

    Conservative: every gap of a device that was given this precinct and did not close its run before the gap.
    """
    given = {
        (act.body["run"], act.body["device"])
        for act in facts.acts
        if act.kind == "run_assigned" and act.body["precinct"] == state.precinct.id
    }
    given |= {(run.run, run.device) for run in state.runs}
    closed = {(run.run, run.device): run.closed_n for run in state.runs if run.closed_n}
    matter = {
        gap
        for gap in gaps
        for run, device in given
        if device == gap.device and closed.get((run, device), gap.first_n) >= gap.first_n
    }
    return tuple(sorted(matter, key=lambda gap: (gap.device, gap.first_n)))


# What is asked only of a new act: other precincts, and records that may still come


def _admit_run(facts: Facts, state: PrecinctState, act: Act) -> None:
    body = act.body
    device = body["device"]
    if body["contest"] != facts.order.contest:
        raise NotAllowed(f'the order is about the contest "{facts.order.contest}", not "{body["contest"]}"')
    if body["program"] in state.contests:
        check_fits_order(state.contests[body["program"]], facts.order)
    if any(earlier.kind == "run_assigned" and earlier.body["run"] == body["run"] for earlier in facts.acts):
        raise NotAllowed(f"run {body['run']} is assigned already")
    enrolment = enrolments(facts.acts).get(device)
    if enrolment is not None and enrolment.revoked:
        raise NotAllowed(f"{enrolment.name} was revoked ({enrolment.revoked}): use another device")
    if device in disarmed(facts.acts):
        raise NotAllowed(
            f"{state.name_of(device)} is disarmed: its counted sheets did not hold the right number of votes "
            "(I4); use another device"
        )
    if body["mode"] == LIVE:
        why = why_not_live(facts, device, body["program"])
        if why:
            raise NotAllowed(f"{state.name_of(device)} may not count live sheets (D 2): {why}")
    test = open_test(facts.acts, device)
    if test is not None:
        raise NotAllowed(
            f"{state.name_of(device)} has the test {test.body['run']} still: end it (logic-accuracy end)"
        )
    open_run = open_assignment(facts.acts, device)
    if open_run is not None:
        raise NotAllowed(
            f"{state.name_of(device)} still scans precinct {open_run.body['precinct']} "
            f"(run {open_run.body['run']}): finish-scanning there first"
        )


def _admit_void(_facts: Facts, state: PrecinctState, act: Act) -> None:
    batch = find_batch(state, act.body["device"], act.body["batch"])
    if state.is_void(batch):
        raise NotAllowed(f"batch {batch.batch} of {state.name_of(batch.device)} is void already")


def _admit_settling(_facts: Facts, state: PrecinctState, act: Act) -> None:
    batch = find_batch(state, act.body["device"], act.body["batch"])
    if any(sheet.sheet == act.body["sheet"] and sheet.fate for sheet in batch.sheets):
        raise NotAllowed(f"sheet {act.body['sheet']} of batch {batch.batch} is settled already")
    # The device obeys the first order only: a second one would send people off with a sheet that counts.
    where = ("device", "batch", "sheet")
    for earlier in state.settle_orders:
        if all(earlier.body[key] == act.body[key] for key in where):
            raise NotAllowed(
                f"sheet {act.body['sheet']} of batch {batch.batch} is to be settled as "
                f"{earlier.body['fate']} already: wait until the device writes it down; "
                "if that was wrong, void the batch (batch void)"
            )


def _admit_finish(_facts: Facts, state: PrecinctState, act: Act) -> None:
    check_scanning_done(state)
    if any(not known.ended for known in state.assignments):
        raise NotAllowed("its devices' runs are ended first")
    if act.body != heads_body(state):
        raise NotAllowed("other records have come meanwhile: give the command again")


def _admit_withdrawal(_facts: Facts, state: PrecinctState, act: Act) -> None:
    if any(not known.ended for known in state.assignments if known.device == act.body["device"]):
        raise NotAllowed("the device's runs are ended first")


def _admit_hand_count(_facts: Facts, state: PrecinctState, _act: Act) -> None:
    if any(not known.ended for known in state.assignments):
        raise NotAllowed("its devices' runs are ended first")


def _admit_showing(_facts: Facts, state: PrecinctState, _act: Act) -> None:
    check_no_obstacles(state)


_WHEN_ADMITTED: Mapping[str, Callable[[Facts, PrecinctState, Act], None]] = {
    "run_assigned": _admit_run,
    "batch_void_ordered": _admit_void,
    "doubt_settled_ordered": _admit_settling,
    "scanning_finished": _admit_finish,
    "device_withdrawn": _admit_withdrawal,
    "hand_count_ordered": _admit_hand_count,
    "identities_told": _admit_showing,
    "figures_shown": _admit_showing,
}


def disarmed(acts: Sequence[Act]) -> frozenset[str]:
    """Return the devices whose counted sheets failed I4 in any precinct."""
    return frozenset(
        device for act in acts if act.kind == "identities_told" for device in act.body["disarmed"]
    )


def open_assignment(acts: Sequence[Act], device: str) -> Act | None:
    """Return the assignment that this device has and that is not ended, None when it is free."""
    ended = {act.body["run"] for act in acts if act.kind == "run_ended"}
    for act in acts:
        if act.kind == "run_assigned" and act.body["device"] == device and act.body["run"] not in ended:
            return act
    return None
