"""`recount-device simulate WORLD.toml`, and the station's ends of a simulated world: clock, camera, panel.

The only module of this package that knows the simulator. It is imported when a DEVICE.toml names a simulated
part, or for its command.
"""

import argparse
import contextlib
import signal
import tempfile
import threading
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from recount_device.camera import Page
from recount_device.clock import Waitable
from recount_device.errors import CameraFault, LinkLost, OperatorError
from recount_device.panel import Message
from recount_world.board_process import BoardProcess
from recount_world.client import WorldClient
from recount_world.errors import CallError, WorldError, WorldGone
from recount_world.replay import read_trace, replay, verdict_in_words
from recount_world.script import Script, read_script
from recount_world.server import serve
from recount_world.trace import Trace
from recount_world.world import World


@contextlib.contextmanager
def _world_there() -> Generator[None]:
    """Tell a world that is gone as the operator's matter: whoever ended it knows."""
    try:
        yield
    except WorldGone as error:
        raise OperatorError(str(error)) from error


class SimulatedClock:
    """The world's clock. A wait ends with bytes at the port, a button, `wake`, or its moment."""

    def __init__(self, world: WorldClient, pressed: list[str]) -> None:
        self._world = world
        self._pressed = pressed
        self._now_us = world.now_us()

    def now_us(self) -> int:
        """Return the microseconds since the world began; they stand still between two waits."""
        return self._now_us

    def wait(self, port: Waitable, until_us: int) -> int:
        """Let the world's time run; return how many bytes the port holds then."""
        with _world_there():
            waited = self._world.wait(until_us, port.written_bytes if port.fileno() >= 0 else None)
        self._now_us = waited.now_us
        self._pressed.extend(waited.buttons)
        return waited.readable

    def wake(self) -> None:
        """End the wait that is going on; may be called from any thread."""
        with contextlib.suppress(WorldGone):
            # The station's own next call tells that the world is gone.
            self._world.wake()

    def close(self) -> None:
        """Nothing is held."""


class SimulatedCamera:
    """The camera over the world's bed."""

    def __init__(self, world: WorldClient) -> None:
        self._world = world

    def capture(self, after_us: int) -> Sequence[Page]:
        """Return what lies under the camera now, front first. Raises CameraFault for a picture too old."""
        try:
            with _world_there():
                picture = self._world.capture()
        except CallError as error:
            raise CameraFault(str(error)) from error
        if picture.exposed_us < after_us:
            raise CameraFault(f"the picture was exposed {after_us - picture.exposed_us} us too early")
        return picture.sides

    def close(self) -> None:
        """Nothing is held."""


class SimulatedPanel:
    """The panel: the world's operator reads it; the buttons come with the clock's waits."""

    def __init__(self, world: WorldClient, pressed: list[str]) -> None:
        self._world = world
        self._pressed = pressed

    def show(self, message: Message) -> None:
        """Show a message."""
        with _world_there():
            self._world.panel(
                message.key,
                message.text,
                sheet=message.sheet or None,
                lamps=message.lamps,
                question=message.question,
            )

    def pressed(self) -> list[str]:
        """Return the buttons pressed since the last call, in their order."""
        pressed = list(self._pressed)
        self._pressed.clear()
        return pressed

    def close(self) -> None:
        """Nothing is held."""


class SimulatedDevice:
    """The station's ends of one world."""

    def __init__(self, world: WorldClient) -> None:
        self._world = world
        pressed: list[str] = []
        self.clock = SimulatedClock(world, pressed)
        self.camera = SimulatedCamera(world)
        self.panel = SimulatedPanel(world, pressed)

    def open_feeder(self) -> str:
        """Return the name of a fresh serial port to the board. Raises LinkLost while it is unplugged."""
        try:
            with _world_there():
                return self._world.open_feeder()
        except CallError as error:
            raise LinkLost(str(error)) from error

    def close(self) -> None:
        """Leave the world; for it the station is gone then."""
        self._world.close()


def connect(socket_path: Path) -> SimulatedDevice:
    """Join a world as its station. Raises OperatorError where none listens or a station is there already."""
    try:
        return SimulatedDevice(WorldClient(socket_path))
    except (WorldGone, CallError) as error:
        raise OperatorError(str(error)) from error


def replay_trace(path: Path, firmware: Path | None) -> tuple[bool, list[str]]:
    """Return whether a firmware does what a trace says, and the verdict in lines. Raises OperatorError."""
    try:
        verdict = replay(read_trace(path), firmware)
    except WorldError as error:
        raise OperatorError(str(error)) from error
    return verdict.difference is None, verdict_in_words(verdict)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument(
        "world", type=Path, metavar="WORLD.toml", help="the machine, its paper and its accidents"
    )
    parser.add_argument("--socket", type=Path, help="listen here instead of where WORLD.toml says")
    parser.add_argument("--seed", type=int, help="of every chance in the world, instead of WORLD.toml's")


def run(args: argparse.Namespace) -> int:
    """Run a simulated device until Ctrl-C, SIGTERM or the call `quit`."""
    try:
        script = read_script(args.world)
        _check_files(script)
        with _flash(script) as flash:
            if args.seed is not None:
                script = replace(script, seed=args.seed)
            board = BoardProcess(flash, seed=script.seed, log=script.board_log, firmware=script.firmware)
            _run_world(script, board, args.socket or script.socket)
    except KeyboardInterrupt:
        return 0
    except WorldError as error:
        raise OperatorError(str(error)) from error
    return 0


def _check_files(script: Script) -> None:
    """Raise OperatorError for what of the script cannot be written, and for a firmware that is not there."""
    if script.firmware is not None and not (script.firmware / "main.py").is_file():
        raise OperatorError(f"there is no firmware in {script.firmware}: it has no main.py")
    for path in (script.board_log, script.trace, script.flash):
        if path is None:
            continue
        try:
            if path == script.flash:
                path.mkdir(parents=True, exist_ok=True)
            else:
                path.open("ab").close()
        except OSError as error:
            raise OperatorError(f"{path} cannot be written: {error.strerror}") from error


def _run_world(script: Script, board: BoardProcess, socket_path: Path) -> None:
    trace = Trace(script.trace) if script.trace is not None else Trace(keep=False)
    world = World(script, board, trace)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _stop)
    serve(world, socket_path, lambda: print(f"simulated device at {socket_path}", flush=True))


def _stop(_signal: int, _frame: Any) -> None:
    raise KeyboardInterrupt


@contextlib.contextmanager
def _flash(script: Script) -> Generator[Path]:
    """Give the folder that is the board's flash: the script's, or one for this run."""
    if script.flash is not None:
        yield script.flash
        return
    with tempfile.TemporaryDirectory(prefix="recount-flash-") as folder:
        yield Path(folder)
