"""The tables of docs/protocol.md, made from the code's: `python -m protocol.tests.page` writes them anew.

The page's prose is written by hand; what stands between a pair of `made from` marks is replaced.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from recount_protocol import feeder_messages, orders, tally_messages
from recount_protocol.fields import Fields
from recount_protocol.records import ENVELOPE, KINDS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "protocol.md"

TYPES = {
    "B": ("u8", 0xFF),
    "H": ("u16", 0xFFFF),
    "I": ("u32", 0xFFFFFFFF),
    "5I": ("5 u32", 0xFFFFFFFF),
    "8I": ("8 u32", 0xFFFFFFFF),
}

FEEDER_MEANINGS = {
    "configure": "the path's measures and speeds; taken before the first sheet",
    "feed": "pick one sheet, this is its number; stop it under the camera",
    "divert": "the verdict for exactly this sheet: drive it to this exit",
    "clear": "leave the stop; allowed only with an empty path",
    "halt": "stop now",
    "ask": "send a report",
    "identify": "tell which firmware you are",
    "configured": "the measures as they were taken",
    "entered": "the leading edge reached the entry sensor",
    "at_camera": "the sheet rests under the camera; its length as measured",
    "landed": "the trailing edge passed that exit's sensor",
    "stopped": "the motors are off, for this reason; sheet 0: none in the path",
    "cleared": "the stop is left",
    "report": "state, sensors, last sheet out, and how often a protective stop came",
    "refused": "that kind of command is not allowed in this state",
    "firmware": "SHA-256 over the board's own files ([feeder.md](feeder.md)), its 32 bytes as numbers",
}
TALLY_MEANINGS = {
    "introduce": "who this device is, the number its next record will have, and the hash of its last; "
    "`proof` is its signature over all this, the host's key and the challenge",
    "records": "records in their order, each the 64 bytes of its signature and then the bytes "
    "that were signed",
    "crop_part": "a part of the picture that belongs to record `n`",
    "program_wanted": "send this contest program from this byte on",
    "device_state": "words for the live page; never a figure",
    "challenge": "prove that you have your key, by signing this too",
    "welcome": "send records from `next_n` on, and crops from record `crop_n` on (0: none is missing); "
    "of that one the first `crop_offset` bytes are here",
    "acknowledged": "all records up to `n` are on the host's disk",
    "crop_taken": "the crop of record `n` is on the host's disk",
    "program_part": "a part of a contest program",
    "order": "what people ordered, signed by the host's key (below)",
    "refused": "this device, or what it sent, is not taken",
}
ORDER_MEANINGS = {
    "assign_run": "open this run",
    "close_run": "close this run",
    "void_batch": "both officials void this batch",
    "settle_doubt": "both officials say where the sheet in doubt is",
    "arm_device": "both sides certified this logic-and-accuracy test: live sheets may be counted",
    "disarm_device": "no live sheet is fed until the device has passed logic and accuracy again",
}
RECORD_MEANINGS = {
    "device_started": "the device's program started",
    "run_opened": "a precinct's ballots are read with this program, in this mode",
    "batch_opened": "a stack is about to be fed",
    "sheet_judged": "the verdict, on disk before the diverter moves; set aside, it is the set-aside notice",
    "sheet_landed": "the sheet lies in its bin",
    "sheet_returned": "the sheet was given back without a tally",
    "repeat_suspected": "judged, and it looks like another sheet of this batch: it is in doubt, too",
    "sheet_in_doubt": "judged, and nobody knows where it landed",
    "doubt_settled": "both officials said where it is",
    "batch_closed": "the tally of the stack",
    "batch_voided": "both officials voided the stack; it is fed again as another batch",
    "run_closed": "the run is over",
    "device_armed": "the device passed logic and accuracy as it is now, and may count live sheets",
    "device_disarmed": "the device may count no live sheet until it has passed logic and accuracy again",
    "fault": "something went wrong that is no sheet's",
}


def _bounded(code: str, lowest: int, highest: int) -> str:
    """Return a field's type, and its bounds where they are closer than the type's own."""
    word, most = TYPES[code]
    if highest < most:
        return f"{word} {lowest} to {highest}"
    return f"{word} from {lowest}" if lowest else word


def feeder_table() -> str:
    """Return the table of feeder messages."""
    lines = ["| kind | message | from | fields | meaning |", "| ---: | --- | --- | --- | --- |"]
    for kind in sorted(feeder_messages.KINDS):
        name = feeder_messages.KINDS[kind]
        _kind, sender, fields = feeder_messages.MESSAGES[name]
        told = ", ".join(f"`{field}` {_bounded(code, low, high)}" for field, code, low, high in fields)
        lines.append(f"| {kind} | `{name}` | {sender} | {told or 'none'} | {FEEDER_MEANINGS[name]} |")
    return "\n".join(lines)


def word_table() -> str:
    """Return the numbers of the feeder's words."""
    lines = ["| | words, with their numbers |", "| --- | --- |"]
    for title, words in (
        ("exit", feeder_messages.EXITS),
        ("state", feeder_messages.STATES),
        ("stop reason", feeder_messages.STOP_REASONS),
        ("sensor (bit)", feeder_messages.SENSORS),
        ("counts (place)", feeder_messages.COUNTS),
    ):
        lines.append(f"| {title} | {', '.join(f'{number} {word}' for number, word in enumerate(words))} |")
    return "\n".join(lines)


