"""Why a sheet comes back or is not accepted for reasons of the paper path; the classifier has its own table.

Each word stands in `sheet_returned` or `sheet_judged` records and on the panel. The second time in a row that
a sheet comes back for one reason it goes to the not-accepted tray, to be counted by hand, where
`second_time_tray` says so. A double feed never does: two sheets would be counted as one there.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from recount_classifier.reasons import REASONS as READING_REASONS
from recount_protocol.fates import RETURNED


class PathReason(NamedTuple):
    """One reason of the paper path."""

    sentence: str
    """What the operator is told."""
    second_time_tray: bool
    """Whether the second time in a row sends the sheet to the not-accepted tray."""


PATH_REASONS: Mapping[str, PathReason] = {
    "jam": PathReason("The sheet jammed.", second_time_tray=True),
    "double_feed": PathReason("Two sheets were pulled in together.", second_time_tray=False),
    "over_long": PathReason("The sheet is too long, or two hang together.", second_time_tray=True),
    "short_sheet": PathReason("The sheet is too short, or torn.", second_time_tray=True),
    "cover_open": PathReason("The cover was opened.", second_time_tray=False),
    "stop_button": PathReason("The stop button was pressed.", second_time_tray=False),
    "station_silent": PathReason("The device stopped for a moment.", second_time_tray=False),
    "wrong_exit": PathReason("The sheet was seen where it should not be.", second_time_tray=False),
    "unexpected_sheet": PathReason("A sheet was seen where none should be.", second_time_tray=False),
    "path_not_clear": PathReason("The feeder started anew with a sheet inside.", second_time_tray=False),
    "halt": PathReason("The feeder was stopped.", second_time_tray=False),
    "firmware_error": PathReason("The feeder's program failed.", second_time_tray=False),
    "diverter": PathReason("The diverter did not move.", second_time_tray=False),
    "camera_fault": PathReason("The camera gave no picture.", second_time_tray=True),
    "reading_failed": PathReason("The sheet could not be read in time.", second_time_tray=True),
    "restart": PathReason("The device started anew.", second_time_tray=False),
    "taken_out": PathReason("The sheet is no longer in the feeder.", second_time_tray=False),
}
"""Every reason of the paper path."""


def sentence_of(word: str) -> str:
    """Return what the operator is told about a reason of the path or of the reading."""
    if word in PATH_REASONS:
        return PATH_REASONS[word].sentence
    return READING_REASONS[word].sentence


SAME_ON_THE_PATH: Mapping[str, str] = {"two_sheets": "double_feed"}
"""What the reading sees of the path: whatever sees two sheets, they come back and are taken apart."""


def feed_again(words: Iterable[str]) -> tuple[str, ...]:
    """Return those reasons of a reading for which the sheet comes back; the others tell of marks."""
    seen = (SAME_ON_THE_PATH.get(word, word) for word in words)
    return tuple(word for word in seen if word in PATH_REASONS or READING_REASONS[word].fate == RETURNED)


def second_time_tray(word: str) -> bool:
    """Return whether the second time in a row for this reason ends in the not-accepted tray."""
    return PATH_REASONS[word].second_time_tray if word in PATH_REASONS else True
