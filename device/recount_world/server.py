"""The world's socket: answers the calls of one station and any number of controls, and lets time run.

One thread does everything, so a call never meets a half-made moment. Time runs

* not before the first station has come: so the same script and seed give the same run;
* from event to event while a station is there, waits, and something moves;
* along with real time where no station is there, the device is idle, or the script wants it;
* not at all while the station computes (up to the script's patience: a hung station is a silent one).
"""

import contextlib
import selectors
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recount_world.auto_operator import Panel
from recount_world.calls import CONTROL, ROLES, STATION, check_call
from recount_world.errors import CallError, ScriptError
from recount_world.faults import read_fault
from recount_world.pace import Pace
from recount_world.paper import Sheet
from recount_world.pins import INPUTS
from recount_world.port import PseudoPort
from recount_world.script import read_sheet
from recount_world.shared_pictures import PictureMemory
from recount_world.wire import MessageReader, send_message
from recount_world.world import World

BURST_EVENTS = 200
"""So many events of the world between two looks at the sockets."""
SEND_TIMEOUT_S = 10.0
"""A client that takes none of its answer for so long is dropped."""
LONGEST_SLEEP_S = 0.2


@dataclass
class Client:
    """One connection."""

    connection: socket.socket
    role: str | None = None
    reader: MessageReader = field(default_factory=MessageReader)


@dataclass(frozen=True)
class Waiting:
    """The station's wait that has not been answered."""

    client: Client
    until_us: int | None


