"""Logic and accuracy as a gate: a deck run on a device, compared sheet by sheet and in total; then armed.

D 2 s. 4: the officials ensure that each scanner passes after it is programmed and before the rerun. The pass
is bound to the device, its program, thresholds, software and firmware. A test is no precinct's run, and
nothing of it ever counts. Pass is exact equality, nothing less.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from recount_host.act import Act, Person
from recount_host.law.acts import check_act
from recount_host.law.contest import check_signed, contests_of
from recount_host.law.deck import (
    READ_BEFORE,
    Deck,
    DeckSheet,
    Totals,
    classes_of,
    expected_totals,
    lacking,
    parse_deck,
    totals_of,
)
from recount_host.law.enrolment import enrolments
from recount_host.law.errors import NotAllowed
from recount_host.law.live import ARMED, ASSIGNED, ENDED, SETTLED, ZERO, assigned_tests, open_test
from recount_host.law.persons import check_both_sides, check_one_side_each, check_sides_known
from recount_host.law.precinct import Facts, disarmed, open_assignment
from recount_host.law.roster import check_may_act
from recount_host.law.tally import Batch, DeviceFacts, Run, Sheet
from recount_host.plain_words import plain_words
from recount_protocol.fates import BINS, COUNTED, RETURNED
from recount_protocol.records import LIVE, TEST

Outcome = tuple[str, tuple[str, ...], tuple[str, ...]]
"""A sheet's fate, choices and reasons as decks name them."""


@dataclass(frozen=True, slots=True)
class Fed:
    """A sheet of the deck as the device dealt with it."""

    sheet: Sheet
    outcome: Outcome
    came_back: tuple[str, ...]
    """Reasons for which sheets came back between the sheet before and this one."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A sheet of the deck that the device did not deal with as it must."""

    code: str
    what: str
    expected: str
    actual: str
    judged_n: int
    """The record of its verdict, whose picture shows it; 0 where there is none."""


