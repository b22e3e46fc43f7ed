"""A disk that loses power: what is written in a folder is recorded, and put together as after a cut.

In a process that records, SQLite's own file layer (a VFS, by ctypes in the very library that `sqlite3` uses)
and Python's calls tell each write, each sync, and each entry of a folder that is made, renamed or removed, in
their order. `DiskLog.cut` then makes of the folder what a disk may hold that was promised no more than the
syncs: every write since a file's last sync is there, or not, or only some of its sectors; every change of a
folder's entries since that folder's last sync happened or did not. What was synced is there, always.

At a chosen step of the recording something happens: the process kills itself, or somebody else.
"""

import ctypes
import os
import random
import shutil
import struct
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgpack

SECTOR_BYTES = 512
"""A sector is written whole or not at all."""

_LENGTH = struct.Struct(">I")


class Step(NamedTuple):
    """One thing that was done in the folder. Paths are relative to it."""

    what: str
    """create, write, truncate, sync, whole, rename, remove, folder, sync_folder."""
    path: str
    offset: int = 0
    """Of a write; the new length of a truncated file."""
    content: bytes = b""
    """What was written; of `whole`, all that the file holds, synced. Of a rename, the new path."""
    by: str = ""
    """The program that did it, as it called itself."""


SYNCS = ("sync", "whole", "sync_folder")


@dataclass
class File:
    """A file: what is sure of it, and what was done to it since."""

    sure: bytes
    since: list[Step] = field(default_factory=list[Step])


class Loss(Enum):
    """How much of what was not synced is lost."""

    ALL = "all"
    """Nothing of it reached the disk."""
    NONE = "none"
    """All of it did."""
    SOME = "some"
    """Each sector and each entry by itself, by chance."""
    LAST_TORN = "last_torn"
    """All but the last write, of which some sectors are missing."""


