"""A day of recount: the host, simulated devices and their paper as processes, and the people's acts.

Used by the tests of the whole path and by the demo. Processes are the real commands; people act through the
real commands too. Nothing here decides anything: it starts, asks, waits for conditions, and tells.
"""

import contextlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self, TypeVar

from recount_device import cli as device_cli
from recount_host import cli as host_cli
from recount_world.client import WorldClient, control
from recount_world.errors import WorldGone

LOOK_S = 0.05
"""How often a condition is looked at."""
FOLD_S = 0.3
"""How often one is looked at that reads the whole ledger."""
PATIENCE_S = 50.0

COMMANDS = Path(sys.executable).parent
"""Where the installed commands lie."""

ANN = "Ann Lee, official, D"
BOB = "Bob Ray, official, R"
COORDINATOR = "Cora Day, coordinator, D"
CLERK_OF_COURT = "Cleo May, clerk of the court"

Answer = TypeVar("Answer")


class DayError(Exception):
    """Something of the day went otherwise than it must; one sentence, with the end of a log if it helps."""


def wait_until(
    what: str, ask: Callable[[], Answer | None], patience_s: float = PATIENCE_S, look_s: float = LOOK_S
) -> Answer:
    """Return the first true answer of `ask`; raises DayError when it does not come in time."""
    end = time.monotonic() + patience_s
    while True:
        answer = ask()
        if answer:
            return answer
        if time.monotonic() > end:
            raise DayError(f"waited {patience_s:.0f} s in vain: {what}")
        time.sleep(look_s)


