"""Every single fault at every moment of a sheet's life, and the end that it must have.

Each row is one world; its sheet 1 meets the fault at the first moment, sheet 2 at the second, and so on,
each fault once. A cell says with which reason the feeder stopped, if it did, and what became of the sheet on
the way on which the fault struck: it landed; it was given back; or it lay in its bin and was counted there
when people looked, because nobody had told that it landed. In every case it ends in its bin, counted once.

`python -m device.tests.world.fault_table`, in the repository's folder, writes docs/faults.md from the table.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from device.tests.world.bench import some_sheets
from device.tests.world.feeder_model import CountingDesk
from recount_protocol import feeder_messages
from recount_world.board_process import BoardProcess
from recount_world.faults import Fault, read_fault
from recount_world.paper import PILES
from recount_world.script import Script
from recount_world.world import World

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "faults.md"

MOMENTS: Mapping[str, float | None] = {
    "picked": -10,
    "entering": 100,
    "measured": 330,
    "at the camera": None,
    "diverting": None,
    "leaving": 500,
    "in the bin's mouth": 700,
}
"""The moments; a number is where the leading edge is, in mm past the entry sensor (its length is 279)."""

NEVER = ("pulled_out", 1)
"""A sheet that nobody has picked yet is not pulled out of the path."""


class Row(NamedTuple):
    """A fault, and its end at each of the moments."""

    title: str
    fault: Mapping[str, Any]
    ends: tuple[str, ...]
    counts_true: bool = True
    """Whether the board's counts are what the paper did; where not, I9 fails and the batch is run again."""