class DiskLog:
    """What was done in one folder since it was last known to be whole on the disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base = folder.with_name(folder.name + ".base")
        self.path = folder.with_name(folder.name + ".steps")

    def begin(self) -> None:
        """Take the folder as it is for what is sure."""
        shutil.rmtree(self.base, ignore_errors=True)
        if self.folder.exists():
            shutil.copytree(self.folder, self.base)
        self.path.write_bytes(b"")

    def steps(self) -> list[Step]:
        """Return what was done, in its order."""
        content, at, found = self.path.read_bytes(), 0, list[Step]()
        while at < len(content):
            (length,) = _LENGTH.unpack_from(content, at)
            found.append(Step(*msgpack.unpackb(content[at + 4 : at + 4 + length])))
            at += 4 + length
        return found

    def cut(self, chance: random.Random, loss: Loss) -> None:
        """Make of the folder what the disk may hold after the power went."""
        disk = Disk.of_folder(self.base)
        for step in self.steps():
            disk.do(step)
        held = disk.after_cut(chance, loss)
        shutil.rmtree(self.folder, ignore_errors=True)
        for folder in held.folders:
            (self.folder / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        for path, content in held.files.items():
            place = self.folder / path
            descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)


@dataclass
class Held:
    """What is on the disk after a cut."""

    folders: list[str]
    files: dict[str, bytes]


class Disk:
    """The content of a folder, with what is sure of it told apart from what is not."""

    def __init__(self) -> None:
        self.sure_names: dict[str, File | None] = {}
        """By path: the files and (None) folders whose entries are sure."""
        self.names: dict[str, File | None] = {}
        """The same, as the programs see it."""
        self.changes: list[Step] = []
        """Changes of entries that are not sure, in their order."""
        self._made: dict[int, File | None] = {}

    @staticmethod
    def of_folder(folder: Path) -> "Disk":
        """Return a disk that surely holds this; an empty one where the folder is absent."""
        disk = Disk()
        if folder.exists():
            disk.names[""] = None
            for path in sorted(folder.rglob("*")):
                content = None if path.is_dir() else File(path.read_bytes())
                disk.names[str(path.relative_to(folder))] = content
        disk.sure_names = dict(disk.names)
        return disk

    def do(self, step: Step) -> None:
        """Take one step."""
        match step.what:
            case "write" | "truncate":
                self._file(step.path).since.append(step)
            case "sync":
                file = self._file(step.path)
                file.sure, file.since = _applied(file.sure, file.since), []
            case "whole":
                file = self._file(step.path)
                file.sure, file.since = step.content, []
            case "sync_folder":
                self._sync_folder(step.path)
            case _:
                self._change(step)

    def _file(self, path: str) -> File:
        file = self.names.get(path)
        assert file is not None, f"{path} was written before it was made"
        return file

    def _change(self, step: Step) -> None:
        if step.what == "create" and step.path in self.names:
            return
        if step.what == "create":
            self._made[id(step)] = File(b"")
        elif step.what == "rename":
            self._made[id(step)] = self._file(step.path)
        self.changes.append(step)
        self._apply(self.names, step)

    def _apply(self, names: dict[str, File | None], step: Step) -> None:
        match step.what:
            case "create":
                names[step.path] = self._made[id(step)]
            case "rename":
                names.pop(step.path, None)
                names[step.content.decode()] = self._made[id(step)]
            case "remove":
                names.pop(step.path, None)
            case _:
                names.setdefault(step.path, None)

    def _sync_folder(self, folder: str) -> None:
        """Make sure what was changed in this folder, and no other."""
        mine = [step for step in self.changes if _parent(step.path) == folder]
        for step in mine:
            self._apply(self.sure_names, step)
        self.changes = [step for step in self.changes if _parent(step.path) != folder]

    def after_cut(self, chance: random.Random, loss: Loss) -> Held:
        """Return what the disk holds after a cut that loses so much of what is not sure."""
        names = dict(self.sure_names)
        for step in self.changes:
            if loss in (Loss.NONE, Loss.LAST_TORN) or (loss is Loss.SOME and chance.random() < 0.5):
                self._apply(names, step)
        folders = [path for path, file in names.items() if file is None and _reachable(path, names)]
        files = {
            path: _after_cut(file, chance, loss)
            for path, file in names.items()
            if file is not None and _reachable(path, names)
        }
        return Held(sorted(folders), files)


def _parent(path: str) -> str:
    """Return the folder of an entry; the recorded folder itself is an entry of the one above it."""
    return ".." if path == "" else str(Path(path).parent).removeprefix(".")


def _reachable(path: str, names: dict[str, File | None]) -> bool:
    """Return whether all folders above an entry are there."""
    while path:
        path = _parent(path)
        if path not in names:
            return False
    return True


def _after_cut(file: File, chance: random.Random, loss: Loss) -> bytes:
    match loss:
        case Loss.ALL:
            return file.sure
        case Loss.NONE:
            return _applied(file.sure, file.since)
        case Loss.LAST_TORN:
            return _applied(file.sure, [*file.since[:-1], *_torn(file.since[-1:], chance)])
        case Loss.SOME:
            return _applied(file.sure, _torn(file.since, chance))


def _torn(steps: Sequence[Step], chance: random.Random) -> Generator[Step]:
    """Yield the sectors that reached the disk, and the truncations."""
    for step in steps:
        if step.what == "truncate":
            if chance.random() < 0.5:
                yield step
            continue
        whole = chance.random()
        for begin, end in _sectors(step.offset, len(step.content)):
            # A third of the writes is there, a third is not, a third is torn.
            if whole < 1 / 3 or (whole < 2 / 3 and chance.random() < 0.5):
                yield Step("write", step.path, step.offset + begin, step.content[begin:end])


def _sectors(offset: int, length: int) -> Generator[tuple[int, int]]:
    """Yield begin and end, within a write, of its part of each sector."""
    begin = 0
    while begin < length:
        end = min(length, begin + SECTOR_BYTES - (offset + begin) % SECTOR_BYTES)
        yield begin, end
        begin = end


def _applied(content: bytes, steps: Iterable[Step]) -> bytes:
    """Return a file's content after these steps; a hole is zeros."""
    held = bytearray(content)
    for step in steps:
        if step.what == "truncate":
            del held[step.offset :]
            held.extend(bytes(step.offset - len(held)))
        else:
            held.extend(bytes(max(0, step.offset - len(held))))
            held[step.offset : step.offset + len(step.content)] = step.content
    return bytes(held)


class Place(NamedTuple):
    """A path in a recorded folder."""

    log: int
    path: str


class Recorder:
    """Writes down the steps of this process and its forks, and makes something happen at one of them."""

    def __init__(self, logs: Sequence[DiskLog]) -> None:
        self._roots = [str(log.folder.resolve()) for log in logs]
        self._descriptors = [os.open(log.path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC) for log in logs]
        self.name = ""
        """What this program calls itself."""
        self._at = 0
        self._counts: frozenset[str] = frozenset()
        self._act: Callable[[], None] = lambda: None
        self._before = False
        self.seen = 0
        """So many steps of the kinds that count came, since it was armed."""

    def arm(self, at: int, counts: Sequence[str], act: Callable[[], None], *, before: bool) -> None:
        """Have `act` done before or after the `at`-th step, from now on, of the kinds in `counts`."""
        self._at, self._counts, self._act, self._before = at, frozenset(counts), act, before
        self.seen = 0

    def find(self, path: object) -> Place | None:
        """Return where a path lies; None where that is in no recorded folder."""
        if not isinstance(path, (str, bytes, os.PathLike)):
            return None
        full = os.path.abspath(os.fsdecode(path))  # noqa: PTH100  no link is followed
        for log, root in enumerate(self._roots):
            if full == root:
                return Place(log, "")
            if full.startswith(root + "/"):
                return Place(log, full.removeprefix(root + "/"))
        return None

    def coming(self, what: str) -> None:
        """Hear that a step is about to be taken."""
        if what in self._counts:
            self.seen += 1
            if self._before and self.seen == self._at:
                self._act()

    def done(self, place: Place, what: str, offset: int = 0, content: bytes = b"") -> None:
        """Write down a step that was taken."""
        packed = cast("bytes", msgpack.packb([what, place.path, offset, content, self.name]))
        os.write(self._descriptors[place.log], _LENGTH.pack(len(packed)) + packed)
        if what in self._counts and not self._before and self.seen == self._at:
            self._act()


