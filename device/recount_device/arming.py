"""Whether this device may count live sheets: it has passed logic and accuracy with this very program.

Folded from the device's own records, as everything it remembers. The host orders the arming once both sides
have signed the certificate; the device sees for itself that it ran such a test, that nothing has changed
since, and that nothing is changed now. § 24.2-802.2 D 2: each scanner passes before it counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recount_classifier.program import Program
from recount_classifier.thresholds import thresholds_hash
from recount_protocol.records import TEST, Record
from recount_protocol.software_names import what_changed

SELF_TEST_FAILED = "self_test_failed"
"""The word of the fault that a failed test of the device's own parts leaves (`self_test`)."""


@dataclass(frozen=True)
class Armed:
    """What the device was armed for."""

    test_run: str
    program: bytes
    thresholds: bytes
    software: str
    firmware: str
    certificate: bytes


@dataclass(frozen=True)
class TestRun:
    """The logic-and-accuracy test that was run last, as far as it went."""

    __test__ = False  # no test of pytest's

    run: str
    program: bytes
    software: str
    firmware: str
    batches_closed: int = 0
    is_closed: bool = False


@dataclass
class Arming:
    """The fold of the records that arm and disarm."""

    armed: Armed | None = None
    why_disarmed: str = ""
    """What disarmed the device last; empty where it never was armed."""
    test: TestRun | None = None
    """The test that was run last; None once anything was run or changed since."""

    def take(self, record: Record) -> None:
        """Fold the next record."""
        take = _TAKE.get(record.kind)
        if take is not None:
            take(self, record, record.body)

    def _disarm(self, why: str) -> None:
        if self.armed is not None:
            self.armed, self.why_disarmed = None, why

    def on_started(self, _record: Record, body: Mapping[str, Any]) -> None:
        """Hear that the device's program started: another one than the tested, or set otherwise, disarms."""
        for proved in (self.armed, self.test):
            if proved is None:
                continue
            changed = what_changed(proved.software, body["software"])
            if changed:
                self._disarm(changed)
                self.test = None

    def on_run_opened(self, record: Record, body: Mapping[str, Any]) -> None:
        """Hear that a run was opened: a new test, or another program, disarms."""
        self.test = None
        if body["mode"] == TEST:
            self._disarm("a new logic-and-accuracy test was begun")
            self.test = TestRun(record.run, body["program"], body["software"], body["firmware"])
        elif self.armed is not None and body["program"] != self.armed.program:
            self._disarm("the device was given another contest program")

    def on_batch_closed(self, record: Record, _body: Mapping[str, Any]) -> None:
        """Count the closed batches of the test."""
        self._change_test(record, batches=1)

    def on_run_closed(self, record: Record, _body: Mapping[str, Any]) -> None:
        """Hear that the test is over."""
        self._change_test(record, is_closed=True)

    def _change_test(self, record: Record, *, batches: int = 0, is_closed: bool = False) -> None:
        known = self.test
        if known is not None and known.run == record.run:
            self.test = TestRun(
                known.run, known.program, known.software, known.firmware,
                known.batches_closed + batches, known.is_closed or is_closed,
            )  # fmt: skip

    def on_armed(self, _record: Record, body: Mapping[str, Any]) -> None:
        """Hear that the device was armed."""
        names = ("test_run", "program", "thresholds", "software", "firmware", "certificate")
        self.armed = Armed(*(body[name] for name in names))

    def on_disarmed(self, _record: Record, body: Mapping[str, Any]) -> None:
        """Hear that it was disarmed, and why."""
        self._disarm(body["why"])

    def on_fault(self, _record: Record, body: Mapping[str, Any]) -> None:
        """Hear that a part failed: what was tested before proves nothing now."""
        if body["word"] == SELF_TEST_FAILED:
            self.test = None


_TAKE = {
    "device_started": Arming.on_started,
    "run_opened": Arming.on_run_opened,
    "batch_closed": Arming.on_batch_closed,
    "run_closed": Arming.on_run_closed,
    "device_armed": Arming.on_armed,
    "device_disarmed": Arming.on_disarmed,
    "fault": Arming.on_fault,
}


@dataclass(frozen=True)
class Present:
    """What the device is now."""

    program: Program
    software: str
    firmware: str


def why_not_live(arming: Arming, now: Present) -> str:
    """Return in a sentence why no live sheet may be counted with this program; empty where it may."""
    armed = arming.armed
    if armed is None:
        return arming.why_disarmed or "it has not passed logic and accuracy"
    for is_so, complaint in (
        (armed.program == now.program.program_hash, "it was armed for another contest program"),
        (armed.thresholds == thresholds_hash(now.program.thresholds), "it was armed with other thresholds"),
        (armed.software == now.software, f"since it was armed, {what_changed(armed.software, now.software)}"),
        (armed.firmware == now.firmware, "it was armed with another firmware of the feeder"),
    ):
        if not is_so:
            return complaint
    return ""


def why_not_arm(arming: Arming, order: Mapping[str, Any], now: Present) -> str:
    """Return in a sentence why the order to arm cannot be obeyed; empty where it can."""
    test = arming.test
    if test is None or test.run != order["run"]:
        return f"the last thing it ran is not the test {order['run']}"
    for is_so, complaint in (
        (test.is_closed, "the test's run is not closed"),
        (test.batches_closed > 0, "no batch of the test was closed"),
        (order["program"] == now.program.program_hash == test.program, "the test was of another program"),
        (order["thresholds"] == thresholds_hash(now.program.thresholds), "the order names other thresholds"),
        (order["software"] == test.software, "the test was of other software"),
        (test.software == now.software, f"since the test, {what_changed(test.software, now.software)}"),
        (order["firmware"] == now.firmware == test.firmware, "the test was of another firmware"),
    ):
        if not is_so:
            return complaint
    return ""
