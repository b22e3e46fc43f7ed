"""The feeder's state machine: what one sheet does between the hopper and its bin. No pins, no link, no clock.

Rule 1: everything that affects the state lives in this file. Rule 2: two or more sheets are never in the
path. Rule 3: a sheet never moves past the camera without the verdict for that sheet's number.

Theory of operation. Four tables say it all:

* `EDGES[state][edge]` is what an edge at a sensor means in a state: an event.
* `TRANSITIONS[state][event]` is the state that the event leads to. An event that is not there is not allowed:
  a command is answered by `refused`, anything else is an error of this program and stops the feeder.
* `OUTPUTS[state]` is what the motors and the lamp do in a state.
* `ACTIONS[event]` is what is measured, remembered and told besides.

Code only decides which event it is where a number decides (a length, a distance, a time, a sheet's number):
the functions named `_..._event` and `_tick_...`. Each stop reason is an event too, and all of them lead to
STOPPED, where nothing moves.

Counts come from the sensors alone, in every state: an entry where paper reaches the entry sensor, an exit
where its trailing edge leaves that exit's sensor.

The motion step (`edge`, `tick`) allocates no memory: no tuple, float, closure or integer of 2**30 and more is
made there. Times are microseconds of a counter that wraps at 2**30; lengths and positions are micrometres.
"""

try:
    from micropython import const
except ImportError:  # CPython, in the tests

    def const(value: int) -> int:  # type: ignore[misc]
        """Return the number as it is."""
        return value


# --- sensors: their numbers are their bits in `report` ---

HOPPER = const(0)
ENTRY = const(1)
CAMERA = const(2)
EXIT_COUNTED = const(3)
EXIT_SET_ASIDE = const(4)
EXIT_NOT_ACCEPTED = const(5)
DOUBLE_FEED_SENSOR = const(6)
COVER = const(7)
STOP_SWITCH = const(8)
SENSORS = const(9)

# --- exits: their numbers in `divert` and `landed` ---

COUNTED = const(0)
SET_ASIDE = const(1)
NOT_ACCEPTED = const(2)
EXIT_BACK = const(3)
NO_EXIT = const(255)

# --- counts: their places in `counts` ---

ENTRIES = const(0)
FIRST_EXIT_COUNT = const(1)
BACK_COUNT = const(4)
COUNTS = const(5)

# --- states ---

UNCONFIGURED = "unconfigured"  # the station has not sent the measures of the path; nothing moves
READY = "ready"  # the path is empty
PICKING = "picking"  # both motors run, no paper at the entry sensor yet
ENTERING = "entering"  # from the entry sensor to the far end of the camera bed
AT_CAMERA = "at_camera"  # at rest under the camera until the verdict comes
DIVERTING = "diverting"  # at rest until the diverter has settled
LEAVING = "leaving"  # from the camera into the bin
BACKING = "backing"  # driven back out through the entry
STOPPED = "stopped"  # latched; only `clear`, or BACK for some reasons, leads out

STATES = (UNCONFIGURED, READY, PICKING, ENTERING, AT_CAMERA, DIVERTING, LEAVING, BACKING, STOPPED)
"""Their places are their numbers in `report` and `refused`."""

# --- events: commands of the station ---

CONFIGURE = "configure"
FEED = "feed"
DIVERT = "divert"
BACK = "back"  # `divert` with the exit BACK
CLEAR = "clear"
CLEAR_UNCONFIGURED = "clear_unconfigured"  # `clear` before the first `configure`
HALT = "halt"
ASK = "ask"

COMMANDS = (CONFIGURE, FEED, DIVERT, BACK, CLEAR, CLEAR_UNCONFIGURED, HALT, ASK)

# --- events: steps of a sheet ---

PICK_AGAIN = "pick_again"  # the pick roller rests, then tries a second time
ENTERED = "entered"  # leading edge at the entry sensor
ENTERED_LATE = "entered_late"  # the sheet being picked came to the entry sensor as the feeder stopped
TAIL_IN = "tail_in"  # trailing edge past the entry sensor: the length is known
ARRIVED = "arrived"  # leading edge at the far end of the camera bed
SETTLED = "settled"  # the diverter stands
AT_EXIT = "at_exit"  # leading edge at the sensor of the right bin
LANDED = "landed"  # trailing edge past that sensor
BACK_OUT = "back_out"  # clear of the entry sensor, backwards; the first rollers may still hold it
RETURNED = "returned"  # run out of the first rollers: it lies with the operator
EXPECTED = "expected"  # an edge that belongs to what is going on and changes nothing
NOTHING = "nothing"  # an edge without meaning in this state; it is counted all the same

STEPS = (
    PICK_AGAIN,
    ENTERED,
    ENTERED_LATE,
    TAIL_IN,
    ARRIVED,
    SETTLED,
    AT_EXIT,
    LANDED,
    BACK_OUT,
    RETURNED,
    EXPECTED,
    NOTHING,
)

# --- events: reasons to stop ---

HOPPER_EMPTY = "hopper_empty"
JAM = "jam"  # an edge came not within its distance or time, or too early; or the sheet at rest moved
DOUBLE_FEED = "double_feed"
COVER_OPEN = "cover_open"
STOP_BUTTON = "stop_button"
STATION_SILENT = "station_silent"
OVER_LONG = "over_long"
SHORT_SHEET = "short_sheet"
WRONG_EXIT = "wrong_exit"
UNEXPECTED_SHEET = "unexpected_sheet"  # paper where none can be: a second sheet, or one put in by hand
PATH_NOT_CLEAR = "path_not_clear"  # paper in the path when the board started
PICK_FAILED = "pick_failed"
HALTED = "halt"
FIRMWARE_ERROR = "firmware_error"
DIVERTER = "diverter"  # kept for a diverter that reports its place; ours shows as wrong_exit

