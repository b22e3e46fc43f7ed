"""Values out of TOML tables, each checked for its type; a wrong one is a DeckError."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

from recount_ballots.errors import DeckError

T = TypeVar("T")


class Table:
    """A TOML table that knows where it stands and which of its keys were asked for."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self._values = values
        self._where = where
        self._asked: set[str] = set()

    def get(self, key: str, kind: type[T], default: T | None = None) -> T:
        """Return the value of a key; without a default the key must be there."""
        self._asked.add(key)
        value = self._values.get(key, default)
        if value is None:
            raise DeckError(f'{self._where} needs "{key}"')
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise DeckError(f'{self._where}: "{key}" must be {kind.__name__}, not {value!r}')
        return cast("T", value)

    def words(self, key: str) -> tuple[str, ...]:
        """Return a list of strings, or one string as a list of one; nothing where the key is absent."""
        self._asked.add(key)
        value = self._values.get(key, [])
        if isinstance(value, str):
            return (value,)
        if isinstance(value, list) and all(isinstance(word, str) for word in cast("list[Any]", value)):
            return tuple(cast("list[str]", value))
        raise DeckError(f'{self._where}: "{key}" must be a list of words, not {value!r}')

    def pairs(self, key: str) -> dict[str, str]:
        """Return a table of words to words; empty where the key is absent."""
        self._asked.add(key)
        value = self._values.get(key, {})
        if isinstance(value, dict):
            entries = cast("dict[str, Any]", value)
            if all(isinstance(word, str) for word in entries.values()):
                return dict(entries)
        raise DeckError(f'{self._where}: "{key}" must be a table of words, not {value!r}')

    def raw(self, key: str) -> Mapping[str, Any] | None:
        """Return a table as it stands, for those who know its keys; None where it is absent."""
        self._asked.add(key)
        value = self._values.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise DeckError(f'{self._where}: "{key}" must be a table, not {value!r}')
        return cast("dict[str, Any]", value)

    def tables(self, key: str) -> list["Table"]:
        """Return an array of tables; empty where the key is absent."""
        self._asked.add(key)
        value = self._values.get(key, [])
        if isinstance(value, list) and all(isinstance(row, dict) for row in cast("list[Any]", value)):
            rows = cast("list[dict[str, Any]]", value)
            return [Table(row, f"{self._where}, {key} {n}") for n, row in enumerate(rows, 1)]
        raise DeckError(f'{self._where}: "{key}" must be an array of tables')

    def finish(self) -> None:
        """Raise DeckError for a key that nobody asked for: a misspelt one must not pass unseen."""
        unknown = sorted(set(self._values) - self._asked)
        if unknown:
            raise DeckError(f'{self._where}: there is no key "{unknown[0]}"')


def read_table(path: Path) -> Table:
    """Return the table of a whole file, or raise DeckError."""
    try:
        with path.open("rb") as file:
            return Table(tomllib.load(file), str(path))
    except OSError as error:
        raise DeckError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DeckError(f"{path} is not TOML: {error}") from None
