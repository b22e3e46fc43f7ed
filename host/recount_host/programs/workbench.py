"""Where programs are made with the pages: a folder for each, with its blanks, spec, program, proof and deck.

The folders lie in the locality's data folder, so that a program that is half made is there tomorrow. What is
made is made by the functions of `program draft`, `build`, `sign` and `deck make`; here is only its place.
"""

import re
import secrets
import shutil
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from recount_classifier.program import Program
from recount_host.commands.program_add import read_program_file
from recount_host.errors import OperatorError
from recount_host.law.deck import Deck, parse_deck
from recount_host.law.persons import letters_of
from recount_host.programs.blanks import pdf_pages
from recount_host.programs.building import build_program
from recount_host.programs.drafting import Numbered, Placed, Said, Side, draft, numbered, style_id
from recount_host.programs.looking import look_at_blanks
from recount_host.programs.spec import parse_spec
from recount_host.programs.upload import kind_of
from recount_host.signatures import Signature, Signed, add_signature, open_signing_key, read_signatures

FOLDER, KEYS = "programs", "keys"
"""In the data folder: the workbench, and in it the keys of those who sign there."""
SPEC, PROGRAM, STATE, DECK = "spec.toml", "contest.program", "workpiece.json", "deck"
MAX_WORKPIECES, MAX_STYLES = 50, 40
_ID = re.compile(r"[0-9a-f]{8}")


class WorkbenchError(OperatorError):
    """The workbench is full, or there is no such workpiece."""


class _State(msgspec.Struct, forbid_unknown_fields=True):
    names: tuple[str, ...]
    """Each style's blanks: "FRONT" or "FRONT,BACK", in the workpiece's folder."""
    given_dpi: float | None = None
    chosen: tuple[int, ...] = ()


class Workpiece:
    """One program in the making."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.id = folder.name
        self._lock = threading.Lock()
        self._state = msgspec.json.decode((folder / STATE).read_bytes(), type=_State)
        self._seen: tuple[float, list[Side]] | None = None
        self.proof_pages: tuple[str, list[bytes]] | None = None
        """What the proof was drawn of, and its pages as pictures; kept while the program is looked at."""

    # The blanks

    def add_style(self, name: str, front: bytes, back: bytes) -> None:
        """Take the blank of one more ballot style; `back` may be empty. Raises OperatorError."""
        if len(self._state.names) >= MAX_STYLES:
            raise WorkbenchError(f"{MAX_STYLES} ballot styles are taken here; use program draft for more")
        names = _keep_blanks(self.folder, name, front, back)
        dpi, sides = look_at_blanks([_in_folder(self.folder, names)], self._state.given_dpi, self.folder)
        if dpi != self.dpi:
            raise WorkbenchError(
                f"this blank has {dpi:g} dpi, the first has {self.dpi:g}: scan all styles alike"
            )
        self._seen = (dpi, [*self.sides, *sides])
        self._state = msgspec.structs.replace(self._state, names=(*self._state.names, names))
        self._save()

    @property
    def dpi(self) -> float:
        """Resolution of the blanks."""
        return self._look()[0]

    @property
    def sides(self) -> list[Side]:
        """Every page, looked at."""
        return self._look()[1]

    @property
    def found(self) -> tuple[Numbered, ...]:
        """Every contest found."""
        return numbered(self.sides)

    def _look(self) -> tuple[float, list[Side]]:
        with self._lock:
            if self._seen is None:
                self._seen = look_at_blanks(
                    [_in_folder(self.folder, name) for name in self._state.names],
                    self._state.given_dpi,
                    self.folder,
                )
            return self._seen

    # The contest

    def choose(self, numbers: Sequence[int]) -> None:
        """Take these contests, one of each style that bears the contest. Raises WorkbenchError."""
        by_number = {one.number: one for one in self.found}
        if not numbers or any(number not in by_number for number in numbers):
            raise WorkbenchError("no contest was chosen: choose the one that is recounted")
        styles = [by_number[number].on.style for number in numbers]
        if len(set(styles)) < len(styles):
            raise WorkbenchError(
                "two contests of one ballot style are chosen: a program recounts one contest"
            )
        self._state = msgspec.structs.replace(self._state, chosen=tuple(numbers))
        self._save()

    @property
    def chosen(self) -> tuple[Numbered, ...]:
        """The contest on each style, as it was found; empty before it was chosen."""
        by_number = {one.number: one for one in self.found}
        return tuple(by_number[number] for number in self._state.chosen if number in by_number)

    # The program

    def build(self, placed: Sequence[Placed], said: Said) -> Program:
        """Write the spec and build the program, anew each time: signatures and deck of another one go.

        Raises OperatorError in the sentences of `program draft` and `program build`.
        """
        text = draft(placed, said, self.dpi)
        parse_spec(text.encode("utf-8"))
        (self.folder / SPEC).write_text(text, encoding="utf-8")
        program = build_program(self.folder / SPEC)
        path, data = self.folder / PROGRAM, program.to_bytes()
        if not path.exists() or path.read_bytes() != data:
            self.unbuild()
            path.write_bytes(data)
        return program

    def unbuild(self) -> None:
        """Take away what was made of another program."""
        for path in self.folder.glob(f"{PROGRAM}*"):
            path.unlink()
        with suppress(FileNotFoundError):
            shutil.rmtree(self.folder / DECK)

    @property
    def is_built(self) -> bool:
        """Whether the program is made."""
        return (self.folder / PROGRAM).exists()

    def program(self) -> tuple[bytes, Program]:
        """Return the program's file and what it says. Raises OperatorError when it is not made yet."""
        return read_program_file(self.folder / PROGRAM)

    def signatures(self) -> tuple[Signature, ...]:
        """Return who signed it, verified."""
        data, _ = self.program()
        return read_signatures(self.folder / PROGRAM, Signed("program", data))

    def sign(self, name: str, side: str, program_hash: str) -> Signature:
        """Sign for a person, "name, role, side", with the key that lies here for them; made at the first use.

        `program_hash` is that of the program whose proof was on the screen. Raises OperatorError.
        """
        data, program = self.program()
        if program.program_hash.hex() != program_hash:
            raise WorkbenchError(
                "the program was built anew since this page was shown: look at its proof again"
            )
        keys = self.folder.parent / KEYS
        keys.mkdir(mode=0o700, exist_ok=True)
        letters = "".join(letter for letter in letters_of(name) if letter.isascii()) or "person"
        key = open_signing_key(keys / f"{side}-{letters[:60]}.key")
        return add_signature(self.folder / PROGRAM, Signed("program", data), name, key)

    # The deck

    @property
    def deck_folder(self) -> Path:
        """Where the deck lies, or will lie."""
        return self.folder / DECK

    def keep_foreign(self, data: bytes) -> Path:
        """Keep the blank of a style that is not in the program; return its path. Raises OperatorError."""
        path = self.folder / f"foreign{kind_of(data)}"
        path.write_bytes(data)
        return path

    def deck(self) -> tuple[bytes, Deck] | None:
        """Return the deck's file and what it says; None where it is not made yet."""
        path = self.deck_folder / "deck.toml"
        if not path.exists():
            return None
        text = path.read_bytes()
        return text, parse_deck(text)

    def _save(self) -> None:
        _write(self.folder / STATE, msgspec.json.encode(self._state))


