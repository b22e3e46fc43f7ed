"""Signing in at the pages that write: a person of each side, in one browser, until they sign out or go away.

A session is a random cookie that no script and no page from elsewhere gets; it ends with the host's program.
"""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from recount_host.act import Person
from recount_host.people import People

COOKIE = "recount-session"
IDLE_S = 1800.0
"""So long after the last page a session is over: nobody works in another's name."""
MAX_SESSIONS = 100


@dataclass(frozen=True, slots=True)
class _Session:
    persons: tuple[Person, ...]
    used_s: float


class SignIn:
    """Who is signed in, by the cookie of their browser. Threads may share it."""

    def __init__(self, people: People, now_s: Callable[[], float] = time.monotonic) -> None:
        self.people = people
        self._now_s = now_s
        self._lock = threading.Lock()
        self._sessions: dict[str, _Session] = {}

    def persons(self, cookie: str) -> tuple[Person, ...]:
        """Return who is signed in with this cookie, one of a side at the most; nobody when it is over."""
        now_s = self._now_s()
        with self._lock:
            self._sessions = {key: one for key, one in self._sessions.items() if now_s - one.used_s < IDLE_S}
            session = self._sessions.get(cookie)
            if session is None:
                return ()
            self._sessions[cookie] = _Session(session.persons, now_s)
            return session.persons

    def sign_in(self, cookie: str, name: str, pass_phrase: str) -> str:
        """Sign a person in beside who is signed in with this cookie; return the cookie from now on.

        A person of the same side takes the other's place. Raises SignInRefused.
        """
        return self.begin(cookie, self.people.check(name, pass_phrase))

    def begin(self, cookie: str, person: Person) -> str:
        """Begin a session of a person who was recognised, and of who is signed in with the cookie."""
        beside = tuple(one for one in self.persons(cookie) if one.side != person.side)
        made = secrets.token_urlsafe(32)
        with self._lock:
            self._sessions.pop(cookie, None)
            if len(self._sessions) >= MAX_SESSIONS:
                oldest = min(self._sessions, key=lambda key: self._sessions[key].used_s)
                del self._sessions[oldest]
            self._sessions[made] = _Session((*beside, person), self._now_s())
        return made

    def sign_out(self, cookie: str) -> None:
        """End a session: everybody in it is signed out."""
        with self._lock:
            self._sessions.pop(cookie, None)
