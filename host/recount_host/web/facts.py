"""The ledger as the law reads it, at little cost: a device is folded anew only when it wrote more."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recount_host.law.duties import duties
from recount_host.law.precinct import Facts, PrecinctState, fold_all
from recount_host.law.tally import DeviceFacts, Gap, read_device
from recount_host.ledger.ledger import Ledger
from recount_host.ledger.rows import Refusal
from recount_host.order import order_of
from recount_protocol.records import Record

QUICK_FOLD_S = 0.25
REST_FACTOR = 4
"""A fold that takes longer than QUICK_FOLD_S is shown for so many times its length: the pages of a large
locality must never take the processor from the links."""


@dataclass(frozen=True, slots=True)
class _Folded:
    mark: tuple[int, ...]
    facts: Facts
    states: Mapping[str, PrecinctState]
    good_until_s: float


class FactsReader:
    """Gives the law's `Facts` as of now. Threads may share it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = threading.Lock()
        self._records: dict[str, list[Record]] = {}
        self._taken = 0
        self._folded: dict[str, DeviceFacts] = {}
        self._states: _Folded | None = None

    def facts(self) -> Facts:
        """Return everything that is known now."""
        acts = self._ledger.acts()
        with self._lock:
            self._fold_what_is_new()
            devices = dict(self._folded)
        return Facts(
            order_of(acts),
            acts,
            devices,
            tuple(Gap(gap.device, gap.first_n, gap.last_n) for gap in self._ledger.gaps()),
            {device.device: device.name for device in self._ledger.devices()},
        )

    def states(self) -> tuple[Facts, Mapping[str, PrecinctState]]:
        """Return all that is known now, and each precinct's state by id; folded only after a change."""
        mark, begun_s = self._ledger.mark(), time.monotonic()
        known = self._states
        if known is None or (known.mark != mark and begun_s >= known.good_until_s):
            facts = self.facts()
            states = fold_all(facts)
            ended_s = time.monotonic()
            took_s = ended_s - begun_s
            rest_s = took_s * REST_FACTOR if took_s > QUICK_FOLD_S else 0.0
            known = self._states = _Folded(mark, facts, states, ended_s + rest_s)
        return known.facts, known.states

    def duties(self, device: str) -> tuple[tuple[str, dict[str, Any]], ...]:
        """Return the messages that this device is to be told until its records show that it did them."""
        return tuple((duty.kind, dict(duty.fields)) for duty in duties(self.facts(), device))

    def refusals(self) -> tuple[Refusal, ...]:
        """Return what devices sent that was not taken."""
        return self._ledger.refusals()

    def crop(self, device: str, n: int) -> bytes | None:
        """Return the picture that belongs to a record, or None when it has not come."""
        return self._ledger.crop(device, n)

    def program(self, program_hash: bytes) -> bytes | None:
        """Return the file of a contest program, or None when it is not here."""
        return self._ledger.program(program_hash)

    def record(self, device: str, n: int) -> Record | None:
        """Return one record of a device, or None when it is not here."""
        with self._lock:
            self._fold_what_is_new()
            records = self._records.get(device, [])
        # They come in the order of their numbers, from 1 on.
        return records[n - 1] if 0 < n <= len(records) else None

    def pictures(self) -> frozenset[tuple[str, int]]:
        """Return device and record number of every picture that has come."""
        return self._ledger.crops()

    def _fold_what_is_new(self) -> None:
        fresh = self._ledger.records()[self._taken :]
        self._taken += len(fresh)
        for record in fresh:
            self._records.setdefault(record.device, []).append(record)
        for device in {record.device for record in fresh}:
            self._folded[device] = read_device(device, self._records[device])