def _fields(fields: Fields) -> str:
    return (
        "<br>".join(f"`{name}`: {field.text.replace('|', '/')}" for name, field in fields.items()) or "none"
    )


def tally_table() -> str:
    """Return the table of tally messages."""
    lines = ["| message | from | fields | meaning |", "| --- | --- | --- | --- |"]
    for sender, table in (("device", tally_messages.FROM_DEVICE), ("host", tally_messages.FROM_HOST)):
        for kind, fields in table.items():
            lines.append(f"| `{kind}` | {sender} | {_fields(fields)} | {TALLY_MEANINGS[kind]} |")
    return "\n".join(lines)


def order_table() -> str:
    """Return the table of orders, the envelope first."""
    lines = ["| order | fields | meaning |", "| --- | --- | --- |"]
    lines.append(f"| every order | {_fields(orders.ENVELOPE)} | the envelope: for whom, when, and what |")
    lines += [
        f"| `{kind}` | {_fields(fields)} | {ORDER_MEANINGS[kind]} |" for kind, fields in orders.ORDERS.items()
    ]
    return "\n".join(lines)


def record_table() -> str:
    """Return the table of record kinds, the envelope first."""
    lines = ["| kind | fields of the body | meaning |", "| --- | --- | --- |"]
    lines.append(f"| every record | {_fields(ENVELOPE)} | the envelope, before the body |")
    lines += [f"| `{kind}` | {_fields(fields)} | {RECORD_MEANINGS[kind]} |" for kind, fields in KINDS.items()]
    return "\n".join(lines)


TABLES = {
    "feeder_messages.MESSAGES": feeder_table,
    "feeder_messages words": word_table,
    "tally_messages.MESSAGES": tally_table,
    "orders.ORDERS": order_table,
    "records.KINDS": record_table,
}


def with_tables(page: str, tables: Mapping[str, Callable[[], str]]) -> str:
    """Return the page with each table between its marks made anew. Raises ValueError without a mark."""
    for source, table in tables.items():
        begin, end = f"<!-- made from {source}: begin -->", f"<!-- made from {source}: end -->"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        made = f"{begin}\n{table()}\n{end}"
        page, found = pattern.subn(lambda _match, made=made: made, page)
        if found != 1:
            raise ValueError(f"the page has {found} places for {source}")
    return page


def made_anew(page: str) -> str:
    """Return the page with its tables made from the code as it is. Raises ValueError without a mark."""
    return with_tables(page, TABLES)


if __name__ == "__main__":
    PAGE.write_text(made_anew(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
