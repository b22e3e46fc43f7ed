"""Every text the panel shows: one table. No text holds a count, a choice or a vote.

A fate stands in it only as the tray that a person has to lay a sheet in.

`key` is the kind of situation, the same for all texts that ask for the same step; the host's page shows it
too. Texts are short, one step after the other, in words that need no training.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from recount_device.panel import Message
from recount_protocol.fates import COUNTED, NOT_ACCEPTED, SET_ASIDE


class Text(NamedTuple):
    """One entry of the table."""

    key: str
    text: str
    """May name {sheet}, {why}, {like} (another sheet) and {tray}."""
    question: str | None = None
    ready: bool = False
    attention: bool = False


MESSAGES: Mapping[str, Text] = {
    "starting": Text("idle", "The device is starting."),
    "no_host": Text("idle", "The host does not answer. Wait, or check the cable to the host."),
    "no_run": Text("idle", "No precinct is assigned to this device. Wait for the host."),
    "program_awaited": Text("idle", "The contest program is on its way from the host. Wait."),
    "host_refuses": Text("idle", "The host does not take this device: {why}", attention=True),
    "pin_host": Text(
        "pin_host",
        "A host answers that this device does not know. Its words are: {why}. Compare them with the words "
        "on the host's own screen. If all eight are the same, press Confirm. If not, call the technician.",
        "Are all eight words the same? Press Confirm.",
        attention=True,
    ),
    "order_refused": Text("idle", "{why}", attention=True),
    "stopping": Text("idle", "The device is being switched off. Wait."),
    "press_start": Text(
        "press_start", "Put the stack on the hopper, then press Start.", "Press Start.", ready=True
    ),
    "paused": Text(
        "press_start",
        "Feeding is paused. {why} Press Start to go on, or End batch.",
        "Press Start or End batch.",
        ready=True,
    ),
    "after_void": Text(
        "press_start",
        "The batch is void. Put all its sheets back on the hopper, then press Start.",
        "Press Start.",
        ready=True,
    ),
    "feeding": Text("feeding", "Feeding.", ready=True),
    "hopper_empty": Text(
        "hopper_empty",
        "The hopper is empty. Put more sheets of this batch on it and press Start, or press End batch.",
        "Press Start or End batch.",
        ready=True,
    ),
    "batch_full": Text("batch_full", "This batch is full. Press End batch.", "Press End batch.", ready=True),
    "take_out": Text(
        "take_out_and_return",
        "Sheet {sheet}: {why} Open the cover, take the sheet out, close the cover. "
        "Put the sheet back on top of the hopper, then press Confirm.",
        "Is the sheet back on the hopper? Press Confirm.",
        attention=True,
    ),
    "find": Text(
        "take_out_and_return",
        "Sheet {sheet} was under way. {why} Open the cover, take out what is inside, close the cover. "
        "If you have this sheet in your hand or laid it in a tray, take that one. "
        "Put the sheet back on top of the hopper, then press Confirm.",
        "Is the sheet back on the hopper? Press Confirm.",
        attention=True,
    ),
    "came_back": Text(
        "take_out_and_return",
        "Sheet {sheet} came back. {why} Put it back on top of the hopper, then press Confirm.",
        "Is the sheet back on the hopper? Press Confirm.",
        attention=True,
    ),
    "take_apart": Text(
        "take_out_and_return",
        "Two sheets came back together. Separate them, put both back on top of the hopper, "
        "then press Confirm.",
        "Are both sheets back on the hopper? Press Confirm.",
        attention=True,
    ),
    "to_tray": Text(
        "take_out_to_tray",
        "Sheet {sheet}: {why} It is the second time. Open the cover, take the sheet out, close the cover. "
        "Lay the sheet on top in the tray NOT ACCEPTED, then press Confirm.",
        "Is the sheet in the tray NOT ACCEPTED? Press Confirm.",
        attention=True,
    ),
    "set_aside": Text(
        "take_out_to_set_aside",
        "Sheet {sheet} is for the officials. Open the cover, take the sheet out, close the cover. "
        "Lay the sheet on top in the tray SET ASIDE, then press Confirm.",
        "Is the sheet in the tray SET ASIDE? Press Confirm.",
        attention=True,
    ),
    "not_accepted": Text(
        "take_out_to_tray",
        "Sheet {sheet} cannot be read here. Open the cover, take the sheet out, close the cover. "
        "Lay the sheet on top in the tray NOT ACCEPTED, then press Confirm.",
        "Is the sheet in the tray NOT ACCEPTED? Press Confirm.",
        attention=True,
    ),
    "ask_officials": Text(
        "ask_officials",
        "Sheet {sheet}: nobody saw where it went. Do not move any sheet. "
        "Call the two officials: they look where it lies and tell the host. {why}",
        "Wait for the officials.",
        attention=True,
    ),
    "ask_whether_read": Text(
        "ask_officials",
        "Sheet {sheet} looks like sheet {like}, which was read in this batch. Call the two officials: the "
        "host shows both pictures. Open the cover, take sheet {sheet} out, close the cover, and compare. "
        "The same sheet: lay it back where it was taken from, and tell the host: returned. "
        "Another sheet: lay it on top in the tray {tray}, and tell the host this tray. {why}",
        "Wait for the officials.",
        attention=True,
    ),
    "batch_void_needed": Text(
        "batch_void_needed",
        "This batch cannot be closed: {why}. Keep all its sheets together. "
        "Call the two officials: they void the batch at the host, and all its sheets are fed again.",
        "Wait for the officials.",
        attention=True,
    ),
    "no_feeder": Text(
        "fault", "The feeder does not answer. Check its power and its cable. {why}", attention=True
    ),
    "path_not_clear": Text(
        "take_out_and_return",
        "There is still a sheet in the feeder. Open the cover, take it out, close the cover. "
        "Then press Confirm again.",
        "Is the feeder empty? Press Confirm.",
        attention=True,
    ),
    "cover_open": Text(
        "fault",
        "The cover is open. Close it, then press the button again.",
        "Close the cover.",
        attention=True,
    ),
    "stop_button": Text(
        "fault",
        "The stop button is pressed. Pull it out, then press the button again.",
        "Release the stop button.",
        attention=True,
    ),
    "foreign_firmware": Text(
        "fault",
        "The firmware of the feeder is not the one that this device was released with. Nothing is fed. "
        "Press End batch if a batch is open, and call the technician.",
        attention=True,
    ),
    "other_software": Text(
        "fault",
        "{why} Nothing more is fed in it. Press End batch if a batch is open, "
        "then end the run at the host and assign a new one.",
        attention=True,
    ),
    "not_armed": Text(
        "fault",
        "This device is not armed: {why}. Nothing more is fed in a live run. "
        "Press End batch if a batch is open, and run logic and accuracy again.",
        attention=True,
    ),
    "self_test_failed": Text(
        "fault",
        "The device's test of itself failed: {why} Then press Confirm: it tests itself again. Nothing is fed "
        "before it passes; a device that was armed must pass logic and accuracy again.",
        "Is it mended? Press Confirm.",
        attention=True,
    ),
    "disk_full": Text(
        "fault", "The device's disk is nearly full. Nothing is fed. Call the technician.", attention=True
    ),
    "fault": Text("fault", "{why}", attention=True),
}
"""name -> what is shown."""

STOP_SENTENCES: Mapping[str, str] = {
    "pick_failed": "The feeder could not pull in a sheet. Straighten the stack.",
    "stop": "The Stop button of the panel was pressed.",
    "restart": "The device started anew in the middle of this batch.",
    "refused": "The feeder did not take the command to feed.",
}
"""Why feeding is paused, where no reason of reasons.PATH_REASONS tells it."""

SENTENCES: Mapping[str, str] = {
    # a warning beside what the panel shows anyway
    "dirty_glass": "Clean the camera glass at the next pause: a line stays in the pictures.",
    # orders of the host that cannot be obeyed
    "run_is_open": "Run {run} cannot begin: run {open_run} is open. End it at the host.",
    "mode_refused": "Run {run} cannot begin in mode {mode}: {why}.",
    "arming_refused": "This device cannot be armed by the test {run}: {why}. Run logic and accuracy again.",
    "other_contest": "Run {run} cannot begin: its program is for the contest {contest}.",
    "other_software": "Since run {run} was opened on this device, {changed}.",
    "batch_is_open": "The run cannot be ended: a batch is open. Press End batch first.",
    "settled_elsewhere": "Sheet {sheet} was not sent there: lay it on the hopper or in the tray NOT ACCEPTED,"
    " and settle it so.",
    # a host that cannot be worked with
    "host_unknown_words": "The host says what no host says ({error}): install the same release at both ends.",
    "host_is_another": "The host shows another key ({words}) than the one pinned here: this is not the host "
    "that this device obeys. Call the technician.",
    "channel_broken": "What came from the host was changed on its way, or is not from it ({error}). "
    "Look at the cable, and who else has access to it.",
    "two_hosts": "While the words of one host were compared, another one answered ({words}): somebody stands "
    "between. Do not press Confirm. Call the technician.",
    "forged_order": "Something that the host did not order was refused: {error}. Call the technician.",
    "journal_is_old": "The host has later records of this device than its journal: it is an old copy. "
    "Feed nothing. Call the technician.",
    "host_is_old": "The host lacks records of this device that it had acknowledged: its ledger is an older "
    "copy, or another computer has its key. Call the technician.",
    "program_too_long": "The host sends a contest program that is too long or empty. Call the technician.",
    # a feeder that is gone or cannot be worked with
    "feeder_silent": "Nothing is heard from it.",
    "feeder_restarted": "It has started anew.",
    "feeder_dropped": "It has lost the connection.",
    "feeder_closed": "The port was closed.",
    "feeder_unknown_words": "It says what no feeder says: install its firmware again.",
    "feeder_numbers": "It does not take the numbers of its path: compare DEVICE.toml with its manual.",
}
"""Sentences that stand inside a message's {why}, or are the whole of it."""


