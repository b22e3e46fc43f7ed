"""`recount-host custody ...`: containers come in, are opened, sorted and sealed again; what B keeps out."""

from recount_host.commands.act_command import BOTH, ActCommand, Argument, option, text
from recount_host.commands.count_enter import sheets
from recount_host.law.custody import CONTENTS, COUNTED_CONTENTS, EXCLUDED, SEALED_AGAIN, SEALS

_CONTAINER = Argument("container", "the container's name, as on its label")
_STATED = option("--stated", "the number of ballots on its label; left out: it states none", default=None)
_CONTENTS_IN_WORDS = "; ".join(f"{word}: {what}" for word, what in CONTENTS.items())


def _stated(given: str | None) -> list[int]:
    return [] if given is None else [sheets(given)]


receive = ActCommand(
    "container_received",
    "Custody in: both sides take a sealed container from the clerk.",
    (
        _CONTAINER,
        option("--holds", _CONTENTS_IN_WORDS, choices=tuple(CONTENTS)),
        option("--seal", "the number of its seal", default=""),
        option("--seal-was", "how the seal was found", default="intact", choices=SEALS),
        _STATED,
        option("--from", "who released it, for example the clerk's name", dest="given_by"),
    ),
    lambda args, _state: {
        "container": args.container,
        "holds": args.holds,
        "seal": args.seal,
        "seal_was": args.seal_was,
        "stated": _stated(args.stated),
        "from": text(args.given_by, "who released the container (--from)"),
    },
    lambda args, _state: (
        f"container {args.container} was taken in; "
        + (
            "it is no part of the recount (B) and stays sealed"
            if args.holds in EXCLUDED
            else "open it, both sides together, when its ballots are counted (custody open)"
        )
    ),
    BOTH,
)
open_ = ActCommand(
    "container_opened",
    "Both sides open a container whose ballots are to be counted.",
    (_CONTAINER,),
    lambda args, _state: {"container": args.container},
    lambda args, _state: f"container {args.container} is open: count its ballots",
    BOTH,
)
not_found = ActCommand(
    "container_not_found",
    "Both sides declare that one container cannot be found: what is there is counted, the rest reported.",
    (
        _CONTAINER,
        option("--holds", _CONTENTS_IN_WORDS, choices=tuple(COUNTED_CONTENTS)),
        _STATED,
        option("--reason", "what was done to find it"),
    ),
    lambda args, _state: {
        "container": args.container,
        "holds": args.holds,
        "stated": _stated(args.stated),
        "reason": text(args.reason, "what was done to find it (--reason)"),
    },
    lambda args, _state: (
        f"container {args.container} is reported as not found; nothing is topped up for it (E)"
    ),
    BOTH,
)
sort_out = ActCommand(
    "container_sorted",
    "Both sides sorted out of a container the ballots that lack the contest, before anything is counted.",
    (_CONTAINER, Argument("ballots", "how many were sorted out, in digits")),
    lambda args, _state: {"container": args.container, "out_of_scope": sheets(args.ballots)},
    lambda args, _state: (
        f"the ballots sorted out of container {args.container} are written down; lay them apart"
    ),
    BOTH,
)
exclude = ActCommand(
    "excluded_recorded",
    "Both sides found ballots among the others that are no part of the recount (B), and laid them apart.",
    (
        Argument("what", "; ".join(f"{w}: {s}" for w, s in EXCLUDED.items()), {"choices": tuple(EXCLUDED)}),
        Argument("ballots", "how many, in digits"),
        option("--where", "where they were found"),
    ),
    lambda args, _state: {
        "kind": args.what,
        "ballots": sheets(args.ballots),
        "where": text(args.where, "where they were found (--where)"),
    },
    lambda args, _state: (
        f"{args.ballots} {EXCLUDED[args.what]}: they are not fed and not counted; lay them apart"
    ),
    BOTH,
)
reseal = ActCommand(
    "container_resealed",
    "Custody out: both sides seal ballots again and give them into custody.",
    (
        _CONTAINER,
        option("--holds", "which ballots it holds now", choices=SEALED_AGAIN),
        option("--seal", "the number of the new seal"),
        option("--to", "who takes it into custody"),
    ),
    lambda args, _state: {
        "container": args.container,
        "holds": args.holds,
        "seal": text(args.seal, "the number of the new seal (--seal)"),
        "to": text(args.to, "who takes it into custody (--to)"),
    },
    lambda args, _state: f"container {args.container} is sealed again with seal {args.seal}",
    BOTH,
)
