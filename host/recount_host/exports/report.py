"""The outcome of a verification: what was checked, what it says, and what does not hold."""

from collections.abc import Mapping
from dataclasses import dataclass, field

MAX_PROBLEMS = 200
"""So many problems are told one by one; how many there are in all is told in any case."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it must be."""

    where: str
    """The file of the bundle, with the act, record or precinct in it."""
    what: str


@dataclass(frozen=True, slots=True)
class PrecinctReport:
    """What a precinct's evidence says. Figures only where they were shown."""

    id: str
    state: str
    identities: Mapping[str, bool]
    figures: Mapping[str, int]
    record_codes: tuple[str, ...]
    """The codes that stand on every page of its signed statements."""


@dataclass(slots=True)
class Report:
    """The outcome of a verification."""

    host_fingerprint: str = ""
    problems: list[Problem] = field(default_factory=list[Problem])
    count: int = 0
    """How many problems there are, also beyond those that are kept."""
    checked: dict[str, int] = field(default_factory=dict[str, int])
    """How many acts, records, crops, programs, statements were checked."""
    precincts: list[PrecinctReport] = field(default_factory=list[PrecinctReport])
    heads: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    """Device name -> number and SHA-256 of its last record; "acts" -> those of the last act."""

    def fails(self, where: str, what: str) -> None:
        """Note a problem, in words that print: a hostile bundle may have put anything into them."""
        self.count += 1
        if self.count <= MAX_PROBLEMS:
            self.problems.append(Problem(_printable(where), _printable(what)))

    def did(self, what: str) -> None:
        """Count something that was checked."""
        self.checked[what] = self.checked.get(what, 0) + 1

    @property
    def sound(self) -> bool:
        """Return whether everything holds."""
        return self.count == 0


def _printable(text: str) -> str:
    """Return the text with what does not print written out by its number."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )
