"""The passage of one sheet: what the feeder tells of it, the picture, the verdict, the records, the end.

The order is the safety: the number is on the disk before the feeder hears it; `sheet_judged` is on the disk
before the diverter moves; `sheet_landed` is written when the bin's sensor saw the sheet. A sheet without a
verdict may be read anew after it was given back; a sheet with one never is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from hashlib import sha256
from typing import Any

import numpy as np

from recount_classifier.program import Program
from recount_device import sheet_life
from recount_device.camera import Camera, Page, check_pages
from recount_device.clock import Clock
from recount_device.errors import CameraFault
from recount_device.feeder_link import Feeder
from recount_device.feeder_words import BACK, Report, exit_number
from recount_device.glass import Glass
from recount_device.journal import Entry
from recount_device.reader import Outcome, Reader, ReadingFailed, SheetRead
from recount_device.reasons import PATH_REASONS, feed_again, second_time_tray
from recount_device.scribe import Scribe
from recount_device.sheet_life import Event, State
from recount_protocol.fates import NOT_ACCEPTED, RETURNED, SET_ASIDE
from recount_protocol.records import TEST

READING_LIMIT_US = 8_000_000
"""A sheet that is not read by then is not read at all; the slowest machine in use takes an eighth of it."""

NOTHING_PICKED = ("hopper_empty", "pick_failed")
"""Stops that leave no sheet in the path."""
DRIVEN_BACK = ("double_feed", "over_long", "short_sheet", "halt", "station_silent")
"""Stops after which the feeder may drive the sheet out itself; where it refuses, a person takes it out."""
AFTER_RESTART = frozenset({"restart", "path_not_clear", "taken_out"})
"""Reasons with which nobody can say whether the sheet is still inside or in the operator's hands."""

FIRST_ROWS = 32
BY_HAND = (SET_ASIDE, NOT_ACCEPTED)
"""The verdicts whose sheets a person lays in their tray where there is no diverter."""


class Step(Enum):
    """What the operator is asked to do with a sheet, and to confirm."""

    TAKE_OUT = "take_out"
    """Take it out of the path and put it back on the hopper."""
    FIND = "find"
    """Something started anew with it under way: find it, in the path or in hand, and put it on the hopper."""
    CAME_BACK = "came_back"
    """It was driven out: put it back on the hopper."""
    TAKE_APART = "take_apart"
    """Two sheets were driven out together: put both back on the hopper."""
    TO_TRAY = "to_tray"
    """Take it out of the path and lay it in the not-accepted tray."""
    SET_ASIDE = "set_aside"
    """It has its verdict, on a device without a diverter: take it out, lay it in the set-aside tray."""
    NOT_ACCEPTED = "not_accepted"
    """The same, into the not-accepted tray."""


@dataclass(frozen=True)
class Ask:
    """One question to the operator."""

    step: Step
    sheet: int
    reasons: tuple[str, ...]


@dataclass
class Sheet:
    """The sheet under way."""

    number: int
    boot: int
    """The boot of the feeder's board that was asked to feed it."""
    state: State = State.ASKED
    fate: str = ""
    """Its verdict, once it has one."""
    reasons: list[str] = field(default_factory=list[str])
    """Why it has to come back, where it has to."""
    length_mm: int = 0
    like: int = 0
    """The sheet read before that it looks like; 0 for none."""

    def happen(self, event: Event) -> None:
        """Go where the table of sheet_life leads; raises NotAllowed."""
        self.state = sheet_life.after(self.state, event)

    @property
    def has_verdict(self) -> bool:
        """Whether it may never be read again."""
        return self.state in (State.JUDGED, State.FOR_TRAY, State.IN_DOUBT)