def record(logs: Sequence[DiskLog]) -> Recorder:
    """Record the steps of this process, and of its forks, from now on and for good."""
    recorder = Recorder(logs)
    _record_python(recorder)
    _record_sqlite(recorder)
    return recorder


# Python's own files.


def _record_python(recorder: Recorder) -> None:
    sys.addaudithook(lambda event, given: _hear(recorder, event, given))
    fsync = os.fsync

    def recorded_fsync(descriptor: int) -> None:
        own = f"/proc/self/fd/{descriptor}"
        place = recorder.find(Path(own).readlink())
        if place is None:
            fsync(descriptor)
            return
        is_folder = os.path.isdir(own)  # noqa: PTH112
        what = "sync_folder" if is_folder else "whole"
        recorder.coming(what)
        fsync(descriptor)
        recorder.done(place, what, content=b"" if is_folder else Path(own).read_bytes())

    os.fsync = recorded_fsync


def _hear(recorder: Recorder, event: str, given: tuple[Any, ...]) -> None:
    """Hear of a call that changes a folder's entries, just before it is made."""
    if event not in _CHANGES:
        return
    place = recorder.find(given[0])
    if place is None:
        return
    there = os.path.lexists(given[0])
    match event:
        case "open":
            if given[2] & os.O_CREAT and not there:
                recorder.done(place, "create")
        case "os.mkdir":
            if not there:
                recorder.done(place, "folder")
        case _ if there:
            target = recorder.find(given[1]) if event == "os.rename" else None
            what = _CHANGES[event]
            recorder.coming(what)
            recorder.done(place, what, content=b"" if target is None else target.path.encode())
        case _:
            pass  # there is nothing to rename or remove: the call will fail


_CHANGES: Mapping[str, str] = {
    "open": "create",
    "os.rename": "rename",
    "os.remove": "remove",
    "os.rmdir": "remove",
    "os.mkdir": "folder",
}
"""Python's words for calls that change entries, and ours."""


# SQLite's files.

_WORD = ctypes.sizeof(ctypes.c_void_p)
_X_WRITE, _X_TRUNCATE, _X_SYNC, _METHODS = 3, 4, 5, 19
"""Places in sqlite3_io_methods, and its length, in words (the first holds the version)."""
_OK, _IOERR = 0, 10
_OPEN_CREATE = 0x4

_OPEN = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p
)
_DELETE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int)
_WRITE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_longlong)
_TRUNCATE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_longlong)
_SYNC = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
_OPEN_FOLDER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


class _Vfs(ctypes.Structure):
    """sqlite3_vfs, version 3."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("file_bytes", ctypes.c_int),
        ("longest_path", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("app_data", ctypes.c_void_p),
        ("open", ctypes.c_void_p),
        ("delete", ctypes.c_void_p),
        ("others", ctypes.c_void_p * 11),
        ("set_system_call", ctypes.c_void_p),
        ("get_system_call", ctypes.c_void_p),
        ("next_system_call", ctypes.c_void_p),
    )


def _record_sqlite(recorder: Recorder) -> None:
    """Make a file layer SQLite's default one that tells what it does."""
    import _sqlite3  # noqa: PLC0415  the library that it was linked with is the one to change

    library = ctypes.CDLL(_sqlite3.__file__)
    library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
    library.sqlite3_vfs_find.argtypes = (ctypes.c_char_p,)
    library.sqlite3_vfs_register.argtypes = (ctypes.c_void_p, ctypes.c_int)
    found: Any = library.sqlite3_vfs_find(b"unix")
    _kept.append(_RecordingFiles(recorder, found.contents))
    library.sqlite3_vfs_register(ctypes.addressof(_kept[-1].vfs), 1)