class Server:
    """Serves one world until the call `quit`, or `stop`."""

    def __init__(self, world: World, socket_path: Path) -> None:
        """Listen at `socket_path`. Raises ScriptError where a world listens there already."""
        self.world = world
        self.socket_path = socket_path
        self.stopped = False
        self._listener = _listen(socket_path)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._stop_here, self._stop_there = socket.socketpair()
        self._selector.register(self._stop_here, selectors.EVENT_READ, lambda: None)
        self._pictures = PictureMemory()
        self._pace = Pace()
        self._clients: list[Client] = []
        self._station: Client | None = None
        self._waiting: Waiting | None = None
        self._computing_since_s = 0.0
        self._begun = False
        self._port: PseudoPort | None = None
        self._port_name = ""
        """Of the last one, which no next one bears."""
        self._hung_up = False
        """The port vanished, and the station does not know yet."""
        world.to_station = self._to_station
        world.hang_up = self._hang_up
        world.station_down = self._cut_station
        self._answers: Mapping[str, Callable[[Client, dict[str, Any]], dict[str, Any] | None]] = {
            "join": self._join,
            "now": lambda _client, _fields: {"now_us": world.now_us},
            "open_feeder": self._open_feeder,
            "wait": self._wait,
            "wake": self._wake,
            "capture": self._capture,
            "panel": self._panel,
            "load": self._load,
            "press": lambda _client, fields: _done(world.hands.press(fields["button"])),
            "take_out": self._take_out,
            "move": lambda _client, fields: _done(
                world.hands.move(fields["sheet"], fields["from"], fields["to"])
            ),
            "insert": self._insert,
            "fault": self._fault,
            "set": self._set,
            "kill_board": lambda _client, _fields: _done(world.reset_board()),
            "cut_cable": lambda _client, _fields: _done(setattr(world.cable, "cut", True)),
            "join_cable": lambda _client, _fields: _done(setattr(world.cable, "cut", False)),
            "positions": lambda _client, _fields: {"positions": world.hands.positions()},
            "truth": self._truth,
            "shown": self._shown,
            "quit": self._quit,
        }

    def serve(self) -> None:
        """Serve until told to stop; then let go of sockets and port. The world itself is the caller's."""
        try:
            while not self.stopped:
                self._serve_sockets(self._let_time_run())
        finally:
            self._close()

    def stop(self) -> None:
        """Let `serve` come to its end; may be called from any thread."""
        self.stopped = True
        with contextlib.suppress(OSError):
            # It has ended already.
            self._stop_there.send(b"!")

    # Time.

    def _let_time_run(self) -> float:
        """Let the world run as far as it may; return how long, in real seconds, there is nothing to do."""
        world = self.world
        if not self._begun:
            return LONGEST_SLEEP_S
        if self._station is not None and self._waiting is None:
            left_s = self._computing_since_s + world.script.patience_s - time.monotonic()
            if left_s > 0:
                self._pace.loosen()
                return left_s
        if self._waiting is not None and self._wait_is_over(self._waiting):
            self._end_wait()
            return 0.0
        if self._keeps_real_time():
            return self._run_along()
        self._pace.loosen()
        self._run_burst(None)
        return 0.0

    def _keeps_real_time(self) -> bool:
        return self._waiting is None or self.world.script.pace == "real" or self.world.idle()

    def _run_along(self) -> float:
        """Run up to real time's moment; return how long it is to the next event."""
        allowed_us = self._pace.allowed_us(self.world.now_us)
        self._run_burst(allowed_us)
        if self._waiting is not None and self._wait_is_over(self._waiting):
            return 0.0
        next_us = self.world.next_event_us()
        if self._waiting is not None and self._waiting.until_us is not None:
            next_us = min(next_us, self._waiting.until_us)
        return min(
            max(0.0, (next_us - self._pace.allowed_us(self.world.now_us)) / 1_000_000), LONGEST_SLEEP_S
        )

    def _run_burst(self, allowed_us: int | None) -> None:
        """Let some events happen, up to a moment, and not past the end of the station's wait."""
        world, waiting = self.world, self._waiting
        for _ in range(BURST_EVENTS):
            limit_us = allowed_us if allowed_us is not None else world.next_event_us()
            if waiting is not None and waiting.until_us is not None:
                limit_us = min(limit_us, waiting.until_us)
            if world.now_us >= limit_us and world.next_event_us() > world.now_us:
                return
            world.step(max(limit_us, world.now_us))
            if waiting is not None and self._wait_is_over(waiting):
                return

    def _wait_is_over(self, waiting: Waiting) -> bool:
        if waiting.until_us is not None and self.world.now_us >= waiting.until_us:
            return True
        if self.world.hands.any_pressed():
            return True
        return self._hung_up or (self._port is not None and self._port.readable() > 0)

    def _end_wait(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is None:
            return
        self._computing_since_s = time.monotonic()
        readable = 0 if self._port is None else self._port.readable()
        if self._hung_up:
            # As select says of a port that hung up: it is readable, and the read tells why.
            self._hung_up, readable = False, 1
        self._send(
            waiting.client,
            {
                "ok": True,
                "now_us": self.world.now_us,
                "readable": readable,
                "buttons": list(self.world.hands.pressed()),
            },
        )

    # Sockets.

    def _serve_sockets(self, timeout_s: float) -> None:
        for key, _ in self._selector.select(timeout_s):
            key.data()

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        connection.settimeout(SEND_TIMEOUT_S)
        client = Client(connection)
        self._clients.append(client)
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._read(client))

    def _read(self, client: Client) -> None:
        try:
            data = client.connection.recv(1 << 16)
            messages = client.reader.feed(data)
        except OSError:
            self._drop(client)
            return
        except CallError as error:
            # What follows cannot be told apart any more.
            self._send(client, {"error": str(error)})
            self._drop(client)
            return
        if not data:
            self._drop(client)
            return
        for message in messages:
            self._answer(client, message)

    def _answer(self, client: Client, message: dict[str, Any] | CallError) -> None:
        if client not in self._clients:
            return
        try:
            if isinstance(message, CallError):
                raise message
            name, fields = check_call(message, client.role)
            if client is self._station:
                self._computing_since_s = time.monotonic()
            if client.role == CONTROL:
                self.world.touch()
            answer = self._answers[name](client, fields)
            if client.role == CONTROL:
                self.world.settle()
        except (CallError, ScriptError) as error:
            answer = {"error": str(error)}
        if answer is not None:
            self._send(client, {"ok": True, **answer} if "error" not in answer else answer)

    def _send(self, client: Client, message: Mapping[str, object], descriptor: int | None = None) -> None:
        try:
            send_message(client.connection, message, descriptor)
        except OSError:
            self._drop(client)

    def _drop(self, client: Client) -> None:
        if client not in self._clients:
            return
        self._clients.remove(client)
        self._selector.unregister(client.connection)
        client.connection.close()
        if client is self._station:
            self._station = None
            self._waiting = None
            self._close_port()
            self.world.show_panel(None)

    def _close(self) -> None:
        for client in list(self._clients):
            self._drop(client)
        self._selector.close()
        for one in (self._listener, self._stop_here, self._stop_there):
            one.close()
        self._close_port()
        self._pictures.close()
        with contextlib.suppress(FileNotFoundError):
            self.socket_path.unlink()

    # The station's calls.

    def _join(self, client: Client, fields: dict[str, Any]) -> dict[str, Any]:
        role = fields["role"]
        if role not in ROLES:
            raise CallError(f"there is no role {role!r}; join as {' or '.join(ROLES)}")
        if role == STATION:
            if self._station is not None:
                raise CallError("a station is connected to this simulated device already")
            self._station = client
            self._begun = True
            self._computing_since_s = time.monotonic()
        client.role = role
        return {"now_us": self.world.now_us}

    def _open_feeder(self, _client: Client, _fields: dict[str, Any]) -> dict[str, Any]:
        self._refuse_while_waiting()
        self._close_port()
        if self.world.cable.unplugged:
            raise CallError("the feeder's cable is plugged into no port of this machine")
        self._port = _port_not_named(self._port_name)
        self._port_name = self._port.name
        return {"port": self._port_name}

    def _wait(self, client: Client, fields: dict[str, Any]) -> None:
        self._refuse_while_waiting()
        if self._port is not None:
            self.world.from_station(self._port.take(fields["written"]))
        elif fields["written"] and not self._hung_up:
            raise CallError("wait: bytes written to no port; call open_feeder first")
        self._waiting = Waiting(client, fields["until_us"])

    def _wake(self, _client: Client, _fields: dict[str, Any]) -> None:
        # The wait may have ended by itself while this was under way: then there is nothing to do.
        self._end_wait()

    def _capture(self, client: Client, _fields: dict[str, Any]) -> None:
        above, *below = self._pictures.lay(self.world.capture())
        answer = {
            "ok": True,
            "front": above,
            "back": below[0] if below else None,
            "exposed_us": self.world.now_us,
        }
        self._send(client, answer, self._pictures.descriptor)

    def _panel(self, _client: Client, fields: dict[str, Any]) -> dict[str, Any]:
        lamps = {str(name): bool(lit) for name, lit in (fields["lamps"] or {}).items()}
        self.world.show_panel(
            Panel(fields["key"], fields["text"], fields["sheet"], fields["question"], lamps)
        )
        return {}

    def _refuse_while_waiting(self) -> None:
        if self._waiting is not None:
            raise CallError("the station's last wait is not over")

    def _to_station(self, data: bytes) -> None:
        """Pass on bytes of the board; with no station there they are lost, as on a wire."""
        if self._port is not None:
            self._port.give(data)

    def _hang_up(self) -> None:
        """Let the station's port be gone: its next read or write says so, and a wait for it ends."""
        if self._port is not None:
            self._close_port()
            self._hung_up = True

    def _cut_station(self) -> None:
        """Take the station's power: its process finds the world gone, and ends."""
        if self._station is not None:
            self._drop(self._station)

    def _close_port(self) -> None:
        self._hung_up = False
        if self._port is not None:
            self._port.close()
            self._port = None

    # The controls' calls.

    def _sheet(self, given: object) -> Sheet | str:
        return given if isinstance(given, str) else read_sheet(given, Path.cwd(), "sheet")

    def _load(self, _client: Client, fields: dict[str, Any]) -> dict[str, Any]:
        self.world.hands.load([self._sheet(given) for given in fields["sheets"]])
        return {}

    def _insert(self, _client: Client, fields: dict[str, Any]) -> dict[str, Any]:
        self.world.hands.insert(self._sheet(fields["sheet"]), fields["where"])
        return {}

    def _take_out(self, _client: Client, fields: dict[str, Any]) -> dict[str, Any]:
        return {"sheets": self.world.hands.take_out(fields["place"], fields["sheet"])}

    def _fault(self, _client: Client, fields: dict[str, Any]) -> dict[str, Any]:
        self.world.add_fault(read_fault(fields["fault"], "fault"))
        return {}

    def _set(self, _client: Client, fields: dict[str, Any]) -> dict[str, Any]:
        for name, value in fields["settings"].items():
            _set_one(self.world, str(name), value)
        return {}

    def _truth(self, _client: Client, _fields: dict[str, Any]) -> dict[str, Any]:
        return {"sheets": {sheet.id: dict(sheet.truth) for sheet in self.world.paper.sheets.values()}}

    def _shown(self, _client: Client, _fields: dict[str, Any]) -> dict[str, Any]:
        panel = self.world.panel
        if panel is None:
            return {"panel": None}
        return {
            "panel": {
                "key": panel.key,
                "text": panel.text,
                "sheet": panel.sheet,
                "question": panel.question,
                "lamps": dict(panel.lamps),
            }
        }

    def _quit(self, _client: Client, _fields: dict[str, Any]) -> dict[str, Any]:
        self.stopped = True
        return {}


