"""A station in miniature, in one process with its world: feeds, gives verdicts, and puts stops right by hand.

It knows of the paper what a camera and the officials' eyes tell, and of the feeder what its board says.
Instead of a classifier it has a rule that says into which bin a sheet goes.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recount_protocol import feeder_messages
from recount_protocol.delivery import CONNECTED, LOST, PAYLOAD, Delivery
from recount_world.paper import PILES
from recount_world.world import World

CONFIGURATION = {
    "transport_mm_s": 600,
    "pick_mm_s": 300,
    "entry_to_camera_mm": 400,
    "camera_to_exit_mm": 250,
    "min_length_mm": 250,
    "max_length_mm": 300,
    "pick_timeout_ms": 1500,
    "diverter_settle_ms": 80,
    "jam_margin_mm": 40,
    "silence_ms": 500,
}
RETRY_US = 300_000
HANDS_US = 200_000
"""No hand is in the path sooner than this after the feeder stopped."""

Pictured = tuple[str, ...]
"""The sheets that lay under the camera, the one in the picture first; several only where sheets stick."""


def by_number(sheet_id: str) -> int:
    """Return the exit for a sheet whose id is a number."""
    return int(sheet_id) % 3


@dataclass(frozen=True)
class Landing:
    """What the board said of a sheet that had been under the camera."""

    number: int
    pictured: Pictured
    exit: int


@dataclass(frozen=True)
class Stop:
    """A stop that the board told of, and the paper that had reached the entry then."""

    reason: str
    number: int
    in_path: Pictured


class Desk:
    """Feeds all sheets of the hopper, each to the exit that the rule says, and clears every stop by hand."""

    def __init__(
        self,
        world: World,
        *,
        exit_of: Callable[[str], int] = by_number,
        lays_back: bool = True,
        verdict_after_us: int = 0,
    ) -> None:
        self.world = world
        self.done = False
        """The hopper is empty, and the board said so."""
        self._counts_of_boots: list[tuple[int, ...]] = []
        """What the board counted from each of its starts on but the last, as told last."""
        self.landings: list[Landing] = []
        self.stops: list[Stop] = []
        self.connections = 0
        self.by_hand: set[int] = set()
        """Numbers of sheets taken out of the path that the board had told as entered: I9's last term."""
        self._counts: tuple[int, ...] = (0, 0, 0, 0, 0)
        self._exit_of = exit_of
        self._lays_back = lays_back
        self._received = b""
        self._sheet = 0
        self._stopped_feed = -1
        self._pictured: Pictured = ()
        self._again_us: int | None = None
        self._hands_us: int | None = None
        self._verdict_after_us = verdict_after_us
        self._verdict_us: int | None = None
        self._link = Delivery(
            feeder_messages.VERSION,
            feeder_messages.TABLE_HASH,
            4711,
            feeder_messages.MAX_PAYLOAD_BYTES,
            resend_ms=30,
            keepalive_ms=150,
            dead_ms=500,
        )
        self._boot = -1
        world.to_station = self._arrive

    def _arrive(self, data: bytes) -> None:
        self._received += data

    def work(self, until_us: int) -> None:
        """Work until all sheets are through, or to a moment."""
        while not self.done and self.world.now_us < until_us:
            now_ms = self.world.now_us // 1000
            data, self._received = self._received, b""
            for event in self._link.receive(data, now_ms):
                if event[0] == CONNECTED:
                    self._meet(int(event[1]))
                elif event[0] == PAYLOAD:
                    self._take(*feeder_messages.decode(event[1]))
                elif event[0] == LOST:
                    self._again_us = self._hands_us = None
            if self._hands_us is not None and self.world.now_us >= self._hands_us:
                self._clear_path()
            if self._again_us is not None and self.world.now_us >= self._again_us:
                # Nobody reaches into a path that may move: stop it, then put right what `stopped` tells.
                self._again_us = self.world.now_us + RETRY_US
                self._say("halt")
            if self._verdict_us is not None and self.world.now_us >= self._verdict_us:
                self._verdict_us = None
                self._judge()
            self.world.from_station(self._link.output(now_ms))
            limit_us = max(self._link.next_deadline_ms(now_ms) * 1000, self.world.now_us + 1)
            due = (self._again_us, self._hands_us, self._verdict_us, until_us)
            limit_us = min(limit_us, *(moment for moment in due if moment is not None))
            while not self._received and self.world.now_us < limit_us:
                self.world.step(limit_us)

    def _say(self, name: str, **fields: int) -> None:
        if self._link.can_send:
            self._link.send(feeder_messages.encode(name, **fields))

    def _meet(self, boot: int) -> None:
        self.connections += 1
        if boot != self._boot:
            if self._boot >= 0:
                # The board may not see paper that lies between its sensors; a station knows of it.
                self._clear_path()
            self._boot = boot
            self._counts_of_boots.append(self._counts)
            self._counts = (0, 0, 0, 0, 0)
        self._say("configure", **CONFIGURATION)
        self._say("ask")

    def _take(self, name: str, fields: dict[str, Any]) -> None:
        if "counts" in fields:
            self._counts = fields["counts"]
        if name == "landed":
            self.landings.append(Landing(fields["sheet"], self._pictured, fields["exit"]))
            self._feed()
        elif name == "cleared" or (name == "report" and fields["state"] == feeder_messages.READY):
            self._feed()
        elif name == "at_camera":
            self._pictured = self.world.hands.in_path()
            if self._pictured:
                self._verdict_us = self.world.now_us + self._verdict_after_us
            # A bed that is empty by now has no verdict: the board sees that too, and stops.
        elif name == "stopped":
            self._put_right(feeder_messages.STOP_REASONS[fields["reason"]], fields["sheet"])
        elif name == "report" and fields["state"] == feeder_messages.STOPPED:
            self._reach_in()
        elif name == "refused":
            self._again_us = self.world.now_us + RETRY_US

    def _put_right(self, reason: str, number: int) -> None:
        if self._stopped_feed != self._sheet:  # a stop that stands is told again when one asks
            self._stopped_feed = self._sheet
            self.stops.append(Stop(reason, number, self.world.hands.in_path()))
        if reason == "hopper_empty" and not self.world.hands.in_hopper():
            self.done = True
            return
        if number:
            self.by_hand.add(number)
        self._reach_in()

    def _reach_in(self) -> None:
        self._again_us = self._verdict_us = None
        self._hands_us = self.world.now_us + HANDS_US

    def _judge(self) -> None:
        self._say("divert", sheet=self._sheet, exit=self._exit_of(self._pictured[0]))

    def _feed(self) -> None:
        self._again_us = self._verdict_us = None
        self._sheet += 1
        self._pictured = ()
        self._say("feed", sheet=self._sheet)

    def _clear_path(self) -> None:
        """Take all paper out of the path, lay it back on the hopper or aside, and ask the board to go on."""
        hands = self.world.hands
        self._verdict_us = self._hands_us = None
        self.world.touch()
        hands.take_path()
        hands.lay_back(hands.held() if self._lays_back else ())
        self.world.settle()
        self._say("clear")
        # The answer may get lost with the board: ask again until it says what is so.
        self._again_us = self.world.now_us + 3 * RETRY_US

    def resume(self) -> None:
        """Go on with sheets that were laid on after the hopper was empty."""
        if self.done:
            self.done = False
            self._clear_path()

    def counted(self) -> tuple[int, ...]:
        """Return what the board counted over all its starts, as far as it could tell: entries, then exits."""
        return tuple(sum(counts) for counts in zip(*self._counts_of_boots, self._counts, strict=True))

    def exits_counted(self) -> Counter[str]:
        """Return the board's counts of the bins, by name."""
        return Counter({place.value: count for place, count in zip(PILES, self.counted()[1:4], strict=True)})

    def i9_holds(self) -> bool:
        """Tell whether what came in is what went out and what hands took."""
        entries, *exits = self.counted()
        return entries == sum(exits) + len(self.by_hand)
