"""The changes made during the recount to the results as certified before, for publication (F s. 4).

Every precinct is in it, those without a change too. What was certified before is the statement of results as
two persons keyed it in; where it was not, that is said, and no change is made up.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from recount_host.law.certification import mode_of, ruling_lines
from recount_host.law.court import Court, check_form_ready, fold_court
from recount_host.law.custody import COUNTED_CONTENTS, STREAMS
from recount_host.law.notes import ballots, notes, pollbooks_together
from recount_host.law.precinct import Facts, PrecinctState
from recount_host.law.result import option_names, result_of
from recount_host.law.retention import dates
from recount_host.law.steps_of_court import changes_by_court


@dataclass(frozen=True, slots=True)
class Change:
    """One option in one precinct, or in all."""

    key: str
    name: str
    certified: int | None
    """None where no statement of results was keyed in."""
    recounted: int
    by_court: int
    final: int
    change: int | None


@dataclass(frozen=True, slots=True)
class PrecinctChanges:
    """One precinct of the report."""

    id: str
    name: str
    options: tuple[Change, ...]
    causes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """The whole report."""

    version: int
    mode: str
    precincts: tuple[PrecinctChanges, ...]
    totals: tuple[Change, ...]
    pollbooks: tuple[str, ...]
    """What all precincts together have against their pollbooks, in sentences."""
    kept: tuple[str, ...]
    """Until when ballots and papers are kept, in sentences."""


def changes(facts: Facts) -> Changes:
    """Return the report. Raises NotAllowed before the court has certified."""
    court = fold_court(facts)
    check_form_ready(court, "changes")
    lines = tuple(_of_precinct(court, state) for state in court.precincts.values())
    return Changes(
        court.version,
        mode_of(court),
        lines,
        _totals(lines),
        pollbooks_together(court.precincts.values()),
        dates(facts.order.retention, court.certified[-1].utc),
    )


def _of_precinct(court: Court, state: PrecinctState) -> PrecinctChanges:
    result, by_court = result_of(state), changes_by_court(state)
    before = _certified(state)
    options: list[Change] = []
    for key, name in option_names(state).items():
        recounted, ruled = result.votes(key), by_court.get(key, 0)
        certified = None if before is None else before.get(key)
        final = recounted + ruled
        change = None if certified is None else final - certified
        if certified is not None or final or key in state.order.side_keys:
            options.append(Change(key, name, certified, recounted, ruled, final, change))
    moved = any(option.change for option in options) or any(option.by_court for option in options)
    causes = tuple(_causes(court, state)) if moved else ("no change",)
    if before is None:
        causes = ("what was certified before is not keyed in (results key)", *_causes(court, state))
    return PrecinctChanges(state.precinct.id, state.precinct.name, tuple(options), causes)


def _certified(state: PrecinctState) -> dict[str, int] | None:
    if state.results.agreed is None:
        return None
    total: dict[str, int] = {}
    for stream in STREAMS:
        for key, votes in state.results.votes(stream).items():
            total[key] = total.get(key, 0) + votes
    return total


def _causes(court: Court, state: PrecinctState) -> Iterator[str]:
    if state.counts_whole_precinct:
        yield "all ballots cast on scanners were counted by hand (D 2)"
    by_hand = sum((state.outcomes or {}).values())
    if by_hand and not state.counts_whole_precinct:
        yield f"{ballots(by_hand)} counted by hand (D 1, D 2)"
    for act in state.not_found:
        yield f"the statement of results stands in for {COUNTED_CONTENTS[act.body['stream']]} (E)"
    yield from notes(state).sentences if state.results.agreed is not None else ()
    for line in ruling_lines(court):
        if line.precinct == state.precinct.id and line.stands:
            votes = ", ".join(f"{key} {change:+d}" for key, change in line.effect.items()) or "no vote more"
            yield f"ruling {line.number} of the court on {line.what}: {votes}"


def _totals(lines: tuple[PrecinctChanges, ...]) -> tuple[Change, ...]:
    found: dict[str, list[Change]] = {}
    for line in lines:
        for option in line.options:
            found.setdefault(option.key, []).append(option)
    return tuple(_sum(own, len(lines)) for own in found.values())


def _sum(own: list[Change], precincts: int) -> Change:
    """Return the options of all precincts together; without what was certified where one lacks it."""
    certified = [option.certified for option in own if option.certified is not None]
    known = len(certified) == precincts
    final = sum(option.final for option in own)
    return Change(
        own[0].key,
        own[0].name,
        sum(certified) if known else None,
        sum(option.recounted for option in own),
        sum(option.by_court for option in own),
        final,
        final - sum(certified) if known else None,
    )