REASONS = (
    "none",
    HOPPER_EMPTY,
    JAM,
    DOUBLE_FEED,
    COVER_OPEN,
    STOP_BUTTON,
    STATION_SILENT,
    OVER_LONG,
    SHORT_SHEET,
    WRONG_EXIT,
    UNEXPECTED_SHEET,
    PATH_NOT_CLEAR,
    PICK_FAILED,
    HALTED,
    FIRMWARE_ERROR,
    DIVERTER,
)
"""Their places are their numbers in `stopped`."""

BACK_ALLOWED = (DOUBLE_FEED, OVER_LONG, SHORT_SHEET, HALTED, STATION_SILENT)
"""After these stops the sheet may be driven back out, if nobody touched the path since."""

TRANSITIONS = {
    UNCONFIGURED: {
        CONFIGURE: READY,
        CLEAR_UNCONFIGURED: UNCONFIGURED,
        HALT: STOPPED,
        ASK: UNCONFIGURED,
        COVER_OPEN: UNCONFIGURED,
        STOP_BUTTON: UNCONFIGURED,
        STATION_SILENT: UNCONFIGURED,
        NOTHING: UNCONFIGURED,
        UNEXPECTED_SHEET: STOPPED,
        PATH_NOT_CLEAR: STOPPED,
        FIRMWARE_ERROR: STOPPED,
    },
    READY: {
        CONFIGURE: READY,
        FEED: PICKING,
        CLEAR: READY,
        HALT: STOPPED,
        ASK: READY,
        NOTHING: READY,
        STATION_SILENT: READY,
        HOPPER_EMPTY: STOPPED,
        COVER_OPEN: STOPPED,
        STOP_BUTTON: STOPPED,
        UNEXPECTED_SHEET: STOPPED,
        FIRMWARE_ERROR: STOPPED,
    },
    PICKING: {
        PICK_AGAIN: PICKING,
        ENTERED: ENTERING,
        HALT: STOPPED,
        ASK: PICKING,
        NOTHING: PICKING,
        PICK_FAILED: STOPPED,
        COVER_OPEN: STOPPED,
        STOP_BUTTON: STOPPED,
        STATION_SILENT: STOPPED,
        UNEXPECTED_SHEET: STOPPED,
        FIRMWARE_ERROR: STOPPED,
    },
    ENTERING: {
        TAIL_IN: ENTERING,
        ARRIVED: AT_CAMERA,
        HALT: STOPPED,
        ASK: ENTERING,
        DOUBLE_FEED: STOPPED,
        OVER_LONG: STOPPED,
        SHORT_SHEET: STOPPED,
        JAM: STOPPED,
        COVER_OPEN: STOPPED,
        STOP_BUTTON: STOPPED,
        STATION_SILENT: STOPPED,
        UNEXPECTED_SHEET: STOPPED,
        FIRMWARE_ERROR: STOPPED,
    },
    AT_CAMERA: {
        DIVERT: DIVERTING,
        BACK: BACKING,
        HALT: STOPPED,
        ASK: AT_CAMERA,
        NOTHING: AT_CAMERA,
        JAM: STOPPED,
        COVER_OPEN: STOPPED,
        STOP_BUTTON: STOPPED,
        STATION_SILENT: STOPPED,
        UNEXPECTED_SHEET: STOPPED,
        FIRMWARE_ERROR: STOPPED,
    },
    DIVERTING: {
        SETTLED: LEAVING,
        HALT: STOPPED,
        ASK: DIVERTING,
        NOTHING: DIVERTING,
        JAM: STOPPED,
        COVER_OPEN: STOPPED,
        STOP_BUTTON: STOPPED,
        STATION_SILENT: STOPPED,
        UNEXPECTED_SHEET: STOPPED,
        FIRMWARE_ERROR: STOPPED,
    },
    LEAVING: {
        AT_EXIT: LEAVING,
        LANDED: READY,
        HALT: STOPPED,
        ASK: LEAVING,
        EXPECTED: LEAVING,
        NOTHING: LEAVING,
        JAM: STOPPED,
        WRONG_EXIT: STOPPED,
        COVER_OPEN: STOPPED,
        STOP_BUTTON: STOPPED,
        STATION_SILENT: STOPPED,
        UNEXPECTED_SHEET: STOPPED,
        FIRMWARE_ERROR: STOPPED,
    },
    BACKING: {
        BACK_OUT: BACKING,
        RETURNED: READY,
        HALT: STOPPED,
        ASK: BACKING,
        EXPECTED: BACKING,
        NOTHING: BACKING,
        JAM: STOPPED,
        COVER_OPEN: STOPPED,
        STOP_BUTTON: STOPPED,
        STATION_SILENT: STOPPED,
        UNEXPECTED_SHEET: STOPPED,
        FIRMWARE_ERROR: STOPPED,
    },
    STOPPED: {
        # The first reason stays; a later one changes nothing.
        CONFIGURE: STOPPED,
        BACK: BACKING,
        CLEAR: READY,
        CLEAR_UNCONFIGURED: UNCONFIGURED,
        HALT: STOPPED,
        ASK: STOPPED,
        ENTERED_LATE: STOPPED,
        NOTHING: STOPPED,
        COVER_OPEN: STOPPED,
        STOP_BUTTON: STOPPED,
        STATION_SILENT: STOPPED,
        FIRMWARE_ERROR: STOPPED,
    },
}

