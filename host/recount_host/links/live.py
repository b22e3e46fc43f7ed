"""The live board: how every device stands now. Written by the links, read by the pages and the console.

Nothing here is kept: after a restart it fills again as the devices connect. What must last is in the ledger.
"""

import threading
from dataclasses import dataclass, replace

from recount_host.links.session import Condition

MAX_STRANGERS = 50
"""Somebody who connects again and again under new names must not fill the page."""


@dataclass(frozen=True, slots=True)
class DeviceLive:
    """One device, or one link on which no device was recognised yet, at one moment."""

    device: str
    """Its id; empty while it is not known."""
    name: str
    link: str
    """Where it is connected, as in "tcp 127.0.0.1" or "serial /dev/ttyACM0"."""
    connected: bool
    state: str
    note: str
    last_seen_ms: int
    """Monotonic milliseconds of the host when something was last heard."""
    problem: str
    gap: str
    announced_n: int


class LiveBoard:
    """The present condition of every device and link; threads share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: dict[str, DeviceLive] = {}
        self._version = 0

    @property
    def version(self) -> int:
        """Return a number that grows whenever a person would see a difference."""
        with self._lock:
            return self._version

    def devices(self) -> tuple[DeviceLive, ...]:
        """Return all entries, by name."""
        with self._lock:
            entries = list(self._entries.values())
        return tuple(sorted(entries, key=lambda entry: (entry.name or "~", entry.link)))

    def of(self, device: str) -> DeviceLive | None:
        """Return the entry of one device, or None when it was not seen since the start."""
        with self._lock:
            return self._entries.get(device)

    def show(self, link: str, condition: Condition, now_ms: int, *, heard: bool) -> None:
        """Take the condition of a session; `heard` when something came from the other end just now."""
        known = condition.welcomed
        if not (known or condition.problem):
            return  # nobody knows yet who that is
        # A stranger is shown by its link, and so is one that is refused: it must not cover the true device.
        key = condition.device if known else f"{link} {condition.name}"
        with self._lock:
            before = self._entries.get(key)
            if before is None and not known and self._strangers() >= MAX_STRANGERS:
                return
            if _begins(before, condition):
                # It was a stranger until it was enrolled; whoever is refused from now on is shown again.
                self._entries.pop(f"{link} {condition.name}", None)
            entry = DeviceLive(
                device=condition.device if known else "",
                name=condition.name,
                link=link,
                connected=condition.connected and known,
                state=condition.state,
                note=condition.note,
                last_seen_ms=now_ms if heard or before is None else before.last_seen_ms,
                problem=condition.problem,
                gap=condition.gap,
                announced_n=condition.announced_n,
            )
            self._entries[key] = entry
            if before is None or replace(before, last_seen_ms=0) != replace(entry, last_seen_ms=0):
                self._version += 1

    def _strangers(self) -> int:
        return sum(not entry.device for entry in self._entries.values())


def _begins(before: DeviceLive | None, condition: Condition) -> bool:
    """Return whether a device is welcome now that was not connected before."""
    is_welcome = condition.welcomed and condition.connected
    return is_welcome and (before is None or not before.connected)
