"""Whatever arrives, in whatever order: the ledger holds the beginning of each device's one true history."""

import tempfile
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from host.tests.enrolling import enrol
from host.tests.links.stand_in import StandIn
from recount_host.ledger import Ledger, Verdict
from recount_protocol.records import sign

STRANGERS_KEY = Ed25519PrivateKey.from_private_bytes(bytes([99]) * 32)
DEVICES = 2

which = st.integers(0, DEVICES - 1)
place = st.integers(0, 30)


class WhatArrives(RuleBasedStateMachine):
    """The model of one device is a number: how many of its records, from the first, must be in the ledger."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "ledger.sqlite"
        self.ledger = Ledger(self.path)
        self.devices = [_device(seed) for seed in range(1, DEVICES + 1)]
        self.twins = [_device(seed) for seed in range(1, DEVICES + 1)]
        self.kept = [0] * DEVICES
        self.is_forked = [False] * DEVICES
        """Whether a second history was sent: from then on nothing is taken."""
        self.early: list[set[int]] = [set() for _ in range(DEVICES)]

    def teardown(self) -> None:
        self.ledger.close()
        self.folder.cleanup()

    @initialize()
    def introduce(self) -> None:
        for device, twin in zip(self.devices, self.twins, strict=True):
            enrol(self.ledger, device.name, device.public_key)
            twin.write_fault("twin")  # from its first record on, the twin's history is another one

    @rule(which=which, count=st.integers(1, 4))
    def write(self, which: int, count: int) -> None:
        for _ in range(count):
            self.devices[which].write_fault(f"fault-{len(self.devices[which].journal)}")
            self.twins[which].write_fault("twin")

    @precondition(lambda self: any(device.journal for device in self.devices))
    @rule(which=which, places=st.lists(place, min_size=1, max_size=6))
    def send(self, which: int, places: list[int]) -> None:
        """Send records in any order, with repeats and holes, in one batch."""
        journal = self.devices[which].journal
        numbers = [at % len(journal) + 1 for at in places] if journal else []
        outcomes = self.ledger.add_records([journal[n - 1] for n in numbers])
        for n, outcome in zip(numbers, outcomes, strict=True):
            assert outcome.verdict is self._expected(which, n), outcome.sentence
            assert self.is_forked[which] or outcome.next_n == self.kept[which] + 1

    @rule(which=which)
    def send_what_is_missing(self, which: int) -> None:
        """What a sound device does after a welcome: everything from where the ledger stands."""
        items = self.devices[which].journal[self.kept[which] :]
        verdicts = {outcome.verdict for outcome in self.ledger.add_records(items)}
        if self.is_forked[which]:
            assert verdicts <= {Verdict.REFUSED}
            return
        assert verdicts <= {Verdict.STORED}
        self.kept[which] += len(items)

    @precondition(lambda self: any(device.journal for device in self.devices))
    @rule(which=which, at=place)
    def forge(self, which: int, at: int) -> None:
        """Send a true record under a stranger's signature."""
        journal = self.devices[which].journal
        if journal:
            data, _ = journal[at % len(journal)]
            outcome = self.ledger.add_record(data, sign(STRANGERS_KEY, data))
            assert outcome.verdict is Verdict.REFUSED

    @rule(which=which, at=place)
    def fork(self, which: int, at: int) -> None:
        """Send a record of a second history, truly signed with the device's key."""
        twin = self.twins[which].journal
        n = at % len(twin) + 1
        if self.kept[which] == 0 and n == 1:
            return  # nothing before it is known, and an early record tells only once the gap is closed
        if n > self.kept[which] + 1 and n not in self.early[which]:
            return  # it would be the one that came early; what lies between will tell
        assert self.ledger.add_record(*twin[n - 1]).verdict is Verdict.REFUSED
        self.is_forked[which] = True

    @rule()
    def restart(self) -> None:
        self.ledger.close()
        self.ledger = Ledger(self.path)

    @invariant()
    def each_history_is_kept_from_its_beginning_without_holes(self) -> None:
        for index, device in enumerate(self.devices):
            kept = self.ledger.stored_records(device.device)
            assert [(r.data, r.signature) for r in kept] == device.journal[: self.kept[index]]

    @invariant()
    def a_gap_is_named_exactly_while_a_later_record_is_known(self) -> None:
        named = {gap.device: (gap.first_n, gap.last_n) for gap in self.ledger.gaps()}
        for index, device in enumerate(self.devices):
            later = {n for n in self.early[index] if n > self.kept[index] + 1}
            expected = (self.kept[index] + 1, min(later) - 1) if later else None
            assert named.get(device.device) == expected

    def _expected(self, which: int, n: int) -> Verdict:
        if self.is_forked[which]:
            return Verdict.REFUSED
        if n <= self.kept[which]:
            return Verdict.ALREADY
        if n == self.kept[which] + 1:
            self.kept[which] += 1
            return Verdict.STORED
        later = {early for early in self.early[which] if early > self.kept[which] + 1}
        if not later or n < min(later):
            self.early[which].add(n)
        return Verdict.GAP


def _device(seed: int) -> StandIn:
    return StandIn(f"device-{seed}", Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32))


TestWhatArrives = WhatArrives.TestCase
TestWhatArrives.settings = settings(max_examples=15, stateful_step_count=25, deadline=None)
