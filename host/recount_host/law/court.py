"""The court's part of a locality: its docket, its certifications, and what may be done when (F, G).

One ledger is one locality. Where an office is recounted in several, each ledger gives the figures of its own
precincts, and the court adds them. Acts of a single precinct (parties heard, rulings) are admitted as all
others are; here are those that are about all precincts at once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recount_host.act import Act, Person
from recount_host.errors import OperatorError
from recount_host.law.acts import check_act
from recount_host.law.challenges import Segregated
from recount_host.law.errors import LedgerContradiction, NotAllowed
from recount_host.law.persons import check_one_side_each, check_sides_known
from recount_host.law.precinct import Facts, PrecinctState, apply_all, fold_all
from recount_host.law.roster import check_may_act
from recount_host.law.rulings import check_clerk, standing
from recount_host.law.signed_papers import check_new_scan
from recount_host.law.ties import is_tied

CHANGES_DRAFT = frozenset(
    {"court_opened", "ballot_ruled", "result_ruled", "amendment_ordered", "ballot_proffered"}
)
"""Acts after which a printed draft of the certification is the draft of something else."""


@dataclass(frozen=True, slots=True)
class Court:
    """Where the locality is before the court."""

    precincts: Mapping[str, PrecinctState]
    opened: Act | None = None
    printed: tuple[Act, ...] = ()
    """The forms of the locality that were printed."""
    certified: tuple[Act, ...] = ()
    """Every version that the court signed; none is ever replaced."""
    amendments: tuple[Act, ...] = ()
    scans: tuple[Act, ...] = ()
    """Scans of the certifications that the court signed in ink, by the acts that took them."""
    changed_n: int = 0
    """The last act that changed what a certification would say."""

    @property
    def docket(self) -> tuple[tuple[PrecinctState, Segregated], ...]:
        """Return every ballot segregated before its precinct was concluded, with its precinct (F s. 2)."""
        return tuple((state, ballot) for state in self.precincts.values() for ballot in state.questioned)

    @property
    def not_concluded(self) -> tuple[str, ...]:
        """Return the precincts that the docket waits for (F s. 1)."""
        return tuple(name for name, state in self.precincts.items() if state.concluded is None)

    @property
    def unruled(self) -> tuple[tuple[str, str], ...]:
        """Return precinct and tag of every questioned ballot that the court has not ruled on."""
        return tuple(
            (state.precinct.id, ballot.tag)
            for state, ballot in self.docket
            if standing(state.rulings, ballot.tag) is None
        )

    @property
    def is_sealed(self) -> bool:
        """Return whether the last version is signed and no amendment is ordered (G)."""
        return len(self.certified) > len(self.amendments)

    @property
    def version(self) -> int:
        """Return the version that is in force when sealed, and the one being made otherwise."""
        return len(self.certified) + (not self.is_sealed)

    @property
    def situation(self) -> tuple[str, str]:
        """Return where the court's part stands, and what to do next."""
        if self.not_concluded:
            return (
                f"precinct {self.not_concluded[0]} is not concluded, and the docket opens after all are (F)",
                f"conclude it first (show {self.not_concluded[0]} says how)",
            )
        if self.opened is None:
            return "all precincts are concluded", "let the clerk open the docket (court open)"
        if self.is_sealed:
            return (
                f"version {self.version} is certified and final (G)",
                (
                    "print the changes for publication (court forms); only an order of the court amends it "
                    "(court amend)"
                ),
            )
        if self.unruled:
            precinct, tag = self.unruled[0]
            return (
                f"{len(self.unruled)} of {len(self.docket)} questioned ballots are not ruled on",
                (
                    f"hear the parties on tag {tag} of precinct {precinct} (court hear), then enter the "
                    "ruling (court rule)"
                ),
            )
        return (
            "every questioned ballot is ruled on",
            (
                "print the draft of the certification (court forms), and enter that the court signed it "
                "(court certify)"
            ),
        )


def fold_court(facts: Facts) -> Court:
    """Return the court's part. Raises LedgerContradiction when its acts cannot have been allowed."""
    return court_over(fold_all(facts), facts.acts)


def court_over(precincts: Mapping[str, PrecinctState], acts: Sequence[Act]) -> Court:
    """Return the court's part over the precincts as these acts left them. Raises LedgerContradiction."""
    court = Court(precincts)
    for act in acts:
        if act.kind in WIDE:
            try:
                check_act(act.kind, act.by, act.body)
                court = WIDE[act.kind](court, act)
            except (OperatorError, LedgerContradiction) as error:
                raise LedgerContradiction(
                    f"act {act.n} ({act.kind}) cannot have been done: {error}"
                ) from error
        if act.kind in CHANGES_DRAFT:
            court = replace(court, changed_n=act.n)
    return court


