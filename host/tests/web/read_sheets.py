"""Sheets of the demonstration's contest that were really read, as a device records them."""

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from host.tests.sound_device import Device, Sheet
from recount_classifier.evidence import Evidence
from recount_classifier.program import Program
from recount_classifier.reading import Reading, read_sheet
from recount_host.programs.building import build_program

FAIRVIEW = Path(__file__).resolve().parents[3] / "images" / "ballots" / "fairview"
TARGETS = {"D": (638, 456), "R": (638, 526)}
BOX = (611, 350, 1089, 723)


@cache
def program() -> Program:
    return build_program(FAIRVIEW / "spec.toml")


@cache
def reading(marks: str) -> Reading:
    """Return the reading of a sheet with these targets marked, and with ink in the contests beside it."""
    sheet = cv2.imread(str(FAIRVIEW / "blank-101-front.png"), cv2.IMREAD_GRAYSCALE)
    assert sheet is not None
    for key in marks:
        left, top = TARGETS[key]
        cv2.ellipse(sheet, (left + 13, top + 9), (11, 7), 0, 0, 360, 20, -1, cv2.LINE_AA)
    cv2.line(sheet, (BOX[0], BOX[3] + 14), (BOX[2], BOX[3] + 14), 0, 7)
    return read_sheet([sheet.astype(np.uint8)], program())


def evidence_of(marks: str) -> Evidence:
    evidence = reading(marks).evidence
    assert evidence is not None
    return evidence


def sheet_of(marks: str) -> Sheet:
    """Return the sheet as a device judges it."""
    read = reading(marks)
    return Sheet(read.fate, read.choices, read.reasons)


def png_of(marks: str) -> bytes:
    return cv2.imencode(".png", evidence_of(marks).crop)[1].tobytes()


def pixels(png: bytes) -> NDArray[np.uint8]:
    image = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_UNCHANGED)
    assert image is not None
    return image.astype(np.uint8)


class ReadingDevice(Device):
    """A device whose records hold what was measured, and which keeps the pictures."""

    def __init__(self, name: str, marks: str, **changed: Any) -> None:
        """Feed always the sheet with these marks; `changed` makes the evidence another."""
        super().__init__(name)
        self.marks = marks
        self.changed = changed
        self.style = ""
        self.crops: dict[int, bytes] = {}

    def write(self, kind: str, body: Mapping[str, Any], *, batch: int | None = None) -> None:
        if kind == "sheet_judged":
            evidence, png = evidence_of(self.marks), png_of(self.marks)
            body = {
                **body,
                "style": self.style or evidence.style_id,
                "evidence": {**evidence.to_fields(), **self.changed},
                "crop_sha256": hashlib.sha256(png).digest(),
                "crop_bytes": len(png),
            }
            self.crops[len(self.records) + 1] = png
        super().write(kind, body, batch=batch)