@dataclass
class Child:
    """One command as a process of its own, with its log beside it."""

    words: Sequence[str]
    log: Path
    process: "subprocess.Popen[bytes] | None" = None

    def start(self) -> None:
        """Start it, or start it again; the log goes on."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [str(COMMANDS / self.words[0]), *self.words[1:]],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def kill(self) -> None:
        """End it at once, as SIGKILL does: nothing is put in order."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it as a person does, with SIGTERM; after ten seconds by force."""
        self._end(signal.SIGTERM)

    def check(self) -> None:
        """Raise DayError when it has ended by itself."""
        if self.process is not None and self.process.poll() is not None:
            raise DayError(f"{' '.join(self.words)} ended with {self.process.returncode}:\n{self.tail()}")

    def tail(self, lines: int = 15) -> str:
        """Return the end of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _end(self, number: signal.Signals) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(number)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@dataclass
class Table:
    """One device at its table: the simulated machine with its paper, and the station."""

    name: str
    folder: Path
    world: Child
    station: Child
    decks: int = 0
    """How many decks were laid in."""
    carried_away: frozenset[str] = frozenset()
    """Sheets of a test deck that people have taken out of the trays. (Were they laid into the simulated
    operator's hands, the next jam would put them back on the hopper with the jammed sheet.)"""
    _control: WorldClient | None = field(default=None, repr=False)

    @property
    def control(self) -> WorldClient:
        """The hands in this world."""
        if self._control is None:
            self._control = wait_until(f"the world of {self.name} listens", self._connect)
        return self._control

    def _connect(self) -> WorldClient | None:
        self.world.check()
        try:
            return control(self.folder / "world.sock")
        except WorldGone:
            return None

    def piles(self) -> dict[str, list[str]]:
        """Return the sheets that lie in each tray, the lowest first."""
        positions = self.control.positions()
        names = ("counted", "set_aside", "not_accepted")
        return {name: [s for s in positions[name] if s not in self.carried_away] for name in names}

    def clear_trays(self) -> None:
        """Let people carry away what lies in the trays."""
        self.carried_away |= {sheet for pile in self.piles().values() for sheet in pile}

    def lay_back(self) -> None:
        """Take out the sheet about which the device asks, and lay it back into the tray it was taken from.

        Only a counted sheet of a deck is fed twice.
        """
        self.control.set(cover_open=True)
        for sheet in self.control.take_out("path"):
            self.control.move(sheet, "counted", "operator")
        self.control.set(cover_open=False)

    def panel(self) -> Mapping[str, Any]:
        """Return what the panel shows."""
        return self.control.shown()

    def asks(self, key: str) -> bool:
        """Return whether the panel asks for this."""
        self.station.check()
        return self.panel().get("key") == key

    def close(self) -> None:
        """End station and world."""
        self.station.stop()
        if self._control is not None:
            self._control.close()
        self.world.stop()


class Day:
    """One locality's day in a folder of its own."""

    def __init__(self, folder: Path, order: str, program: Path) -> None:
        self.folder = folder
        self.program = program
        self.tables: dict[str, Table] = {}
        self.port, self.web_port = free_port(), free_port()
        (folder / "order.toml").write_text(order, encoding="utf-8")
        self._sign("order", folder / "order.toml", CLERK_OF_COURT)
        self.host = Child(
            (
                "recount-host", "serve", str(folder / "order.toml"), "--data", str(folder / "host"),
                "--listen", f"tcp://127.0.0.1:{self.port}", "--web", f"127.0.0.1:{self.web_port}", "--json",
            ),
            folder / "host.log",
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for table in self.tables.values():
            table.close()
        self.host.stop()

    @property
    def page(self) -> str:
        """The address of the live page."""
        return f"http://127.0.0.1:{self.web_port}/"

    def open_host(self) -> None:
        """Start the host and wait until it serves under its order."""
        told = self.host.log.read_text(errors="replace") if self.host.log.exists() else ""
        self.host.start()

        def up() -> bool:
            self.host.check()
            return '"serving"' in self.host.log.read_text(errors="replace")[len(told) :]

        wait_until("the host serves", up)

    def add_table(
        self,
        name: str,
        sheets: Sequence[Mapping[str, object]],
        faults: Sequence[Mapping[str, object]] = (),
        *,
        duplex: bool = True,
        world: Mapping[str, object] = MappingProxyType({}),
        device: Mapping[str, object] = MappingProxyType({}),
        station: Sequence[str] = ("recount-device", "run"),
    ) -> Table:
        """Start a simulated device with these sheets in its hopper, the first uppermost, and its station.

        The technician has pinned the host at it.
        """
        folder = self.folder / name
        folder.mkdir()
        socket_path = folder / "world.sock"
        settings = {"socket": str(socket_path), "duplex": duplex, "flash": str(folder / "flash"), **world}
        tables = [toml_table("sheet", sheet) for sheet in sheets]
        tables += [toml_table("fault", fault) for fault in faults]
        (folder / "WORLD.toml").write_text(toml_lines(settings) + "".join(tables), encoding="utf-8")
        parts = dict.fromkeys(("feeder", "camera", "panel"), f"simulated:{socket_path}")
        own = {"name": name, "folder": str(folder / "device"), **parts}
        own["host"] = f"tcp://127.0.0.1:{self.port}"
        config = folder / "DEVICE.toml"
        config.write_text(toml_lines({**own, **device}), encoding="utf-8")
        run_device(("pin-host", str(config), *self.host_words.split()))
        table = Table(
            name,
            folder,
            Child(("recount-device", "simulate", str(folder / "WORLD.toml")), folder / "world.log"),
            Child((*station, str(config)), folder / "station.log"),
        )
        self.tables[name] = table
        table.world.start()
        _ = table.control
        table.station.start()
        return table

    # What people do.

    def does(self, *words: str) -> dict[str, Any]:
        """Run one command of the host and return its JSON answer; raises DayError when it refuses."""
        code, out, err = run_host((*words, "--data", str(self.folder / "host"), "--json"))
        if code != 0:
            raise DayError(f"recount-host {' '.join(words)}: {err.strip()}")
        return json.loads(out) if out.strip() else {}

    def refused(self, *words: str) -> str:
        """Run one command that must be refused and return its sentence."""
        code, out, err = run_host((*words, "--data", str(self.folder / "host")))
        if code == 0:
            raise DayError(f"recount-host {' '.join(words)} was not refused: {out.strip()}")
        return err.strip()

    def count(self, precinct: str, letter: str, value: int) -> None:
        """Two persons of different sides count, each alone, and enter the same."""
        for person in (ANN, BOB):
            self.does("count", "enter", precinct, letter, str(value), "--by", person)

    def sign_program(self) -> None:
        """Let one official of each side sign the contest program."""
        for person in (ANN, BOB):
            self._sign("program", self.program, person)

    def _sign(self, what: str, path: Path, person: str) -> None:
        key = self.folder / f"{person.partition(' ')[0]}.key"
        words = (what, "sign", str(path), "--key", str(key), "--name", person)
        code, _, err = run_host(words)
        if code != 0:
            raise DayError(f"recount-host {' '.join(words)}: {err.strip()}")

    def assign(self, precinct: str, *names: str, mode: str = "training") -> None:
        """Give the precinct to devices, once the host knows them."""
        for name in names:
            self.enrol(name)
            self.does(
                "run", "assign", precinct, "--device", name, "--program", str(self.program),
                "--mode", mode, "--by", COORDINATOR,
            )  # fmt: skip

    # Logic and accuracy

    def begin_test(self, name: str, deck: Path, program: Path | None = None) -> None:
        """Lay the deck in this folder into the device's hopper, and let it be run; with the day's program."""
        lay_deck(self.tables[name], deck)
        self.enrol(name)
        words = ("--device", name, "--program", str(program or self.program), "--deck", str(deck))
        self.does("logic-accuracy", "begin", *words, "--by", COORDINATOR)

    def compared_so_far(self, name: str) -> dict[str, Any] | None:
        """Return how the device dealt with the deck; None while it is not through.

        Where the device asks whether it read a sheet before, people say so: the deck feeds one twice.
        """
        self.tables[name].station.check()
        data = str(self.folder / "host")
        code, out, err = run_host(("logic-accuracy", "compare", "--device", name, "--data", data, "--json"))
        if code not in (0, 1):
            raise DayError(f"{name}: {err.strip()}")
        told: dict[str, Any] = json.loads(out)
        if told["question"]:
            self.tables[name].lay_back()
            self.does("logic-accuracy", "settle", "--device", name, "--by", ANN, "--by", BOB)
        return None if told["hindrances"] else told

    def compared(self, name: str, patience_s: float = 150) -> dict[str, Any]:
        """Return how the device dealt with the deck, once it is through."""
        told = partial(self.compared_so_far, name)
        return wait_until(f"{name} is through with its deck", told, patience_s, FOLD_S)

    def end_test(self, name: str) -> None:
        """End the device's test without arming it, clear its trays, and wait until it knows."""
        self.does("logic-accuracy", "end", "--device", name, "--by", COORDINATOR)
        table = self.tables[name]
        table.clear_trays()
        # Paper that is laid in before would be fed in the test that is over.
        wait_until(f"{name} has closed its test", lambda: table.asks("idle"))

    def arm(self, name: str, papers: Path) -> None:
        """Let both sides certify a device that passed, print its zero report, and clear its trays."""
        both = ("--device", name, "--by", ANN, "--by", BOB)
        self.does("logic-accuracy", "certify", *both, "-o", str(papers / f"certificate-{name}.pdf"))
        zero = ("zero-report", *both, "-o", str(papers / f"zero-report-{name}.pdf"))
        data = ("--data", str(self.folder / "host"))
        wait_until(f"{name} is armed", lambda: run_host((*zero, *data))[0] == 0)
        self.tables[name].clear_trays()

    @property
    def host_words(self) -> str:
        """The words of the host's key, as its screen shows them."""
        return self.does("device", "list")["host_words"]

    def enrol(self, name: str) -> str:
        """Let both officials compare the words of a device and enrol it, once; return the words."""
        config = self.folder / name / "DEVICE.toml"

        def standing() -> str:
            self.host.check()
            rows = self.does("device", "list")["devices"]
            return next((row["standing"] for row in rows if row["name"] == name), "")

        known = wait_until(f"{name} introduces itself", standing)
        words = json.loads(run_device(("show", str(config), "--json")))["words"]
        if known != "enrolled":
            self.does("device", "enrol", name, *words.split(), "--by", ANN, "--by", BOB)
        return words

    def view(self, precinct: str) -> dict[str, Any]:
        """Return the precinct as it may be shown now."""
        return self.does("show", precinct)["precincts"][0]

    def batches(self, precinct: str) -> list[dict[str, Any]]:
        """Return the precinct's batches as they stand."""
        return self.view(precinct)["batches"]

    def wait_for_batches(
        self,
        precinct: str,
        closed: int,
        patience_s: float = PATIENCE_S,
        watch: Callable[[], None] | None = None,
    ) -> None:
        """Wait until so many batches of the precinct are closed and none is open."""

        def done() -> bool:
            for table in self.tables.values():
                table.station.check()
                table.world.check()
            if watch is not None:
                watch()
            standing = [batch["standing"] for batch in self.batches(precinct)]
            return standing.count("closed") == closed and "open" not in standing

        try:
            wait_until(f"{closed} closed batches", done, patience_s, FOLD_S)
        except DayError as error:
            shown = {name: table.panel() for name, table in self.tables.items()}
            raise DayError(f"{error}; batches {self.batches(precinct)}; panels {shown}") from error

    def piles(self) -> dict[str, int]:
        """Return how many sheets lie in each tray, over all devices: what people would count."""
        piles: Counter[str] = Counter()
        for table in self.tables.values():
            piles.update({name: len(sheets) for name, sheets in table.piles().items()})
        return piles

    def count_piles(self, precinct: str) -> None:
        """Two persons count the piles and enter them, blind; nothing was taken out as not programmable."""
        piles = self.piles()
        for letter, pile in (("c", "counted"), ("s", "set_aside"), ("x", "not_accepted")):
            self.count(precinct, letter, piles[pile])

    def hand_count(self, precinct: str, outcomes: Mapping[str, int]) -> dict[str, Any]:
        """Both officials count each pile in two passes that agree; piles are filled in the order given."""
        ballots = [outcome for outcome, number in outcomes.items() for _ in range(number)]
        told: dict[str, Any] = self.does("show", precinct)["precincts"][0]
        piles = [(pile["pile"], pile["ballots"]) for pile in told["piles"] if pile["ballots"]]
        for pile, size in piles:
            own, ballots = Counter(ballots[:size]), ballots[size:]
            words = [f"{key}={number}" for key, number in own.items()]
            for _ in range(2):
                told = self.does("hand-count", "enter", precinct, pile, *words, "--by", ANN, "--by", BOB)
        return told


def lay_deck(table: Table, deck: Path) -> None:
    """Lay a logic-and-accuracy deck into a device's hopper, in its order, with what its paper does.

    Its sheets are called by their codes behind the deck's number at this table: one deck may come twice. A
    sheet that is fed twice lies there twice, as two pictures of one paper: people take it from its tray.
    """
    sheets = tomllib.loads((deck / "deck.toml").read_text(encoding="utf-8"))["sheet"]
    table.decks += 1
    ids = {sheet["code"]: f"deck-{table.decks}-{sheet['code']}" for sheet in sheets}
    for sheet in sheets:
        if "fault" in sheet:
            stuck = [ids[code] for code in sheet["fault"]["sheets"]]
            table.control.fault(**{**sheet["fault"], "sheets": stuck})
    table.control.load(
        [
            {
                "id": ids[sheet["code"]],
                "front": str((deck / sheet["front"]).absolute()),
                **({"back": str((deck / sheet["back"]).absolute())} if "back" in sheet else {}),
                "turned": sheet.get("turned", False),
                "wrong_side": sheet.get("face_down", False),
                "length_mm": sheet["length_mm"],
            }
            for sheet in sheets
        ]
    )


def run_host(words: Sequence[str]) -> tuple[int, str, str]:
    """Run `recount-host` in this process; return its exit code and what it printed on both streams."""
    return _run(host_cli.main, words)


def run_device(words: Sequence[str]) -> str:
    """Run `recount-device` in this process and return what it printed; raises DayError when it refuses."""
    code, out, err = _run(device_cli.main, words)
    if code != 0:
        raise DayError(f"recount-device {' '.join(words)}: {err.strip()}")
    return out


def _run(main: Callable[[list[str]], int], words: Sequence[str]) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(list(words))
        except SystemExit as leaving:  # argparse's way to refuse
            code = leaving.code if isinstance(leaving.code, int) else 1
    return code, out.getvalue(), err.getvalue()


def free_port() -> int:
    """Return a TCP port of the loopback interface that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def toml_lines(settings: Mapping[str, object]) -> str:
    """Return settings as lines of TOML: text, numbers, flags and lists of them."""
    return "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in settings.items())


def toml_table(name: str, settings: Mapping[str, object]) -> str:
    """Return one entry of a list of tables."""
    return f"\n[[{name}]]\n{toml_lines(settings)}"


@contextlib.contextmanager
def a_day(folder: Path, order: str, program: Path) -> Generator[Day]:
    """Yield a day whose host is open; every process is ended afterwards."""
    with Day(folder, order, program) as day:
        day.open_host()
        yield day


def kill_processes_of(child: Child, name: str) -> int:
    """SIGKILL the children of a process whose program has this name; return how many there were."""
    assert child.process is not None
    killed = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            pid, rest = stat.read_text().split(" ", 1)
            program, fields = rest.rsplit(")", 1)
            if program.strip("( ").startswith(name) and int(fields.split()[1]) == child.process.pid:
                os.kill(int(pid), signal.SIGKILL)
                killed += 1
    return killed
