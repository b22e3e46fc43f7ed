"""What people see of a sheet's stored crop: with the reasons for its verdict, or plain.

The verdict is made anew here, from the record's evidence, the crop and the contest program, by the same code
as on the device: nobody has to believe the device's picture. The stored crop is untouched; people see nothing
of it but the contest. Who may see what and when is the law's matter (`law.disclosure`), not decided here.
"""

import threading
from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_classifier.decoding import decode_image
from recount_classifier.errors import ClassifierError
from recount_classifier.evidence import Evidence
from recount_classifier.explain import explain
from recount_classifier.judge import Verdict, judge
from recount_classifier.program import Program, read_program
from recount_classifier.reasons import REASONS
from recount_classifier.upright import contest_only
from recount_host.plain_words import plain_words
from recount_protocol.records import Record

NO_PROGRAM = "This host does not have the contest program of this sheet, so the picture has no measurements."
NO_EVIDENCE = "The record of this sheet holds no measurements, so the picture has none."
CANNOT_BE_JUDGED = (
    "What was recorded of this sheet cannot be judged here, so the picture has no measurements."
)

_KEPT_PICTURES = 24
"""Explained pictures that are kept to be shown again; some 0.7 MB each."""


_UNUSABLE = (ClassifierError, KeyError, ValueError, ArithmeticError, cv2.error)
"""What unusable evidence or pictures raise; a signed record does not make them usable."""


class SheetPictures:
    """Makes the pictures of sheets, one at a time: pages never take the processor from the links."""

    def __init__(
        self, crop: Callable[[str, int], bytes | None], program: Callable[[bytes], bytes | None]
    ) -> None:
        """Take the ledger's `crop(device, n)` and `program(hash)`."""
        self._crop = crop
        self._program_file = program
        self._lock = threading.Lock()
        self._programs: dict[bytes, Program] = {}
        self._made: dict[tuple[str, int], bytes] = {}

    def lacks(self, record: Record, program_hash: bytes) -> str:
        """Return in a sentence why the sheet's picture cannot be explained; empty when it can be."""
        if not record.body["evidence"]:
            return NO_EVIDENCE
        program = self._program(program_hash)
        if program is None:
            return NO_PROGRAM
        return "" if record.body["style"] in program.styles_by_id else CANNOT_BE_JUDGED

    def plain(self, record: Record, program_hash: bytes) -> bytes | None:
        """Return the contest on the sheet as PNG, without a word about it; None when its crop has not come.

        Where it cannot be told what of the crop is the contest, the crop is shown as it came.
        """
        png, program = self._crop(record.device, record.n), self._program(program_hash)
        if png is None or program is None or not record.body["evidence"]:
            return png
        try:
            return _png(contest_only(_evidence(record, png), program))
        except _UNUSABLE:
            return png

    def explained(self, record: Record, program_hash: bytes) -> bytes | None:
        """Return the explained picture as PNG, or the plain one where `lacks` says why not."""
        program, png = self._program(program_hash), self._crop(record.device, record.n)
        if png is None or program is None or self.lacks(record, program_hash):
            return self.plain(record, program_hash)
        key = (record.device, record.n)
        with self._lock:
            if key not in self._made:
                try:
                    picture = _explained(record, png, program)
                except _UNUSABLE:
                    return png
                if len(self._made) >= _KEPT_PICTURES:
                    del self._made[next(iter(self._made))]
                self._made[key] = picture
            return self._made[key]

    def _program(self, program_hash: bytes) -> Program | None:
        """Return the program; None while it is not in the ledger."""
        if program_hash not in self._programs:
            data = self._program_file(program_hash)
            if data is None:
                return None
            self._programs[program_hash] = read_program(data)
        return self._programs[program_hash]


def _evidence(record: Record, png: bytes) -> Evidence:
    return Evidence.from_fields(record.body["evidence"], decode_image(png))


def _explained(record: Record, png: bytes, program: Program) -> bytes:
    evidence = _evidence(record, png)
    verdict = judge(evidence, program)
    return _png(explain(evidence, verdict, program, difference(record, verdict)))


def difference(record: Record, verdict: Verdict) -> str:
    """Return in a sentence how the verdict made here differs from the recorded one; empty when it does not.

    It never should: the officials decide on the sheet, and the sentence is for whoever looks into it.
    """
    told = (record.body["fate"], tuple(record.body["reasons"]))
    if told == (verdict.fate, verdict.reasons):
        return ""
    reasons = " ".join(REASONS[word].sentence if word in REASONS else f"{word}." for word in told[1])
    return f"Judged again on this host. The device recorded: {plain_words(told[0])}. {reasons}"


def _png(picture: NDArray[np.uint8]) -> bytes:
    return cv2.imencode(".png", picture, [cv2.IMWRITE_PNG_COMPRESSION, 4])[1].tobytes()
