"""What keeps the scanners' figures from standing yet, each thing with what people do about it."""

from dataclasses import dataclass

from recount_host.law.errors import NotAllowed
from recount_host.law.precinct_state import PrecinctState
from recount_host.law.states import Event, after
from recount_host.law.tally import Batch, Gap, Run


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why the scanners' figures cannot stand yet, and what to do; a sentence without figures."""

    word: str
    sentence: str


def obstacles(state: PrecinctState) -> tuple[Obstacle, ...]:
    """Return everything that keeps the scanners' figures from standing, each with what to do.

    Once the identities were told only a gap does: the heads fix what counts, and it was whole when told.
    What devices send later counts nothing, cannot be voided any more (D 2), and must not keep a precinct
    from its hand count for good.
    """
    if state.hand_count_order is not None:
        return ()  # the scanners' figures are not to stand
    found = [_gap(state, gap) for gap in state.gaps if not state.is_withdrawn(gap.device)]
    if state.verdicts:
        return tuple(found)
    found += [
        _stray_run(state, run)
        for run in state.runs
        if not _is_assigned(state, run) and not state.is_withdrawn(run.device)
    ]
    for batch in state.batches:
        if not state.is_void(batch):
            found += [*_of_batch(state, batch), *_of_choices(state, batch)]
    return tuple(found)


def check_no_obstacles(state: PrecinctState) -> None:
    """Raise NotAllowed with the first thing that keeps the scanners' figures from standing."""
    found = obstacles(state)
    if found:
        raise NotAllowed(found[0].sentence)


def check_scanning_done(state: PrecinctState) -> None:
    """Raise NotAllowed while something is open: a batch, a sheet in doubt, a gap, I9 failing."""
    after(state.state, Event.FINISH_SCANNING)
    if state.unopened:
        raise NotAllowed(
            f"container {state.unopened[0]} holds ballots to be rerun and has not been opened: open it "
            "(custody open) and feed its ballots, both sides together"
        )
    check_no_obstacles(state)


def _gap(state: PrecinctState, gap: Gap) -> Obstacle:
    # Which ones is not said: a sheet is two records, so a number tells how many went through.
    return Obstacle(
        "gap",
        f"records of {state.name_of(gap.device)} did not arrive: no figures before they do; "
        "keep the device connected, it sends them again; if it is dead, both sides withdraw it "
        "(device withdraw)",
    )


def _is_assigned(state: PrecinctState, run: Run) -> bool:
    return any(
        (known.run, known.device, known.program, known.mode) == (run.run, run.device, run.program, run.mode)
        for known in state.assignments
    )


def _stray_run(state: PrecinctState, run: Run) -> Obstacle:
    return Obstacle(
        "stray_run",
        f"{state.name_of(run.device)} opened run {run.run} otherwise than assigned (program or mode differ): "
        "stop, have the device looked into, and let both sides withdraw it (device withdraw)",
    )


def _of_batch(state: PrecinctState, batch: Batch) -> list[Obstacle]:
    name = f"batch {batch.batch} of {state.name_of(batch.device)}"
    void = "both sides void it (batch void) and its sheets are run again"
    found = [
        Obstacle("in_doubt", f"sheet {sheet.sheet} in {name} is in doubt: say where it lies (doubt settle)")
        for sheet in batch.doubts
    ]
    if state.is_late(batch):
        found.append(Obstacle("late", f"{name} was not closed when scanning was finished: {void}"))
    elif not batch.closed_n:
        found.append(Obstacle("open_batch", f"{name} is still open: end it at the device's panel, or {void}"))
    elif not batch.i9.holds:
        found.append(
            Obstacle("i9", f"I9 fails in {name}: the feeder's count and the sheet records differ; {void}")
        )
    if batch.voided_n:  # and not void, for scanning was finished with it
        found.append(
            Obstacle("voided_late", f"{name} was voided at the device after scanning was finished: {void}")
        )
    if batch.contradictions:
        found.append(Obstacle("contradiction", f"{name}: {batch.contradictions[0]}; {void}"))
    return found


def _of_choices(state: PrecinctState, batch: Batch) -> list[Obstacle]:
    """Return what its verdicts say that no verdict can say: an option that is not printed, or one twice."""
    run = next((run for run in state.runs if (run.device, run.run) == (batch.device, batch.run)), None)
    contest = state.contests.get(run.program) if run is not None else None
    if contest is None:
        return []  # a run of an unknown program is told of as a stray run
    printed = {option.key for option in contest.printed}
    return [
        Obstacle(
            "choices",
            f"batch {batch.batch} of {state.name_of(batch.device)}: sheet {sheet.sheet} has choices that its "
            "program does not allow: both sides void it (batch void), and the device is looked into",
        )
        for sheet in batch.sheets
        if not printed.issuperset(sheet.choices) or len(set(sheet.choices)) < len(sheet.choices)
    ]
