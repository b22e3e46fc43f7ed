"""The forms of the whole locality: what goes to the court, what it rules and certifies, what is published.

When each may be printed is the law's matter (law/court.py); every figure comes from there.
"""

from collections.abc import Callable, Iterator, Mapping

from recount_host.forms.blocks import (
    Block,
    Form,
    form_of,
    heading,
    sentence,
    signatures,
    signed,
    table,
    words,
)
from recount_host.law.certification import certification, mode_of, precinct_votes, ruling_lines, totals
from recount_host.law.challenges import GROUNDS
from recount_host.law.changes import Change, changes
from recount_host.law.confirmation import confirmation, counted_as_told
from recount_host.law.court import Court, check_form_ready, fold_court
from recount_host.law.persons import in_words
from recount_host.law.piles import PILES
from recount_host.law.precinct import Facts
from recount_host.law.rulings import is_in_totals, standing
from recount_host.plain_words import plain_words

Build = Callable[[Facts, Court], Iterator[Block]]


def court_form(facts: Facts, form: str) -> Form:
    """Return a form of the locality. Raises NotAllowed while it cannot be printed."""
    court = fold_court(facts)
    check_form_ready(court, form)
    title = TITLES[form]
    return form_of(facts, title, "all precincts", mode_of(court), tuple(BUILD[form](facts, court)))


TITLES: Mapping[str, str] = {
    "transmittal": "Transmittal of the locality",
    "docket": "Docket of questioned ballots",
    "rulings": "Rulings of the court",
    "certification": "Draft of the certification",
    "tie": "Notice of a tie",
    "changes": "Changes to the results as certified before",
}


def _transmittal(facts: Facts, court: Court) -> Iterator[Block]:
    lines = precinct_votes(court)
    names = [party.name for party in lines[0].parties]
    yield words("Added from the signed statements of the precincts; nothing was keyed in again (E).")
    yield table(
        ("Precinct", "Name", "Record code", *names, "Questioned"),
        [
            (
                line.id,
                line.name,
                line.code,
                *(party.written for party in line.parties),
                len(court.precincts[line.id].questioned),
            )
            for line in lines
        ]
        + [("all", facts.order.locality, "", *(party.written for party in totals(court)), len(court.docket))],
        "",
    )
    yield signatures("Sent to the court.", ["Recount coordinator", "Recount coordinator, of the other party"])


def _docket(_facts: Facts, court: Court) -> Iterator[Block]:
    yield words(
        "Every ballot that was segregated before its precinct was concluded, and no other (F).",
        f"{len(court.docket)} ballots.",
    )
    for state, ballot in court.docket:
        yield heading(f"Precinct {state.precinct.id}, tag {ballot.tag}, envelope {ballot.envelope}")
        ruling = standing(state.rulings, ballot.tag)
        where = PILES.get(ballot.pile, "the ballots that a scanner accepted")
        total = "its vote is in the totals until the ruling" if is_in_totals(ballot) else "in no total"
        told, was = confirmation(state.rulings, ballot), counted_as_told(state.rulings, ballot)
        stands = f", {'entered as ' if told else ''}counted as {was}" if was else ""
        yield words(
            f"From {where}{stands}; {total}",
            f"What it was counted as: {told}" if told else "",
            f"Question: {ballot.question_and_corrections}",
            *(
                f"Statement {c.number} of {in_words(c.person)}, {GROUNDS[c.ground]}: {c.text}"
                + (" (made after the conclusion)" if c.after_conclusion else "")
                + (f" (withdrawn {c.withdrawn})" if c.withdrawn else "")
                for c in state.challenges
                if c.tag == ballot.tag
            ),
            *(
                f"For {h.side}: {h.inspected}; {h.argument or 'no argument'}"
                for h in state.heard
                if h.tag == ballot.tag
            ),
            f"Ruled: {plain_words(ruling.outcome)}" if ruling else "Not ruled on yet",
        )


def _rulings(_facts: Facts, court: Court) -> Iterator[Block]:
    yield table(
        ("No.", "Precinct", "About", "Ruling", "Effect on votes", "Reason", "Stands"),
        [
            (
                line.number,
                line.precinct,
                line.what,
                line.says,
                _effect(line.effect),
                f"{line.reason} (entered by {line.entered_by}, {line.utc})",
                "yes" if line.stands else "no",
            )
            for line in ruling_lines(court)
        ],
        "The court has ruled on nothing yet.",
    )
    yield signatures("As the court ruled.", ["Clerk of the court"])


def _effect(effect: Mapping[str, int]) -> str:
    return ", ".join(f"{key} {change:+d}" for key, change in effect.items()) or "none"


def _certification(facts: Facts, _court: Court) -> Iterator[Block]:
    draft = certification(facts)
    yield words(
        f"Version {draft.version}, for {draft.court} to sign and to certify to the State Board and the "
        "electoral board (F).",
        f"Made under an order of the court: {draft.amended_by}" if draft.amended_by else "",
    )
    yield heading("The vote for each party to the recount")
    yield table(
        ("Party", "Written down by the officials", "By rulings", "Votes"),
        [(p.name, p.written, signed(p.by_court), p.total) for p in draft.totals],
        "",
    )
    yield heading("For the court to declare")
    yield words(*map(sentence, (*draft.to_declare, draft.tie)))
    yield heading("By precinct")
    yield table(
        ("Precinct", "Name", "Record code", *(p.name for p in draft.totals)),
        [
            *((line.id, line.name, line.code, *(p.total for p in line.parties)) for line in draft.precincts),
            ("all", draft.locality, "", *(p.total for p in draft.totals)),
        ],
        "",
    )
    yield words(*(f"Not considered (F): {line}" for line in draft.not_considered))
    yield signatures("Certified by the recount court.", ["Chief judge", "Judge", "Judge"])


def _tie(facts: Facts, _court: Court) -> Iterator[Block]:
    draft = certification(facts)
    yield words(*map(sentence, draft.to_declare))
    yield table(("Party", "Votes"), [(p.name, p.total) for p in draft.totals], "")
    yield heading("What follows (H)")
    yield words(sentence(draft.tie), "This notice breaks no tie, draws no lot, and is no writ.")


def _changes(facts: Facts, _court: Court) -> Iterator[Block]:
    report = changes(facts)
    yield words(
        f"Certification version {report.version}. Every precinct is listed, also those without a change (F)."
    )
    columns = ("Option", "Certified before", "Recounted", "By rulings", "Now", "Change")
    yield heading("All precincts together")
    yield table(columns, [_change(option) for option in report.totals], "")
    if report.pollbooks:
        yield words(*map(sentence, report.pollbooks))
    for line in report.precincts:
        yield heading(f"Precinct {line.id} {line.name}")
        yield table(columns, [_change(option) for option in line.options], "")
        yield words(*map(sentence, line.causes))
    yield heading("How long it is kept")
    yield words(*map(sentence, report.kept))


def _change(option: Change) -> tuple[str | int, ...]:
    before: str | int = "not keyed in" if option.certified is None else option.certified
    moved = "unknown" if option.change is None else signed(option.change)
    return (option.name, before, option.recounted, signed(option.by_court), option.final, moved)


BUILD: Mapping[str, Build] = {
    "transmittal": _transmittal,
    "docket": _docket,
    "rulings": _rulings,
    "certification": _certification,
    "tie": _tie,
    "changes": _changes,
}
"""By the form's word in law/court_words.py."""
