"""A sheet judged again from its picture and its record, as the device judged it."""

import cv2
import numpy as np

from recount_classifier.decoding import is_whole_png
from recount_classifier.errors import ClassifierError
from recount_classifier.evidence import Evidence
from recount_classifier.judge import judge
from recount_classifier.program import Grey, Program
from recount_host.law.logic_accuracy import outcome_in_words
from recount_protocol.records import Record

MAX_CROP_PIXELS = 64 * 1024 * 1024
"""A whole sheet of 22 inches at 400 dpi has less."""
_PNG_HEAD = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
_GREY_8_BIT = b"\x08\x00"
_UNUSABLE = (ClassifierError, KeyError, ValueError, IndexError, ArithmeticError, cv2.error, MemoryError)
"""What evidence or pictures raise that no device of ours wrote; a signature does not make them usable."""


class NoCrop(ValueError):
    """These bytes are no picture as a device stores it."""


def judge_again(record: Record, png: bytes, program: Program) -> str:
    """Return in a sentence how the verdict made here differs from the recorded one; "" when it does not."""
    try:
        verdict = judge(Evidence.from_fields(record.body["evidence"], decode_crop(png)), program)
    except _UNUSABLE as error:
        return f"it cannot be judged ({error or type(error).__name__})"
    told = (record.body["fate"], tuple(record.body["choices"]), tuple(record.body["reasons"]))
    here = (verdict.fate, verdict.choices, verdict.reasons)
    return (
        ""
        if told == here
        else f"the device recorded {outcome_in_words(told)}; judged here it is {outcome_in_words(here)}"
    )


def decode_crop(png: bytes) -> Grey:
    """Return the pixels of a stored crop: PNG of 8-bit grey, and nothing else. Raises NoCrop.

    Its size is looked at before anything is unpacked.
    """
    if len(png) < 33 or not png.startswith(_PNG_HEAD) or png[24:26] != _GREY_8_BIT:
        raise NoCrop("it is no PNG of grey pixels")
    width, height = int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")
    if not 0 < width * height <= MAX_CROP_PIXELS:
        raise NoCrop(f"it has {width} x {height} pixels")
    if not is_whole_png(png):
        raise NoCrop("it is a damaged PNG")
    picture = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_GRAYSCALE)
    if picture is None or picture.shape != (height, width):
        raise NoCrop("it is a damaged PNG")
    return picture.astype(np.uint8, copy=False)
