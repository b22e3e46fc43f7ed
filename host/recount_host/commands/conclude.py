"""`recount-host conclude`: all officials have signed the printed statement; the precinct is concluded."""

from recount_host.act import Act
from recount_host.commands.act_command import ActCommand
from recount_host.law.precinct import PrecinctState

_NOT_PRINTED = bytes(32)


def _signed(state: PrecinctState, name: str) -> bytes:
    last: Act | None = state.statements[-1] if state.statements else None
    return _NOT_PRINTED if last is None else last.body[name]


conclude = ActCommand(
    "precinct_concluded",
    "All recount officials signed the printed statement in ink: the precinct is concluded, for good (E).",
    (),
    lambda _args, state: {name: _signed(state, name) for name in ("sha256", "facts_sha256")},
    lambda args, _state: (
        f"precinct {args.precinct} is concluded: seal its ballots again (custody reseal); nothing of its "
        "count can "
        "change any more, and only the court rules on segregated ballots"
    ),
    "once for each official of the team",
)
