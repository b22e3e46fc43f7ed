"""The collector: one thread that writes down what all links bring, in few transactions, and answers each.

Links put wants in, in the order their device sent them. The thread takes all that waits, verifies and stores
the records in one transaction, and only after its commit tells the sessions, which then acknowledge: the
busier the links, the larger the transactions, so a flush of the disk is shared by many records.
"""

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from recount_host.errors import OperatorError
from recount_host.ledger.ledger import Ledger, LookedAt
from recount_host.ledger.rows import Outcome, Verdict
from recount_host.links.crop_under_way import CropPlace
from recount_host.links.wants import (
    CropKept,
    Dismissed,
    DutiesChanged,
    FetchProgram,
    Introduce,
    Introduced,
    KeepCrop,
    KeepRecords,
    ProgramFetched,
    RecordsKept,
    Reply,
    Want,
)

LOOK_S = 0.25
"""How often the ledger is looked at for acts that other programs appended."""

_FULFIL_NOTHING = frozenset({"sheet_judged", "sheet_landed", "sheet_returned", "sheet_in_doubt", "fault"})
"""Kinds of records that no duty waits for."""

TWINS = "two devices have its key, or its journal was changed: take it away, and revoke it"
"""What is told to every device whose key has signed two records in one place."""

MAX_BATCH = 512
"""Records and other wants taken into one round: bounds how long the first of them waits for its answer."""

CROP_BYTES_A_ROUND = 512 * 1024
"""Crops written down before the records that have come meanwhile: a slow disk takes 50 ms for so much."""


class Seat(Protocol):
    """A session with its link, as the collector knows it."""

    def answer(self, reply: Reply) -> None:
        """Hand `reply` to the session, from any thread."""
        ...

    def replace(self) -> None:
        """Close this link, from any thread: the same device has connected anew elsewhere."""
        ...


Duty = tuple[str, dict[str, Any]]
DutiesOf = Callable[[str], tuple[Duty, ...]]
"""What a device is to be told now, folded from the ledger (see recount_host.law.duties)."""


@dataclass(frozen=True, slots=True)
class _Asked:
    seat: Seat
    want: Want


