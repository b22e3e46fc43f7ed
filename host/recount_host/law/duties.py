"""What a device still has to be told: acts of people that its records do not show yet.

The host repeats these until the fitting record arrives; the device takes each once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from recount_host.act import Act
from recount_host.law.persons import in_words
from recount_host.law.precinct import Facts
from recount_host.law.tally import Batch, DeviceFacts


@dataclass(frozen=True, slots=True)
class Duty:
    """One message of the tally link that is due."""

    kind: str
    fields: Mapping[str, Any]


def duties(facts: Facts, device: str) -> tuple[Duty, ...]:
    """Return the messages due to this device, in the order of the acts that they carry out."""
    told = facts.devices.get(device, DeviceFacts(device, 0, b"", {}, (), ()))
    ended = {act.body["run"] for act in facts.acts if act.kind == "run_ended"}
    due: list[Duty] = []
    for act in facts.acts:
        make = _DUE.get(act.kind)
        if make is not None and act.body["device"] == device:
            duty = make(act, told, ended)
            if duty is not None:
                due.append(duty)
    return tuple(due)


def _assign_run(act: Act, told: DeviceFacts, ended: set[str]) -> Duty | None:
    body = act.body
    if body["run"] in told.runs or body["run"] in ended:
        return None
    return Duty(
        "assign_run", {name: body[name] for name in ("run", "precinct", "contest", "program", "mode")}
    )


def _close_run(act: Act, told: DeviceFacts, _ended: set[str]) -> Duty | None:
    run = told.runs.get(act.body["run"])
    return Duty("close_run", {"run": run.run}) if run is not None and not run.closed_n else None


def _void_batch(act: Act, told: DeviceFacts, _ended: set[str]) -> Duty | None:
    batch = _batch(act, told)
    if batch is None or batch.voided_n:
        return None
    return Duty(
        "void_batch",
        {
            "run": batch.run,
            "batch": batch.batch,
            "reason": act.body["reason"],
            "by": [in_words(person) for person in act.by],
        },
    )


def _settle_doubt(act: Act, told: DeviceFacts, _ended: set[str]) -> Duty | None:
    batch, body = _batch(act, told), act.body
    if batch is None or batch.voided_n or body["sheet"] not in {sheet.sheet for sheet in batch.doubts}:
        return None
    return Duty(
        "settle_doubt",
        {
            "run": batch.run,
            "batch": batch.batch,
            "sheet": body["sheet"],
            "fate": body["fate"],
            "by": [in_words(person) for person in act.by],
        },
    )


def _batch(act: Act, told: DeviceFacts) -> Batch | None:
    return next((batch for batch in told.batches if batch.batch == act.body["batch"]), None)


_DUE: Mapping[str, Callable[[Act, DeviceFacts, set[str]], Duty | None]] = {
    "run_assigned": _assign_run,
    "run_ended": _close_run,
    "batch_void_ordered": _void_batch,
    "doubt_settled_ordered": _settle_doubt,
}
