"""The contest programs this device was sent, each in a file named by its hash."""

from pathlib import Path

from recount_classifier.errors import ProgramError
from recount_classifier.program import MAX_PROGRAM_BYTES, Program, read_program
from recount_device.durable import make_folder, write_durably
from recount_device.errors import OperatorError

__all__ = ["MAX_PROGRAM_BYTES", "ProgramStore"]


class ProgramStore:
    """Programs on the disk; a file that no longer has its hash is refused."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "programs"
        make_folder(self._folder)

    def _path(self, program_hash: bytes) -> Path:
        return self._folder / f"{program_hash.hex()}.program"

    def load(self, program_hash: bytes) -> Program | None:
        """Return the program of this hash, or None where it was not sent yet.

        Raises OperatorError where the file is not, or no longer, that program.
        """
        path = self._path(program_hash)
        if not path.exists():
            return None
        return _checked(path.read_bytes(), program_hash)

    def add(self, program_hash: bytes, content: bytes) -> Program:
        """Keep the program the host sent and return it; raises OperatorError where it has another hash."""
        program = _checked(content, program_hash)
        write_durably(self._path(program_hash), content)
        return program


def _checked(content: bytes, program_hash: bytes) -> Program:
    try:
        program = read_program(content)
    except ProgramError as error:
        raise OperatorError(f"the contest program {program_hash.hex()[:8]} cannot be used: {error}") from None
    if program.program_hash != program_hash:
        raise OperatorError(
            f"the contest program {program_hash.hex()[:8]} cannot be used: "
            f"the file holds program {program.program_hash.hex()[:8]}"
        )
    return program
