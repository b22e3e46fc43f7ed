"""What does not fit in a file that people write, in their words: which entry it is, and what belongs there.

The library that reads the files names types and places as programs do ("Expected `str`, got `int` - at
`$.side[0].key`"); a clerk reads "side 1, key: a text in quotation marks belongs there".
"""

import re
from collections.abc import Callable, Mapping

_KINDS: Mapping[str, str] = {
    "str": "a text in quotation marks",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list in [ ]",
    "object": "a table of entries",
}
_COUNTED: Mapping[str, str] = {"str": "characters", "array": "entries"}
_AT: Mapping[str, str] = {">=": "at least ", "<=": "at most ", "": ""}

_Said = Callable[[re.Match[str]], str]
_FAULTS: tuple[tuple[re.Pattern[str], _Said], ...] = (
    (re.compile(r"Object contains unknown field `(.*)`"), lambda m: f'there is no entry "{m[1]}" here'),
    (re.compile(r"Object missing required field `(.*)`"), lambda m: f'the entry "{m[1]}" is missing'),
    (re.compile(r"Invalid enum value (.*)"), lambda m: f"{m[1]} is none of the words that may stand there"),
    (
        re.compile(r"Expected `(str|array)` of length (>=|<=|)\s*(\d+)(?:, got \d+)?"),
        lambda m: f"{_AT[m[2]]}{m[3]} {_COUNTED[m[1]]} belong there",
    ),
    (re.compile(r"Expected `(?:int|float)` (>=|<=) (\S+)"), lambda m: f"it is {_AT[m[1]]}{m[2]}"),
    (
        re.compile(r"Expected `str` matching regex .*", re.DOTALL),
        lambda _: "only letters, digits, dots, dashes and underscores may stand there",
    ),
    (
        re.compile(r"Expected `(\w+)(?: \| \w+)*`, got `\w+`"),
        lambda m: f"{_KINDS.get(m[1], m[1])} belongs there",
    ),
)


def in_words(error: Exception) -> str:
    """Return what `error` of reading a TOML or JSON file says, as a sentence without the library's signs."""
    said = str(error)
    if said.startswith("'utf-8' codec"):
        return "it is no text in UTF-8"
    fault, at, place = said.rpartition(" - at `$")
    if not at:
        fault, place = said, ""
    words = next((say(found) for pattern, say in _FAULTS if (found := pattern.fullmatch(fault))), fault)
    where = _where(place.rstrip("`"))
    return f"{where}: {words}" if where else words


def _where(place: str) -> str:
    """Return "side 1, key" for ".side[0].key"."""
    counted = re.sub(r"\[(\d+)\]", lambda found: f" {int(found[1]) + 1}", place.replace("[...]", ""))
    return ", ".join(part.strip() for part in counted.split(".") if part.strip())