# --- edges ---

ENTRY_COVERED = "entry_covered"
ENTRY_CLEAR = "entry_clear"
CAMERA_COVERED = "camera_covered"
CAMERA_CLEAR = "camera_clear"
EXIT_COVERED = "exit_covered"  # at the exit the sheet was sent to
EXIT_CLEAR = "exit_clear"
OTHER_EXIT_COVERED = "other_exit_covered"  # at any other exit; at any exit where no sheet was sent to one
OTHER_EXIT_CLEAR = "other_exit_clear"
DOUBLE_SEEN = "double_seen"
COVER_OPENED = "cover_opened"
STOP_PRESSED = "stop_pressed"

COVERED_EDGES = ("", ENTRY_COVERED, CAMERA_COVERED, "", "", "", DOUBLE_SEEN, COVER_OPENED, STOP_PRESSED)
CLEAR_EDGES = ("", ENTRY_CLEAR, CAMERA_CLEAR, "", "", "", "", "", "")
"""The edge of a sensor by its number; "" means nothing, but for the exits, whose edges `_edge_name` finds."""

EDGES = {
    UNCONFIGURED: {
        ENTRY_COVERED: UNEXPECTED_SHEET,
        ENTRY_CLEAR: NOTHING,
        CAMERA_COVERED: UNEXPECTED_SHEET,
        CAMERA_CLEAR: NOTHING,
        OTHER_EXIT_COVERED: UNEXPECTED_SHEET,
        OTHER_EXIT_CLEAR: NOTHING,
        DOUBLE_SEEN: NOTHING,
        COVER_OPENED: COVER_OPEN,
        STOP_PRESSED: STOP_BUTTON,
    },
    READY: {
        ENTRY_COVERED: UNEXPECTED_SHEET,
        ENTRY_CLEAR: NOTHING,
        CAMERA_COVERED: UNEXPECTED_SHEET,
        CAMERA_CLEAR: NOTHING,
        OTHER_EXIT_COVERED: UNEXPECTED_SHEET,
        OTHER_EXIT_CLEAR: NOTHING,
        DOUBLE_SEEN: NOTHING,
        COVER_OPENED: COVER_OPEN,
        STOP_PRESSED: STOP_BUTTON,
    },
    PICKING: {
        ENTRY_COVERED: ENTERED,
        ENTRY_CLEAR: NOTHING,
        CAMERA_COVERED: UNEXPECTED_SHEET,
        CAMERA_CLEAR: UNEXPECTED_SHEET,
        OTHER_EXIT_COVERED: UNEXPECTED_SHEET,
        OTHER_EXIT_CLEAR: UNEXPECTED_SHEET,
        DOUBLE_SEEN: NOTHING,  # `_entered_event` looks at it as soon as there is a sheet
        COVER_OPENED: COVER_OPEN,
        STOP_PRESSED: STOP_BUTTON,
    },
    ENTERING: {
        ENTRY_COVERED: UNEXPECTED_SHEET,
        ENTRY_CLEAR: TAIL_IN,
        CAMERA_COVERED: ARRIVED,
        CAMERA_CLEAR: UNEXPECTED_SHEET,
        OTHER_EXIT_COVERED: UNEXPECTED_SHEET,
        OTHER_EXIT_CLEAR: UNEXPECTED_SHEET,
        DOUBLE_SEEN: DOUBLE_FEED,
        COVER_OPENED: COVER_OPEN,
        STOP_PRESSED: STOP_BUTTON,
    },
    AT_CAMERA: {
        ENTRY_COVERED: UNEXPECTED_SHEET,
        ENTRY_CLEAR: UNEXPECTED_SHEET,
        CAMERA_COVERED: JAM,
        CAMERA_CLEAR: JAM,
        OTHER_EXIT_COVERED: UNEXPECTED_SHEET,
        OTHER_EXIT_CLEAR: UNEXPECTED_SHEET,
        DOUBLE_SEEN: NOTHING,  # no paper is at the entry now
        COVER_OPENED: COVER_OPEN,
        STOP_PRESSED: STOP_BUTTON,
    },
    DIVERTING: {
        ENTRY_COVERED: UNEXPECTED_SHEET,
        ENTRY_CLEAR: UNEXPECTED_SHEET,
        CAMERA_COVERED: JAM,
        CAMERA_CLEAR: JAM,
        OTHER_EXIT_COVERED: UNEXPECTED_SHEET,
        OTHER_EXIT_CLEAR: UNEXPECTED_SHEET,
        DOUBLE_SEEN: NOTHING,
        COVER_OPENED: COVER_OPEN,
        STOP_PRESSED: STOP_BUTTON,
    },
    LEAVING: {
        ENTRY_COVERED: UNEXPECTED_SHEET,
        ENTRY_CLEAR: UNEXPECTED_SHEET,
        CAMERA_COVERED: UNEXPECTED_SHEET,
        CAMERA_CLEAR: EXPECTED,
        EXIT_COVERED: AT_EXIT,
        EXIT_CLEAR: LANDED,
        OTHER_EXIT_COVERED: WRONG_EXIT,
        OTHER_EXIT_CLEAR: WRONG_EXIT,
        DOUBLE_SEEN: NOTHING,
        COVER_OPENED: COVER_OPEN,
        STOP_PRESSED: STOP_BUTTON,
    },
    BACKING: {
        ENTRY_COVERED: EXPECTED,
        ENTRY_CLEAR: BACK_OUT,
        CAMERA_COVERED: UNEXPECTED_SHEET,
        CAMERA_CLEAR: EXPECTED,
        OTHER_EXIT_COVERED: UNEXPECTED_SHEET,
        OTHER_EXIT_CLEAR: UNEXPECTED_SHEET,
        DOUBLE_SEEN: NOTHING,
        COVER_OPENED: COVER_OPEN,
        STOP_PRESSED: STOP_BUTTON,
    },
    STOPPED: {
        # People's hands are in the path: edges are counted, and mean nothing else.
        ENTRY_COVERED: NOTHING,
        ENTRY_CLEAR: NOTHING,
        CAMERA_COVERED: NOTHING,
        CAMERA_CLEAR: NOTHING,
        OTHER_EXIT_COVERED: NOTHING,
        OTHER_EXIT_CLEAR: NOTHING,
        DOUBLE_SEEN: NOTHING,
        COVER_OPENED: COVER_OPEN,
        STOP_PRESSED: STOP_BUTTON,
    },
}

