"""`recount-host serve`: collects what the devices report and shows where every precinct stands.

A shell: it opens the ledger, the links and the page, prints what changes, and closes all in order at Ctrl-C
or SIGTERM. Killed at any moment it loses nothing: what was acknowledged is on disk, the rest is sent again.
"""

import argparse
import fcntl
import json
import os
import queue
import secrets
import signal
import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

from recount_host.commands.desk import Desk, adopt_order
from recount_host.errors import OperatorError
from recount_host.host_key import open_host_key
from recount_host.ledger.ledger import LEDGER_FILE, Ledger
from recount_host.links.collector import Collector
from recount_host.links.live import DeviceLive, LiveBoard
from recount_host.links.serial_link import SerialLink
from recount_host.links.session import DeviceSession
from recount_host.links.tcp_link import TcpLinks, listen
from recount_host.people import People
from recount_host.programs.workbench import Workbench
from recount_host.web.app import make_app
from recount_host.web.facts import FactsReader
from recount_host.web.server import PageServer
from recount_host.web.shop import Workshop
from recount_host.web.sign_in import SignIn

DEFAULT_LISTEN = "tcp://127.0.0.1:7411"
DEFAULT_WEB = "127.0.0.1:7480"
LOCK_FILE = "serve.lock"
"""Held, in the data folder, by the program that serves it: a device must find one host, not two."""
LOOK_S = 0.25

Teller = Callable[[str, dict[str, Any]], None]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `recount-host serve`."""
    parser.add_argument("order", type=Path, metavar="ORDER.toml", help="the order of the recount")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="the locality's data folder")
    parser.add_argument(
        "--listen",
        default=DEFAULT_LISTEN,
        metavar="tcp://ADDRESS:PORT",
        help=f"for devices; {DEFAULT_LISTEN}",
    )
    parser.add_argument(
        "--serial",
        action="append",
        default=[],
        metavar="PORT",
        help="a device's serial port: its path, or usb:NUMBER, the serial number of its USB adapter",
    )
    parser.add_argument("--web", default=DEFAULT_WEB, metavar="ADDRESS:PORT", help=f"the page; {DEFAULT_WEB}")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line instead of text")


def run(args: argparse.Namespace) -> int:
    """Serve until a signal comes; 0 after a clean stop. Raises OperatorError for what people must mend."""
    tell = _tell_json if args.json else _tell_text
    wake: queue.SimpleQueue[str] = queue.SimpleQueue()
    with ExitStack() as closing:
        web = listen(*address_of(args.web), purpose="page", beyond_this_machine=False)
        closing.callback(web.close)
        devices = listen(*address_of(args.listen), purpose="devices", beyond_this_machine=True)
        closing.callback(devices.close)
        ledger = closing.enter_context(Ledger(args.data / LEDGER_FILE))
        closing.callback(os.close, _hold(args.data))
        identity = open_host_key(args.data)
        adopt_order(ledger, args.order)
        board = LiveBoard()
        facts = FactsReader(ledger)
        collector = Collector(ledger, facts.duties, lambda: wake.put("failed"))

        def new_session() -> DeviceSession:
            return DeviceSession(_new_boot_id(), identity)

        links: list[TcpLinks | SerialLink] = [TcpLinks(devices, collector, board, new_session)]
        links += [SerialLink(port, collector, board, new_session) for port in args.serial]
        workshop = Workshop(Desk(ledger), Workbench(args.data), SignIn(People(args.data)))
        page = PageServer(make_app(facts, board, identity.words, workshop), web)
        for part in (collector, *links, page):
            part.start()
            closing.callback(part.stop)
        _on_signals(lambda: wake.put("stop"))
        tell(
            "serving",
            {
                "page": f"http://{_address_text(web)}/",
                "devices": f"tcp://{_address_text(devices)}",
                "serial": list(args.serial),
                "ledger": str(ledger.path),
                "words": identity.words,
            },
        )
        _watch(board, wake, tell)
        tell("stopping", {})
    if collector.failure is not None:
        raise collector.failure
    tell("stopped", {})
    return 0


def _hold(folder: Path) -> int:
    """Return the descriptor that holds the folder until it is closed, however this program ends."""
    path = folder / LOCK_FILE
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise OperatorError(f"{path} cannot be written: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise OperatorError(
            f"{folder} is served already: end the other recount-host serve, or name another --data folder"
        ) from None
    return descriptor


def address_of(text: str) -> tuple[str, int]:
    """Return host and port of "127.0.0.1:7480" or "tcp://127.0.0.1:7411". Raises OperatorError."""
    wrong = OperatorError(f"{text} is not an address with a port, as in 127.0.0.1:7480")
    parts = urlsplit(text if "//" in text else f"//{text}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in ("", "tcp") or not host or port is None or parts.path:
        raise wrong
    return host, port


def _address_text(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _watch(board: LiveBoard, wake: "queue.SimpleQueue[str]", tell: Teller) -> None:
    """Tell every change on the live board until a signal comes or the collector fails."""
    told: dict[tuple[str, str], dict[str, Any]] = {}
    while True:
        for entry in board.devices():
            key, words = (entry.device, entry.link if not entry.device else ""), _words(entry)
            if told.get(key) != words:
                told[key] = words
                tell("device", words)
        try:
            wake.get(timeout=LOOK_S)
        except queue.Empty:
            continue
        return


def _words(entry: DeviceLive) -> dict[str, Any]:
    """Return what the console says of a device: words, never a figure of the count."""
    return {
        "device": entry.device,
        "name": entry.name,
        "link": entry.link,
        "connected": entry.connected,
        "state": entry.state,
        "note": entry.note,
        "gap": entry.gap,
        "problem": entry.problem,
    }


def _on_signals(stop: Callable[[], None]) -> None:
    def take(_number: int, _frame: FrameType | None) -> None:
        stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, take)


def _new_boot_id() -> int:
    """Return a boot id for one session: 32 bits, never 0, not to be guessed."""
    return secrets.randbelow(2**32 - 1) + 1


def _tell_json(event: str, fields: dict[str, Any]) -> None:
    print(json.dumps({"event": event, **fields}, ensure_ascii=False), flush=True)


def _tell_text(event: str, fields: dict[str, Any]) -> None:
    print(_SENTENCES[event](fields), flush=True)


def _device_sentence(fields: dict[str, Any]) -> str:
    words = [
        fields["name"] or fields["link"],
        "connected" if fields["connected"] else "not connected",
        *(fields[key] for key in ("state", "note", "gap", "problem") if fields[key]),
    ]
    return f"{words[0]}: {', '.join(words[1:])}"


_SENTENCES: dict[str, Callable[[dict[str, Any]], str]] = {
    "serving": lambda fields: (
        f"The page: {fields['page']}\nDevices: {fields['devices']}"
        + "".join(f"\nSerial: {port}" for port in fields["serial"])
        + f"\nThis host's words, for its devices: {fields['words']}"
        + "\nStop with Ctrl-C."
    ),
    "device": _device_sentence,
    "stopping": lambda _: "Stopping ...",
    "stopped": lambda _: "Stopped. Everything that was acknowledged is in the ledger.",
}