ROWS: tuple[Row, ...] = (
    Row(
        "the sheet jams",
        {"kind": "jam"},
        (
            "pick_failed: given back",
            "jam: given back",
            "jam: given back",
            "jam: given back",
            "jam: given back",
            "jam: given back",
            "jam: given back",
        ),
    ),
    Row(
        "a hand pulls the sheet out",
        {"kind": "pulled_out"},
        (
            "",
            "short_sheet: given back",
            "jam: given back",
            "jam: given back",
            "jam: given back",
            "jam: given back",
            "jam: given back",
        ),
    ),
    Row(
        "the cover is opened",
        {"kind": "cover_opened", "for_s": 0.5},
        (
            "cover_open: given back",
            "cover_open: given back",
            "cover_open: given back",
            "cover_open: given back",
            "cover_open: given back",
            "cover_open: given back",
            "cover_open: given back",
        ),
    ),
    Row(
        "the stop is pressed",
        {"kind": "stop_pressed"},
        (
            "stop_button: given back",
            "stop_button: given back",
            "stop_button: given back",
            "stop_button: given back",
            "stop_button: given back",
            "stop_button: given back",
            "stop_button: given back",
        ),
    ),
    Row(
        "the board loses power",
        {"kind": "board_reset"},
        ("given back", "given back", "given back", "given back", "given back", "given back", "given back"),
    ),
    Row(
        "the cable is cut for 0.2 s",
        {"kind": "cable_cut", "for_s": 0.2},
        ("landed", "landed", "landed", "landed", "landed", "landed", "landed"),
    ),
    Row(
        "the cable is cut for 2 s",
        {"kind": "cable_cut", "for_s": 2.0},
        (
            "station_silent: given back",
            "station_silent: given back",
            "station_silent: given back",
            "station_silent: given back",
            "station_silent: given back",
            "station_silent: given back",
            "lies in its bin",
        ),
    ),
    Row(
        "the cable is pulled out for 1 s",
        {"kind": "cable_unplugged"},
        (
            "station_silent: given back",
            "station_silent: given back",
            "station_silent: given back",
            "station_silent: given back",
            "station_silent: given back",
            "station_silent: given back",
            "lies in its bin",
        ),
    ),
    Row(
        "the hopper sensor sticks at no paper for 0.4 s",
        {"kind": "sensor_stuck", "sensor": "HOPPER", "level": 0, "for_s": 0.4},
        ("landed", "landed", "landed", "landed", "landed", "landed", "landed"),
    ),
    Row(
        "the hopper sensor sticks at paper for 0.4 s",
        {"kind": "sensor_stuck", "sensor": "HOPPER", "level": 1, "for_s": 0.4},
        ("landed", "landed", "landed", "landed", "landed", "landed", "landed"),
    ),
    Row(
        "the entry sensor sticks at no paper for 0.4 s",
        {"kind": "sensor_stuck", "sensor": "ENTRY", "level": 0, "for_s": 0.4},
        (
            "short_sheet: given back",
            "short_sheet: given back",
            "landed",
            "landed",
            "landed",
            "landed",
            "landed",
        ),
    ),
    Row(
        "the entry sensor sticks at paper for 0.4 s",
        {"kind": "sensor_stuck", "sensor": "ENTRY", "level": 1, "for_s": 0.4},
        (
            "landed",
            "over_long: given back",
            "unexpected_sheet: given back",
            "unexpected_sheet: given back",
            "unexpected_sheet: given back",
            "unexpected_sheet: given back",
            "unexpected_sheet: given back",
        ),
        counts_true=False,
    ),
    Row(
        "the camera sensor sticks at no paper for 0.4 s",
        {"kind": "sensor_stuck", "sensor": "CAMERA", "level": 0, "for_s": 0.4},
        (
            "landed",
            "landed",
            "jam: given back",
            "jam: given back",
            "unexpected_sheet: given back",
            "landed",
            "landed",
        ),
    ),
    Row(
        "the camera sensor sticks at paper for 0.4 s",
        {"kind": "sensor_stuck", "sensor": "CAMERA", "level": 1, "for_s": 0.4},
        (
            "unexpected_sheet: given back",
            "unexpected_sheet: given back",
            "unexpected_sheet: given back",
            "landed",
            "landed",
            "jam: given back",
            "unexpected_sheet: given back",
        ),
    ),
    Row(
        "another bin's sensor sticks at no paper for 0.4 s",
        {"kind": "sensor_stuck", "sensor": "EXIT_COUNTED", "level": 0, "for_s": 0.4},
        ("landed", "landed", "landed", "landed", "landed", "landed", "landed"),
    ),
    Row(
        "another bin's sensor sticks at paper for 0.4 s",
        {"kind": "sensor_stuck", "sensor": "EXIT_COUNTED", "level": 1, "for_s": 0.4},
        (
            "unexpected_sheet: given back",
            "unexpected_sheet: given back",
            "unexpected_sheet: given back",
            "unexpected_sheet: given back",
            "unexpected_sheet: given back",
            "unexpected_sheet: given back",
            "wrong_exit: given back",
        ),
        counts_true=False,
    ),
    Row(
        "its bin's sensor sticks at no paper for 0.4 s",
        {"kind": "sensor_stuck", "sensor": "EXIT_SET_ASIDE", "level": 0, "for_s": 0.4},
        ("landed", "landed", "landed", "landed", "landed", "jam: given back", "jam: given back"),
        counts_true=False,
    ),
    Row(
        "its bin's sensor sticks at paper for 0.4 s",
        {"kind": "sensor_stuck", "sensor": "EXIT_SET_ASIDE", "level": 1, "for_s": 0.4},
        (
            "unexpected_sheet: given back",
            "unexpected_sheet: given back",
            "unexpected_sheet: given back",
            "unexpected_sheet: given back",
            "unexpected_sheet: given back",
            "unexpected_sheet: given back",
            "landed",
        ),
        counts_true=False,
    ),
    Row(
        "the double-feed sensor sticks at single for 0.4 s",
        {"kind": "sensor_stuck", "sensor": "DOUBLE_FEED", "level": 0, "for_s": 0.4},
        ("landed", "landed", "landed", "landed", "landed", "landed", "landed"),
    ),
    Row(
        "the double-feed sensor sticks at double for 0.4 s",
        {"kind": "sensor_stuck", "sensor": "DOUBLE_FEED", "level": 1, "for_s": 0.4},
        (
            "double_feed: given back",
            "double_feed: given back",
            "double_feed: given back",
            "landed",
            "landed",
            "landed",
            "landed",
        ),
    ),
)


class PaperRow(NamedTuple):
    """A fault that lies in the paper itself, and the end of the way on which it shows."""

    title: str
    faults: tuple[Mapping[str, Any], ...]
    end: str
    found_by: str = ""
    """The identity that fails, where the sheet is counted as what it is not; empty where nothing is wrong.

    I2: two sheets are counted as one. I3: a sheet is counted that lies in no bin. I9: the board counts a
    sheet in a bin in which it does not lie.
    """


BLIND = {"kind": "blind_double_feed"}