# --- outputs ---

FORWARD = const(1)
STANDING = const(0)
REVERSE = const(-1)

OUTPUTS = {
    # state: (pick motor runs, transport's direction, motors have current, lamp)
    UNCONFIGURED: (False, STANDING, False, False),
    READY: (False, STANDING, False, True),
    PICKING: (True, FORWARD, True, True),
    ENTERING: (False, FORWARD, True, True),
    AT_CAMERA: (False, STANDING, True, True),
    DIVERTING: (False, STANDING, True, True),
    LEAVING: (False, FORWARD, True, True),
    BACKING: (False, REVERSE, True, True),
    STOPPED: (False, STANDING, False, False),
}

MOVING = (PICKING, ENTERING, LEAVING, BACKING)
RUNNING = (ENTERING, LEAVING, BACKING)  # with a sheet in the rollers: its way, and so its time, is bounded

# --- times and bounds beyond those of the message table ---

MIN_SPEED_MM_S = const(25)  # the step generators' clock cannot be divided further

TICKS_MASK = const(0x3FFFFFFF)
TICKS_HALF = const(0x20000000)

PICK_PAUSE_US = const(200_000)  # the pick roller rests before its second try, so that the stack settles
PICK_TRIES = const(2)
EDGE_DELAY_US = const(3000)  # an edge is told when its level has stood so long
REST_US = const(20000)  # after a stop: every edge that began at it has been told
RUN_OUT_UM = const(30_000)  # so far past the entry sensor a sheet driven back is out of the first rollers
MOTION_LIMIT_MS = const(300_000)  # no motion takes longer, whatever the parameters say
US_PER_MS = const(1000)
UM_PER_MM = const(1000)

PARAMETERS = (
    "transport_mm_s",
    "pick_mm_s",
    "entry_to_camera_mm",
    "camera_to_exit_mm",
    "min_length_mm",
    "max_length_mm",
    "pick_timeout_ms",
    "diverter_settle_ms",
    "jam_margin_mm",
    "silence_ms",
)

MESSAGES_HELD = const(16)


def elapsed_us(later_us: int, earlier_us: int) -> int:
    """Return the time between two readings of the wrapping counter; 0 if `later_us` is the earlier one."""
    difference = (later_us - earlier_us) & TICKS_MASK
    return 0 if difference >= TICKS_HALF else difference


