"""What the host orders, and what the device makes of it. The host repeats each order until the record comes.

So every order may come any number of times, at any moment, and is either done once, done already, or not yet
possible.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from recount_classifier.program import Program
from recount_device.arming import Present, why_not_arm, why_not_live
from recount_device.errors import OperatorError
from recount_device.messages import sentence
from recount_device.passage import Passage
from recount_device.scribe import Scribe
from recount_protocol.records import LIVE, TEST
from recount_protocol.software_names import what_changed


class Order(Protocol):
    """One message of the host that orders something."""

    @property
    def kind(self) -> str:
        """Its kind in the table of tally messages."""
        ...

    @property
    def fields(self) -> Mapping[str, Any]:
        """Its fields."""
        ...


class Store(Protocol):
    """Where programs are kept."""

    def load(self, program_hash: bytes) -> Program | None:
        """Return the program of this hash, None where it was not sent yet; raises OperatorError."""
        ...

    def add(self, program_hash: bytes, content: bytes) -> Program:
        """Keep a program; raises OperatorError where it is not that one."""
        ...


class Programs(Protocol):
    """Whoever brings programs from the host."""

    def want_program(self, program_hash: bytes) -> None:
        """Ask the host for a program; asking again changes nothing."""
        ...


class Orders:
    """The host's orders, obeyed between two sheets."""

    def __init__(
        self,
        scribe: Scribe,
        passage: Passage,
        store: Store,
        programs: Programs,
        software: str,
        released_firmware: str,
    ) -> None:
        """`software` is this device's, `released_firmware` the one of the board it was released with."""
        self._scribe = scribe
        self._passage = passage
        self._store = store
        self._programs = programs
        self._software = software
        self._released_firmware = released_firmware
        self._firmware = ""
        """What the board's firmware is; empty before it was told."""
        self._assigned: Mapping[str, Any] | None = None
        """The run that waits for it."""
        self.program: Program | None = None
        """The program of the open run."""
        self.refusal = ""
        """Why the last order was not obeyed, in a sentence for the panel and the host's page."""
        self.void_wanted = False
        """Whether the open batch is to be voided as soon as no sheet is in motion."""
        self.batch_was_voided = False
        """Whether the last batch ended as void: its sheets have to be fed again."""
        self._obey_kind: Mapping[str, Callable[[Mapping[str, Any]], None]] = {
            "assign_run": self._assign_run,
            "close_run": self._close_run,
            "void_batch": self._void_batch,
            "settle_doubt": self._settle_doubt,
            "arm_device": self._arm,
            "disarm_device": lambda fields: self.disarm(fields["why"]),
            "program_arrived": self._program_arrived,
            "link_fault": self._link_fault,
        }

    def obey(self, order: Order) -> None:
        """Do what the host orders, if it can be done now and was not done before."""
        self._obey_kind[order.kind](order.fields)

    def take_firmware(self, firmware: str) -> None:
        """Hear which firmware the board has; a run that waited for the right one is opened."""
        self._firmware = firmware
        armed = self._scribe.history.arming.armed
        if armed is not None and firmware != armed.firmware:
            self.disarm("the feeder's board has another firmware than the one that was tested")
        assigned, self._assigned = self._assigned, None
        if assigned is not None:
            self._assign_run(assigned)

    @property
    def foreign_firmware(self) -> bool:
        """Whether the board has another firmware than the one this device was released with."""
        return self._firmware not in ("", self._released_firmware)

    @property
    def other_software(self) -> str:
        """Why nothing more may be fed in the open run, in a sentence: it began otherwise."""
        run = self._scribe.history.run
        if run is None or run.software == self._software:
            return ""
        return sentence("other_software", run=run.run, changed=what_changed(run.software, self._software))

    @property
    def why_unarmed(self) -> str:
        """Why nothing may be fed in the open run, in a sentence: it is live, and the device is not armed."""
        run, program = self._scribe.history.run, self.program
        if run is None or run.mode != LIVE or program is None:
            return ""
        return why_not_live(self._scribe.history.arming, Present(program, self._software, self._firmware))

    @property
    def other_release(self) -> bool:
        """Whether nothing may be fed: device, board and run are not of one release, or not the tested one."""
        return self.foreign_firmware or bool(self.other_software) or bool(self.why_unarmed)

    def load_program(self) -> None:
        """Have the open run's program at hand: from the disk, else from the host."""
        run = self._scribe.history.run
        if run is None or self.program is not None:
            return
        self.program = self._load(run.program_hash)

    def _load(self, program_hash: bytes) -> Program | None:
        """Return a program from the disk; ask the host for one that is missing or no longer what it was."""
        try:
            program = self._store.load(program_hash)
        except OperatorError as error:
            self.refusal = str(error)
            program = None
            armed = self._scribe.history.arming.armed
            if armed is not None and armed.program == program_hash:
                self.disarm("the contest program on the device's disk was damaged")
        if program is None:
            self._programs.want_program(program_hash)
        return program

    def _assign_run(self, fields: Mapping[str, Any]) -> None:
        history = self._scribe.history
        if fields["run"] in history.runs_ended or (history.run and history.run.run == fields["run"]):
            return
        if history.run is not None:
            self.refusal = sentence("run_is_open", run=fields["run"], open_run=history.run.run)
        else:
            self._open_run(fields)

    def _open_run(self, fields: Mapping[str, Any]) -> None:
        if not self._firmware or self.foreign_firmware:
            self._assigned = fields
            return
        program = self._load(fields["program"])
        if program is None:
            return
        if program.key != fields["contest"]:
            self.refusal = sentence("other_contest", run=fields["run"], contest=program.key)
            return
        why = self._why_not_in_mode(fields["mode"], program)
        if why:
            self.refusal = sentence("mode_refused", run=fields["run"], mode=fields["mode"], why=why)
            return
        self.refusal = ""
        self.program = program
        self.batch_was_voided = False
        body = {key: fields[key] for key in ("precinct", "contest", "program", "mode")}
        self._scribe.write(
            self._scribe.of_run(
                fields["run"], "run_opened", {**body, "software": self._software, "firmware": self._firmware}
            )
        )

    def _why_not_in_mode(self, mode: str, program: Program) -> str:
        """Return in a sentence why this program cannot be run in this mode; empty where it can."""
        if mode == LIVE:
            now = Present(program, self._software, self._firmware)
            return why_not_live(self._scribe.history.arming, now)
        if mode == TEST and any(style.test_mark is None for style in program.styles):
            return "its program keeps no place for the TEST mark"
        return ""

    def _arm(self, fields: Mapping[str, Any]) -> None:
        """Arm the device, if it sees for itself that it ran this test and that nothing was changed since."""
        history = self._scribe.history
        armed = history.arming.armed
        if armed is not None and armed.certificate == fields["certificate"]:
            return
        if history.run is not None:
            return  # the order to close it comes with this one; the host says both again
        program = self._load(fields["program"])
        if program is None or not self._firmware:
            return
        why = why_not_arm(history.arming, fields, Present(program, self._software, self._firmware))
        if why:
            self.refusal = sentence("arming_refused", run=fields["run"], why=why)
            return
        self.refusal = ""
        names = ("program", "thresholds", "software", "firmware", "certificate")
        body = {"test_run": fields["run"], **{name: fields[name] for name in names}}
        self._scribe.write(self._scribe.of_device("device_armed", {**body, "by": list(fields["by"])}))

    def disarm(self, why: str) -> None:
        """Disarm the device: no live sheet is fed until it has passed logic and accuracy again."""
        if self._scribe.history.arming.armed is not None:
            self._scribe.write(self._scribe.of_device("device_disarmed", {"why": why}))

    def _program_arrived(self, fields: Mapping[str, Any]) -> None:
        try:
            self._store.add(fields["program"], fields["content"])
        except OperatorError as error:
            self.refusal = str(error)
        else:
            self.refusal = ""
            self.load_program()

    def _link_fault(self, fields: Mapping[str, Any]) -> None:
        """Write down that somebody who is not the pinned host tried to be it, or to order something."""
        self._scribe.write(self._scribe.of_fault(fields["word"], fields["detail"]))

    def _close_run(self, fields: Mapping[str, Any]) -> None:
        if self._assigned is not None and self._assigned["run"] == fields["run"]:
            self._assigned = None
        history = self._scribe.history
        if history.run is None or history.run.run != fields["run"]:
            return
        if history.batch is not None:
            self.refusal = sentence("batch_is_open")
            return
        self.refusal = ""
        self._scribe.write(self._scribe.of_run(fields["run"], "run_closed", {}))
        self.program = None

    def _void_batch(self, fields: Mapping[str, Any]) -> None:
        history = self._scribe.history
        number = fields["batch"]
        if history.batches.get(number) != fields["run"] or number in history.batches_voided:
            return
        is_open = history.batch is not None and history.batch.number == number
        if is_open and self._passage.in_motion:
            self.void_wanted = True  # feeding pauses; the host says it again
            return
        if is_open:
            self._passage.drop()
        self.void_wanted = False
        self.batch_was_voided = True
        self._scribe.write(
            self._scribe.of_run(
                fields["run"],
                "batch_voided",
                {"reason": fields["reason"], "by": list(fields["by"])},
                number,
            )
        )

    def _settle_doubt(self, fields: Mapping[str, Any]) -> None:
        batch, doubt = self._scribe.batch, self._passage.doubt
        if batch is None or doubt is None:
            return
        if (batch.run, batch.number, doubt.number) != (fields["run"], fields["batch"], fields["sheet"]):
            return
        if not self._passage.may_settle_as(fields["fate"]):
            self.refusal = sentence("settled_elsewhere", sheet=doubt.number)
            return
        self.refusal = ""
        self._passage.settle(fields["fate"], fields["by"])
