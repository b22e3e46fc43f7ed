"""A board that a Python generator plays: for the paper path without firmware, in tests and in experiments."""

from collections.abc import Callable, Generator, Mapping

from recount_world.board import Answer, Request

Program = Callable[[], Generator[Request, Answer, None]]
"""Yields what the board did since its last wait, gets that wait's answer. Its end is the board's death."""


class ScriptedBoard:
    """Plays a program from its beginning at each start, and keeps the answers it was given."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._running: Generator[Request, Answer, None] | None = None
        self.answers: list[Answer] = []
        self.starts = 0

    def power_on(self, boot: int) -> Request | None:
        """Begin the program."""
        self.starts = boot
        self._running = self._program()
        return next(self._running, None)

    def resume(self, answer: Answer) -> Request | None:
        """Let the program go on to its next wait."""
        self.answers.append(answer)
        if self._running is None:
            return None
        try:
            return self._running.send(answer)
        except StopIteration:
            return None

    def power_off(self) -> None:
        """Forget where the program was."""
        self._running = None

    def memory(self) -> Mapping[str, bytes]:
        """Return that it keeps nothing."""
        return {}

    def last_words(self) -> str:
        """Return that its program ended."""
        return "its program ended"