PAPER_ROWS: tuple[PaperRow, ...] = (
    PaperRow(
        "two sheets, fully over each other",
        ({"kind": "double_feed", "sheets": ["1", "2"]},),
        "double_feed: given back",
    ),
    PaperRow(
        "two sheets, 100 mm over each other",
        ({"kind": "double_feed", "sheets": ["1", "2"], "overlap_mm": 100},),
        "double_feed: given back",
    ),
    PaperRow(
        "two sheets, end to end",
        ({"kind": "double_feed", "sheets": ["1", "2"], "overlap_mm": 0},),
        "over_long: given back",
    ),
    PaperRow(
        "two sheets, 100 mm over each other, the double-feed sensor blind",
        ({"kind": "double_feed", "sheets": ["1", "2"], "overlap_mm": 100}, BLIND),
        "over_long: given back",
    ),
    PaperRow(
        "two sheets, fully over each other, the double-feed sensor blind",
        ({"kind": "double_feed", "sheets": ["1", "2"]}, BLIND),
        "landed as one",
        found_by="I2",
    ),
    PaperRow(
        "a sheet enters 5 degrees askew", ({"kind": "pick_skew", "sheet": "1", "skew_deg": 5},), "landed"
    ),
    PaperRow(
        "a sheet enters 8 degrees askew, and the guides catch it",
        ({"kind": "pick_skew", "sheet": "1", "skew_deg": 8},),
        "jam: given back",
    ),
    PaperRow(
        "the diverter sticks at the other bin",
        ({"kind": "diverter_stuck", "for_s": 3.0},),
        "wrong_exit: given back",
        found_by="I9",
    ),
    PaperRow(
        "a hand takes the sheet off its bin's sensor in its last 40 mm",
        ({"kind": "pulled_out", "sheet": "1", "at_mm": 909},),
        "landed, and lies in no bin",
        found_by="I3",
    ),
    PaperRow(
        "the pick roller slips 200 mm", ({"kind": "pick_slip", "sheet": "1", "slip_mm": 200},), "landed"
    ),
    PaperRow(
        "the pick roller slips 2 m",
        ({"kind": "pick_slip", "sheet": "1", "slip_mm": 2000},),
        "pick_failed: given back",
    ),
)


VERDICT_US = 300_000
AT_REST_US = 100_000
SETTLING_US = 30_000
EXIT = 1
DAY_US = 400_000_000


def always_set_aside(_sheet_id: str) -> int:
    """Return the exit of all sheets: the diverter must move for it."""
    return EXIT


class TableDesk(CountingDesk):
    """A desk that takes down what became of each sheet's first way, and brings faults to sheets at rest."""

    def __init__(self, world: World, fault: Mapping[str, Any] | None) -> None:
        super().__init__(world, exit_of=always_set_aside, verdict_after_us=VERDICT_US)
        self.ends: dict[str, str] = {}
        self._fault = fault
        self._struck: set[str] = set()
        self._fed = ""
        self._reason = ""

    def _strike(self, moment: str, after_us: int) -> None:
        sheet = str(list(MOMENTS).index(moment) + 1)
        if self._fault is not None and self._pictured[:1] == (sheet,) and sheet not in self._struck:
            self._struck.add(sheet)
            fault = read_fault({**self._fault, **own_moment(self._fault, sheet)}, moment)
            fault.at_us = self.world.now_us + after_us
            self.world.add_fault(fault)

    def _take(self, name: str, fields: dict[str, Any]) -> None:
        if name == "landed":
            self._end("landed")
        told = {"stopped": "reason", "report": "stop_reason"}.get(name)
        if told is not None and fields[told] and self._fed:
            self._reason = self._reason or feeder_messages.STOP_REASONS[fields[told]]
        super()._take(name, fields)
        if name == "at_camera":
            self._strike("at the camera", AT_REST_US)

    def _judge(self) -> None:
        super()._judge()
        self._strike("diverting", SETTLING_US)

    def _feed(self) -> None:
        super()._feed()
        stack = self.world.hands.in_hopper()
        self._fed = stack[0] if stack else ""
        self._reason = ""

    def _clear_path(self) -> None:
        super()._clear_path()
        self._end("given back")

    def _settle_doubt(self) -> None:
        if self.judged is not None and self.world.paper.place_of(self.judged) in PILES:
            self._end("lies in its bin")
        super()._settle_doubt()

    def _end(self, what: str) -> None:
        if self._fed and self._fed not in self.ends:
            self.ends[self._fed] = f"{self._reason}: {what}" if self._reason else what
        self._fed = ""


