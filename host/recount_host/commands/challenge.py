"""`recount-host challenge ...`: questioned ballots, statements about them, the call, and late offers."""

import argparse

from recount_host.commands.act_command import ActCommand, Argument, device_of, option, text
from recount_host.commands.desk import add_data, add_json, answer, open_desk
from recount_host.law.challenges import CHALLENGED, GROUNDS, QUESTIONED_PILES
from recount_host.law.conclusion import ANSWERS, still_to_ask
from recount_host.law.disclosure import ChallengedView, view
from recount_host.law.errors import BadEntry
from recount_host.law.precinct import PrecinctState

_TAG = Argument("tag", "the number of the tag on the ballot's envelope")
ONE_OFFICIAL = "once: one official is enough, and no other has to agree"


def _taken(args: argparse.Namespace, state: PrecinctState) -> str:
    stated = state.challenges[-1]
    stamp = ", stamped as made after the conclusion" if stated.after_conclusion else ""
    return f"statement {stated.number} about tag {args.tag} is taken{stamp}; the court gets the ballot (E)"


def _with_others(args: argparse.Namespace, state: PrecinctState) -> str:
    """Return a warning where another tag is in this envelope: a slip is told, and no question stopped (E)."""
    tags = [ballot.tag for ballot in state.segregated if ballot.envelope == args.envelope.strip()]
    others = ", ".join(tag for tag in tags if tag != args.tag)
    if not others:
        return ""
    return (
        f"\nlook again: envelope {args.envelope} is entered for tag {others} too; where one is wrong, put it "
        "right (challenge correct-tag)"
    )


segregate = ActCommand(
    "ballot_segregated",
    "Lay a ballot whose validity is in question into an envelope, apart from its pile (D 3).",
    (
        _TAG,
        option("--envelope", "the envelope's number"),
        option("--pile", "the pile that it comes from, and is counted with", choices=QUESTIONED_PILES),
        option("--question", "what is in question, in a few words"),
        option(
            "--counted-as",
            "for a ballot that is counted already: the outcome it was counted as, such as an option's key "
            "(the clerk confirms it when the court rules)",
            default=CHALLENGED,
        ),
        option("--device", "where its notice is known: the device", default="", metavar="NAME|ID"),
        option("--batch", "where its notice is known: the batch", default=0, type=int),
        option("--sheet", "where its notice is known: the sheet", default=0, type=int),
    ),
    lambda args, state: {
        "tag": text(args.tag, "the tag's number"),
        "envelope": text(args.envelope, "the envelope's number (--envelope)"),
        "pile": args.pile,
        "counted_as": args.counted_as,
        "question": text(args.question, "what is in question (--question)"),
        "device": device_of(state, args.device) if args.device else "",
        "batch": args.batch,
        "sheet": args.sheet,
    },
    lambda args, state: (
        f"tag {args.tag}: the ballot lies apart for the court. Any official may state in writing why "
        f"(challenge state){_with_others(args, state)}"
    ),
    "once or more: an official",
)
correct_tag = ActCommand(
    "tag_corrected",
    "Enter what stands on a ballot's envelope where its tag or envelope was entered wrongly.",
    (
        Argument("tag", "the tag as it is entered now"),
        option("--right-tag", "the tag as it stands on the envelope"),
        option("--right-envelope", "the envelope's number as it stands on it"),
        option("--reason", "what went wrong, in a few words"),
    ),
    lambda args, _state: {
        "tag": args.tag,
        "right_tag": text(args.right_tag, "the tag on the envelope (--right-tag)"),
        "right_envelope": text(args.right_envelope, "the envelope's number (--right-envelope)"),
        "reason": text(args.reason, "what went wrong (--reason)"),
    },
    lambda args, _state: (
        f"tag {args.tag} is tag {args.right_tag} in envelope {args.right_envelope} now; what was entered "
        "before is kept, and a statement that was printed is printed again"
    ),
    "once: a recount official",
)
state = ActCommand(
    "challenge_stated",
    "One official challenges a segregated ballot in writing; that is enough for the court to get it (E).",
    (
        _TAG,
        option("--ground", "; ".join(f"{ground}: {what}" for ground, what in GROUNDS.items())),
        option("--text", "the statement, in the official's own words"),
    ),
    lambda args, _state: {
        "tag": args.tag,
        "ground": _ground(args.ground),
        "text": text(args.text, "what is in question (--text)"),
    },
    _taken,
    ONE_OFFICIAL,
)
withdraw = ActCommand(
    "challenge_withdrawn",
    "The official who made a statement withdraws it, by a record of its own; the ballot stays segregated.",
    (
        Argument("statement", "the statement's number, as challenge list shows it", {"type": int}),
        option("--reason", "why, in a few words"),
    ),
    lambda args, _state: {
        "statement": args.statement,
        "reason": text(args.reason, "why it is withdrawn (--reason)"),
    },
    lambda args, _state: (
        f"statement {args.statement} is withdrawn; it is kept, and the ballot stays segregated"
    ),
    "once: who made the statement",
)
call = ActCommand(
    "call_answered",
    "One official answers the call for questioned ballots, before the conclusion (D 3).",
    (Argument("answer", "what the official says", {"choices": [a.replace("_", "-") for a in ANSWERS]}),),
    lambda args, _state: {"answer": args.answer.replace("-", "_")},
    lambda _args, state: _still_asked(state),
    "once: each official answers alone",
)
proffer = ActCommand(
    "ballot_proffered",
    "Record that a ballot was offered after the conclusion: the court may not consider it (F).",
    (option("--text", "which ballot, by whom and why, in a few words"),),
    lambda args, _state: {"text": text(args.text, "which ballot was offered (--text)")},
    lambda _args, _state: "recorded as offered and not considered (F)",
)


def _ground(given: str) -> str:
    if given not in GROUNDS:
        raise BadEntry(
            f'"{given}" is no ground: who may vote is no issue in a recount (C), only the ballot and the '
            "vote are; "
            f"the grounds are {', '.join(GROUNDS)}"
        )
    return given


def _still_asked(state: PrecinctState) -> str:
    names = "; ".join(person.name for person in still_to_ask(state.team, state.answers))
    if not names:
        return "all officials have no further question: print the statement (statement), all sign, conclude"
    return f"still to be asked, or with a question: {names}"


class _List:
    """`recount-host challenge list`: the segregated ballots of a precinct with the statements about them."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument("precinct", metavar="PRECINCT", help="the precinct's id in the order")
        add_data(parser)
        add_json(parser)

    def run(self, args: argparse.Namespace) -> int:
        """Print the list."""
        with open_desk(args) as desk:
            shown = view(desk.precinct(args.precinct))
        lines = [line for ballot in shown.challenged for line in _in_words(ballot)]
        answer(
            args,
            "\n".join(lines) or f"no ballot of precinct {args.precinct} is segregated",
            {"precinct": args.precinct, "challenged": shown.to_json()["challenged"]},
        )
        return 0


def _in_words(ballot: ChallengedView) -> list[str]:
    return [
        f"tag {ballot.tag}, envelope {ballot.envelope}, from {ballot.pile}: {ballot.question}",
        *(f"  statement {n} by {who} ({standing}): {what}" for n, who, what, standing in ballot.statements),
    ]


list_ = _List()
