"""What a device still has to be told: acts of people that its records do not show yet.

The host repeats these until the fitting record arrives; the device takes each once.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from recount_host.act import Act
from recount_host.law.persons import in_words
from recount_host.law.precinct import Facts, disarmed
from recount_host.law.tally import Batch, DeviceFacts
from recount_protocol.records import TEST, TEST_PRECINCT

BOTH_SIDES = 2
"""Persons who void a batch together."""


@dataclass(frozen=True, slots=True)
class Duty:
    """One message of the tally link that is due."""

    kind: str
    fields: Mapping[str, Any]


def duties(facts: Facts, device: str) -> tuple[Duty, ...]:
    """Return the messages due to this device, in the order of the acts that they carry out."""
    told = facts.devices.get(device, DeviceFacts(device, 0, b"", {}, (), ()))
    ended = {act.body["run"] for act in facts.acts if act.kind in ("run_ended", "test_ended")}
    due: list[Duty] = list(_disarm(facts, device, told))
    for act in facts.acts:
        make = _DUE.get(act.kind)
        if make is not None and act.body["device"] == device:
            due += make(act, told, ended)
    return tuple(due)


def _assign_run(act: Act, told: DeviceFacts, ended: set[str]) -> Iterator[Duty]:
    body = act.body
    if body["run"] not in told.runs and body["run"] not in ended:
        words = ("run", "precinct", "contest", "program", "mode")
        yield Duty("assign_run", {name: body[name] for name in words})


def _assign_test(act: Act, told: DeviceFacts, ended: set[str]) -> Iterator[Duty]:
    body = act.body
    if body["run"] not in told.runs and body["run"] not in ended:
        words = {name: body[name] for name in ("run", "contest", "program")}
        yield Duty("assign_run", {**words, "precinct": TEST_PRECINCT, "mode": TEST})


def _arm(act: Act, told: DeviceFacts, _ended: set[str]) -> Iterator[Duty]:
    """Yield the order to arm, until the device is armed by it, or something else was run since."""
    body, arming = act.body, told.arming
    last_run = max(told.runs.values(), key=lambda run: run.opened_n, default=None)
    is_last = last_run is not None and last_run.run == body["run"]
    if body["sha256"] in arming.certificates or not is_last or arming.software != body["software"]:
        return
    names = ("run", "program", "thresholds", "software", "firmware")
    by = [in_words(person) for person in act.by]
    yield Duty(
        "arm_device", {**{name: body[name] for name in names}, "certificate": body["sha256"], "by": by}
    )


def _close_run(act: Act, told: DeviceFacts, _ended: set[str]) -> Iterator[Duty]:
    run = told.runs.get(act.body["run"])
    if run is not None and not run.closed_n:
        yield Duty("close_run", {"run": run.run})


def _end_test(act: Act, told: DeviceFacts, ended: set[str]) -> Iterator[Duty]:
    """Yield what ends a test: where both sides end it, first its open batch is void, doubts and all."""
    standing = [batch for batch in told.batches if batch.run == act.body["run"] and batch.is_open]
    if not standing or len(act.by) < BOTH_SIDES:
        yield from _close_run(act, told, ended)
        return
    by = [in_words(person) for person in act.by]
    for batch in standing:
        where = {"run": batch.run, "batch": batch.batch}
        yield Duty("void_batch", {**where, "reason": "the test was ended", "by": by})


def _void_batch(act: Act, told: DeviceFacts, _ended: set[str]) -> Iterator[Duty]:
    for batch in told.batches:
        if batch.batch == act.body["batch"] and not batch.voided_n:
            yield _voiding(batch, act)


def _void_all(act: Act, told: DeviceFacts, _ended: set[str]) -> Iterator[Duty]:
    """Yield, for a withdrawn device that comes back, the voiding of all that it scanned for the precinct."""
    for batch in told.batches:
        run = told.runs.get(batch.run)
        if run is not None and run.precinct == act.body["precinct"] and not batch.voided_n:
            yield _voiding(batch, act)


def _voiding(batch: Batch, act: Act) -> Duty:
    by = [in_words(person) for person in act.by]
    return Duty(
        "void_batch", {"run": batch.run, "batch": batch.batch, "reason": act.body["reason"], "by": by}
    )


def _settle_doubt(act: Act, told: DeviceFacts, _ended: set[str]) -> Iterator[Duty]:
    body = act.body
    for batch in told.batches:
        asked = {sheet.sheet for sheet in batch.doubts}
        if batch.batch == body["batch"] and not batch.voided_n and body["sheet"] in asked:
            where = {"run": batch.run, "batch": batch.batch, "sheet": body["sheet"]}
            yield Duty("settle_doubt", {**where, "fate": body["fate"], "by": [in_words(p) for p in act.by]})


def _disarm(facts: Facts, device: str, told: DeviceFacts) -> Iterator[Duty]:
    """Yield the order to disarm a device whose counted sheets did not hold the right number of votes (I4)."""
    if device in disarmed(facts.acts) and told.arming.armed is not None:
        yield Duty("disarm_device", {"why": "the votes on its counted sheets do not add up (I4)"})


_DUE: Mapping[str, Callable[[Act, DeviceFacts, set[str]], Iterator[Duty]]] = {
    "run_assigned": _assign_run,
    "run_ended": _close_run,
    "test_assigned": _assign_test,
    "test_ended": _end_test,
    "device_armed": _arm,
    "batch_void_ordered": _void_batch,
    "doubt_settled_ordered": _settle_doubt,
    "test_doubt_settled": _settle_doubt,
    "device_withdrawn": _void_all,
}
