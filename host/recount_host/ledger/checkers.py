"""Checks signatures: here while few records come, in processes of their own while a backlog does.

Checking takes the longest of all that is done with a record. Threads do not share it out: after each check
one waits for the interpreter until another lets go of it. A process that ends, hangs or answers nonsense is
given up, and what it had is checked here: a record counts as signed only when a check has said so.
"""

import os
import socket
import struct
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, Pipe
from typing import cast

import msgpack

from recount_host.checking_process import GOOD, NOT_GOOD
from recount_host.ledger.arrivals import Arrival

MANY = 128
"""Signatures that are a backlog: fewer are checked here before a process would have them."""

SHARE = 64
"""Signatures that a process is given at a time."""

MOST_PROCESSES = 4
"""What they check in a second is more than one interpreter can decode and write down."""

PATIENCE_S = 10.0
"""How long an answer may take: a thousand times as long as it does."""

KeyOf = Callable[[str], bytes]
"""The public key of a device, empty where none is known."""


class Share:
    """Some arrivals whose signatures are looked at together, each against one key."""

    def __init__(self, claims: Sequence[tuple[Arrival, bytes]]) -> None:
        self.claims = claims
        self.is_done = False

    @property
    def question(self) -> bytes:
        """What a process is asked."""
        claims = [(key, arrival.data, arrival.signature) for arrival, key in self.claims]
        return cast("bytes", msgpack.packb(claims))

    def take(self, answer: bytes) -> None:
        """Take a process's answer. Raises ValueError for what is none."""
        if len(answer) != len(self.claims) or not {*answer} <= {GOOD, NOT_GOOD}:
            raise ValueError("this is no answer")
        for (arrival, key), good in zip(self.claims, answer, strict=True):
            if good == GOOD:
                arrival.signed_by = key
        self.is_done = True

    def check_here(self) -> None:
        """Check the signatures in this process."""
        for arrival, key in self.claims:
            arrival.bears_signature_of(key)
        self.is_done = True


class _Checker:
    """One process, and the shares that it has, the oldest first."""

    def __init__(self) -> None:
        """Start the process. Raises OSError where the system has no room for one."""
        self.shares: deque[Share] = deque()
        self._connection, theirs = Pipe()
        with theirs:
            # -P: what lies in the working folder is no part of this program.
            words = (sys.executable, "-P", "-m", "recount_host.checking_process", str(theirs.fileno()))
            try:
                self.process = subprocess.Popen(  # noqa: S603  this very program, under another name
                    words, pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL
                )
            except BaseException:
                self._connection.close()
                raise
        _bound_writing(self._connection)

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def ask(self, share: Share) -> None:
        """Give it a share. Raises OSError where it is gone, or takes nothing."""
        self.shares.append(share)
        self._connection.send_bytes(share.question)

    def await_answer(self) -> None:
        """Take the answer for its oldest share. Raises EOFError, OSError or ValueError where none comes."""
        share = self.shares[0]
        if not self._connection.poll(PATIENCE_S):
            raise TimeoutError("it does not answer")
        share.take(self._connection.recv_bytes(len(share.claims)))
        self.shares.popleft()

    def end(self) -> None:
        """End the process, at once; what it had is checked here."""
        self._connection.close()
        self.process.kill()
        self.process.wait()
        for share in self.shares:
            share.check_here()


class Checkers:
    """The processes that check, started when a backlog comes. Threads may share it; close it."""

    def __init__(self, most: int | None = None) -> None:
        """`most` processes; without it one a core, none where there is one core alone."""
        cores = os.cpu_count() or 1
        self._most = min(cores if cores > 1 else 0, MOST_PROCESSES) if most is None else most
        self._checkers: list[_Checker] = []
        self._lock = threading.Lock()

    def begin(self, arrivals: Sequence[Arrival], key_of: KeyOf) -> list[Share]:
        """Begin to check the signatures; `finish` gives them back checked."""
        claims = [
            (arrival, key)
            for arrival in arrivals
            if arrival.record is not None and (key := key_of(arrival.record.device))
        ]
        if len(claims) < MANY or not self._most:
            whole = Share(claims)
            whole.check_here()
            return [whole]
        shares = [Share(claims[at : at + SHARE]) for at in range(0, len(claims), SHARE)]
        with self._lock:
            self._renew()
            for share in shares:
                self._give(share)
        return shares

    def finish(self, shares: Sequence[Share]) -> None:
        """Return when all of these are checked."""
        with self._lock:
            for share in shares:
                while not share.is_done:
                    self._await_one(next(one for one in self._checkers if share in one.shares))

    def close(self) -> None:
        """End the processes."""
        with self._lock:
            for checker in self._checkers:
                checker.end()
            self._checkers = []

    def _renew(self) -> None:
        """Have as many processes as there may be: those that had nothing to do have ended by themselves."""
        for checker in [one for one in self._checkers if one.has_ended]:
            self._give_up(checker)
        try:
            while len(self._checkers) < self._most:
                self._checkers.append(_Checker())
        except OSError:
            return  # no room for more: those that are there do it, or this process

    def _give(self, share: Share) -> None:
        checker = min(self._checkers, key=lambda one: len(one.shares), default=None)
        if checker is None:
            share.check_here()
            return
        try:
            checker.ask(share)
        except OSError:
            self._give_up(checker)

    def _await_one(self, checker: _Checker) -> None:
        try:
            checker.await_answer()
        except (EOFError, OSError, ValueError):
            self._give_up(checker)

    def _give_up(self, checker: _Checker) -> None:
        self._checkers.remove(checker)
        checker.end()


def _bound_writing(connection: Connection) -> None:
    """Have a write fail where the other end takes nothing for as long as an answer may take."""
    patience = struct.pack("ll", int(PATIENCE_S), 0)
    with socket.socket(fileno=os.dup(connection.fileno())) as same:
        same.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, patience)
