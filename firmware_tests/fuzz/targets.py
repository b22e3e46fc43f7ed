"""What is fuzzed: for each decoder its seeds, how its inputs are changed, and what may come of them.

`decode` returns whether the input got past its outermost layer (frame, hash, tar). Whatever else than the
decoder's own errors comes out of it is a finding.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib import import_module
from random import Random
from types import CodeType, FunctionType
from typing import Any
from zlib import crc32

from cobs import cobs

from device.tests.least_program import least_program
from firmware_tests.fuzz.mutating import havoc, one_of, packed_again
from firmware_tests.fuzz.odd_messages import odd_messages, plain_messages
from recount_classifier import program as program_file
from recount_classifier.errors import ProgramError
from recount_classifier.program import MAGIC, Option, read_program
from recount_protocol import feeder_messages, fields, frames, records, tally_messages
from recount_protocol.delivery import Delivery
from recount_protocol.errors import FrameError, MessageError, RecordError
from recount_protocol.feeder_messages import MESSAGES as FEEDER
from recount_protocol.frames import FrameReader, encode_frame
from recount_protocol.records import decode_record, encode_record

SHORT_BYTES = 60
"""The longest payload that the reader under test takes: frames too long for it come often."""


@dataclass(frozen=True)
class Target:
    """One decoder under test."""

    name: str
    inputs: int
    """How many `make fuzz` gives it."""
    max_bytes: int
    """The longest input that is made of another; seeds may be longer."""
    seeds: Callable[[], Sequence[bytes]]
    change: Callable[[bytes, Random, int], bytes]
    decode: Callable[[bytes], bool]
    code: Sequence[FunctionType]
    """The functions whose lines must be reached."""
    beyond: Mapping[str, str] = field(default_factory=dict[str, str])
    """Lines of them, as they are written, that no input can reach, each with the reason."""
    guided_by: Sequence[str] = ()
    """Modules and packages that guide the fuzzer whole. Without them the functions of `code` alone do, which
    is three times as fast."""


# Frames, and what they carry


def payloads_of(stream: bytes, most: int) -> list[bytes]:
    """Return the payloads that come through a frame reader."""
    return [each for each in FrameReader(most).feed(stream) if isinstance(each, bytes)]


def _framed(payload: bytes) -> bytes:
    """Return a frame made by a library in C: ours is traced here, and should not vouch for itself."""
    return cobs.encode(payload + crc32(payload).to_bytes(4, "little")) + b"\0"


def _unframed(stream: bytes) -> list[bytes]:
    """Return the payloads whose frames are whole."""
    found: list[bytes] = []
    for stuffed in stream.split(b"\0")[:-1]:
        try:
            body = cobs.decode(stuffed)
        except cobs.DecodeError:
            continue
        if len(body) >= 4 and crc32(body[:-4]).to_bytes(4, "little") == body[-4:]:
            found.append(body[:-4])
    return found


def _change_stream(stream: bytes, random: Random, most: int, change: Callable[[bytes], bytes]) -> bytes:
    """Return the stream with one payload changed and its checksum made right, or with its bytes changed."""
    payloads = _unframed(stream)
    if not payloads or random.random() < 0.15:
        return havoc(stream, random, most)
    at = random.randrange(len(payloads))
    what = random.randrange(8)
    if what == 0:
        payloads.insert(at, payloads[random.randrange(len(payloads))])
    elif what == 1 and len(payloads) > 1:
        del payloads[at]
    else:
        payloads[at] = change(payloads[at])
    return b"".join(map(_framed, payloads))[:most]


def _change_frames(stream: bytes, random: Random, most: int) -> bytes:
    return _change_stream(stream, random, most, lambda payload: havoc(payload, random, 300))


def _decode_frames(data: bytes) -> bool:
    """Read frames cut up anyhow, and give the same bytes to a delivery."""
    reader = FrameReader(SHORT_BYTES)
    cut = data[0] if data else 0
    found = [*reader.feed(data[:cut]), *reader.feed(data[cut:])]
    for each in found:
        assert isinstance(each, bytes | FrameError)
    assert len(reader._kept) <= frames.max_frame_bytes(SHORT_BYTES)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    end = Delivery(1, 0xABCD, 1, 240)
    end.receive(data, 0)
    return any(isinstance(each, bytes) for each in found)


def _frame_seeds() -> list[bytes]:
    """Return what two ends write to each other, and payloads with long runs."""
    ends = [Delivery(1, 0xABCD, boot_id, 240) for boot_id in (1, 2)]
    written = [b"", b""]
    for now_ms in range(0, 200, 5):
        for n, end in enumerate(ends):
            if end.can_send:
                end.send(bytes([now_ms]) * 20)
            data = end.output(now_ms)
            written[n] += data
            ends[1 - n].receive(data, now_ms)
    runs = map(encode_frame, (b"", b"\0" * 60, b"\xff" * 60, bytes(range(60))))
    whole = [frame + b"\0" for stream in written for frame in stream.split(b"\0") if frame]
    return [*(b"".join(whole[at : at + 3]) for at in range(0, min(len(whole), 60), 3)), *runs]


def _decode_feeder(data: bytes) -> bool:
    payloads = payloads_of(data, feeder_messages.MAX_PAYLOAD_BYTES)
    for payload in payloads:
        try:
            name, values = feeder_messages.decode(payload)
        except MessageError:
            continue
        assert feeder_messages.encode(name, **values) == payload
    return bool(payloads)


def _change_feeder(stream: bytes, random: Random, most: int) -> bytes:
    return _change_stream(stream, random, most, lambda payload: havoc(payload, random, 240))


def _feeder_seeds() -> list[bytes]:
    seeds: list[bytes] = []
    for name, (_, _, specified) in FEEDER.items():
        values = {
            field: (lowest,) * int(code[:-1]) if len(code) > 1 else lowest
            for field, code, lowest, _ in specified
        }
        seeds.append(encode_frame(feeder_messages.encode(name, **values)))
    return seeds


def _tally_seeds() -> list[bytes]:
    return [_framed(message) for message in (*plain_messages(), *odd_messages())]


def _change_tally(stream: bytes, random: Random, most: int) -> bytes:
    def change(payload: bytes) -> bytes:
        return one_of(
            random,
            (
                lambda: packed_again(payload, random, 60_000),
                lambda: _change_record(payload, random),
                lambda: havoc(payload, random, 60_000),
            ),
        )

    return _change_stream(stream, random, most, change)


def _change_record(payload: bytes, random: Random) -> bytes:
    """Return the message with the record in it changed, where it holds one."""
    try:
        kind, values = tally_messages.unpack(payload)
        if kind != "records":
            return packed_again(payload, random, 60_000)
        at = random.randrange(len(values["records"]))
        signed = values["records"][at]
        values["records"][at] = signed[:64] + packed_again(signed[64:], random, 59_000)
        return tally_messages.pack(kind, **values)
    except MessageError:
        return packed_again(payload, random, 60_000)


def _decode_tally(data: bytes) -> bool:
    payloads = payloads_of(data, 65_536)
    for payload in payloads:
        try:
            kind, values = tally_messages.unpack(payload)
        except MessageError:
            continue
        for written, _signature in tally_messages.signed_records(values) if kind == "records" else ():
            try:
                record = decode_record(written)
            except RecordError:
                continue
            assert encode_record(record) == written
    return bool(payloads)


# Programs


@cache
def program_seeds() -> tuple[bytes, ...]:
    options = (Option("D", "Ann", write_in=False), Option("W", "Write-in", write_in=True))
    return (least_program("governor", "Governor", options).to_bytes(),)


def change_program(data: bytes, random: Random, most: int) -> bytes:
    content = data[len(MAGIC) + 32 :]
    if not data.startswith(MAGIC) or random.random() < 0.1:
        return havoc(data, random, most)
    content = packed_again(content, random, most - len(MAGIC) - 32)
    return MAGIC + sha256(content).digest() + content


def decode_program(data: bytes) -> bool:
    try:
        made = read_program(data)
    except ProgramError as error:
        if "\n" in str(error)[:200]:
            raise AssertionError("more than one line") from error
        return data[len(MAGIC) : len(MAGIC) + 32] == sha256(data[len(MAGIC) + 32 :]).digest()
    assert made.to_bytes() == data
    return True


def check_sentence(error: Exception, most: int) -> None:
    """Raise AssertionError where what people would be told is longer than anybody reads."""
    if len(str(error)) > most:
        raise AssertionError("no sentence is as long") from error


def named(owner: Any, names: str) -> tuple[FunctionType, ...]:
    """Return the functions of a module or class with these names."""
    return tuple(vars(owner)[name] for name in names.split())


def all_but(module: Any, names: str) -> tuple[FunctionType, ...]:
    """Return the functions of a module except those with these names."""
    return tuple(
        each
        for name, each in vars(module).items()
        if isinstance(each, FunctionType) and each.__module__ == module.__name__ and name not in names.split()
    )


TARGETS = (
    Target(
        "frames",
        3_000_000,
        160,
        _frame_seeds,
        _change_frames,
        _decode_frames,
        (
            *named(frames, "_unstuffed"),
            *named(FrameReader, "feed _finish _counted"),
        ),
        guided_by=("recount_protocol.frames", "recount_protocol.delivery"),
    ),
    Target(
        "feeder messages",
        3_000_000,
        160,
        _feeder_seeds,
        _change_feeder,
        _decode_feeder,
        named(feeder_messages, "decode _check _numbers_in"),
    ),
    Target(
        "tally messages",
        3_000_000,
        1_200,
        _tally_seeds,
        _change_tally,
        _decode_tally,
        (
            *all_but(fields, "write_map"),
            *named(tally_messages, "unpack _fields_of"),
            *named(records, "decode_record _fields_of"),
        ),
        {
            'raise FieldError(f"{name} holds a {kind.__name__}, which is no plain value")': (
                "msgpack gives no other values, extensions being refused; this is for maps of our own"
            ),
        },
    ),
    Target(
        "programs",
        100_000,
        8000,
        program_seeds,
        change_program,
        decode_program,
        all_but(program_file, "_array _patches _style_fields make_program"),
    ),
)

MODULES = {
    "orders": ("orders", "ORDERS_TARGET"),
    "crops": ("crops", "CROPS"),
    "sealed bundles": ("sealed_bundles", "SEALED"),
    "bundles": ("bundles", "BUNDLES"),
}
"""Targets with a module of their own, loaded when asked for: some need the whole host."""

NAMES = (*(each.name for each in TARGETS), *MODULES)
"""All targets."""


def target(name: str) -> Target:
    """Return the target with this name."""
    for each in TARGETS:
        if each.name == name:
            return each
    module, constant = MODULES[name]
    return getattr(import_module(f"firmware_tests.fuzz.{module}"), constant)


def lines_of(code: CodeType) -> set[int]:
    """Return the numbers of a function's lines, those of functions within it included."""
    own = {line for _, _, line in code.co_lines() if line is not None and line != code.co_firstlineno}
    return own.union(*(lines_of(inner) for inner in code.co_consts if isinstance(inner, CodeType)))
