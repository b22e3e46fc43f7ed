"""What happened in a world, one line each: the same script and seed give the same lines."""

from pathlib import Path
from types import TracebackType
from typing import Self, TextIO


class Trace:
    """Lines of `microseconds word details`, kept in memory (for tests) or written to a file as they come."""

    def __init__(self, path: Path | None = None, *, keep: bool = True) -> None:
        """Write to `path`; without one keep the lines in memory, or with keep=False nowhere."""
        self.lines: list[str] = []
        self._keep = keep
        self._file: TextIO | None = None if path is None else path.open("w", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def note(self, now_us: int, word: str, *details: object) -> None:
        """Add a line."""
        if self._file is None and not self._keep:
            return
        line = " ".join(str(part) for part in (now_us, word, *details))
        if self._file is None:
            self.lines.append(line)
        else:
            self._file.write(line + "\n")

    def flush(self) -> None:
        """Write out what the file's buffer holds."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
