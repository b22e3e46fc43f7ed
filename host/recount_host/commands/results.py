"""`recount-host results ...`: the statement of results of the election, keyed twice; where it stands in."""

from recount_host.commands.act_command import BOTH, ActCommand, Argument, option, text
from recount_host.commands.hand_count_enter import parse_numbers
from recount_host.law.custody import COUNTED_CONTENTS, STREAMS
from recount_host.law.results import WORDS

key = ActCommand(
    "results_keyed",
    "One person keys in the statement of results of the election; another does it again, blind.",
    (
        Argument(
            "figures",
            "; ".join(f"{word}: {what}" for word, what in WORDS.items()),
            {"nargs": "+", "metavar": "FIGURE=NUMBER"},
        ),
    ),
    lambda args, _state: {"figures": parse_numbers(args.figures)},
    lambda _args, state: f"the statement of results: {state.results.standing}",
    "once: each person keys it in alone",
)
stand_in = ActCommand(
    "ballots_not_found",
    "Both sides declare that ballots cannot be found: the statement of results stands in for them (E).",
    (
        Argument("stream", "which ballots", {"choices": STREAMS}),
        option("--reason", "what was done to find them"),
    ),
    lambda args, _state: {
        "stream": args.stream,
        "reason": text(args.reason, "what was done to find them (--reason)"),
    },
    lambda args, _state: f"for the {COUNTED_CONTENTS[args.stream]} the statement of results stands in",
    BOTH,
)
