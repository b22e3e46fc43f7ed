"""From when on each form of a precinct can be printed: no figure stands on one before it may be shown."""

from collections.abc import Callable, Mapping

from recount_host.law.errors import NotAllowed
from recount_host.law.precinct_state import PrecinctState


def _figures(state: PrecinctState) -> bool:
    return state.shown is not None


def _counted(state: PrecinctState) -> bool:
    return state.agreeing_act is not None


def _segregated(state: PrecinctState) -> bool:
    return bool(state.segregated)


_FIGURES_FIRST = "the figures are shown first (figures): nobody learns one before all are counted blind"
_COUNTED_FIRST = "the hand count agrees first (hand-count enter): each number and pass is blind till then"
_SEGREGATED_FIRST = "no ballot of this precinct is segregated (challenge segregate)"

_Ready = Callable[[PrecinctState], bool]
READY: Mapping[str, tuple[_Ready, str]] = {
    "custody": (lambda state: bool(state.containers), "no container was taken in yet (custody receive)"),
    "counts": (_counted, _COUNTED_FIRST),
    "runs": (_figures, _FIGURES_FIRST),
    "set-aside": (_figures, _FIGURES_FIRST),
    "mismatch": (
        lambda state: state.counts_whole_precinct,
        "nothing sent all ballots of this precinct to the hand count (D 2)",
    ),
    "tally": (_counted, _COUNTED_FIRST),
    "challenges": (_segregated, _SEGREGATED_FIRST),
    "labels": (_segregated, _SEGREGATED_FIRST),
    "call": (lambda state: bool(state.answers), "no official was asked yet (challenge call)"),
    "reseal": (lambda state: bool(state.resealed), "nothing was sealed again yet (custody reseal)"),
    "submission": (lambda state: state.concluded is not None, "the precinct is concluded first (conclude)"),
}
"""By the form's word: whether there is something to print that may be shown, and else what comes first."""


def check_may_print(state: PrecinctState, form: str) -> None:
    """Raise NotAllowed while this form of the precinct cannot be printed."""
    ready, first = READY[form]
    if not ready(state):
        raise NotAllowed(f"the form {form} cannot be printed: {first}")


def forms_ready(state: PrecinctState) -> tuple[str, ...]:
    """Return the forms that this precinct has now."""
    return tuple(form for form, (ready, _) in READY.items() if ready(state))
