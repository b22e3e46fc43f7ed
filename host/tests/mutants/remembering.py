"""Folding remembers what each act led to: a test that folds after every act folds each act once.

What `apply` makes of a state and an act depends on nothing else, so it is the same state at every later fold.
Mutants are tried on hundreds of thousands of folds.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from recount_host.act import Act, Person
from recount_host.law import precinct
from recount_host.law.precinct import Facts, PrecinctState

_applied: dict[tuple[int, int], tuple[PrecinctState, Act, PrecinctState]] = {}
_untouched: dict[str, list[PrecinctState]] = {}
_checked: dict[tuple[str, int, int], tuple[Sequence[Person], Mapping[str, Any]]] = {}
"""The values hold on to what the keys name, so that no number is given away again."""


def forget() -> None:
    """Begin anew, for another test."""
    _applied.clear()
    _untouched.clear()
    _checked.clear()


def remember() -> None:
    """Let folding remember from now on. The functions that it calls are those that are loaded now."""
    names = vars(precinct)
    apply, untouched, check_act = (names[name] for name in ("apply", "_untouched", "check_act"))

    def remembered_apply(state: PrecinctState, act: Act) -> PrecinctState:
        key = id(state), id(act)
        if key not in _applied:
            _applied[key] = state, act, apply(state, act)
        return _applied[key][2]

    def remembered_untouched(facts: Facts, precinct_id: str) -> PrecinctState:
        made: PrecinctState = untouched(facts, precinct_id)
        known = _untouched.setdefault(precinct_id, [])
        if made not in known:
            known.append(made)
        return known[known.index(made)]

    def remembered_check(kind: str, by: Sequence[Person], body: Mapping[str, Any]) -> None:
        key = kind, id(by), id(body)
        if key not in _checked:
            check_act(kind, by, body)
            _checked[key] = by, body

    for name, remembered in (
        ("apply", remembered_apply),
        ("_untouched", remembered_untouched),
        ("check_act", remembered_check),
    ):
        setattr(precinct, name, remembered)