def sentence(name: str, **words: object) -> str:
    """Return the sentence of this name, with its words filled in."""
    return SENTENCES[name].format(**words)


TRAYS: Mapping[str, str] = {COUNTED: "COUNTED", SET_ASIDE: "SET ASIDE", NOT_ACCEPTED: "NOT ACCEPTED"}
"""What is written on each tray."""


def message(name: str, *, sheet: int = 0, why: str = "", like: int = 0, tray: str = "") -> Message:
    """Return the panel's message of this name."""
    entry = MESSAGES[name]
    text = " ".join(entry.text.format(sheet=sheet, why=why, like=like, tray=tray).split())
    return Message(
        entry.key,
        text,
        sheet,
        entry.question,
        {"ready": entry.ready, "attention": entry.attention},
    )


_BESIDE_DIRTY_GLASS = frozenset({"press_start", "feeding", "hopper_empty", "batch_full"})
"""Kinds of situation in which a hand is free for the glass, or soon will be; no question is drowned by it."""


def with_dirty_glass(shown: Message) -> Message:
    """Return the message with the request to clean the camera's glass, where there is room for one."""
    if shown.key not in _BESIDE_DIRTY_GLASS:
        return shown
    text = f"{shown.text} {sentence('dirty_glass')}"
    return replace(shown, text=text, lamps={**shown.lamps, "attention": True})