def own_moment(fault: Mapping[str, Any], sheet: str) -> dict[str, Any]:
    """Return the fields with which a fault is about a sheet at rest; when it strikes is said apart."""
    return {"sheet": sheet, "at_mm": 2000} if needs_sheet(fault) else {"at_s": 0}


def needs_sheet(fault: Mapping[str, Any]) -> bool:
    """Tell whether this kind of fault is about one sheet."""
    return fault["kind"] in {"jam", "pulled_out"}


def run_row(fault: Mapping[str, Any]) -> TableDesk:
    """Run one row's day to its end."""
    faults: list[Fault] = []
    for number, at_mm in enumerate(MOMENTS.values(), 1):
        if at_mm is not None and (fault["kind"], number) != NEVER:
            own = "sheet" if needs_sheet(fault) else "when_sheet"
            faults.append(read_fault({**fault, own: str(number), "at_mm": at_mm}, f"moment {number}"))
    return _run_day(partial(TableDesk, fault=fault), len(MOMENTS), faults)


def run_paper_row(row: PaperRow) -> TableDesk:
    """Run the day of a fault that lies in the paper."""
    return _run_day(partial(TableDesk, fault=None), 3, [read_fault(fault, row.title) for fault in row.faults])


def _run_day(desk_of: Callable[[World], TableDesk], sheets: int, faults: Sequence[Fault]) -> TableDesk:
    with TemporaryDirectory() as folder:
        script = Script(
            operator="none", sheets=some_sheets(sheets), faults=tuple(faults), seed=1, bounce_us=1000
        )
        world = World(script, BoardProcess(Path(folder), seed=1))
        desk = desk_of(world)
        try:
            desk.work(DAY_US)
        finally:
            world.close()
    return desk


def page() -> str:
    """Return docs/faults.md."""
    lines = [
        HEAD,
        "| fault | " + " | ".join(MOMENTS) + " | board's counts |",
        "| --- " * (len(MOMENTS) + 2) + "|",
    ]
    for row in ROWS:
        counts = "true" if row.counts_true else "wrong: I9 fails"
        lines.append(f"| {row.title} | " + " | ".join(end or "-" for end in row.ends) + f" | {counts} |")
    lines += ["", PAPER_HEAD, "| fault | end |", "| --- | --- |"]
    lines += [
        f"| {row.title} | {row.end}{f': {row.found_by} fails' if row.found_by else ''} |"
        for row in PAPER_ROWS
    ]
    return "\n".join([*lines, ""])


HEAD = f"""# Single faults

What a single fault does at each moment of a sheet's life, with the firmware as it is. The tests run every
cell of these tables; `python -m device.tests.world.fault_table` writes this page from them.

A cell says with which reason the feeder stopped, if it did, and what became of the sheet: *landed*; *given
back*: taken out and fed again under a new number; *lies in its bin*: nobody had told that it landed, and
people saw it lie there. In every case a sheet ends in its bin and is counted once. A board that loses power
tells no reason; its path is emptied by hand before it goes on.

A power cut of the whole device is the same to the feeder; what the station makes of it is tried by killing
its process at every write to its journal (`device/tests/station/test_crashes.py`), in mid-batch
(`firmware_tests/test_killed.py`), and with its disk at every sync ([simulator.md](simulator.md#power-cuts)).

The moments: the sheet is *picked* (10 mm before the entry sensor), *entering* (100 mm past it), *measured*
(330 mm: its trailing edge is past the entry), at rest *at the camera*, *diverting* ({SETTLING_US // 1000} ms
after its verdict), *leaving* (100 mm past the camera), *in the bin's mouth* (50 mm past the bin's sensor).
"""

PAPER_HEAD = """## Faults of paper, hands and diverter

An identity that fails is how the fault is found: I2 by the people's count of all sheets, I3 by their
counts of the piles, I9 by the feeder's own counts ([statute.md](statute.md)).

One fault no sensor can tell from a landing: a sheet that leaves its bin's sensor when it should, give or
take `jam_margin_mm` (40 mm here: a fifteenth of a second), but in a hand instead of falling. The machine
counts it, and so does the feeder; the pile then holds a sheet less than the tally, I3 fails, and the
precinct's piles are counted again and the sheet is looked for. So the bins' mouths are built such that
no hand reaches their sensors while the cover is closed ([wiring.md](wiring.md)); an opened cover stops
the motors, and what then leaves a bin's sensor is not counted.
"""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