class _RecordingFiles:
    """The file layer: SQLite's own, with its writes, syncs and folder entries told."""

    def __init__(self, recorder: Recorder, original: _Vfs) -> None:
        self._recorder = recorder
        self._places: dict[int, Place] = {}
        """By the address of SQLite's open file."""
        self._methods: dict[int, Any] = {}
        """Our tables of methods, by the address of SQLite's."""
        self._real_open = _OPEN(original.open)
        self._real_delete = _DELETE(original.delete)
        self._hold: list[Any] = [_OPEN(_guarded(self._open)), _DELETE(_guarded(self._delete))]
        self.vfs = _Vfs()
        ctypes.memmove(ctypes.addressof(self.vfs), ctypes.addressof(original), ctypes.sizeof(_Vfs))
        self.vfs.name = b"power-cut"
        self.vfs.open = ctypes.cast(self._hold[0], ctypes.c_void_p)
        self.vfs.delete = ctypes.cast(self._hold[1], ctypes.c_void_p)
        self._watch_folders(original)

    def _watch_folders(self, original: _Vfs) -> None:
        """SQLite opens a folder for one purpose: to sync it."""
        get = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(original.get_system_call)
        put = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
            original.set_system_call
        )
        unix = ctypes.addressof(original)
        self._real_open_folder = _OPEN_FOLDER(get(unix, b"openDirectory"))
        self._hold.append(_OPEN_FOLDER(_guarded(self._open_folder)))
        put(unix, b"openDirectory", ctypes.cast(self._hold[-1], ctypes.c_void_p))

    def _open(self, vfs: int, address: int | None, file: int, flags: int, out_flags: int | None) -> int:
        # SQLite keeps the very address of the name: a copy of the name would not live long enough.
        name = None if address is None else ctypes.string_at(address)
        existed = name is None or os.path.lexists(name)
        code = self._real_open(vfs, address, file, flags, out_flags)
        place = None if name is None else self._recorder.find(name)
        if code != _OK or place is None:
            return code
        if not existed and flags & _OPEN_CREATE:
            self._recorder.done(place, "create")
        self._places[file] = place
        methods = ctypes.c_void_p.from_address(file)
        if methods.value is not None:
            methods.value = self._recording(methods.value)
        return code

    def _recording(self, address: int) -> int:
        """Return the address of a table of methods like that one, but ours where the file changes."""
        if address not in self._methods:
            table = (ctypes.c_void_p * _METHODS).from_buffer_copy(
                (ctypes.c_void_p * _METHODS).from_address(address)
            )
            hold: list[Any] = []
            for slot, kind, ours in (
                (_X_WRITE, _WRITE, self._write),
                (_X_TRUNCATE, _TRUNCATE, self._truncate),
                (_X_SYNC, _SYNC, self._sync),
            ):
                real = kind(table[slot])
                hold += [real, kind(_guarded(ours(real)))]
                table[slot] = ctypes.cast(hold[-1], ctypes.c_void_p).value
            self._methods[address] = (table, hold)
        return ctypes.addressof(self._methods[address][0])

    def _write(self, real: Any) -> Callable[..., int]:
        def write(file: int, buffer: int, length: int, offset: int) -> int:
            self._recorder.coming("write")
            code = real(file, buffer, length, offset)
            content = ctypes.string_at(buffer, length)
            self._recorder.done(self._places[file], "write", offset, content)
            return code

        return write

    def _truncate(self, real: Any) -> Callable[..., int]:
        def truncate(file: int, length: int) -> int:
            self._recorder.coming("truncate")
            code = real(file, length)
            self._recorder.done(self._places[file], "truncate", length)
            return code

        return truncate

    def _sync(self, real: Any) -> Callable[..., int]:
        def sync(file: int, flags: int) -> int:
            self._recorder.coming("sync")
            code = real(file, flags)
            self._recorder.done(self._places[file], "sync")
            return code

        return sync

    def _delete(self, vfs: int, name: bytes, syncs_folder: int) -> int:
        place = self._recorder.find(name)
        if place is not None and os.path.lexists(name):
            self._recorder.coming("remove")
            self._recorder.done(place, "remove")
        return self._real_delete(vfs, name, syncs_folder)

    def _open_folder(self, name: bytes, descriptor: int) -> int:
        code = self._real_open_folder(name, descriptor)
        place = self._recorder.find(os.path.dirname(name))  # noqa: PTH120
        if code == _OK and place is not None:
            self._recorder.coming("sync_folder")
            self._recorder.done(place, "sync_folder")
        return code


_kept: list[_RecordingFiles] = []
"""Referred to by SQLite: never let go of."""


def _guarded(act: Callable[..., int]) -> Callable[..., int]:
    """Return a callback that ends the process where it fails: ctypes would go on as if nothing had been."""

    def call(*given: Any) -> int:
        try:
            return act(*given)
        except BaseException as error:  # noqa: BLE001
            os.write(2, f"the recording of the disk failed: {error!r}\n".encode())
            os._exit(70)

    return call
