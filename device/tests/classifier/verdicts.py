"""Reads a kit of sheets in whatever environment runs this, and writes each verdict with what was measured.

`PYTHONPATH=device:protocol python device/tests/classifier/verdicts.py KIT OUT.json [2/4]`: it needs nothing
but the classifier and what that needs, so that it also runs where the product is not installed (another
release of OpenCV, another processor). With 2/4 it reads the second quarter of the sheets. `kit.py` makes a
kit; `same_verdict.py` compares what two environments wrote.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from recount_classifier.judge import Measured
from recount_classifier.program import Program, read_program
from recount_classifier.reading import Reading, read_sheet
from recount_classifier.sheet_map import SheetMap

_CROP = ("crop_left", "crop_top")
"""Where the crop begins: a pixel more or less of margin is no difference. Places are told on the sheet."""


_TOLD_EVERY_S = 10.0
"""How often is told how far the reading is: an emulated processor takes minutes."""


def main(kit: Path, out: Path, part: int = 1, parts: int = 1) -> None:
    """Read every sheet of that part of the kit and write the verdicts."""
    cv2.setNumThreads(1)
    programs: dict[str, Program] = {}
    verdicts: dict[str, Any] = {}
    sheets = json.loads((kit / "kit.json").read_text(encoding="utf-8"))[part - 1 :: parts]
    start = told = time.monotonic()
    for sheet in sheets:
        name: str = sheet["program"]
        if name not in programs:
            programs[name] = read_program((kit / name).read_bytes())
        pages = [np.load(kit / page) for page in sheet["pages"]]
        verdicts[sheet["name"]] = _told(read_sheet(pages, programs[name]), programs[name])
        if time.monotonic() - told > _TOLD_EVERY_S:
            told = time.monotonic()
            print(f"part {part}: {len(verdicts)} of {len(sheets)} in {told - start:.0f} s", flush=True)
    out.write_text(json.dumps({"environment": environment(), "verdicts": verdicts}), encoding="utf-8")


def environment() -> str:
    """Return what reads here, in words."""
    ipp = "on" if cv2.ipp.useIPP() else "off"
    return f"{platform.machine()}, OpenCV {cv2.__version__}, IPP {ipp}, numpy {np.__version__}"


def _told(reading: Reading, program: Program) -> dict[str, Any]:
    """Return one reading as plain values: what must be the same, and what may differ in its last digits."""
    same: dict[str, Any] = {
        "fate": reading.fate,
        "choices": list(reading.choices),
        "reasons": list(reading.reasons),
    }
    values: dict[str, float] = {}
    if reading.evidence is not None and reading.verdict is not None:
        evidence = reading.evidence
        style = program.styles_by_id[evidence.style_id]
        same["style"], same["side"] = style.id, evidence.side_index
        same["states"] = [measured.decision.states for measured in reading.verdict.measurements]
        values |= {f"gate {name}": value for name, value in evidence.gates.items() if name not in _CROP}
        values["disagreement_px"] = reading.verdict.disagreement_px
        centres = np.array([target.centre for target in style.targets])
        for index, registration in enumerate(evidence.registrations):
            corner = (evidence.gates["crop_left"], evidence.gates["crop_top"])
            places = SheetMap(registration, style.frame).points(centres) + corner
            values |= {f"place_px.{index}.{n}": float(v) for n, v in enumerate(places.ravel())}
        for index, measured in enumerate(reading.verdict.measurements):
            values |= _measured(measured, index)
    return {"same": same, "values": values}


def _measured(measured: Measured, index: int) -> dict[str, float]:
    values = {f"{name}.{index}": float(value) for name, value in asdict(measured.box).items()}
    for number, target in enumerate(measured.targets):
        values |= {f"{name}.{index}.{number}": float(value) for name, value in target._asdict().items()}
    return values


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), *(int(n) for part in sys.argv[3:] for n in part.split("/")))
