"""The forms of one precinct beside its statement, each built from the facts as they are.

When each may be printed is the law's matter (law/printed_forms.py); here is only what stands on it. No box is
left blank for somebody to write a figure into: every digit is printed (2005 and 2024 show why).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from recount_host.act import Act, Person
from recount_host.forms.blocks import (
    Block,
    Form,
    by_words,
    form_of,
    heading,
    label,
    sentence,
    signatures,
    table,
    words,
)
from recount_host.law.challenges import GROUNDS, Segregated
from recount_host.law.conclusion import answer_of
from recount_host.law.confirmation import counted_as_told
from recount_host.law.counts import LETTERS, STACK_AND_PILES, Entry
from recount_host.law.court_words import PRECINCT_FORMS
from recount_host.law.custody import CONTENTS, laid_apart
from recount_host.law.disclosure import notices
from recount_host.law.hand_count import NOT_VOTES, of_pile
from recount_host.law.identities import MEANINGS
from recount_host.law.live import ARMED
from recount_host.law.notes import ballots, notes
from recount_host.law.persons import in_words
from recount_host.law.piles import PILES
from recount_host.law.precinct import Facts, PrecinctState, fold
from recount_host.law.printed_forms import check_may_print
from recount_host.law.result import option_names
from recount_host.law.rulings import is_in_totals
from recount_host.law.statement import statement, voided
from recount_host.law.statement_lines import SHORT_CODE_DIGITS
from recount_host.law.tally import Run
from recount_host.plain_words import plain_words
from recount_protocol.fates import RETURNED
from recount_protocol.records import LIVE

Build = Callable[[Facts, PrecinctState], Iterator[Block]]


def precinct_form(facts: Facts, precinct_id: str, form: str) -> Form:
    """Return a form of a precinct. Raises NotAllowed while it cannot be printed."""
    state = fold(facts, precinct_id)
    check_may_print(state, form)
    title = PRECINCT_FORMS[form].partition(":")[0]
    about = f"precinct {state.precinct.id} {state.precinct.name}"
    return form_of(facts, title[0].upper() + title[1:], about, state.mode, tuple(BUILD[form](facts, state)))


def _team(state: PrecinctState) -> list[str]:
    """Return who signs: every official of the team, and one line for a side that has none yet."""
    lines: list[str] = []
    for side in state.order.sides:
        own = [
            f"{person.name}, {person.role}, for {side.name}"
            for person in state.team
            if person.side == side.key
        ]
        lines += own or [f"Recount official (name and signature), for {side.name}"]
    return lines


def _persons(by: Iterable[Person]) -> str:
    return " and ".join(in_words(person) for person in by)


def _acts(facts: Facts, state: PrecinctState, kind: str) -> list[Act]:
    return [act for act in facts.acts if act.kind == kind and act.body["precinct"] == state.precinct.id]


def _custody(facts: Facts, state: PrecinctState) -> Iterator[Block]:
    counted = state.agreeing_act is not None
    received = {act.body["container"]: act for act in _acts(facts, state, "container_received")}
    rows = [
        (
            container.name,
            CONTENTS[container.holds],
            f"{container.seal} {container.seal_was}".strip(),
            _label(container.stated, counted=counted),
            f"from {came.body['from']}, {came.utc}, by {by_words(came)}" if came else "not found",
            by_words(container.opened) if container.opened else "not opened",
        )
        for container in state.containers
        for came in (received.get(container.name),)
    ]
    yield table(("Container", "Holds", "Seal", "Label", "Taken in", "Opened by"), rows, "No container came.")
    if not counted:
        yield words("What the labels state is printed once all is counted: each number is counted blind.")
    yield words(
        *(
            f"Sorted out of {box.name}: {ballots(box.sorted_out)} without the contest, laid apart "
            "before anything was counted."
            for box in state.containers
            if box.sorted_out
        ),
        *(sentence(f"No part of the recount (B): {found}") for found in laid_apart(state.excluded)),
    )
    released = dict.fromkeys(f"Released by {act.body['from']}" for act in received.values())
    yield signatures("We saw these containers and seals as written down above.", [*released, *_team(state)])


def _label(stated: int | None, *, counted: bool) -> str:
    if not counted:
        return "closed"
    return "no number" if stated is None else str(stated)


def _counts(_facts: Facts, state: PrecinctState) -> Iterator[Block]:
    used = state.counts_used
    rows = [
        (
            first.letter,
            LETTERS[first.letter],
            first.attempt,
            _counted(first),
            _counted(*second),
            "used" if first in used else "kept, not used",
        )
        for book in (state.counts, *state.dropped_counts)
        for first, *second in book.rounds
    ]
    columns = ("Of", "What", "Attempt", "First count, by", "Second count, by", "Use")
    yield words("Each number was counted by two persons of different sides, each alone and blind (D 2).")
    yield table(columns, rows, "No number was counted.")
    yield signatures("We counted these numbers as written down above.", _team(state))


def _counted(entry: Entry | None = None) -> str:
    return "not entered" if entry is None else f"{entry.value}, {in_words(entry.person)}"


def _runs(facts: Facts, state: PrecinctState) -> Iterator[Block]:
    contest = option_names(state)
    for device, figures in state.figures_by_device.items():
        yield heading(f"{state.name_of(device)}, device {device}")
        run = next((run for run in state.runs if run.device == device), None)
        if run is not None:
            yield words(
                f"Software {run.software}, firmware {run.firmware}, mode {run.mode}",
                f"Contest program, SHA-256 {run.program.hex()}",
                _armed(facts, run),
            )
        returned = Counter(
            why
            for batch in state.standing_batches
            for sheet in batch.sheets
            if (batch.device, sheet.fate) == (device, RETURNED)
            for why in sheet.reasons
        )
        rows: list[tuple[str, int]] = [
            ("C  sheets counted", figures.counted),
            ("S  sheets set aside", figures.set_aside),
            ("X  sheets not accepted", figures.not_accepted),
            *((f"S because of {why}", n) for why, n in figures.set_aside_reasons.items()),
            *((f"X because of {why}", n) for why, n in figures.not_accepted_reasons.items()),
            ("Sheets returned, none of them counted", figures.returned),
            *((f"Returned because of {why}", n) for why, n in sorted(returned.items())),
            *((f"Votes for {contest.get(key, key)}", n) for key, n in figures.votes.items()),
        ]
        yield table(("Reported by the device", "Number"), rows, "")
    yield heading("Batches")
    yield table(
        ("Device", "Run", "Batch", "Fed", "Counts"),
        [
            (state.name_of(b.device), b.run, b.batch, b.fed, "void" if state.is_void(b) else "yes")
            for b in (*state.standing_batches, *state.void_batches)
        ],
        "No batch was closed.",
    )
    yield words(
        *(
            f"{line.name}, {f'batch {line.batch}' if line.batch else 'all batches'}: void by {line.by}, "
            f"because: {line.reason}"
            for line in voided(state)
        )
    )
    if state.counts_whole_precinct:
        yield words("D 2: all ballots of this precinct are counted by hand; nothing of this report counts.")


def _armed(facts: Facts, run: Run) -> str:
    """Return by which certificate, and with which thresholds, the device counted; empty in training."""
    certificates = [
        act.body
        for act in facts.acts
        if act.kind == ARMED and (act.body["device"], act.body["program"]) == (run.device, run.program)
    ]
    if run.mode != LIVE or not certificates:
        return ""
    armed = certificates[-1]
    return (
        f"Logic and accuracy: certificate, SHA-256 {armed['sha256'].hex()}; thresholds, SHA-256 "
        f"{armed['thresholds'].hex()}: {armed['thresholds_told']}"
    )


def _set_aside(_facts: Facts, state: PrecinctState) -> Iterator[Block]:
    found = notices(state)
    for pile in ("set_aside", "not_accepted"):
        own = [notice for notice in found if notice.pile == pile]
        yield heading(f"Sheets {plain_words(pile)}: {len(own)}")
        yield table(
            ("Device", "Batch", "Sheet", "Place in tray", "Why"),
            [(n.device_name, n.batch, n.sheet, n.place, ", ".join(n.reasons)) for n in own],
            "None.",
        )
    yield words(
        "The place counts from the bottom of the tray of its batch.",
        "What a mark means is decided by the officials by the standards in use (D 2), never by this list.",
    )


def _mismatch(_facts: Facts, state: PrecinctState) -> Iterator[Block]:
    yield words(
        f"All ballots of precinct {state.precinct.id} cast on ballot scanner machines are set aside and "
        "counted by hand (D 2). Nothing that a scanner reported is used."
    )
    if state.hand_count_order is not None:
        order = state.hand_count_order
        yield words(f"Decided by {by_words(order)} at {order.utc}: {order.body['reason']}")
    else:
        yield heading("What did not agree")
        yield table(
            ("No.", "Identity", "Figures", "Differs by", "Holds"),
            [
                (
                    f.name,
                    MEANINGS[f.name],
                    "; ".join(str(e) for e in f.equations),
                    sum(abs(e.left - e.right) for e in f.equations),
                    "yes" if f.holds else "NO",
                )
                for f in state.findings
            ],
            "",
        )
        yield heading("What people counted, blind")
        yield table(
            ("Of", "Attempt", "First count, by", "Second count, by"),
            [
                (letter, attempt, *(_counted(entry) for entry in state.counts.agreed(letter, attempt)))
                for letter in STACK_AND_PILES
                for attempt in range(1, state.counts.last_attempt(letter) + 1)
            ],
            "",
        )
        yield words(
            *(
                f"Told after attempt {verdict.attempt}: {', '.join(verdict.failed) or 'none'} failed"
                for verdict in state.verdicts
            )
        )
        if state.shown is not None:
            yield words(f"Sent to the hand count {state.shown.utc} by {by_words(state.shown)}.")
    yield signatures("We have taken notice.", _team(state))


def _tally(_facts: Facts, state: PrecinctState) -> Iterator[Block]:
    names = option_names(state) | dict(NOT_VOTES)
    for pile, what in PILES.items():
        passes = of_pile(state.passes, pile)
        if not passes:
            continue
        outcomes = list(dict.fromkeys(outcome for entered in passes for outcome in entered.outcomes))
        yield heading(f"{what[0].upper()}{what[1:]}")
        yield table(
            ("Outcome", *(f"Pass {n}" for n in range(1, len(passes) + 1))),
            [
                *(
                    (_outcome(outcome, names), *(entered.outcomes.get(outcome, 0) for entered in passes))
                    for outcome in outcomes
                ),
                ("All ballots", *(sum(entered.outcomes.values()) for entered in passes)),
            ],
            "",
        )
        yield words(
            *(
                f"Pass {n} by {_persons(entered.by)}; marks read by {entered.standards}"
                for n, entered in enumerate(passes, 1)
            )
        )
    yield words("The last two passes through each pile agree, and agree with the ballots in it.")
    yield signatures("We counted these ballots by hand.", _team(state))


def _outcome(outcome: str, names: Mapping[str, str]) -> str:
    return " + ".join(names.get(part, part) for part in outcome.split("+"))


def _challenges(_facts: Facts, state: PrecinctState) -> Iterator[Block]:
    yield words("The written statement of any one official brings a ballot before the court (E).")
    for ballot in state.questioned:
        yield heading(f"Tag {ballot.tag}, envelope {ballot.envelope}")
        yield words(
            _where_from(state, ballot),
            f"Question: {ballot.question_and_corrections}",
            f"Segregated by {_persons(ballot.by)}, {ballot.utc}",
            _notice(state, ballot),
        )
        for stated in state.challenges:
            if stated.tag == ballot.tag:
                late = " AFTER THE CONCLUSION" if stated.after_conclusion else ""
                gone = f"; withdrawn {stated.withdrawn}" if stated.withdrawn else ""
                yield signatures(
                    f"Statement {stated.number}{late}, {stated.utc}, {GROUNDS[stated.ground]}: "
                    f"{stated.text}{gone}",
                    [in_words(stated.person)],
                )


def _where_from(state: PrecinctState, ballot: Segregated) -> str:
    # The clerk, before whom this paper lies, finds what the ballot was counted as from the ballot (F).
    was = counted_as_told(state.rulings, ballot)
    total = "its vote is in the totals" if is_in_totals(ballot) else "in no total"
    return f"From {_pile(ballot)}{f', counted as {was}' if was else ''}; {total}"


def _pile(ballot: Segregated) -> str:
    return PILES.get(ballot.pile, "the ballots that a scanner accepted")


def _notice(state: PrecinctState, ballot: Segregated) -> str:
    if ballot.notice is None:
        return ""
    device, batch, sheet = ballot.notice
    return f"Its notice is sheet {sheet} of batch {batch} of {state.name_of(device)}"


def _labels(_facts: Facts, state: PrecinctState) -> Iterator[Block]:
    for ballot in state.questioned:
        yield label(
            f"Tag {ballot.tag}",
            f"Envelope {ballot.envelope}: a questioned ballot, for the court (D 3, E)",
            f"{state.order.locality}, precinct {state.precinct.id} {state.precinct.name}",
            state.order.title,
            f"From {_pile(ballot)}",
            f"Segregated {ballot.utc} by {_persons(ballot.by)}",
        )


def _call(_facts: Facts, state: PrecinctState) -> Iterator[Block]:
    yield words("Every recount official was asked for questioned ballots before the conclusion (D 3).")
    yield table(
        ("Official", "Last answer"),
        [(in_words(p), answer_of(p, state.answers) or "not asked yet") for p in state.team],
        "Nobody counted yet.",
    )
    yield heading("Conclusion")
    if state.concluded is None:
        yield words("The precinct is not concluded.")
        return
    code = state.concluded.body["facts_sha256"].hex()[:SHORT_CODE_DIGITS]
    yield words(
        f"Concluded {state.concluded.utc}; the statement signed has the record code {code}.",
        f"Signed by {by_words(state.concluded)}.",
        "There is one recount of a precinct (D): no ballot is counted or segregated any more.",
    )


def _reseal(_facts: Facts, state: PrecinctState) -> Iterator[Block]:
    rows = [
        (s.name, CONTENTS.get(s.holds, s.holds), s.seal, s.given_to, _persons(s.by)) for s in state.resealed
    ]
    yield table(("Container", "Holds", "New seal", "Given to", "Sealed by"), rows, "")
    received = dict.fromkeys(f"Received by {s.given_to}" for s in state.resealed)
    yield signatures("We sealed these containers and gave them into custody.", [*_team(state), *received])


def _submission(facts: Facts, state: PrecinctState) -> Iterator[Block]:
    said = statement(facts, state.precinct.id)
    statements = Counter(stated.tag for stated in state.challenges)
    yield words(
        f"Statement of the recount with the record code {said.short_code}, signed by all officials (E)."
    )
    yield heading("Whence the figures come")
    yield table(("Stream", "Source"), [(line.stream, line.source) for line in said.sources], "")
    yield heading("Questioned ballots submitted")
    yield table(
        ("Tag", "Envelope", "From", "Question", "Statements"),
        [
            (b.tag, b.envelope, _pile(b), b.question_and_corrections, statements[b.tag])
            for b in state.questioned
        ],
        "No ballot of this precinct is in question.",
    )
    yield heading("Validity questions of another kind")
    yield words(*map(sentence, notes(state).sentences or ("none",)))
    yield words(
        *(f"Offered too late, not considered (F): {act.body['text']}, {act.utc}" for act in state.proffered)
    )
    yield heading("Seals")
    seals = [(s.name, s.holds, s.seal, s.given_to) for s in state.resealed]
    yield table(("Container", "Holds", "Seal", "Given to"), seals, "Nothing has been sealed again yet.")
    yield signatures("Submitted to the court.", _team(state))


BUILD: Mapping[str, Build] = {
    "custody": _custody,
    "counts": _counts,
    "runs": _runs,
    "set-aside": _set_aside,
    "mismatch": _mismatch,
    "tally": _tally,
    "challenges": _challenges,
    "labels": _labels,
    "call": _call,
    "reseal": _reseal,
    "submission": _submission,
}
"""By the form's word in law/court_words.py."""
