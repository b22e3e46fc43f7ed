"""The station: one loop that hears host, feeder and buttons, and does the next step that is possible.

It decides nothing about ballots: the classifier judges, sheet_life says what a sheet may do, batch says
whether a batch may close, people say where a doubtful sheet lies. Here is only what follows from what.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from recount_device.arming import SELF_TEST_FAILED
from recount_device.batch import Batch
from recount_device.clock import Clock
from recount_device.config import Config
from recount_device.errors import NotAllowed
from recount_device.feeder_link import Connected, Feeder, FeederEvent, Gone, Identified, Said
from recount_device.feeder_words import Report, command_name, exit_name, report_from, stop_name
from recount_device.messages import STOP_SENTENCES, TRAYS, message, sentence, with_dirty_glass
from recount_device.orders import Order, Orders
from recount_device.panel import Message, Panel
from recount_device.passage import Passage
from recount_device.reasons import PATH_REASONS, sentence_of
from recount_device.scribe import MAX_DETAIL, Scribe
from recount_device.self_test import SENSORS, Failed
from recount_device.software import firmware_name
from recount_protocol.records import TEST

IDLE_US = 50_000
"""The longest wait: how soon an order of the host is heard."""

PATIENCE_US = 3_000_000
"""How long the board may take to answer at the start before it is called missing."""

ASK_AGAIN_US = 500_000
"""How often the board is asked for a report while feeding is paused."""

LEAST_FREE_BYTES = 200 * 1024 * 1024
"""With less disk than this no further sheet is fed: each sheet must be recordable."""


class Host(Protocol):
    """The host, as the station sees it."""

    @property
    def present(self) -> bool:
        """Whether the host answers and takes this device."""
        ...

    @property
    def refusal(self) -> str:
        """Why the host does not take this device; empty where it does or is not there."""
        ...

    @property
    def offered(self) -> str:
        """The words of a host that answers while none is pinned; empty where people need not compare."""
        ...

    def pin_offered(self) -> None:
        """Obey the offered host from now on."""
        ...

    def orders(self) -> Sequence[Order]:
        """Return the orders that came since the last call."""
        ...

    def show_state(self, state: str, note: str) -> None:
        """Tell the host what the panel shows."""
        ...


class TestOfParts(Protocol):
    """The device's test of its own parts (`self_test.SelfTest`)."""

    __test__ = False  # no test of pytest's

    def __call__(self, *, proving: bool, proved: bool) -> Failed | None:
        """Return the first part that fails; None where all are as they must be."""
        ...


def free_bytes(folder: Path) -> int:
    """Return how much can still be written where the journal lies."""
    return shutil.disk_usage(folder).free


