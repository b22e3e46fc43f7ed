"""Which lines of a decoder a set of inputs reaches."""

import sys
from collections.abc import Iterable
from linecache import getline
from types import CodeType, FrameType
from typing import Any

from firmware_tests.fuzz.targets import Target, lines_of


def unreached(target: Target, inputs: Iterable[bytes]) -> tuple[list[str], int]:
    """Return the decoder's lines that no input reaches, as FILE:LINE, and how many lines it has.

    Lines that are said to be beyond every input are not among them. Raises ValueError where one is reached.
    """
    codes = {code for function in target.code for code in _all(function.__code__)}
    wanted = {(code.co_filename, line) for code in codes for line in lines_of(code)}
    seen: set[tuple[str, int]] = set()

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        if frame.f_code not in codes:
            return None
        if event == "line":
            seen.add((frame.f_code.co_filename, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for data in inputs:
            target.decode(data)
    finally:
        sys.settrace(before)
    beyond = {place for place in wanted if getline(*place).strip() in target.beyond}
    if wrong := sorted(beyond & seen):
        raise ValueError(f"{target.name}: inputs reach {wrong[0]}, which is said to be beyond them")
    wanted -= beyond
    left = sorted(wanted - seen)
    return [f"{file}:{line}" for file, line in left], len(wanted)


def _all(code: CodeType) -> set[CodeType]:
    return {code}.union(*(_all(inner) for inner in code.co_consts if isinstance(inner, CodeType)))
