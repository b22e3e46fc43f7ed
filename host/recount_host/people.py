"""Who may sign in at the host's pages: name, role and side, and a pass phrase kept as its Argon2 hash.

The accounts lie in people.json of the data folder, readable by its owner alone. They say who sits at the
screen; they are no part of the ledger, and a person's legal signature is ink on the form.
"""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from recount_host.act import Person
from recount_host.errors import OperatorError
from recount_host.law.persons import in_words, letters_of

PEOPLE_FILE = "people.json"
ROLES = ("official", "coordinator", "registrar", "technician", "clerk")
"""Who works at the pages that write; observers and counsel look at those that only show."""
LEAST_LETTERS = 10
MOST_LETTERS = 200
MAX_PEOPLE = 500
WRONG_AT_MOST = 5
WAIT_S = 60.0
"""After so many wrong pass phrases in a row, and for so long, a name is not asked any more."""


class SignInRefused(OperatorError):
    """An account that cannot be made, or a pass phrase that does not open one."""


class _Account(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    role: str
    side: str
    secret: str
    """The Argon2id hash, with its parameters and salt."""

    @property
    def person(self) -> Person:
        return Person(self.name, self.role, self.side)


class People:
    """The accounts of one locality. Threads may share it."""

    def __init__(self, data: Path, now_s: Callable[[], float] = time.monotonic) -> None:
        self._path = data / PEOPLE_FILE
        self._now_s = now_s
        self._lock = threading.Lock()
        self._hasher = PasswordHasher()
        self._wrong: dict[str, tuple[int, float]] = {}
        """By the letters of a name: wrong pass phrases in a row, and when the last one came."""

    def known(self) -> tuple[Person, ...]:
        """Return everybody who may sign in, by name. Raises SignInRefused for a file that is none."""
        return tuple(account.person for account in self._accounts())

    def add(self, person: Person, pass_phrase: str) -> None:
        """Let a person sign in with this pass phrase, instead of an earlier one. Raises SignInRefused."""
        if person.role not in ROLES:
            raise SignInRefused(f"{in_words(person)}: the roles that sign in are {', '.join(ROLES)}")
        if not LEAST_LETTERS <= len(pass_phrase) <= MOST_LETTERS:
            raise SignInRefused(
                f"a pass phrase has {LEAST_LETTERS} to {MOST_LETTERS} letters: three words will do"
            )
        made = _Account(person.name, person.role, person.side, self._hasher.hash(pass_phrase))
        with self._lock:
            own = letters_of(person.name)
            others = [account for account in self._accounts() if letters_of(account.name) != own]
            if len(others) >= MAX_PEOPLE:
                raise SignInRefused(f"{MAX_PEOPLE} people may sign in already")
            self._write(sorted([*others, made], key=lambda account: account.name))
            self._wrong.pop(own, None)

    def check(self, name: str, pass_phrase: str) -> Person:
        """Return the person of this name, whose pass phrase it is. Raises SignInRefused."""
        own = letters_of(name)
        refused = SignInRefused("name and pass phrase do not belong together")
        with self._lock:  # one at a time: each try takes 64 MiB
            wrong, since_s = self._wrong.get(own, (0, 0.0))
            if wrong >= WRONG_AT_MOST and self._now_s() - since_s < WAIT_S:
                raise SignInRefused(f"{wrong} wrong pass phrases: wait a minute")
            account = next((one for one in self._accounts() if letters_of(one.name) == own), None)
            if account is None:
                raise refused
            try:
                self._hasher.verify(account.secret, pass_phrase[:MOST_LETTERS])
            except (VerificationError, ValueError):
                self._wrong[own] = (wrong + 1, self._now_s())
                raise refused from None
            self._wrong.pop(own, None)
            return account.person

    def _accounts(self) -> list[_Account]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=list[_Account])
        except FileNotFoundError:
            return []
        except (OSError, msgspec.DecodeError) as error:
            raise SignInRefused(
                f"{self._path} cannot be read ({error}): remove it and add the people anew"
            ) from error

    def _write(self, accounts: list[_Account]) -> None:
        unfinished = self._path.with_name(f"{PEOPLE_FILE}.part")
        try:
            unfinished.unlink(missing_ok=True)
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(msgspec.json.encode(accounts))
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(self._path)
        except OSError as error:
            raise SignInRefused(f"{self._path} cannot be written: {error.strerror}") from error
