"""How far a long command is: one line that changes on a terminal, a plain line every tenth part in a log."""

import sys
from typing import TextIO


class ProgressLine:
    """Shows progress on a stream; answers go elsewhere, so that programs can read them."""

    def __init__(self, stream: "TextIO | None" = None) -> None:
        self._stream = stream or sys.stderr
        self._tenth = ("", -1)

    def show(self, what: str, done: int, of: int) -> None:
        """Show that `done` of `of` of this work are done."""
        tenth = (what, 10 if done == of else done * 10 // of)
        if self._stream.isatty():
            filled = 30 * done // of
            end = "\n" if done == of else ""
            bar = "#" * filled + "." * (30 - filled)
            print(f"\r{what:<11}[{bar}] {done} of {of}", end=end, file=self._stream, flush=True)
        elif tenth != self._tenth:
            print(f"{what}: {done} of {of}", file=self._stream, flush=True)
        self._tenth = tenth