def admit_court(facts: Facts, kind: str, by: Sequence[Person], body: Mapping[str, Any]) -> Court:
    """Return the court's part as it would be after this act. Raises BadEntry or NotAllowed."""
    check_act(kind, by, body)
    check_sides_known(by, facts.order.side_keys)
    check_one_side_each(by, facts.acts)
    check_may_act(by, facts.acts)
    court = fold_court(facts)
    act = Act(len(facts.acts) + 1, b"", kind, "", tuple(by), body)
    if kind == "court_form_printed":
        check_form_ready(court, body["form"])
    else:
        check_clerk(by)
        _check_all_concluded(court)
    return replace(WIDE[kind](court, act), precincts=apply_all(court.precincts, act))


def _check_all_concluded(court: Court) -> None:
    if court.not_concluded:
        why, instead = court.situation
        raise NotAllowed(f"F: {why}; {instead}")


def docket_of(court: Court) -> list[list[str]]:
    """Return precinct and tag of every ballot on the docket, as the act that opens it holds them."""
    return [[state.precinct.id, ballot.tag] for state, ballot in court.docket]


def _opened(court: Court, act: Act) -> Court:
    if court.opened is not None:
        raise NotAllowed("the docket is open already: court show tells how it stands")
    if [list(entry) for entry in act.body["ballots"]] != docket_of(court):
        raise LedgerContradiction("the docket told is not that of the ballots segregated in time (F)")
    return replace(court, opened=act)


def _form_printed(court: Court, act: Act) -> Court:
    return replace(court, printed=(*court.printed, act))


def _certified(court: Court, act: Act) -> Court:
    due = len(court.certified) + 1
    if court.is_sealed:
        raise NotAllowed(
            f"version {due - 1} is certified and final (G): only an order of the court makes a new one "
            "(court amend)"
        )
    if act.body["version"] != due:
        raise NotAllowed(f"version {due} is what the court certifies next")
    drafts = [printed for printed in court.printed if printed.body["form"] == "certification"]
    if not drafts or drafts[-1].n < court.changed_n:
        raise NotAllowed("F: the certification as it stands now is printed first (court forms), then signed")
    if any(drafts[-1].body[name] != act.body[name] for name in ("sha256", "facts_sha256")):
        raise NotAllowed("what was signed is not the draft printed last: print and sign it again")
    return replace(court, certified=(*court.certified, act))


def _amendment_ordered(court: Court, act: Act) -> Court:
    due = len(court.certified) + 1
    if not court.certified:
        raise NotAllowed("G: only what is certified is amended: the court certifies first (court certify)")
    if act.body["version"] != due:
        raise NotAllowed(f"the next version is {due}")
    return replace(court, amendments=(*court.amendments, act))


def _signed_kept(court: Court, act: Act) -> Court:
    version = act.body["version"]
    if version > len(court.certified):
        raise NotAllowed(f"version {version} is not certified: the court signs it first (court certify)")
    check_new_scan([kept for kept in court.scans if kept.body["version"] == version], act)
    return replace(court, scans=(*court.scans, act))


WIDE: Mapping[str, Callable[[Court, Act], Court]] = {
    "court_opened": _opened,
    "court_form_printed": _form_printed,
    "certified": _certified,
    "signed_certification_kept": _signed_kept,
    "amendment_ordered": _amendment_ordered,
}
"""By kind of act; what such an act does to each precinct is in steps_of_court.py."""


def check_form_ready(court: Court, form: str) -> None:
    """Raise NotAllowed while this form of the locality cannot be printed."""
    ready, first = READY[form]
    if not ready(court):
        raise NotAllowed(f"the form {form} cannot be printed: {first}")


def forms_ready(court: Court) -> tuple[str, ...]:
    """Return the forms that the locality has now."""
    return tuple(form for form, (ready, _) in READY.items() if ready(court))


def all_ruled(court: Court) -> bool:
    """Return whether the docket is open and every ballot on it is ruled on."""
    return court.opened is not None and not court.unruled


_RULED_FIRST = "the court rules on every questioned ballot first (court show, court rule)"

READY: Mapping[str, tuple[Callable[[Court], bool], str]] = {
    "transmittal": (
        lambda court: not court.not_concluded,
        "all precincts are concluded first (show says where each stands)",
    ),
    "docket": (lambda court: court.opened is not None, "the clerk opens the docket first (court open)"),
    "rulings": (lambda court: court.opened is not None, "the clerk opens the docket first (court open)"),
    "certification": (all_ruled, _RULED_FIRST),
    "tie": (
        lambda court: all_ruled(court) and is_tied(court.precincts),
        f"there is no tie, or {_RULED_FIRST}",
    ),
    "changes": (lambda court: court.is_sealed, "the court certifies first (court certify)"),
}
"""By the form's word: whether it can be printed now, and else what comes first."""