class Station:
    """The device at work."""

    def __init__(
        self,
        config: Config,
        scribe: Scribe,
        passage: Passage,
        orders: Orders,
        feeder: Feeder,
        panel: Panel,
        host: Host,
        clock: Clock,
        test_parts: TestOfParts,
        free: Callable[[Path], int] = free_bytes,
    ) -> None:
        self._config = config
        self._scribe = scribe
        self.passage = self._passage = passage
        self._orders = orders
        self._feeder = feeder
        self._panel = panel
        self._host = host
        self._clock = clock
        self._test_parts = test_parts
        self._free = free
        self._tested_for: str | None = None
        """The run for which the parts were tested last, empty where none was open; None: not yet."""
        self._failed: Failed | None = None
        """The part that failed, until the test is done again."""
        self._was_cleared = False
        """Whether the button pressed last confirms, between two batches, that no paper lies in the path."""
        self._may_test = False
        """Whether the board reported an empty path and closed covers just now: a hand makes that old."""
        self._readable = 0
        self._shown: Message | None = None
        self._no_feeder = ""
        self._in_line = False
        """Whether the board's report was heard since it last connected."""
        self._feeder_state = "unconfigured"
        self._why_paused = "restart" if scribe.batch is not None else ""
        self._wanted = ""
        """The button whose step waits for the board's report: start, confirm or end_batch."""
        self._begins = False
        """Whether feeding begins, or goes on, as soon as the board is ready."""
        self._hindrance = ""
        """What the report showed to be in the way of that step: a message's name."""
        self._why_void: list[str] = []
        self._hopper_is_empty = False
        self._ask_again_us = 0
        self._patient_until_us = clock.now_us() + PATIENCE_US
        self.stopping = False
        """Set from outside: end the sheet under way, feed no further one."""
        self._hear_said: Mapping[str, Callable[[Said], None]] = {
            "configured": self._hear_configured,
            "entered": lambda said: passage.entered(said.fields["sheet"]),
            "at_camera": self._hear_at_camera,
            "landed": self._hear_landed,
            "stopped": self._hear_stopped,
            "cleared": lambda _said: self._feeder.send("ask"),
            "report": self._hear_report,
            "refused": self._hear_refused,
        }
        orders.load_program()

    # --- the loop ---

    @property
    def at_rest(self) -> bool:
        """Whether no sheet is in motion."""
        return not self._passage.in_motion or not self._in_line

    def step(self) -> None:
        """Hear what happened, do what follows, show what is so, and wait."""
        for order in self._host.orders():
            self._orders.obey(order)
        for event in self._feeder.poll(self._readable):
            self._hear(event)
        self._passage.look_on()
        for button in self._panel.pressed():
            self._press(button)
        self._go_on()
        self._show()
        self._feeder.flush()
        until_us = min(self._feeder.next_deadline_us(), self._clock.now_us() + IDLE_US)
        self._readable = self._clock.wait(self._feeder.waitable, until_us)

    def _go_on(self) -> None:
        """Do the next step, if one is possible without a person."""
        self._record_faults()
        if self._in_line and not self._passage.in_motion:
            self._look_at_hopper()
        if not self._in_line or not self._passage.idle or self.stopping:
            return
        self._test_itself()
        self._may_test = False
        batch = self._scribe.batch
        if self._orders.void_wanted and batch is not None:
            return
        if self._begins and self._feeder_state == "ready":
            if self._is_tested:
                self._begin(batch)
        elif batch is not None and self._may_feed(batch):
            self._feeder_state = "picking"
            self._passage.feed()

    @property
    def _run_now(self) -> str:
        run = self._scribe.history.run
        return run.run if run else ""

    @property
    def _is_tested(self) -> bool:
        """Whether the device's parts passed since the start and, in a run, before its first sheet."""
        return (
            self._failed is None
            and self._tested_for is not None
            and (self._run_now in ("", self._tested_for))
        )

    def _test_itself(self) -> None:
        """Test the device's own parts where that is due and possible: nothing lies or moves in the path."""
        if self._is_tested or self._failed is not None or not self._may_test:
            return
        run, armed = self._scribe.history.run, self._scribe.history.arming.armed
        proving = run is not None and run.mode == TEST
        failed = self._test_parts(proving=proving, proved=armed is not None)
        if failed is not None:
            self._fail(failed)
        self._tested_for = self._run_now

    def _fail(self, failed: Failed) -> None:
        """Write down which part failed: the device is armed no longer, and no test proves it (`arming`)."""
        self._failed = failed
        self._begins = False
        entries = [self._scribe.of_fault(SELF_TEST_FAILED, f"{failed.part}: {failed.why}")]
        if self._scribe.history.arming.armed is not None:
            why = f"its test of itself failed: {failed.why}"[:MAX_DETAIL]
            entries.append(self._scribe.of_device("device_disarmed", {"why": why}))
        self._scribe.write(*entries)

    def _look_at_hopper(self) -> None:
        """While nothing moves, ask the board now and then how things stand, where anything hangs on it."""
        now_us = self._clock.now_us()
        wants_test = self._failed is None and not self._is_tested
        if (self._why_paused or self._hindrance or wants_test) and now_us >= self._ask_again_us:
            self._ask_again_us = now_us + ASK_AGAIN_US
            self._feeder.send("ask")

    def _may_feed(self, batch: Batch) -> bool:
        if (
            self._why_paused
            or self._wanted  # a button's step comes first: no batch is closed with a sheet being picked
            or self._why_void
            or self._feeder_state != "ready"
            or self._orders.program is None
            or self._orders.other_release
            or not self._is_tested
        ):
            return False
        if batch.fed >= self._config.batch_sheets:
            self._why_paused = "batch_full"
        elif self._free(self._config.folder) < LEAST_FREE_BYTES:
            self._why_paused = "disk_full"
        return not self._why_paused

    def _record_faults(self) -> None:
        for word, detail in self._passage.faults:
            self._scribe.write(self._scribe.of_fault(word, detail))
        self._passage.faults.clear()

    # --- the feeder ---

    def _hear(self, event: FeederEvent) -> None:
        match event:
            case Connected(boot):
                self._scribe.boot = boot
                self._no_feeder = ""
                self._in_line = False
                self._feeder.send("configure", **vars(self._config.path))
                self._feeder.send("ask")
            case Gone(why):
                self._no_feeder = why
                self._in_line = False
                self._wanted = ""
                self._begins = False
            case Identified(firmware_hash):
                self._orders.take_firmware(firmware_name(firmware_hash))
            case Said():
                if event.counts is not None:
                    self._scribe.count(event.counts)
                self._hear_said_safely(event)

    def _hear_said_safely(self, said: Said) -> None:
        try:
            self._hear_said[said.name](said)
        except NotAllowed as error:
            # A message without meaning now: one of the two programs is wrong. Stop, look, go on from there.
            self._passage.faults.append(("unexpected_message", f"{said.name}: {error}"))
            self._feeder.send("halt")
            self._feeder.send("ask")

    def _hear_configured(self, said: Said) -> None:
        differing = [key for key, value in vars(self._config.path).items() if said.fields[key] != value]
        if differing:
            self._passage.faults.append(("configuration", f"the feeder echoes another {differing[0]}"))
            self._feeder.send("halt")

    def _hear_at_camera(self, said: Said) -> None:
        self._passage.came_to_rest(said.fields["sheet"], said.fields["length_mm"], self._orders.program)

    def _hear_landed(self, said: Said) -> None:
        self._feeder_state = "ready"
        self._passage.landed(said.fields["sheet"], exit_name(said.fields["exit"]))

    def _hear_stopped(self, said: Said) -> None:
        reason = stop_name(said.fields["reason"])
        self._feeder_state = "stopped"
        self._begins = False
        self._why_paused = reason
        self._passage.stopped(said.fields["sheet"], reason)

    def _hear_report(self, said: Said) -> None:
        report = report_from(said.fields)
        self._feeder_state = report.state
        self._may_test = not _hindrance(report)
        self._hopper_is_empty = "hopper" not in report.sensors
        if report.state == "stopped" and not self._why_paused:
            # "none" as the reason of a stop is a board's slip, and no reason to go on.
            self._why_paused = report.stop_reason if report.stop_reason != "none" else "halt"
        if report.state == "unconfigured":
            self._no_feeder = sentence("feeder_numbers")
            return
        if self._hindrance:
            self._hindrance = _hindrance(report)
        if not self._in_line:
            self._in_line = True
            self._passage.board_tells(report, self._orders.program)
        elif self._wanted:
            self._carry_out(report)

    def _hear_refused(self, said: Said) -> None:
        command = command_name(said.fields["kind"])
        if command == "feed":
            self._why_paused = "refused"
        if self._passage.refused(command, said.fields["sheet"]) or command == "clear":
            self._in_line = self._in_line and command == "clear"
            self._begins = False
            self._feeder.send("ask")

    # --- the buttons ---

    def _press(self, button: str) -> None:
        """Take note of a button; what it wants is done once the board has reported."""
        if button == "confirm" and self._shown is not None and self._shown.key == "pin_host":
            self._host.pin_offered()
        elif button == "stop":
            if self._scribe.batch is not None and not self._why_paused:
                self._why_paused = "stop"
        elif self._in_line and not self._passage.in_motion and self._is_meant(button):
            self._wanted = button
            self._was_cleared = (
                button == "confirm"
                and self._scribe.batch is None
                and (self._hindrance == "path_not_clear" or self._failed is not None)
            )
            self._hindrance = ""
            self._feeder.send("ask")

    def _is_meant(self, button: str) -> bool:
        """Return whether the button has a meaning now; a button without one is ignored."""
        if self._passage.doubt is not None:
            return False
        if self._passage.ask is not None or (self._failed is not None and button != "end_batch"):
            return button == "confirm"
        if self._why_void or (button != "end_batch" and self._orders.other_release):
            return False
        if button == "end_batch":
            return self._scribe.batch is not None
        if button == "start" and self._scribe.batch is None:
            return self._host.present and self._orders.program is not None
        return button == "start" or (button == "confirm" and bool(self._hindrance))

    def _carry_out(self, report: Report) -> None:
        """Do what the button wanted, now that it is known how things stand in the path."""
        wanted, self._wanted = self._wanted, ""
        self._hindrance = _hindrance(report)
        if self._hindrance == "path_not_clear" and self._was_cleared:
            self._hindrance = ""
            if self._failed is None:
                self._fail(SENSORS)
        if self._hindrance:
            return
        if self._failed is not None and wanted == "confirm":
            if report.path_is_clear:
                self._failed, self._tested_for = None, None
            return
        if wanted == "end_batch":
            self._end_batch()
            return
        if wanted == "confirm":
            self._passage.confirmed()
        self._begins = True
        if report.state == "stopped":
            self._feeder.send("clear")

    def _begin(self, batch: Batch | None) -> None:
        """Open a batch, or go on with the open one."""
        self._begins = False
        if batch is None:
            run = self._scribe.history.run
            if run is None or not self._host.present or self._orders.other_release:
                return
            self._orders.batch_was_voided = False
            self._orders.refusal = ""
            number = self._scribe.history.last_batch + 1
            counts = list(self._scribe.counts())
            self._scribe.write(self._scribe.of_run(run.run, "batch_opened", {"feeder": counts}, number))
        self._why_paused = ""

    def _end_batch(self) -> None:
        """Close the batch if its counts agree; else people have to void it."""
        batch = self._scribe.batch
        if batch is None:
            return
        counts = self._scribe.counts()
        batch.observe(counts)
        self._why_void = batch.why_not_close()
        if self._why_void:
            self._scribe.write(self._scribe.of_fault("batch_not_closed", "; ".join(self._why_void)))
        else:
            self._scribe.write(self._scribe.of_device("batch_closed", batch.closing_body(counts)))
        self._why_paused = ""

    # --- what is shown ---

    def _show(self) -> None:
        if self._why_void and self._scribe.batch is None:
            self._why_void = []
        shown = self._message()
        if shown != self._shown:
            self._shown = shown
            self._panel.show(shown)
            self._host.show_state(shown.key, shown.text)

    def _message(self) -> Message:
        """Return what the panel has to show, with the word about the camera's glass where it is due."""
        shown = self._message_of_state()
        return with_dirty_glass(shown) if self._passage.glass_is_dirty else shown

    def _message_of_state(self) -> Message:
        """Return what only people can mend, else what goes on by itself."""
        if self.stopping:
            return message("stopping")
        if self._scribe.batch is not None:
            return self._message_of_trouble() or self._message_of_question() or self._message_in_batch()
        return self._message_of_trouble() or self._message_of_host() or self._message_between_batches()

    def _message_of_trouble(self) -> Message | None:
        doubt = self._passage.doubt
        if doubt is not None and doubt.like:
            tray = TRAYS[doubt.fate]
            why = self._orders.refusal
            return message("ask_whether_read", sheet=doubt.number, like=doubt.like, tray=tray, why=why)
        if doubt is not None:
            return message("ask_officials", sheet=doubt.number, why=self._orders.refusal)
        if self._no_feeder:
            return message("no_feeder", why=self._no_feeder)
        if not self._in_line and self._scribe.boot == 0:
            late = self._clock.now_us() > self._patient_until_us
            return message("no_feeder") if late else message("starting")
        return self._message_of_hindrance() if self._hindrance else self._message_of_failure()

    def _message_of_failure(self) -> Message | None:
        failed = self._failed
        return None if failed is None else message("self_test_failed", why=f"{failed.why}. {failed.do}")

    def _message_of_question(self) -> Message | None:
        ask = self._passage.ask
        if ask is not None:
            why = " ".join(sentence_of(reason) for reason in ask.reasons)
            return message(ask.step.value, sheet=ask.sheet, why=why)
        return message("batch_void_needed", why="; ".join(self._why_void)) if self._why_void else None

    def _message_of_hindrance(self) -> Message:
        """Tell what is in the way; where a sheet is asked for, it stays the same question."""
        shown = message(self._hindrance)
        ask = self._passage.ask
        return shown if ask is None else replace(shown, key=message(ask.step.value).key, sheet=ask.sheet)

    def _message_in_batch(self) -> Message:
        if self._orders.other_release and not self._passage.in_motion:
            return self._message_of_release()
        if self._orders.program is None:
            return message("program_awaited")
        if self._why_paused in ("hopper_empty", "batch_full", "disk_full"):
            return message(self._why_paused)
        if self._why_paused and not self._passage.in_motion:
            if self._hopper_is_empty:
                return message("hopper_empty")
            return message("paused", why=_why(self._why_paused))
        return message("feeding")

    def _message_of_host(self) -> Message | None:
        if self._host.offered:
            return message("pin_host", why=self._host.offered)
        if self._host.refusal:
            return message("host_refuses", why=self._host.refusal)
        if self._orders.refusal:
            return message("order_refused", why=self._orders.refusal)
        return None if self._host.present else message("no_host")

    def _message_of_release(self) -> Message:
        if self._orders.foreign_firmware:
            return message("foreign_firmware")
        if self._orders.other_software:
            return message("other_software", why=self._orders.other_software)
        return message("not_armed", why=self._orders.why_unarmed)

    def _message_between_batches(self) -> Message:
        if self._orders.other_release:
            return self._message_of_release()
        if self._scribe.history.run is None:
            return message("no_run")
        if self._orders.program is None:
            return message("program_awaited")
        return message("after_void" if self._orders.batch_was_voided else "press_start")


def _why(word: str) -> str:
    return STOP_SENTENCES[word] if word in STOP_SENTENCES else PATH_REASONS[word].sentence


def _hindrance(report: Report) -> str:
    """Return the message that tells what is in the way of any step, or an empty word."""
    if not report.path_is_clear:
        return "path_not_clear"
    if "cover_open" in report.sensors:
        return "cover_open"
    return "stop_button" if "stop_button" in report.sensors else ""
