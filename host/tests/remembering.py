"""Folding that remembers what each act led to: a test that folds after every act applies each act once.

What `apply` makes of a state and an act depends on nothing else, so it is the same at every later fold. The
tests take half the time by it. What was remembered is held against a plain fold by the tests of wild days.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

from recount_host.act import Act, Person
from recount_host.law import precinct
from recount_host.law.precinct import Facts, PrecinctState

_plain: Mapping[str, Any] = {name: vars(precinct)[name] for name in ("apply", "_untouched", "check_act")}
_applied: dict[tuple[int, int], tuple[PrecinctState, Act, PrecinctState]] = {}
_untouched: dict[str, list[PrecinctState]] = {}
_checked: dict[tuple[str, int, int], tuple[Sequence[Person], Mapping[str, Any]]] = {}
"""The values hold on to what the keys name, so that no number is given away again."""


@wraps(_plain["apply"])
def _remembered_apply(state: PrecinctState, act: Act) -> PrecinctState:
    key = id(state), id(act)
    if key not in _applied:
        _applied[key] = state, act, _plain["apply"](state, act)
    return _applied[key][2]


@wraps(_plain["_untouched"])
def _remembered_untouched(facts: Facts, precinct_id: str) -> PrecinctState:
    made: PrecinctState = _plain["_untouched"](facts, precinct_id)
    known = _untouched.setdefault(precinct_id, [])
    if made not in known:
        known.append(made)
    return known[known.index(made)]


@wraps(_plain["check_act"])
def _remembered_check(kind: str, by: Sequence[Person], body: Mapping[str, Any]) -> None:
    key = kind, id(by), id(body)
    if key not in _checked:
        _plain["check_act"](kind, by, body)
        _checked[key] = by, body


_REMEMBERED: Mapping[str, Any] = {
    "apply": _remembered_apply,
    "_untouched": _remembered_untouched,
    "check_act": _remembered_check,
}


def forget() -> None:
    """Begin anew, for another test."""
    _applied.clear()
    _untouched.clear()
    _checked.clear()


def remember() -> None:
    """Let folding remember from now on."""
    _put(_REMEMBERED)


@contextmanager
def folding_plainly() -> Generator[None]:
    """Let folding do everything anew within the block, as the host does."""
    _put(_plain)
    try:
        yield
    finally:
        _put(_REMEMBERED)


def _put(functions: Mapping[str, Any]) -> None:
    for name, function in functions.items():
        setattr(precinct, name, function)