def travel_um(speed_mm_s: int, time_us: int) -> int:
    """Return the way of paper at `speed_mm_s` in `time_us`, within 31 bits for ways up to 100 m."""
    return (time_us // 100) * speed_mm_s // 10


class Message:
    """Something to be told to the station, filled in place so that the motion step allocates nothing."""

    def __init__(self) -> None:
        self.name = ""
        self.sheet = 0
        self.value = 0  # the length in mm, the exit, or the reason's number
        self.command = ""  # the refused one
        self.counts = [0] * COUNTS


class Feeder:
    """One feeder. `edge` and `tick` are the motion step; `command` and the rest belong to the link.

    After each call the board applies `pick_runs`, `transport`, `powered`, `lamp`, `diverter` with the speeds
    `pick_mm_s` and `transport_mm_s`; `next_message` gives what is to be told.
    """

    def __init__(self) -> None:
        self.state = UNCONFIGURED
        self.reason = 0
        self.sheet = 0  # the sheet in the path, or being picked; 0 none
        self.last_sheet = 0  # the last one that landed
        self.last_exit = NO_EXIT
        self.counts = [0] * COUNTS
        self.levels = bytearray(SENSORS)
        self.configured = False
        self.parameters = dict.fromkeys(PARAMETERS, 0)
        self.landed_total = 0  # sheets landed as counted or set aside since the board's start: never a reject
        # outputs
        self.pick_runs = False
        self.transport = STANDING
        self.powered = False
        self.lamp = False
        self.diverter = 0
        self.transport_mm_s = 0
        self.pick_mm_s = 0
        self.speeds_new = False  # the board has not taken them yet
        # the sheet in the path
        self._picked_sheet = 0  # the number of the last `feed`, until `clear`
        self._entered_sheet = 0  # the last number that a sheet entered under
        self._exit = NO_EXIT  # where it was sent
        self._length_um = 0  # 0: its trailing edge has not passed the entry
        self._at_exit = False
        self._at_rest = False  # it has been stopped for longer than any edge of the stop can be late
        self._lying = bytearray(SENSORS)  # 1: at the stop it lay over this exit's sensor
        self._back_out = False
        self._back_barred = False  # judged, or the path was touched: not to be driven back
        self._tries = 0
        self._pausing = False
        # where its leading edge was, past the entry sensor, at a time: by the motor's steps
        self._origin_um = 0
        self._origin_us = 0
        self._since_us = 0  # when the present motion, try, pause or stop began
        self._settled = True  # the diverter has stood long enough where it is
        # the path's measures
        self._camera_um = 0
        self._exit_um = 0
        self._min_um = 0
        self._max_um = 0
        self._margin_um = 0
        self._limit_us = 0  # no motion of a sheet takes so long: jam by time
        self._pick_timeout_us = 0
        self._settle_us = 0
        # what is to be told
        self._messages = [Message() for _ in range(MESSAGES_HELD)]
        self._first = 0
        self._held = 0
        self.messages_lost = False  # more was to be told than there is room for: the station takes nothing

    # --- the link ---

    def start(self, now_us: int) -> None:
        """Look at the sensors' first `levels`: a sheet in the path at power-on is for people."""
        if not self.path_empty():
            self._happen(PATH_NOT_CLEAR, now_us, now_us)

    def command(self, name: str, fields: "dict[str, int]", now_us: int) -> None:
        """Do what the station asks, or answer `refused`."""
        sheet = fields.get("sheet", 0)
        event = self._command_event(name, fields, sheet)
        if event not in TRANSITIONS[self.state]:
            self._tell("refused", sheet, 0, name)
        else:
            if event == CONFIGURE:
                self._take_parameters(fields)
            elif event == FEED:
                self._picked_sheet = sheet
            elif event == DIVERT:
                self._exit = fields["exit"]
            self._happen(event, now_us, now_us)

    def silent(self, now_us: int) -> None:
        """The station was not heard for `silence_ms`, or is another one now."""
        self._happen(STATION_SILENT, now_us, now_us)

    def fault(self, now_us: int) -> None:
        """This program went wrong somewhere: nothing may move."""
        self._happen(FIRMWARE_ERROR, now_us, now_us)

    def next_message(self) -> "Message | None":
        """Return the oldest message, or None. It is valid until the next call of anything here."""
        if self._held == 0:
            return None
        message = self._messages[self._first]
        self._first = (self._first + 1) % MESSAGES_HELD
        self._held -= 1
        return message

    def forget_messages(self) -> None:
        """Drop what nobody is there to hear: a station that comes asks for a report."""
        self._held = 0
        self.messages_lost = False

    def path_empty(self) -> bool:
        """Return whether no sensor of the path sees paper."""
        sensor = ENTRY
        while sensor <= EXIT_NOT_ACCEPTED:
            if self.levels[sensor]:
                return False
            sensor += 1
        return True

    def resting(self) -> bool:
        """Return whether no sheet is on its way, so that a pause of the board's disturbs nothing."""
        return self.state in (UNCONFIGURED, READY, STOPPED)

    # --- the motion step: allocates nothing ---

    def edge(self, sensor: int, covered: bool, at_us: int, now_us: int) -> None:
        """Take note that `sensor` changed at `at_us`; the motors can be changed from `now_us` on."""
        self.levels[sensor] = 1 if covered else 0
        self._count(sensor, covered, at_us)
        name = self._edge_name(sensor, covered)
        if name != "":
            event = EDGES[self.state][name]
            if event == ARRIVED:
                event = self._arrived_event(at_us)
            elif event == AT_EXIT or event == WRONG_EXIT:
                event = self._at_exit_event(event, at_us)
            elif event == LANDED:
                event = self._landed_event(at_us)
            elif self.state == STOPPED and name == ENTRY_COVERED and self._comes_late():
                event = ENTERED_LATE
            self._happen(event, at_us, now_us)
            if event == ENTERED and self.levels[DOUBLE_FEED_SENSOR]:
                self._happen(DOUBLE_FEED, at_us, now_us)
            elif event == TAIL_IN and self._length_um < self._min_um:
                self._happen(SHORT_SHEET, at_us, now_us)
            elif event == TAIL_IN and self._length_um > self._max_um:
                self._happen(OVER_LONG, at_us, now_us)
            elif event == LANDED and not self.path_empty():
                self._happen(UNEXPECTED_SHEET, at_us, now_us)

    def tick(self, now_us: int) -> None:
        """Take note of the time: what should have happened by now?"""
        state = self.state
        if state == PICKING:
            self._tick_picking(now_us)
        elif state == ENTERING:
            # A sheet too long shows by its edges (`TAIL_IN`, `ARRIVED`); one that jams shows none.
            if self._lead_um(now_us) > self._camera_um + self._margin_um:
                self._happen(JAM, now_us, now_us)
        elif state == DIVERTING:
            if self._settled or elapsed_us(now_us, self._since_us) >= self._settle_us:
                self._happen(SETTLED, now_us, now_us)
        elif state == LEAVING:
            self._tick_leaving(now_us)
        elif state == BACKING:
            self._tick_backing(now_us)
        elif state == STOPPED and elapsed_us(now_us, self._since_us) > REST_US:
            # Kept, because the clock wraps after minutes: an official may take longer than that.
            self._at_rest = True
        if self.state in RUNNING and elapsed_us(now_us, self._since_us) > self._limit_us:
            self._happen(JAM, now_us, now_us)

    def _tick_picking(self, now_us: int) -> None:
        since_us = elapsed_us(now_us, self._since_us)
        if self._pausing:
            if since_us >= PICK_PAUSE_US:
                self._pausing = False
                self._since_us = now_us
                self._set_outputs()
        elif since_us >= self._pick_timeout_us:
            self._happen(PICK_AGAIN if self._tries < PICK_TRIES else PICK_FAILED, now_us, now_us)

    def _tick_leaving(self, now_us: int) -> None:
        gone_um = self._lead_um(now_us) - self._camera_um  # past the camera sensor
        limit_um = self._exit_um + self._margin_um
        if self._at_exit:
            limit_um += self._length_um
        if gone_um > limit_um or (self.levels[CAMERA] and gone_um > self._length_um + self._margin_um):
            self._happen(JAM, now_us, now_us)

    def _tick_backing(self, now_us: int) -> None:
        lead_um = self._lead_um(now_us)
        if self._back_out and not self.levels[ENTRY]:
            if lead_um <= -RUN_OUT_UM:
                self._happen(RETURNED, now_us, now_us)
                if not self.path_empty():
                    self._happen(UNEXPECTED_SHEET, now_us, now_us)
        elif lead_um < -self._margin_um:
            self._happen(JAM, now_us, now_us)

    def _count(self, sensor: int, covered: bool, at_us: int) -> None:
        """Count what the edge says, in every state; paper that runs backwards neither enters nor lands."""
        backwards = self.transport == REVERSE
        if sensor == ENTRY:
            if covered:
                # A sheet in a stopped path that comes to the entry again is being drawn out by hand.
                if not backwards and not (self.state == STOPPED and self._sheet_in_path()):
                    self.counts[ENTRIES] += 1
            elif backwards:
                self.counts[BACK_COUNT] += 1
        elif EXIT_COUNTED <= sensor <= EXIT_NOT_ACCEPTED:
            if not covered and not backwards and not self._drawn_from_exit(sensor, at_us):
                self.counts[FIRST_EXIT_COUNT + sensor - EXIT_COUNTED] += 1
            self._lying[sensor] = 1 if covered and self._stopped_over(sensor, at_us) else 0

    def _sheet_in_path(self) -> bool:
        """Return whether the stopped path holds a sheet that was counted as an entry, maybe before a boot."""
        return self.sheet != 0 or REASONS[self.reason] == PATH_NOT_CLEAR

    def _drawn_from_exit(self, sensor: int, at_us: int) -> bool:
        """Return whether a hand takes the sheet from this exit: where it lay at a stop, or before it is out.

        People say where such a sheet went; the sensor cannot. What comes to the sensor after the stop counts.
        """
        if self.state == LEAVING and sensor - EXIT_COUNTED == self._exit:
            return self._landed_event(at_us) != LANDED
        if self.state != STOPPED or self._lying[sensor] == 0:
            return False
        # The trailing edge came at the stop: it has landed if its length was through.
        return not self._from_about_the_stop(at_us) or self._landed_event(at_us) != LANDED

    def _stopped_over(self, sensor: int, at_us: int) -> bool:
        """Return whether the sheet's leading edge came to its bin's sensor as the feeder stopped."""
        if self.state != STOPPED or sensor - EXIT_COUNTED != self._exit or self._at_exit:
            return False
        return self._from_about_the_stop(at_us)

    def _from_about_the_stop(self, at_us: int) -> bool:
        """Return whether an edge of the sheet in the path began at the stop: it bounces, and stands later."""
        if self.sheet == 0 or self._at_rest:
            return False
        return elapsed_us(at_us, self._since_us) <= EDGE_DELAY_US

    def _edge_name(self, sensor: int, covered: bool) -> str:
        if EXIT_COUNTED <= sensor <= EXIT_NOT_ACCEPTED:
            if self.state == LEAVING and sensor - EXIT_COUNTED == self._exit:
                return EXIT_COVERED if covered else EXIT_CLEAR
            return OTHER_EXIT_COVERED if covered else OTHER_EXIT_CLEAR
        return COVERED_EDGES[sensor] if covered else CLEAR_EDGES[sensor]

    def _lead_um(self, at_us: int) -> int:
        """Return how far past the entry sensor the sheet's leading edge is by the motor's steps."""
        if self.transport == STANDING:
            return self._origin_um
        way_um = travel_um(self.transport_mm_s, elapsed_us(at_us, self._origin_us))
        return self._origin_um + way_um * self.transport

    def _comes_late(self) -> bool:
        """Return whether the sheet under pick when the feeder stopped can be the one at the entry."""
        return self.sheet == 0 and self._picked_sheet != 0 and self._picked_sheet != self._entered_sheet

    def _arrived_event(self, at_us: int) -> str:
        """Paper at the far end of the bed: this sheet, in one piece, or something else?"""
        if self._lead_um(at_us) < self._camera_um - self._margin_um:
            return UNEXPECTED_SHEET
        return OVER_LONG if self.levels[ENTRY] else ARRIVED

    def _at_exit_event(self, event: str, at_us: int) -> str:
        """Paper at a bin: too early, and it is not the sheet that was under the camera."""
        gone_um = self._lead_um(at_us) - self._camera_um
        return UNEXPECTED_SHEET if gone_um < self._exit_um - self._margin_um else event

    def _landed_event(self, at_us: int) -> str:
        """The bin's sensor is clear: it has landed, or it left the sensor before its length was through."""
        gone_um = self._lead_um(at_us) - self._camera_um
        return JAM if gone_um < self._exit_um + self._length_um - self._margin_um else LANDED

    # --- one event ---

    def _happen(self, event: str, at_us: int, now_us: int) -> None:
        """Go where the table leads for `event`, which took place at `at_us`, and do what belongs to it."""
        before = self.state
        if event not in TRANSITIONS[before]:
            event = FIRMWARE_ERROR  # our own tables disagree: stop, and say so
        self._move_origin(now_us)
        self.state = TRANSITIONS[before][event]
        if self.state == STOPPED and before != STOPPED:
            self._stop(event, now_us)
        elif event in ACTIONS:
            ACTIONS[event](self, at_us, now_us)
        self._set_outputs()

    def _set_outputs(self) -> None:
        outputs = OUTPUTS[self.state]
        self.pick_runs = outputs[0] and not self._pausing
        self.transport = STANDING if self._pausing else outputs[1]
        self.powered = outputs[2]
        self.lamp = outputs[3]

    def _stop(self, event: str, now_us: int) -> None:
        self._pausing = False
        self._at_rest = False
        self._since_us = now_us
        self.reason = REASONS.index(event)
        if self._entered_sheet != self.sheet:
            self.sheet = 0  # it was only to be picked: as far as the sensors tell, it is still in the hopper
        self._note_lying()
        self._tell("stopped", self.sheet, self.reason)

    def _note_lying(self) -> None:
        """Note over which exit's sensor the sheet lies at the stop; other paper at an exit is not it."""
        at_start = REASONS[self.reason] == PATH_NOT_CLEAR
        sensor = EXIT_COUNTED
        while sensor <= EXIT_NOT_ACCEPTED:
            sent_there = self.sheet != 0 and self._at_exit and sensor - EXIT_COUNTED == self._exit
            self._lying[sensor] = self.levels[sensor] if sent_there or at_start else 0
            sensor += 1

    def _on_ask(self, at_us: int, now_us: int) -> None:
        self._tell("report", self.sheet, 0)

    def _on_configure(self, at_us: int, now_us: int) -> None:
        self._tell("configured", 0, 0)

    def _on_halt(self, at_us: int, now_us: int) -> None:
        self._tell("stopped", self.sheet, self.reason)

    def _on_hands_in_path(self, at_us: int, now_us: int) -> None:
        if self.state == STOPPED:
            self._back_barred = True

    def _on_clear(self, at_us: int, now_us: int) -> None:
        self.reason = 0
        self.sheet = 0
        self._picked_sheet = 0
        self._tell("cleared", 0, 0)

    def _on_feed(self, at_us: int, now_us: int) -> None:
        self.sheet = self._picked_sheet
        self._exit = NO_EXIT
        self._length_um = 0
        self._at_exit = False
        self._back_out = False
        self._back_barred = False
        self._tries = 1
        self._origin_um = 0
        self._begin(now_us)

    def _on_pick_again(self, at_us: int, now_us: int) -> None:
        self._pausing = True
        self._tries += 1
        self._begin(now_us)

    def _on_entered(self, at_us: int, now_us: int) -> None:
        self._origin_um = travel_um(self.transport_mm_s, elapsed_us(now_us, at_us))
        self._entered_sheet = self.sheet
        self._begin(now_us)
        self._tell("entered", self.sheet, 0)

    def _on_entered_late(self, at_us: int, now_us: int) -> None:
        self.sheet = self._picked_sheet
        self._entered_sheet = self.sheet
        self._origin_um = 0
        self._tell("entered", self.sheet, 0)

    def _on_tail_in(self, at_us: int, now_us: int) -> None:
        self._length_um = self._edge_um(at_us, now_us)

    def _on_arrived(self, at_us: int, now_us: int) -> None:
        # From here the place is known anew; the sheet runs on until the motor is stopped, now.
        self._origin_um = self._camera_um + travel_um(self.transport_mm_s, elapsed_us(now_us, at_us))
        self._tell("at_camera", self.sheet, (self._length_um + UM_PER_MM // 2) // UM_PER_MM)

    def _on_divert(self, at_us: int, now_us: int) -> None:
        self._back_barred = True
        if self.diverter != self._exit:
            self.diverter = self._exit
            self._settled = False
        self._begin(now_us)

    def _on_settled(self, at_us: int, now_us: int) -> None:
        self._settled = True
        self._begin(now_us)

    def _on_at_exit(self, at_us: int, now_us: int) -> None:
        self._at_exit = True

    def _on_back(self, at_us: int, now_us: int) -> None:
        self._exit = EXIT_BACK
        self._back_out = False
        self.reason = 0
        self._begin(now_us)

    def _on_back_out(self, at_us: int, now_us: int) -> None:
        self._back_out = True
        self._origin_um = -travel_um(self.transport_mm_s, elapsed_us(now_us, at_us))

    def _on_out(self, at_us: int, now_us: int) -> None:
        self.last_sheet = self.sheet
        self.last_exit = self._exit
        if self._exit == COUNTED or self._exit == SET_ASIDE:
            self.landed_total += 1
        self.sheet = 0
        self._tell("landed", self.last_sheet, self.last_exit)

    def _move_origin(self, now_us: int) -> None:
        """Take the way run so far into the origin; the rest below 100 us stays, so that nothing adds up."""
        if self.transport != STANDING and self.state != PICKING:
            run_us = elapsed_us(now_us, self._origin_us)
            self._origin_um += travel_um(self.transport_mm_s, run_us) * self.transport
            self._origin_us = (now_us - run_us % 100) & TICKS_MASK

    def _begin(self, now_us: int) -> None:
        """A motion, a pause or a wait begins now."""
        self._origin_us = now_us
        self._since_us = now_us

    def _edge_um(self, at_us: int, now_us: int) -> int:
        """Return where the leading edge was when a sensor changed, a little before now."""
        return self._origin_um - travel_um(self.transport_mm_s, elapsed_us(now_us, at_us)) * self.transport

    def _tell(self, name: str, sheet: int, value: int, command: str = "") -> None:
        if self._held == MESSAGES_HELD:
            self.messages_lost = True
            return
        message = self._messages[(self._first + self._held) % MESSAGES_HELD]
        message.name = name
        message.sheet = sheet
        message.value = value
        message.command = command
        place = 0
        while place < COUNTS:
            message.counts[place] = self.counts[place]
            place += 1
        self._held += 1

    # --- commands ---

    def _command_event(self, name: str, fields: "dict[str, int]", sheet: int) -> str:
        """Return the event that the command is now, or "" where its own fields forbid it."""
        if name == CONFIGURE:
            return self._configure_event(fields)
        if name == FEED:
            return self._feed_event(sheet)
        if name == DIVERT:
            return self._divert_event(sheet, fields["exit"])
        if name == CLEAR:
            if not self.path_empty() or self.levels[COVER] or self.levels[STOP_SWITCH]:
                return ""
            return CLEAR if self.configured else CLEAR_UNCONFIGURED
        return name if name in COMMANDS else ""

    def _configure_event(self, fields: "dict[str, int]") -> str:
        slow = fields["transport_mm_s"] < MIN_SPEED_MM_S or fields["pick_mm_s"] < MIN_SPEED_MM_S
        return "" if slow or fields["min_length_mm"] > fields["max_length_mm"] else CONFIGURE

    def _feed_event(self, sheet: int) -> str:
        if sheet == 0 or sheet == self._entered_sheet or self.state != READY:
            return ""
        if self.levels[COVER]:
            return COVER_OPEN
        if self.levels[STOP_SWITCH]:
            return STOP_BUTTON
        if not self.path_empty():
            return UNEXPECTED_SHEET
        return FEED if self.levels[HOPPER] else HOPPER_EMPTY

    def _divert_event(self, sheet: int, exit_: int) -> str:
        if sheet == 0 or sheet != self.sheet:
            return ""
        if exit_ != EXIT_BACK:
            return DIVERT if exit_ < EXIT_BACK else ""
        if self.state == STOPPED:
            allowed = REASONS[self.reason] in BACK_ALLOWED and not self._back_barred
            if not allowed or self.levels[COVER] or self.levels[STOP_SWITCH]:
                return ""
        return BACK

    def _time_limit_ms(self, fields: "dict[str, int]") -> int:
        """Return twice the time of the longest way that any motion can have, and a second."""
        in_mm = fields["entry_to_camera_mm"]
        out_mm = fields["camera_to_exit_mm"] + fields["max_length_mm"]
        way_mm = max(in_mm, out_mm) + fields["jam_margin_mm"] + RUN_OUT_UM // UM_PER_MM
        return min(MOTION_LIMIT_MS, 2 * way_mm * 1000 // fields["transport_mm_s"] + 1000)

    def _take_parameters(self, fields: "dict[str, int]") -> None:
        for name in PARAMETERS:
            self.parameters[name] = fields[name]
        self.configured = True
        self.speeds_new = True
        self.transport_mm_s = fields["transport_mm_s"]
        self.pick_mm_s = fields["pick_mm_s"]
        self._camera_um = fields["entry_to_camera_mm"] * UM_PER_MM
        self._exit_um = fields["camera_to_exit_mm"] * UM_PER_MM
        self._min_um = fields["min_length_mm"] * UM_PER_MM
        self._max_um = fields["max_length_mm"] * UM_PER_MM
        self._margin_um = fields["jam_margin_mm"] * UM_PER_MM
        self._limit_us = self._time_limit_ms(fields) * US_PER_MS
        self._pick_timeout_us = fields["pick_timeout_ms"] * US_PER_MS
        self._settle_us = fields["diverter_settle_ms"] * US_PER_MS


ACTIONS = {
    # A stop has its own, `_stop`; in STOPPED, later reasons come here. Events that are not here do no more.
    ASK: Feeder._on_ask,
    CONFIGURE: Feeder._on_configure,
    HALT: Feeder._on_halt,
    COVER_OPEN: Feeder._on_hands_in_path,
    STOP_BUTTON: Feeder._on_hands_in_path,
    CLEAR: Feeder._on_clear,
    CLEAR_UNCONFIGURED: Feeder._on_clear,
    FEED: Feeder._on_feed,
    PICK_AGAIN: Feeder._on_pick_again,
    ENTERED: Feeder._on_entered,
    ENTERED_LATE: Feeder._on_entered_late,
    TAIL_IN: Feeder._on_tail_in,
    ARRIVED: Feeder._on_arrived,
    DIVERT: Feeder._on_divert,
    SETTLED: Feeder._on_settled,
    AT_EXIT: Feeder._on_at_exit,
    BACK: Feeder._on_back,
    LANDED: Feeder._on_out,
    BACK_OUT: Feeder._on_back_out,
    RETURNED: Feeder._on_out,
}
