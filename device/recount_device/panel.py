"""The panel's seam: the message, lamps and buttons at the device."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

BUTTONS = ("start", "confirm", "end_batch", "stop")
LAMPS = ("ready", "attention")


@dataclass(frozen=True)
class Message:
    """What the panel shows: never a count, a fate or a vote."""

    key: str
    """The entry of messages.MESSAGES it was made from."""
    text: str
    """The whole text for the operator."""
    sheet: int = 0
    """The number of the sheet it speaks of; 0 for none."""
    question: str | None = None
    """What the operator is asked to do before pressing a button, where one is asked."""
    lamps: Mapping[str, bool] = field(default_factory=lambda: {"ready": False, "attention": False})

    def to_fields(self) -> dict[str, object]:
        """Return the message as plain values."""
        return {
            "key": self.key,
            "text": self.text,
            "sheet": self.sheet,
            "question": self.question,
            "lamps": dict(self.lamps),
        }


class Panel(Protocol):
    """Shows one message at a time and gives the buttons pressed."""

    def show(self, message: Message) -> None:
        """Show this message instead of the one before."""
        ...

    def pressed(self) -> list[str]:
        """Return the names of the buttons pressed since the last call, in their order."""
        ...

    def close(self) -> None:
        """Give lamps and buttons back."""
        ...
