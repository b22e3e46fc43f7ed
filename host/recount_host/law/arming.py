"""Which devices are armed, as their own records tell: folded here by the host's code, not the device's.

D 2 s. 4: a device counts live sheets with the program, software and firmware that it passed logic and
accuracy with, and with no other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recount_protocol.records import TEST, Record
from recount_protocol.software_names import what_changed


@dataclass(frozen=True, slots=True)
class Armed:
    """What a device was armed for, by which record."""

    test_run: str
    program: bytes
    thresholds: bytes
    software: str
    firmware: str
    certificate: bytes
    n: int


@dataclass(frozen=True, slots=True)
class Arming:
    """How a device stands."""

    armed: Armed | None = None
    why: str = "it has not passed logic and accuracy"
    """Why it is not armed."""
    started_n: int = 0
    """Its latest start; 0 before the first."""
    software: str = ""
    firmware: str = ""
    """What it and its board were when it last told."""
    certificates: frozenset[bytes] = frozenset()
    """Certificates by which it was ever armed."""


def read_arming(records: Sequence[Record]) -> Arming:
    """Return how a device stands after these records, in the order of their numbers."""
    state = Arming()
    for record in records:
        take = _TAKE.get(record.kind)
        if take is not None:
            state = take(state, record, record.body)
    return state


def _disarmed(state: Arming, why: str) -> Arming:
    return state if state.armed is None else replace(state, armed=None, why=why)


def _started(state: Arming, record: Record, body: Mapping[str, Any]) -> Arming:
    state = replace(state, started_n=record.n, software=body["software"], firmware=body["firmware"])
    changed = "" if state.armed is None else what_changed(state.armed.software, body["software"])
    return _disarmed(state, changed) if changed else state


def _opened(state: Arming, _record: Record, body: Mapping[str, Any]) -> Arming:
    state = replace(state, software=body["software"], firmware=body["firmware"])
    if body["mode"] == TEST:
        return _disarmed(state, "a new logic-and-accuracy test was begun")
    if state.armed is not None and state.armed.program != body["program"]:
        return _disarmed(state, "it was given another contest program")
    return state


def _armed(state: Arming, record: Record, body: Mapping[str, Any]) -> Arming:
    names = ("test_run", "program", "thresholds", "software", "firmware", "certificate")
    armed = Armed(*(body[name] for name in names), n=record.n)
    return replace(state, armed=armed, why="", certificates=state.certificates | {body["certificate"]})


_TAKE: Mapping[str, Callable[[Arming, Record, Mapping[str, Any]], Arming]] = {
    "device_started": _started,
    "run_opened": _opened,
    "device_armed": _armed,
    "device_disarmed": lambda state, _record, body: _disarmed(state, body["why"]),
}