@dataclass(frozen=True, slots=True)
class Question:
    """A sheet of a test that the device takes for one that it read before: both sides look, and answer."""

    batch: int
    sheet: int
    like: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The deck as it should be, and as the device made of it."""

    deck: Deck
    run: Run | None
    differences: tuple[Difference, ...]
    hindrances: tuple[str, ...]
    """What keeps the test from being finished, in sentences."""
    question: Question | None
    """What the device waits to be told before it goes on."""
    expected: Totals
    actual: Totals

    @property
    def passed(self) -> bool:
        """Return whether the device may be armed: no sheet differs, so no total does, and nothing is open."""
        return not self.differences and not self.hindrances


def compare(facts: Facts, assigned: Act) -> Comparison:
    """Return how the device dealt with the deck of this test, by its records that are here."""
    deck = parse_deck(assigned.body["deck"])
    told = facts.devices.get(assigned.body["device"])
    run = told.runs.get(assigned.body["run"]) if told is not None else None
    batches = [] if told is None else [b for b in told.batches if b.run == assigned.body["run"]]
    fed = _fed([batch for batch in batches if batch.closed_n and not batch.voided_n])
    totals = totals_of([one.outcome for one in fed])
    asked = question_of(facts, assigned)
    differences = _differences(deck, fed)
    hindrances = _hindrances(told, run, batches, asked, _answered(facts, assigned))
    if not differences:
        hindrances += _lacking(facts, assigned, deck)
    return Comparison(
        deck,
        run,
        tuple(differences),
        tuple(hindrances),
        asked,
        expected_totals(deck),
        totals,
    )


def _hindrances(
    told: DeviceFacts | None,
    run: Run | None,
    batches: Sequence[Batch],
    asked: Question | None,
    answered: frozenset[tuple[int, int]],
) -> list[str]:
    if told is None or run is None:
        return ["the device has not begun the test"]
    found = ["records of the device are missing: keep it connected"] if told.gaps else []
    found += ["the device opened the run in another mode"] if run.mode != TEST else []
    standing = [batch for batch in batches if not batch.voided_n]
    if not standing:
        return [*found, "no batch was fed"]
    for batch in standing:
        if not batch.closed_n:
            found.append(f"batch {batch.batch} is still open: {_why_open(batch, asked)}")
        elif not batch.i9.holds:
            found.append(f"batch {batch.batch}: the feeder's own counts and the records differ (I9)")
        found += [f"batch {batch.batch}: {sentence}" for sentence in batch.contradictions]
        # Both sides answer, or nobody does: what a device settles by itself proves nothing of it.
        found += [
            f"batch {batch.batch}: sheet {sheet.sheet} was in doubt, and the device went on otherwise than "
            "both sides said: such a device does not pass, end the test"
            for sheet in batch.sheets
            if sheet.in_doubt and sheet.fate
            if sheet.fate != RETURNED or (batch.batch, sheet.sheet) not in answered
        ]
    return found


def _lacking(facts: Facts, assigned: Act, deck: Deck) -> list[str]:
    """Return why no device passes with a deck of which somebody took sheets away."""
    contest = contests_of(facts.acts)[assigned.body["program"]]  # known: no test is assigned without
    lacks = lacking(deck, [option.key for option in contest.printed])
    told = ", ".join(lacks)
    return [f"the deck has {told}: end the test, and give the whole deck (deck make)"] if lacks else []


def _why_open(batch: Batch, asked: Question | None) -> str:
    """Return what has to be done before an open batch can be closed."""
    for sheet in batch.doubts:
        if not sheet.like:
            lost = f"where sheet {sheet.sheet} lies is unknown ({sheet.in_doubt})"
            return f"{lost}: such a device does not pass, end the test"
        if asked is None:
            return f"the device is told that sheet {sheet.sheet} is sheet {sheet.like}: wait"
        return (
            f"the device asks both sides whether sheet {sheet.sheet} is sheet {sheet.like} once more; where "
            "it is, answer so (logic-accuracy settle)"
        )
    return "feed the whole deck, then press End batch"


def question_of(facts: Facts, test: Act) -> Question | None:
    """Return what the device asks in this test and was not told yet; None where it asks nothing."""
    told, run = facts.devices.get(test.body["device"]), test.body["run"]
    answered = _answered(facts, test)
    asked = (
        Question(batch.batch, sheet.sheet, sheet.like)
        for batch in (told.batches if told is not None else ())
        if batch.run == run and batch.is_open
        for sheet in batch.doubts
        if sheet.like and (batch.batch, sheet.sheet) not in answered
    )
    return next(asked, None)


def _answered(facts: Facts, test: Act) -> frozenset[tuple[int, int]]:
    """Return batch and sheet of what both sides answered in this test."""
    answers = (act.body for act in facts.acts if act.kind == SETTLED and act.body["run"] == test.body["run"])
    return frozenset((body["batch"], body["sheet"]) for body in answers)


def _fed(batches: Sequence[Batch]) -> list[Fed]:
    """Return the sheets that landed, and those told as read before, in the order in which they were fed."""
    fed: list[Fed] = []
    back: list[str] = []
    for batch in sorted(batches, key=lambda batch: batch.batch):
        for sheet in sorted(batch.sheets, key=lambda sheet: sheet.sheet):
            outcome = _seen(sheet)
            if outcome is not None:
                fed.append(Fed(sheet, outcome, tuple(back)))
                back = []
            else:
                back += sheet.reasons
    return fed


def _seen(sheet: Sheet) -> Outcome | None:
    """Return what the device made of a sheet; None of one that comes again, or has not ended."""
    if sheet.fate == RETURNED and sheet.like:
        return RETURNED, (), (READ_BEFORE,)
    choices = sheet.choices if sheet.fate == COUNTED else ()
    return (sheet.fate, choices, classes_of(sheet.reasons)) if sheet.fate in BINS else None


def _outcome(sheet: DeckSheet) -> Outcome:
    return sheet.fate, sheet.choices, classes_of(sheet.reasons)


def _differences(deck: Deck, fed: Sequence[Fed]) -> list[Difference]:
    """Return every sheet that differs, in the deck's order.

    Sheets are compared one after the other; where one is missing or too many, the others are held against
    those that they fit.
    """
    pairs = list(_pairs(deck, fed))
    codes = {one.sheet.sheet: sheet.code for sheet, one in pairs if sheet is not None and one is not None}
    found: list[Difference] = []
    for sheet, one in pairs:
        if sheet is not None and one is not None:
            found += _difference(sheet, one, codes)
        elif sheet is not None:
            found.append(
                Difference(sheet.code, sheet.what, outcome_in_words(_outcome(sheet)), "not fed, or lost", 0)
            )
        else:
            assert one is not None, "a pair holds at least one of the two"
            found.append(_too_many(one))
    return found


def _pairs(deck: Deck, fed: Sequence[Fed]) -> Iterator[tuple[DeckSheet | None, Fed | None]]:
    """Yield each sheet of the deck with what was fed for it; one of the two is None where the other lacks."""
    right = [_outcome(sheet) for sheet in deck.sheets]
    seen = [one.outcome for one in fed]
    if len(right) == len(seen):
        yield from zip(deck.sheets, fed, strict=True)
        return
    for _, a0, a1, b0, b1 in SequenceMatcher(None, right, seen, autojunk=False).get_opcodes():
        yield from zip_longest(deck.sheets[a0:a1], fed[b0:b1])


def _too_many(one: Fed) -> Difference:
    code, seen = f"sheet number {one.sheet.sheet}", outcome_in_words(one.outcome)
    return Difference(code, "no sheet of the deck", "nothing", seen, one.sheet.judged_n)


def _difference(sheet: DeckSheet, one: Fed, codes: Mapping[int, str]) -> list[Difference]:
    expected, actual = _outcome(sheet), one.outcome
    right, seen = outcome_in_words(expected), outcome_in_words(actual)
    taken_for = codes.get(one.sheet.like) if one.sheet.like else ""
    if sheet.comes_back and sheet.comes_back not in one.came_back:
        right = f"comes back first ({plain_words(sheet.comes_back)}); then {right}"
        seen = f"did not come back for it; {seen}"
    elif expected == actual and taken_for == sheet.again:
        return []
    elif expected == actual:
        right = f"{right}: it is sheet {sheet.again}" if sheet.again else right
        seen = f"{seen}: taken for sheet {taken_for or one.sheet.like}"
    return [Difference(sheet.code, sheet.what, right, seen, one.sheet.judged_n)]


def outcome_in_words(outcome: Outcome) -> str:
    """Return an outcome as people read it."""
    fate, choices, reasons = outcome
    why = plain_words(", ".join(reasons))
    parts = (
        plain_words(fate),
        "for " + ", ".join(choices) if choices else "",
        f"({why})" if why else "",
    )
    return " ".join(part for part in parts if part)


# What may be done


def admit_logic_accuracy(facts: Facts, kind: str, by: Sequence[Person], body: Mapping[str, Any]) -> None:
    """Raise BadEntry or NotAllowed unless this act of a logic-and-accuracy test may be written now."""
    check_act(kind, by, body)
    check_sides_known(by, facts.order.side_keys)
    check_one_side_each(by, facts.acts)
    check_may_act(by, facts.acts)
    enrolment = enrolments(facts.acts).get(body["device"])
    if enrolment is None or enrolment.revoked:
        raise NotAllowed("the device is not enrolled: both sides enrol it first (device enrol)")
    _ADMIT[kind](facts, by, body)


def _admit_assigned(facts: Facts, _by: Sequence[Person], body: Mapping[str, Any]) -> None:
    device, name = body["device"], facts.names[body["device"]]
    contest = contests_of(facts.acts).get(body["program"])
    if contest is None:
        raise NotAllowed("this contest program is not in the ledger: add it first (program add)")
    check_signed(contest.signed_by, facts.order)
    deck = parse_deck(body["deck"])
    if bytes.fromhex(deck.program) != body["program"]:
        raise NotAllowed("this deck was made for another contest program: make one for this (deck make)")
    if device in disarmed(facts.acts):
        raise NotAllowed(
            f"{name} is disarmed: its counted sheets did not hold the right number of votes (I4)"
        )
    earlier = open_test(facts.acts, device)
    if earlier is not None:
        raise NotAllowed(f"{name} has the test {earlier.body['run']} still: end it (logic-accuracy end)")
    run = open_assignment(facts.acts, device)
    if run is not None:
        raise NotAllowed(f"{name} still scans precinct {run.body['precinct']} (run {run.body['run']})")
    if any(act.kind == ASSIGNED and act.body["run"] == body["run"] for act in facts.acts):
        raise NotAllowed(f"test {body['run']} is assigned already")


def _admit_settled(facts: Facts, by: Sequence[Person], body: Mapping[str, Any]) -> None:
    """Refuse all but the answer to what the device asks: a sheet that nobody saw land fails the test."""
    check_both_sides(by, "this")
    test = open_test(facts.acts, body["device"])
    asked = question_of(facts, test) if test is not None and test.body["run"] == body["run"] else None
    if asked is None or (asked.batch, asked.sheet) != (body["batch"], body["sheet"]):
        raise NotAllowed(
            f"{facts.names[body['device']]} asks nothing about sheet {body['sheet']} in this test, or is "
            "told already: see logic-accuracy compare"
        )


def _admit_ended(facts: Facts, by: Sequence[Person], body: Mapping[str, Any]) -> None:
    known = open_test(facts.acts, body["device"])
    if known is None or known.body["run"] != body["run"]:
        raise NotAllowed(f"{facts.names[body['device']]} has no open test {body['run']}")
    told = facts.devices.get(body["device"])
    batches = () if told is None else told.batches
    if any(batch.run == body["run"] and batch.is_open for batch in batches):
        # It becomes void with the test: of no batch does one person alone say so.
        check_both_sides(by, "to end a test while a batch of it is open (End batch at the panel closes it)")


def _admit_armed(facts: Facts, by: Sequence[Person], body: Mapping[str, Any]) -> None:
    check_both_sides(by, "this")
    tests = assigned_tests(facts.acts, body["device"])
    if not tests or tests[-1].body["run"] != body["run"]:
        raise NotAllowed("that is not the last test of this device")
    if open_test(facts.acts, body["device"]) is not None:
        raise NotAllowed("the test is ended first")
    comparison = compare(facts, tests[-1])
    check_passed(comparison)
    run = comparison.run
    assert run is not None, "a test that passed was run"
    told = (body["program"], body["software"], body["firmware"])
    if (run.program, run.software, run.firmware) != told or tests[-1].body["program"] != run.program:
        raise NotAllowed("the test was of another program, software or firmware")


def check_passed(comparison: Comparison) -> None:
    """Raise NotAllowed unless the deck was dealt with exactly as it must be."""
    if comparison.hindrances:
        raise NotAllowed(comparison.hindrances[0])
    if comparison.differences:
        first = comparison.differences[0]
        raise NotAllowed(
            f"the deck did not come out as it must: {len(comparison.differences)} of its sheets differ; the "
            f"first is {first.code} ({first.what}): expected {first.expected}, actual {first.actual}"
        )


def _admit_zero(facts: Facts, _by: Sequence[Person], body: Mapping[str, Any]) -> None:
    told = facts.devices.get(body["device"])
    if told is None or told.arming.armed is None or told.arming.armed.program != body["program"]:
        raise NotAllowed("the device is not armed for this program: there is nothing to report")
    if any(run.mode == LIVE and not run.closed_n for run in told.runs.values()):
        raise NotAllowed("a live run is open on the device: it is not at zero")


_ADMIT: Mapping[str, Callable[[Facts, Sequence[Person], Mapping[str, Any]], None]] = {
    ASSIGNED: _admit_assigned,
    SETTLED: _admit_settled,
    ENDED: _admit_ended,
    ARMED: _admit_armed,
    ZERO: _admit_zero,
}
