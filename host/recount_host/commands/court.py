"""`recount-host court ...`: the clerk enters what the parties say, and what the court rules and certifies."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from recount_host.commands.act_command import ActCommand, Argument, option, text
from recount_host.commands.desk import add_by, add_data, add_json, answer, open_desk, persons
from recount_host.law.certification import certification
from recount_host.law.challenges import CHALLENGED
from recount_host.law.court import Court, all_ruled, docket_of, fold_court
from recount_host.law.court_words import INSPECTED, PARTS
from recount_host.law.docket import DocketLine, docket_view
from recount_host.law.errors import BadEntry
from recount_host.law.precinct import Facts, PrecinctState
from recount_host.law.rulings import standing
from recount_host.plain_words import plain_words

_TAG = Argument("tag", "the number of the tag on the ballot's envelope")
_BY_CLERK = 'once: the clerk, "name, clerk"'


def _votes(given: list[str]) -> dict[str, int]:
    votes: dict[str, int] = {}
    for entry in given:
        key, equals, number = entry.partition("=")
        if not (equals and key and key not in votes and number[:1] in ("+", "-") and number[1:].isdecimal()):
            raise BadEntry(f'"{entry}" is no change of votes: write KEY=+N or KEY=-N, each option once')
        votes[key] = int(number)
    return votes


def _still_to_hear(args: argparse.Namespace, state: PrecinctState) -> str:
    heard = {entry.side for entry in state.heard if entry.tag == args.tag}
    rest = [side for side in state.order.side_keys if side not in heard]
    if rest:
        return f"still to be heard on tag {args.tag}: {', '.join(rest)}"
    return f"every party was heard on tag {args.tag}: the court can rule (court rule)"


def _ruled(args: argparse.Namespace, state: PrecinctState) -> str:
    ruling = standing(state.rulings, args.tag)
    number = ruling.number if ruling else 0
    return f"ruling {number}: the ballot with tag {args.tag} is {plain_words(args.outcome)}"


hear = ActCommand(
    "ballot_heard",
    "A party inspected a questioned ballot, or did not want to, and was heard on it (F).",
    (
        _TAG,
        option("--side", "the party, by the option key of its candidate or answer"),
        option("--inspected", "what it did when it could inspect the ballot", choices=INSPECTED),
        option("--argument", "what it argued; left out: nothing", default=""),
    ),
    lambda args, _state: {
        "tag": args.tag,
        "side": args.side,
        "inspected": args.inspected,
        "argument": " ".join(args.argument.split()),
    },
    _still_to_hear,
    _BY_CLERK,
)
rule = ActCommand(
    "ballot_ruled",
    "Enter what the court ruled on a questioned ballot (F).",
    (
        _TAG,
        Argument(
            "outcome",
            "what the ballot is: an option's key (or KEY+KEY), no_vote, overvote, excluded",
        ),
        option(
            "--counted-as",
            "for a ballot that was counted before: as what, read from the paper and its pile",
            default=CHALLENGED,
        ),
        option(
            "--finding",
            "where the court wrote that it was counted otherwise than the official had entered",
            default="",
        ),
        option("--reason", "the court's reason, in a few words"),
        option("--instead-of", "the ruling that this one replaces, by its number", default=0, type=int),
    ),
    lambda args, _state: {
        "tag": args.tag,
        "outcome": args.outcome,
        "counted_as": args.counted_as,
        "finding": " ".join(args.finding.split()),
        "reason": text(args.reason, "the court's reason (--reason)"),
        "instead_of": args.instead_of,
    },
    _ruled,
    _BY_CLERK,
)
rule_result = ActCommand(
    "result_ruled",
    "Enter that the court ruled another result of a precinct, apart from single ballots (D 2, F).",
    (
        Argument("votes", "by how many votes an option changes: KEY=+N or KEY=-N", {"nargs": "+"}),
        option("--part", "; ".join(f"{part}: {what}" for part, what in PARTS.items()), choices=tuple(PARTS)),
        option("--reason", "the sufficient cause, in a few words"),
        option("--ruling", "where the court's written ruling stands"),
    ),
    lambda args, _state: {
        "part": args.part,
        "votes": _votes(args.votes),
        "reason": text(args.reason, "the sufficient cause (--reason)"),
        "ruling": text(args.ruling, "where the court's written ruling stands (--ruling)"),
    },
    lambda args, _state: f"the ruling on the result of precinct {args.precinct} is entered",
    _BY_CLERK,
)


@dataclass(frozen=True, slots=True)
class _CourtCommand:
    """A subcommand that is one act about all precincts at once."""

    kind: str
    says: str
    arguments: tuple[Argument, ...]
    body: Callable[[argparse.Namespace, Facts, Court], Mapping[str, Any]]
    said: Callable[[Court], str]

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """What it is for: cli.py takes a command's description from here."""
        return self.says

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        for argument in self.arguments:
            parser.add_argument(argument.name, help=argument.help, **argument.more)
        add_data(parser)
        add_by(parser, _BY_CLERK)
        add_json(parser)

    def run(self, args: argparse.Namespace) -> int:
        """Do the act and say where the court's part stands then."""
        by = persons(args)
        with open_desk(args) as desk:
            court = desk.court_act(self.kind, by, lambda facts: self.body(args, facts, fold_court(facts)))
        answer(args, self.said(court), _fields(court))
        return 0