class Passage:
    """The sheet under way, if there is one, and what is asked of the operator about the last one."""

    def __init__(
        self,
        scribe: Scribe,
        feeder: Feeder,
        camera: Camera,
        clock: Clock,
        reader: Reader,
        glass: Glass,
        *,
        has_diverter: bool = True,
    ) -> None:
        self._scribe = scribe
        self._feeder = feeder
        self._camera = camera
        self._clock = clock
        self._reader = reader
        self._glass = glass
        self._has_diverter = has_diverter
        self.sheet: Sheet | None = None
        self.ask: Ask | None = None
        self._read_by_us: int | None = None
        """When the reading of the sheet under the camera has to be done; None while none is being read."""
        self._last_pictures: Sequence[Page] = ()
        """Each side of the sheet that was looked at last."""
        self._last_stop = "jam"
        """Why the feeder stopped last."""
        self.faults: list[tuple[str, str]] = []
        """What the feeder did that no feeder does, for the station to record: word, detail."""
        self._recover()

    def _recover(self) -> None:
        """Take up the sheet that was under way when the device stopped; the board's report tells the rest."""
        batch, feeding = self._scribe.batch, self._scribe.journal.feeding
        if batch is None:
            return
        for judged in batch.unresolved():
            state = State.IN_DOUBT if judged.in_doubt else State.JUDGED
            self.sheet = Sheet(judged.sheet, judged.boot, state, judged.fate, like=judged.like)
        if feeding.batch == batch.number and feeding.sheet > self._scribe.history.last_sheet:
            self.sheet = Sheet(feeding.sheet, feeding.boot, State.ASKED, reasons=["restart"])

    @property
    def idle(self) -> bool:
        """Whether no sheet is under way and nothing is asked of the operator."""
        return self.sheet is None and self.ask is None

    @property
    def in_motion(self) -> bool:
        """Whether a sheet is under way that needs no person."""
        still = (State.STUCK, State.FOR_TRAY, State.IN_DOUBT)
        return self.sheet is not None and self.sheet.state not in still

    @property
    def doubt(self) -> Sheet | None:
        """The sheet that the officials have to settle."""
        return self.sheet if self.sheet is not None and self.sheet.state is State.IN_DOUBT else None

    def feed(self) -> None:
        """Reserve the next number, durably, and have the feeder pick a sheet under it."""
        assert self.idle, "a sheet is fed only when the one before has ended"
        number = self._scribe.journal.feeding.sheet + 1
        self._scribe.journal.reserve(number, self._scribe.open_batch().number, self._scribe.boot)
        self.sheet = Sheet(number, self._scribe.boot)
        self._feeder.send("feed", sheet=number)

    def drop(self) -> None:
        """Forget the sheet under way: its batch is void, and it is fed again with all the others."""
        self.sheet = None
        self.ask = None

    # --- what the feeder tells ---

    def entered(self, number: int) -> None:
        """Hear that a leading edge reached the entry."""
        if self.sheet is None and self._comes_late(number):
            # The feeder had stopped before the sheet came, and it slid in after all.
            self.sheet = Sheet(number, self._scribe.boot, State.STUCK, reasons=[self._last_stop])
            self._ask_for_it(self.sheet)
        elif self._is(number):
            self._sheet_of(number).happen(Event.ENTERED)

    def _comes_late(self, number: int) -> bool:
        """Return whether this is the number fed last, and nothing is on record of it."""
        fed_last = self._scribe.journal.feeding.sheet
        return self._scribe.batch is not None and number == fed_last > self._scribe.history.last_sheet

    def came_to_rest(self, number: int, length_mm: int, program: Program | None) -> None:
        """Hear that the sheet rests under the camera: look at it, and send it where it belongs."""
        if not self._is(number):
            return
        sheet = self._sheet_of(number)
        sheet.length_mm = length_mm
        sheet.happen(Event.CAME_TO_REST)
        if sheet.reasons or program is None:
            # It was fed before a restart: nothing is known of it but that it is here.
            self._send_back(sheet)
        else:
            self._look(sheet, program)

    def landed(self, number: int, exit_name: str) -> None:
        """Hear that a trailing edge passed an exit's sensor."""
        if not self._is(number):
            return
        sheet = self._sheet_of(number)
        if sheet.state is State.IN_DOUBT:
            return  # the officials were called; what they see decides
        if exit_name == BACK:
            self._fell_back(sheet)
        elif sheet.state is State.JUDGED and exit_name == sheet.fate:
            sheet.happen(Event.SEEN_LANDING)
            self._scribe.write(
                self._scribe.of_sheet(
                    "sheet_landed", sheet.boot, {"sheet": number, "bin": exit_name, "by": "feeder"}
                )
            )
            self.sheet = None
        else:
            self._lose_trace(sheet, "wrong_exit", "the feeder saw it at another exit than it was sent to")

    def stopped(self, number: int, reason: str) -> None:
        """Hear that the feeder stopped; `number` is 0 where it sees no sheet in the path."""
        sheet = self.sheet
        # A reason that says "no sheet was picked" is none for a sheet that is under way.
        self._last_stop = reason if reason in PATH_REASONS else "jam"
        if sheet is None or sheet.state is State.IN_DOUBT:
            return
        if number not in (0, sheet.number):
            self._lose_trace(sheet, "unexpected_sheet", "the feeder names another sheet")
        elif number == 0 and sheet.state is State.ASKED:
            sheet.happen(Event.NOTHING_PICKED)
            self.sheet = None
        elif sheet.state is State.FOR_TRAY:
            sheet.happen(Event.FEEDER_STOPPED)
        elif sheet.has_verdict:
            sheet.happen(Event.FEEDER_STOPPED)
            self._put_in_doubt(sheet, f"the feeder stopped before it was seen to land: {reason}")
        else:
            sheet.happen(Event.FEEDER_STOPPED)
            self._stuck(sheet, self._last_stop)

    def refused(self, command: str, number: int) -> bool:
        """Hear that the feeder did not obey; return whether a report has to tell what is so."""
        sheet = self.sheet
        if sheet is None or number != sheet.number:
            return False
        if command == "divert" and sheet.state is State.BACKING:
            sheet.happen(Event.FEEDER_STOPPED)
            self._ask_for_it(sheet)
            return False
        if command == "divert" and sheet.state is State.JUDGED:
            sheet.happen(Event.FEEDER_STOPPED)
            self._put_in_doubt(sheet, "the feeder did not take its verdict")
        return command in ("feed", "divert")

    def board_tells(self, report: Report, program: Program | None) -> None:
        """Bring the sheet into line with the board's report, after a restart of either or a lost cable."""
        sheet = self.sheet
        if sheet is None or sheet.state in (State.IN_DOUBT, State.STUCK, State.FOR_TRAY):
            return
        if sheet.boot != self._scribe.boot:
            self._lose_trace(sheet, "path_not_clear", "the feeder's board started anew")
        elif report.sheet == sheet.number:
            self._still_inside(sheet, report, program)
        elif report.last_sheet == sheet.number:
            self.landed(sheet.number, report.last_exit)
        elif sheet.state is State.ASKED and not self._scribe.open_batch().entries_outstanding():
            sheet.happen(Event.NOTHING_PICKED)
            self.sheet = None
        else:
            self._lose_trace(sheet, "taken_out", "it is no longer in the feeder, and was not seen to land")

    def _still_inside(self, sheet: Sheet, report: Report, program: Program | None) -> None:
        if report.state == "stopped":
            if report.stop_reason in NOTHING_PICKED and not self._scribe.open_batch().entries_outstanding():
                sheet.happen(Event.NOTHING_PICKED)
                self.sheet = None
            else:
                self.stopped(sheet.number, report.stop_reason)
        elif report.state == "at_camera":
            if sheet.state is State.AT_CAMERA:
                return  # it is being read
            if sheet.state is State.JUDGED:
                self._send_on(sheet)
            elif sheet.state is State.BACKING:
                self._send_back(sheet)
            else:
                self.came_to_rest(sheet.number, sheet.length_mm, program)

    # --- the verdict ---

    def _look(self, sheet: Sheet, program: Program) -> None:
        try:
            pages = self._camera.capture(self._clock.now_us())
            check_pages(pages)
        except CameraFault as fault:
            self.faults.append(("camera_fault", str(fault)))
            self._return_or_tray(sheet, ("camera_fault",))
            return
        if self._seen_before(pages):
            self.faults.append(("camera_fault", "the camera gave the picture of the sheet before once more"))
            self._return_or_tray(sheet, ("same_image",))
            return
        self._read_by_us = self._clock.now_us() + READING_LIMIT_US
        batch = self._scribe.open_batch().number
        expects_test = self._scribe.open_run().mode == TEST
        self._reader.begin(pages, program, expects_test=expects_test, batch=batch)
        self.look_on()

    def look_on(self) -> None:
        """See whether the sheet under the camera has been read, and send it where it belongs."""
        if self._read_by_us is None:
            return
        sheet = self.sheet
        if sheet is None or sheet.state is not State.AT_CAMERA:
            # The feeder stopped, or people came in between: it is fed again, and read then.
            self._read_by_us = None
            self._reader.give_up()
            return
        outcome = self._reader.result()
        if outcome is not None:
            self._read_by_us = None
            self._take_outcome(sheet, outcome)
            self._look_at_glass(outcome)
        elif self._clock.now_us() >= self._read_by_us:
            self._read_by_us = None
            self._reader.give_up()
            self._reading_failed(sheet, "the sheet was not read in time")

    def _take_outcome(self, sheet: Sheet, outcome: Outcome) -> None:
        if isinstance(outcome, ReadingFailed):
            self._reading_failed(sheet, outcome.why)
        elif outcome.fate == RETURNED:
            self._return_or_tray(sheet, feed_again(outcome.reasons))
        else:
            self._judge(sheet, outcome)
            self._reader.keep(sheet.number)

    def _look_at_glass(self, outcome: Outcome) -> None:
        """Compare the sheet's picture with those before, while the sheet goes on its way."""
        if isinstance(outcome, ReadingFailed) or outcome.lines is None:
            return
        dirt = self._glass.look(outcome.lines)
        if dirt is not None:
            self.faults.append(("dirty_glass", dirt))

    @property
    def glass_is_dirty(self) -> bool:
        """Whether the camera's glass wants cleaning."""
        return self._glass.is_dirty

    def _reading_failed(self, sheet: Sheet, why: str) -> None:
        self.faults.append(("reading_failed", why))
        self._return_or_tray(sheet, ("reading_failed",))

    def _seen_before(self, pages: Sequence[Page]) -> bool:
        """Return whether a side is the very picture of the last sheet's: noise is never the same twice."""
        before, self._last_pictures = self._last_pictures, pages
        return any(_same_picture(now, then) for now, then in zip(pages, before, strict=False))

    def _judge(self, sheet: Sheet, read: SheetRead) -> None:
        fields = {
            "choices": list(read.choices),
            "reasons": list(read.reasons),
            "style": read.style,
            "evidence": dict(read.evidence),
            "crop_sha256": sha256(read.crop).digest() if read.crop else b"",
            "crop_bytes": len(read.crop),
        }
        if read.like:
            self._ask_whether_read(sheet, read.like, self._verdict(sheet, read.fate, fields, read.crop))
        else:
            self._put_verdict(sheet, read.fate, fields, read.crop)

    def _ask_whether_read(self, sheet: Sheet, like: int, verdict: Entry) -> None:
        """Write the verdict down, and have two officials say whether this sheet was read before.

        They take it out of the path: neither answer lets it move on by itself (VVSG 2.0, 1.1.6-F).
        """
        sheet.happen(Event.GOT_VERDICT)
        sheet.happen(Event.LOOKS_READ)
        why = f"it looks like sheet {like}, which was read in this batch"
        self._scribe.write(
            verdict,
            self._scribe.of_sheet("repeat_suspected", sheet.boot, {"sheet": sheet.number, "like": like}),
            self._scribe.of_sheet("sheet_in_doubt", sheet.boot, {"sheet": sheet.number, "why": why}),
        )
        sheet.fate, sheet.like = verdict.body["fate"], like
        self._feeder.send("halt")

    def _put_verdict(self, sheet: Sheet, fate: str, fields: dict[str, Any], crop: bytes = b"") -> None:
        """Write the verdict to the disk; only then have the diverter move."""
        entry = self._verdict(sheet, fate, fields, crop)
        sheet.happen(Event.GOT_VERDICT)
        self._scribe.write(entry)
        sheet.fate = fate
        self._send_on(sheet)

    def _send_on(self, sheet: Sheet) -> None:
        """Send a sheet with a verdict where it belongs, or have a person do it (VVSG 2.0, 1.1.6-C)."""
        if self._has_diverter or sheet.fate not in BY_HAND:
            self._send(sheet, sheet.fate)
            return
        sheet.happen(Event.LEFT_TO_HANDS)
        self.ask = Ask(Step(sheet.fate), sheet.number, ())
        self._feeder.send("halt")  # hands may reach in: nothing moves before `clear`

    def _verdict(self, sheet: Sheet, fate: str, fields: dict[str, Any], crop: bytes = b"") -> Entry:
        body: dict[str, Any] = {
            "sheet": sheet.number,
            "fate": fate,
            **fields,
            "length_mm": sheet.length_mm,
            "place": self._scribe.place_in(fate),
        }
        return self._scribe.of_sheet("sheet_judged", sheet.boot, body, crop)

    @staticmethod
    def _without_reading(reasons: Sequence[str]) -> dict[str, Any]:
        return {
            "choices": [],
            "reasons": list(reasons),
            "style": "",
            "evidence": {},
            "crop_sha256": b"",
            "crop_bytes": 0,
        }

    def _send(self, sheet: Sheet, exit_name: str) -> None:
        self._feeder.send("divert", sheet=sheet.number, exit=exit_number(exit_name))

    # --- coming back ---

    def _is_second_time(self, reasons: Sequence[str]) -> bool:
        """Return whether the sheet before came back for one of these reasons: people count this one."""
        before = self._scribe.open_batch().returned_last
        return any(reason in before and second_time_tray(reason) for reason in reasons)

    def _return_or_tray(self, sheet: Sheet, reasons: tuple[str, ...]) -> None:
        if self._is_second_time(reasons):
            self._put_verdict(sheet, NOT_ACCEPTED, self._without_reading(reasons))
        else:
            sheet.reasons.extend(reasons)
            self._send_back(sheet)

    def _send_back(self, sheet: Sheet) -> None:
        sheet.happen(Event.SENT_BACK)
        self._send(sheet, BACK)

    def _fell_back(self, sheet: Sheet) -> None:
        if sheet.has_verdict:
            self._lose_trace(sheet, "wrong_exit", "the feeder saw it come back out")
            return
        sheet.happen(Event.FELL_BACK)
        self._end_returned(sheet, "entry")
        together = "double_feed" in sheet.reasons
        self.ask = Ask(Step.TAKE_APART if together else Step.CAME_BACK, sheet.number, tuple(sheet.reasons))

    def _end_returned(self, sheet: Sheet, out: str) -> None:
        reasons = list(dict.fromkeys(sheet.reasons))
        self._scribe.write(
            self._scribe.of_sheet(
                "sheet_returned", sheet.boot, {"sheet": sheet.number, "reasons": reasons, "out": out}
            )
        )
        self.sheet = None

    def _stuck(self, sheet: Sheet, reason: str) -> None:
        """Do what follows where the feeder stands with the sheet inside, and it has no verdict."""
        if reason not in sheet.reasons and not (reason == "station_silent" and sheet.reasons):
            sheet.reasons.append(reason)
        if reason in DRIVEN_BACK and not self._is_second_time(sheet.reasons):
            self._send_back(sheet)
        else:
            self._ask_for_it(sheet)

    def _ask_for_it(self, sheet: Sheet) -> None:
        # Into the tray by hand only where the feeder counted it in: else I9 could never hold.
        to_tray = self._is_second_time(sheet.reasons) and self._scribe.open_batch().entries_outstanding() > 0
        step = Step.FIND if AFTER_RESTART.intersection(sheet.reasons) else Step.TAKE_OUT
        self.ask = Ask(Step.TO_TRAY if to_tray else step, sheet.number, tuple(sheet.reasons))

    def _lose_trace(self, sheet: Sheet, reason: str, why: str) -> None:
        sheet.happen(Event.TRACE_LOST)
        self.faults.append((reason, why))
        if sheet.state is State.IN_DOUBT:
            self._put_in_doubt(sheet, why)
        else:
            if reason not in sheet.reasons:
                sheet.reasons.append(reason)
            self._ask_for_it(sheet)

    def _put_in_doubt(self, sheet: Sheet, why: str) -> None:
        self._scribe.write(
            self._scribe.of_sheet("sheet_in_doubt", sheet.boot, {"sheet": sheet.number, "why": why})
        )

    # --- what people tell ---

    def confirmed(self) -> None:
        """Hear that the operator did what was asked; the path was found clear."""
        ask, sheet, self.ask = self.ask, self.sheet, None
        if ask is None or sheet is None:
            return
        if sheet.state is State.FOR_TRAY:
            sheet.happen(Event.LAID_IN_TRAY)
            self._scribe.write(self._landing_by_hand(sheet, sheet.fate))
            self.sheet = None
        elif ask.step is Step.TO_TRAY:
            self._laid_in_tray(sheet)
        elif sheet.state is State.STUCK:
            sheet.happen(Event.TAKEN_OUT)
            outstanding = self._scribe.open_batch().entries_outstanding()
            self._end_returned(sheet, "hand" if outstanding > 0 else "entry")

    def _laid_in_tray(self, sheet: Sheet) -> None:
        sheet.happen(Event.LAID_IN_TRAY)
        verdict = self._verdict(
            sheet, NOT_ACCEPTED, self._without_reading(list(dict.fromkeys(sheet.reasons)))
        )
        self._scribe.write(verdict, self._landing_by_hand(sheet, NOT_ACCEPTED))
        self.sheet = None

    def _landing_by_hand(self, sheet: Sheet, tray: str) -> Entry:
        body = {"sheet": sheet.number, "bin": tray, "by": "hand"}
        return self._scribe.of_sheet("sheet_landed", sheet.boot, body)

    def settle(self, fate: str, by: Sequence[str]) -> None:
        """Hear from the officials where the sheet in doubt lies."""
        sheet = self.doubt
        assert sheet is not None, "only a sheet in doubt is settled"
        sheet.happen(Event.PEOPLE_SETTLED)
        if fate == RETURNED:
            self._reader.forget(sheet.number)  # it may come again, and is none that was read
        self._scribe.write(
            self._scribe.of_sheet(
                "doubt_settled", sheet.boot, {"sheet": sheet.number, "fate": fate, "by": list(by)}
            )
        )
        self.sheet = None

    def may_settle_as(self, fate: str) -> bool:
        """Return whether the sheet in doubt can be said to lie there: where it was sent, or with people."""
        return self.doubt is not None and fate in (self.doubt.fate, NOT_ACCEPTED, RETURNED)

    def _is(self, number: int) -> bool:
        """Return whether `number` is the sheet under way; another one is a fault of the feeder, on record."""
        if self.sheet is not None and self.sheet.number == number:
            return True
        self.faults.append(
            ("unexpected_sheet", f"the feeder speaks of sheet {number}, which is not under way")
        )
        return False

    def _sheet_of(self, number: int) -> Sheet:
        assert self.sheet is not None
        assert self.sheet.number == number
        return self.sheet


def _same_picture(one: Page, other: Page) -> bool:
    """Return whether two pictures are equal to the last bit; most are not within their first rows."""
    return np.array_equal(one[:FIRST_ROWS], other[:FIRST_ROWS]) and np.array_equal(one, other)
