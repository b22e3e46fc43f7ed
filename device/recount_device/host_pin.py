"""The one host that this device obeys, pinned by the words of its key in a file of the device's folder.

People pin it: at the panel, by Confirm under the words that it shows, or with `recount-device pin-host`. The
words are 88 bits of the key's hash (see `key_words`): no other key with the same words can be found.
"""

from pathlib import Path

from recount_device.durable import write_durably
from recount_device.errors import OperatorError
from recount_protocol.errors import WordsError
from recount_protocol.key_words import read_words

PIN_FILE = "host.words"


class HostPin:
    """The pin in a device's folder; read anew each time, because another program may have written it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / PIN_FILE

    @property
    def words(self) -> str:
        """The words of the host's key; empty where no host is pinned. Raises OperatorError when damaged."""
        try:
            return read_words(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError, WordsError) as error:
            raise OperatorError(
                f"{self._path} does not hold the words of a host ({error}): pin the host again"
            ) from None

    def pin(self, words: str) -> None:
        """Obey the host with these words from now on, and no other. Raises OperatorError."""
        try:
            write_durably(self._path, f"{words}\n".encode())
        except OSError as error:
            raise OperatorError(f"{self._path} cannot be written: {error.strerror}") from None