def _fields(court: Court) -> dict[str, Any]:
    situation, following = court.situation
    return {
        "docket": docket_of(court),
        "unruled": [list(entry) for entry in court.unruled],
        "version": court.version,
        "sealed": court.is_sealed,
        "situation": situation,
        "next": following,
    }


def _signed_draft(_args: argparse.Namespace, _facts: Facts, court: Court) -> Mapping[str, Any]:
    drafts = [act for act in court.printed if act.body["form"] == "certification"]
    nothing = {"sha256": bytes(32), "facts_sha256": bytes(32)}
    hashes = {name: drafts[-1].body[name] for name in nothing} if drafts else nothing
    return {"version": len(court.certified) + 1, **hashes}


open_ = _CourtCommand(
    "court_opened",
    "Open the docket: all precincts are concluded, and the questioned ballots lie before the court (F).",
    (),
    lambda _args, _facts, court: {"ballots": docket_of(court)},
    lambda court: f"the docket is open, with {len(court.docket)} questioned ballots: {court.situation[1]}",
)
certify = _CourtCommand(
    "certified",
    "The court signed the draft of the certification that was printed last: final, and sealed (F, G).",
    (),
    _signed_draft,
    lambda court: f"{court.situation[0]}: {court.situation[1]}",
)
amend = _CourtCommand(
    "amendment_ordered",
    "The court ordered a new version of its certification; the old one is kept (G).",
    (
        option("--order", "which order of the court"),
        option("--reason", "why, in a few words"),
    ),
    lambda args, _facts, court: {
        # The first version is no amendment of any: where none is certified the law says so.
        "version": max(2, len(court.certified) + 1),
        "order": text(args.order, "which order of the court (--order)"),
        "reason": text(args.reason, "why (--reason)"),
    },
    lambda court: f"version {court.version} is being made; {court.situation[1]}",
)


class _Show:
    """Show the docket with every ruling, and the vote for each party once all is ruled."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        add_data(parser)
        add_json(parser)

    def run(self, args: argparse.Namespace) -> int:
        """Print where the court's part stands."""
        with open_desk(args) as desk:
            facts = desk.facts()
        court = fold_court(facts)
        docket = docket_view(facts.order, court)
        told = docket.to_json()
        fields = _fields(court) | {name: told[name] for name in ("lines", "on_results", "not_considered")}
        lines = [_docket_line(line) for line in docket.lines]
        if all_ruled(court):
            draft = certification(facts)
            fields |= {"totals": {party.key: party.total for party in draft.totals}, "tie": draft.tie}
            lines += [*draft.to_declare, *([draft.tie] if draft.tie else [])]
        answer(args, "\n".join([court.situation[0], *lines, f"next: {court.situation[1]}"]), fields)
        return 0


def _docket_line(line: DocketLine) -> str:
    told = f"ruling {line.ruling.number}: {line.ruling.says}" if line.ruling else "not ruled on"
    return f"  precinct {line.precinct}, tag {line.tag}: {line.question}; {told}"


show = _Show()