class Workbench:
    """All programs in the making of one locality. Threads may share it."""

    def __init__(self, data: Path) -> None:
        self.folder = data / FOLDER
        self._lock = threading.Lock()
        self._open: dict[str, Workpiece] = {}

    def begin(self, name: str, front: bytes, back: bytes, dpi: float | None) -> Workpiece:
        """Begin a program with the blank of its first style, under a name like that of the front's file.

        Raises OperatorError, and then nothing is kept.
        """
        if len(self.ids()) >= MAX_WORKPIECES:
            raise WorkbenchError(
                f"{MAX_WORKPIECES} programs are in the making in {self.folder}: delete the old ones there"
            )
        folder = self.folder / secrets.token_hex(4)
        folder.mkdir(parents=True)
        try:
            names = _keep_blanks(folder, name, front, back)
            _write(folder / STATE, msgspec.json.encode(_State((names,), dpi)))
            piece = self.piece(folder.name)
            _ = piece.sides  # looked at now, so that what cannot be read is refused now
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return piece

    def ids(self) -> tuple[str, ...]:
        """Return the ids of all workpieces, the newest first."""
        if not self.folder.is_dir():
            return ()
        states = [path for path in self.folder.glob(f"*/{STATE}") if _ID.fullmatch(path.parent.name)]
        return tuple(path.parent.name for path in sorted(states, key=lambda path: -path.stat().st_mtime))

    def piece(self, piece_id: str) -> Workpiece:
        """Return a workpiece. Raises WorkbenchError when there is none of this id."""
        with self._lock:
            if not _ID.fullmatch(piece_id) or not (self.folder / piece_id / STATE).exists():
                raise WorkbenchError(
                    "there is no such program in the making: begin again from its blank ballot"
                )
            if piece_id not in self._open:
                self._open = {piece_id: Workpiece(self.folder / piece_id)}  # pages of one take 10 MB
            return self._open[piece_id]


def _keep_blanks(folder: Path, name: str, front: bytes, back: bytes) -> str:
    """Write the blanks of one style into the folder and return their names for `look_at_blanks`.

    A PDF of several pages is front and back by itself.
    """
    style = style_id(Path(name).stem)[:24].rstrip("-.")
    taken = {path.stem for path in folder.iterdir()}
    stem = next(word for word in (style, *(f"{style}-{n}" for n in range(2, 1000))) if word not in taken)
    names: list[str] = []
    for end, data in (("", front), *((("-back", back),) if back else ())):
        file_name = f"{stem}{end}{kind_of(data)}"
        (folder / file_name).write_bytes(data)
        names.append(file_name)
    if len(names) == 1 and names[0].endswith(".pdf") and pdf_pages(front) > 1:
        return f"{names[0]}#page=1,{names[0]}#page=2"
    return ",".join(names)


def _in_folder(folder: Path, names: str) -> str:
    return ",".join(str(folder / name) for name in names.split(","))


def _write(path: Path, data: bytes) -> None:
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_bytes(data)
    unfinished.replace(path)