class Collector:
    """The one writer of records. `failure` holds the error that stopped it, if one did."""

    def __init__(self, ledger: Ledger, duties_of: DutiesOf, on_failure: Callable[[], None]) -> None:
        self._ledger = ledger
        self._duties_of = duties_of
        self._on_failure = on_failure
        self._asked: queue.SimpleQueue[_Asked | None] = queue.SimpleQueue()
        self._crops: deque[tuple[Seat, KeepCrop]] = deque()
        """They wait until no record does; each device has one under way at most, so they are bounded."""
        self._fresh_crops: list[tuple[Seat, KeepCrop]] = []
        """Those whose records may be among the fresh ones: they wait until these are written down."""
        self._crop_places: dict[str, CropPlace] = {}
        """What of each device's crop under way has come, over whichever connection."""
        self._fresh: list[tuple[Seat, KeepRecords]] = []
        """Records whose signatures are being checked while those before them are written down."""
        self._looked_at: LookedAt | None = None
        """The same, as the ledger has them."""
        self._seats: dict[str, Seat] = {}
        self._told: dict[str, tuple[Duty, ...]] = {}
        self._boots: dict[str, list[int]] = {}
        """The starts of each device's program, in the order in which they were first heard of."""
        self._last_program: tuple[bytes, bytes] | None = None
        """A program's hash and file."""
        self._acts_seen = -1
        self._records_seen = 0
        """How many records were looked at for those that fulfil duties."""
        self._looked_s = 0.0
        self._thread = threading.Thread(target=self._run, name="collector")
        self.failure: Exception | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Write down what was asked so far, then end the thread."""
        self._asked.put(None)
        self._thread.join()

    def ask(self, seat: Seat, wants: Iterable[Want]) -> None:
        """Take a session's wants, from any thread; each is answered through the seat, in order."""
        for want in wants:
            self._asked.put(_Asked(seat, want))

    def _run(self) -> None:
        try:
            while self._round():
                pass
        except OperatorError as error:  # the disk is full, the ledger damaged: a person must act
            self.fail(error)
        except Exception as error:  # noqa: BLE001 - our own fault: serve ends, nothing was acknowledged
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """End the service because of `error`, from any thread: a link that stands deaf is worse than none."""
        self.failure = self.failure or error
        self._on_failure()

    def _round(self) -> bool:
        batch, going_on = self._take()
        # Introductions first: no session sends anything else before they are answered.
        self._introduce([asked for asked in batch if isinstance(asked.want, Introduce)])
        self._keep_records(
            [(asked.seat, asked.want) for asked in batch if isinstance(asked.want, KeepRecords)]
        )
        if not going_on:
            self._keep_records([])  # those looked at just now
        for asked in batch:
            if isinstance(asked.want, FetchProgram):
                data = self._program(asked.want.program)
                asked.seat.answer(ProgramFetched(asked.want.program, asked.want.offset, data))
        self._take_crops([(asked.seat, asked.want) for asked in batch if isinstance(asked.want, KeepCrop)])
        self._keep_crops()
        while self._crops and not going_on:
            self._keep_crops()
        now_s = time.monotonic()
        if now_s >= self._looked_s + LOOK_S:
            self._looked_s = now_s
            self._tell_duties()
        return going_on

    def _program(self, program: bytes) -> bytes | None:
        """Return a contest program's file, or None; the last one is kept, for it goes out part by part."""
        if self._last_program is None or self._last_program[0] != program:
            data = self._ledger.program(program)
            if data is None:
                return None
            self._last_program = program, data
        return self._last_program[1]

    def _take(self) -> tuple[list[_Asked], bool]:
        batch: list[_Asked] = []
        room = MAX_BATCH
        try:
            waiting = self._looked_at or self._crops or self._fresh_crops
            asked = self._asked.get(timeout=0 if waiting else LOOK_S)
            while asked is not None:
                batch.append(asked)
                room -= len(asked.want.items) if isinstance(asked.want, KeepRecords) else 1
                if room <= 0:
                    return batch, True
                asked = self._asked.get_nowait()
        except queue.Empty:
            return batch, True
        return batch, False

    def _introduce(self, batch: list[_Asked]) -> None:
        for seat, want in ((asked.seat, asked.want) for asked in batch):
            assert isinstance(want, Introduce)
            outcome = self._judge(want)
            if outcome.verdict in (Verdict.STORED, Verdict.ALREADY):
                before = self._seats.get(want.device)
                if before is not None and before is not seat:
                    before.replace()
                self._seats[want.device] = seat
                self._told.pop(want.device, None)
                self._acts_seen = -1
                self._looked_s = 0.0
            place = self._crop_places.get(want.device, CropPlace()).for_next_connection()
            if outcome.verdict in (Verdict.STORED, Verdict.ALREADY):
                self._crop_places[want.device] = place
            seat.answer(Introduced(outcome, self._ledger.next_crop_n(want.device), place))

    def _judge(self, want: Introduce) -> Outcome:
        outcome = self._ledger.introduce(want.device, want.name, want.public_key, want.next_n, want.head)
        if outcome.verdict not in (Verdict.STORED, Verdict.ALREADY):
            return outcome
        boots = self._boots.setdefault(want.device, [])
        if want.boot in boots[:-1]:
            # A program that has ended never comes back: two of them run, with one key.
            why = "two devices take turns with its key"
            self._ledger.refuse_twins(want.device, want.name, why, want.public_key)
            self._dismiss_twins()
            return Outcome(Verdict.REFUSED, f"{why}: {TWINS}")
        if want.boot not in boots:
            boots.append(want.boot)
        return outcome

    def _keep_records(self, fresh: list[tuple[Seat, KeepRecords]]) -> None:
        """Write down and acknowledge the records looked at in the last round, and look at these meanwhile."""
        batch, looked_at = self._fresh, self._looked_at
        self._fresh = fresh
        self._looked_at = (
            self._ledger.look_at([item for _, want in fresh for item in want.items]) if fresh else None
        )
        if looked_at is None:
            return
        outcomes = self._ledger.add_looked_at(looked_at)
        answers = iter(outcomes)
        for seat, want in batch:
            seat.answer(RecordsKept(tuple(islice(answers, len(want.items)))))
        if any(outcome.verdict is Verdict.REFUSED for outcome in outcomes):
            self._dismiss_twins()

    def _dismiss_twins(self) -> None:
        """End the links of all whose key is known to be in two places: nobody knows which is the true one."""
        for device in self._ledger.twins():
            seat = self._seats.pop(device, None)
            if seat is not None:
                seat.answer(Dismissed(TWINS))

    def _take_crops(self, fresh: list[tuple[Seat, KeepCrop]]) -> None:
        """Let crops wait: a device sends one when it has sent its record, which may not be on disk yet."""
        self._crops.extend(self._fresh_crops)
        self._fresh_crops = fresh
        if self._looked_at is None:
            self._crops.extend(self._fresh_crops)
            self._fresh_crops = []

    def _keep_crops(self) -> None:
        """Write down some of the crops that wait, in one transaction."""
        batch: list[tuple[Seat, KeepCrop]] = []
        room = CROP_BYTES_A_ROUND
        while self._crops and room > 0:
            batch.append(self._crops.popleft())
            room -= len(batch[-1][1].png)
        if not batch:
            return
        outcomes = self._ledger.add_crops([(want.device, want.n, want.png) for _, want in batch])
        due = self._ledger.next_crops({want.device for _, want in batch})
        for (seat, want), outcome in zip(batch, outcomes, strict=True):
            seat.answer(CropKept(want.n, outcome, due[want.device]))

    def _tell_duties(self) -> None:
        if not self._duties_may_differ():
            return
        revoked = {known.device: known.revoked for known in self._ledger.devices() if known.revoked}
        for device, seat in self._seats.items():
            if device in revoked:
                seat.answer(Dismissed(f"it was revoked here ({revoked[device]})"))
                continue
            duties = self._duties_of(device)
            if self._told.get(device) != duties:
                self._told[device] = duties
                seat.answer(DutiesChanged(duties))

    def _duties_may_differ(self) -> bool:
        """Return whether an act, or a record of a kind that fulfils a duty, has come since the last look.

        Sheets come by the hundred and fulfil nothing: folding a device's records for each would cost more
        than writing them down.
        """
        acts = len(self._ledger.acts())
        fresh = self._ledger.records_after(self._records_seen)
        differ = acts != self._acts_seen or any(record.kind not in _FULFIL_NOTHING for record in fresh)
        self._acts_seen = acts
        self._records_seen += len(fresh)
        return differ
