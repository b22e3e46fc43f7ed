"""The typed client of a world's socket, for the station and for tests."""

import os
import socket
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from recount_world.calls import CONTROL, STATION
from recount_world.errors import CallError, WorldGone
from recount_world.shared_pictures import picture_at
from recount_world.wire import receive_message, send_message


class Waited(NamedTuple):
    """Why a wait ended."""

    now_us: int
    """The world's clock."""
    readable: int
    """Bytes that wait on the feeder's port."""
    buttons: tuple[str, ...]
    """Names of the buttons pressed since the last wait, in their order."""


class Picture(NamedTuple):
    """What the camera saw."""

    sides: tuple[NDArray[np.uint8], ...]
    """Grey pages: the side seen from above and, with two cameras, the one seen from below."""
    exposed_us: int
    """When, by the world's clock, the exposure began."""


class Positions(TypedDict):
    """Where every sheet of paper is. The hopper's first is fed next; a pile's first lies at its bottom."""

    hopper: list[str]
    path: list[str]
    counted: list[str]
    set_aside: list[str]
    not_accepted: list[str]
    operator: list[str]
    path_mm: dict[str, float]
    """Leading edge of each sheet in the path, from the entry sensor on."""


class WorldClient:
    """One connection to a world. Calls are made one at a time; `wake` may come from any thread."""

    def __init__(self, path: str | Path, role: str = STATION) -> None:
        """Connect and join as "station" or "control".

        Raises WorldGone where nothing listens at `path`, CallError where a station is connected already.
        """
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise WorldGone(
                f"no simulated device listens at {path}: start it with recount-device simulate"
            ) from error
        try:
            self._call("join", role=role)
        except (CallError, WorldGone):
            self._socket.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Leave the world."""
        self._socket.close()

    # The station's calls.

    def open_feeder(self) -> str:
        """Return the name of a fresh serial port to the feeder board; the one given before is closed."""
        return str(self._call("open_feeder")["port"])

    def wait(self, until_us: int | None = None, written: int | None = None) -> Waited:
        """Let time run until bytes lie on the port, a button is pressed, `wake` is called, or `until_us`.

        `written` counts all bytes written to the port since it was opened: the world waits for them, so that
        a run repeats exactly. With None it takes what has come.
        """
        answer = self._call("wait", until_us=until_us, written=written)
        return Waited(int(answer["now_us"]), int(answer["readable"]), tuple(answer["buttons"]))

    def wake(self) -> None:
        """End a pending wait now. Safe from another thread; without a pending wait it does nothing."""
        self._send({"call": "wake"})

    def now_us(self) -> int:
        """Return the world's clock, in microseconds since it began."""
        return int(self._call("now")["now_us"])

    def capture(self) -> Picture:
        """Return what lies under the camera now: the sheet as it lies, or the empty bed."""
        answer, descriptor = self._ask("capture")
        if descriptor is None:
            raise CallError("the simulated camera gave no picture")
        try:
            sides = [answer["front"], answer["back"]]
            pages = tuple(picture_at(descriptor, side) for side in sides if side is not None)
        finally:
            os.close(descriptor)
        return Picture(pages, int(answer["exposed_us"]))

    def panel(
        self,
        key: str,
        text: str,
        *,
        sheet: int | None = None,
        lamps: Mapping[str, bool] | None = None,
        question: str | None = None,
    ) -> None:
        """Show a message on the panel: its key, its words, the sheet number that it is about, the lamps."""
        self._call("panel", key=key, text=text, sheet=sheet, lamps=dict(lamps or {}), question=question)

    # What people and accidents do.

    def load(self, sheets: Sequence[str | Mapping[str, object]]) -> None:
        """Lay sheets on top of the hopper, the first uppermost: new ones as maps, known ones by id."""
        self._call("load", sheets=[sheet if isinstance(sheet, str) else dict(sheet) for sheet in sheets])

    def press(self, button: str) -> None:
        """Press a button of the panel: start, confirm, end_batch or stop."""
        self._call("press", button=button)

    def take_out(self, place: str = "path", sheet: str | None = None) -> list[str]:
        """Take one sheet, or all, from a place into the operator's hands; return their ids."""
        return list(self._call("take_out", place=place, sheet=sheet)["sheets"])

    def move(self, sheet: str, to: str, from_: str | None = None) -> None:
        """Move a sheet by hand from where it lies (checked where `from_` is given) onto another pile."""
        self._call("move", **{"sheet": sheet, "from": from_, "to": to})

    def insert(self, sheet: str | Mapping[str, object], where: str) -> None:
        """Push a sheet by hand past a bin's sensor (`where` = "exit_counted", ...) or lay it on a pile.

        A sheet known by its id is taken from where it lies; a map is a new sheet.
        """
        self._call("insert", sheet=sheet if isinstance(sheet, str) else dict(sheet), where=where)

    def fault(self, **fault: object) -> None:
        """Add a fault of the script's format, as `fault(kind="jam", sheet="7", at_mm=120)`."""
        self._call("fault", fault=fault)

    def set(self, **settings: object) -> None:
        """Change a setting of the world, as `set(blind_double_feed=True)`, `set(cover_open=True)`."""
        self._call("set", settings=settings)

    def kill_board(self) -> None:
        """Take the board's power for a moment: it starts anew."""
        self._call("kill_board")

    def cut_cable(self) -> None:
        """Cut the cable between station and feeder board: bytes are lost both ways."""
        self._call("cut_cable")

    def join_cable(self) -> None:
        """Put the cable back."""
        self._call("join_cable")

    # What is so.

    def positions(self) -> Positions:
        """Return where every sheet is."""
        return cast("Positions", self._call("positions")["positions"])

    def truth(self) -> dict[str, dict[str, Any]]:
        """Return what the deck says of each sheet, by id."""
        return cast("dict[str, dict[str, Any]]", self._call("truth")["sheets"])

    def shown(self) -> dict[str, Any]:
        """Return what the panel shows: {key, text, sheet, lamps, question}; empty while it is dark."""
        return cast("dict[str, Any]", self._call("shown")["panel"] or {})

    def quit(self) -> None:
        """End the world."""
        self._call("quit")

    def _call(self, name: str, **fields: object) -> dict[str, Any]:
        answer, descriptor = self._ask(name, **fields)
        if descriptor is not None:
            os.close(descriptor)
        return answer

    def _ask(self, name: str, **fields: object) -> tuple[dict[str, Any], int | None]:
        """Make a call; return its answer, and the descriptor that came with it, for the caller to close."""
        with self._lock:
            self._send({"call": name, **fields})
            try:
                received = receive_message(self._socket)
            except OSError as error:
                raise WorldGone(f"the simulated device is gone: {error}") from error
        if received is None:
            raise WorldGone("the simulated device closed the connection")
        answer, descriptor = received
        if "error" in answer:
            raise CallError(str(answer["error"]))
        return answer, descriptor

    def _send(self, message: Mapping[str, object]) -> None:
        try:
            with self._sending:
                send_message(self._socket, message)
        except OSError as error:
            raise WorldGone(f"the simulated device is gone: {error}") from error


def control(path: str | Path) -> WorldClient:
    """Return a control connection."""
    return WorldClient(path, CONTROL)
