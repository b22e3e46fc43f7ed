"""How records name what a device runs and is set to, and what differs between two such names, in words.

A name is the hash of the program's files, and behind it a word and a hash for each setting that decides how
a sheet is taken and read: "HASH optics HASH path HASH lens HASH". Logic and accuracy prove all of it
together, so any other name disarms (§ 24.2-802.2 D 2); device and host compare names, and tell people what
was changed.
"""

from collections.abc import Mapping
from typing import Final

SHORT_DIGITS: Final = 16
"""Hexadecimal digits of a setting's hash."""

OPTICS: Final = "optics"
PATH: Final = "path"
LENS: Final = "lens"
_PROGRAM: Final = ""

_WORDS: Final[Mapping[str, str]] = {
    _PROGRAM: "software was changed",
    OPTICS: "focus, exposure or picture size was changed",
    PATH: "paper path's numbers were changed",
    LENS: "lens was measured anew, or its calibration was taken away",
}
"""What another hash means, each said of the device: "its ..."."""


def software_name(program: str, settings: Mapping[str, str]) -> str:
    """Return the name of a program with its settings: a hash by the word of each, those that there are."""
    parts = (f" {word} {digits[:SHORT_DIGITS]}" for word, digits in settings.items())
    return program + "".join(parts)


def what_changed(before: str, now: str) -> str:
    """Return in words what differs between two names, as in "its software was changed"; empty if nothing."""
    if before == now:
        return ""
    one, other = _parts(before), _parts(now)
    told = [said for word, said in _WORDS.items() if one.get(word) != other.get(word)]
    return " and ".join(f"its {said}" for said in told or [_WORDS[_PROGRAM]])


def _parts(name: str) -> dict[str, str]:
    """Return the hashes of a name by their words, the program's under an empty one."""
    program, *rest = name.split(" ")
    return {_PROGRAM: program, **dict(zip(rest[::2], rest[1::2], strict=False))}