def _done(nothing: None) -> dict[str, Any]:
    """Return the answer of a call that only does something."""
    del nothing
    return {}


def _port_not_named(name: str) -> PseudoPort:
    """Return a fresh port under another name than the last one had, as the kernel gives after a replug."""
    port = PseudoPort()
    if port.name != name:
        return port
    another = PseudoPort()
    port.close()
    return another


def _set_one(world: World, name: str, value: object) -> None:
    """Change one setting. Raises CallError for one that there is not, or a value that it cannot have."""
    owners = {
        "blind_double_feed": world.ailments,
        "cover_open": world.switches,
        "dim": world.camera,
        "stalled": world.camera,
    }
    if name in owners:
        if not isinstance(value, bool):
            raise CallError(f"{name} must be true or false, not {value!r}")
        setattr(owners[name], name, value)
    elif name == "stuck":
        if not isinstance(value, dict) or not all(
            sensor in INPUTS and level in (0, 1) for sensor, level in value.items()
        ):
            raise CallError(f"stuck must map sensors ({', '.join(INPUTS)}) to 0 or 1, not {value!r}")
        world.ailments.stuck = {str(sensor): int(level) for sensor, level in value.items()}
    else:
        raise CallError(f"there is no setting {name!r}; there are {', '.join(owners)}, stuck")


def _listen(path: Path) -> socket.socket:
    """Return a listening socket; a socket file that nobody listens at any more is replaced."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.is_socket() and not _answers(path):
            path.unlink()
        listener.bind(str(path))
        listener.listen()
    except OSError as error:
        listener.close()
        raise ScriptError(f"the socket {path} cannot be used: {error.strerror or error}") from error
    return listener


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True


def serve(world: World, socket_path: Path, ready: Callable[[], None] | None = None) -> None:
    """Serve a world to its end, and close it. Raises WorldError for a board that cannot run."""
    try:
        server = Server(world, socket_path)
        if ready is not None:
            ready()
        server.serve()
    finally:
        world.close()
