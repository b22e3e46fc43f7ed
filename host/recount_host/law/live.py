"""Whether a device may be given a live run: armed by its records, certified by acts, at zero. D 2 s. 4."""

from collections.abc import Sequence

from recount_host.act import Act
from recount_host.law.arming import Arming
from recount_host.law.precinct_state import Facts
from recount_host.order import order_signers
from recount_protocol.software_names import what_changed

ASSIGNED, SETTLED, ENDED = "test_assigned", "test_doubt_settled", "test_ended"
ARMED, ZERO = "device_armed", "zero_report_printed"
"""The kinds of acts of a logic-and-accuracy test."""


def assigned_tests(acts: Sequence[Act], device: str) -> tuple[Act, ...]:
    """Return the tests that were assigned to this device, in their order."""
    return tuple(act for act in acts if act.kind == ASSIGNED and act.body["device"] == device)


def open_test(acts: Sequence[Act], device: str) -> Act | None:
    """Return the test that this device is to run and that is not ended."""
    ended = {act.body["run"] for act in acts if act.kind == ENDED}
    return next((act for act in assigned_tests(acts, device) if act.body["run"] not in ended), None)


def why_not_live(facts: Facts, device: str, program: bytes) -> str:
    """Return in a sentence why this device may not be given a live run with this program; empty if it may."""
    if not order_signers(facts.acts):
        return (
            "nobody has signed the order of the court that this ledger works under: have it signed (order "
            "sign) and take the signatures in (order set); until then devices run in training"
        )
    told = facts.devices.get(device)
    arming = told.arming if told is not None else Arming()
    armed = arming.armed
    if armed is None:
        return f"it is not armed: {arming.why}; run logic and accuracy (logic-accuracy begin)"
    for is_so, complaint in (
        (armed.program == program, "it is armed for another contest program"),
        (
            armed.software == arming.software,
            f"since it was armed, {what_changed(armed.software, arming.software)}",
        ),
        (armed.firmware == arming.firmware, "it is armed with another firmware of the feeder"),
        (_certificate(facts.acts, device) == armed.certificate, "its certificate is not in this ledger"),
    ):
        if not is_so:
            return f"{complaint}: run logic and accuracy (logic-accuracy begin)"
    latest = max(armed.n, arming.started_n)
    if not any(_is_zero(act, device) and act.body["head_n"] >= latest for act in facts.acts):
        return "it was armed or started anew since its last zero report: print one (zero-report)"
    return ""


def _certificate(acts: Sequence[Act], device: str) -> bytes:
    """Return the hash of the device's latest certificate; empty where it has none."""
    own = [act.body["sha256"] for act in acts if act.kind == ARMED and act.body["device"] == device]
    return own[-1] if own else b""


def _is_zero(act: Act, device: str) -> bool:
    return act.kind == ZERO and act.body["device"] == device
