"""The demonstration's contest: its program, and its blank with plain black ellipses in targets."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import cv2

from recount_classifier.compiling import StyleSpec, TargetSpec, compile_style
from recount_classifier.decoding import decode_image
from recount_classifier.program import Option, Program, make_program
from recount_classifier.raster import Grey
from recount_classifier.thresholds import Thresholds

FAIRVIEW = Path(__file__).resolve().parents[3] / "images" / "ballots" / "fairview"
SPEC: dict[str, Any] = tomllib.loads((FAIRVIEW / "spec.toml").read_text(encoding="utf-8"))
STYLE: dict[str, Any] = SPEC["style"][0]


@cache
def picture(name: str) -> Grey:
    """Return one of the blanks."""
    return decode_image((FAIRVIEW / name).read_bytes())


@cache
def program() -> Program:
    """Build the contest's program from its blank."""
    options = [
        Option(option["key"], option["name"], option.get("write_in", False)) for option in SPEC["option"]
    ]
    style = StyleSpec(
        id=STYLE["id"],
        side=STYLE["side"],
        dpi=SPEC["dpi"],
        box=tuple(STYLE["contest_box"]),
        write_in_areas=tuple(tuple(area) for area in STYLE["write_in_areas"]),
        targets=tuple(
            TargetSpec(option.key, option.write_in, tuple(box))
            for option in options
            for box in STYLE["targets"][option.key]
        ),
    )
    compiled = compile_style(style, picture(STYLE["blank"]), picture(STYLE["other_side"]))
    return make_program(SPEC["key"], SPEC["title"], SPEC["vote_for"], options, [compiled], Thresholds())


def marked(*options: str) -> Grey:
    """Return a sheet's front with these options' targets filled."""
    sheet = picture(STYLE["blank"]).copy()
    for option in options:
        for left, top, width, height in STYLE["targets"][option]:
            centre = (left + width // 2, top + height // 2)
            cv2.ellipse(sheet, centre, (width // 2 - 2, height // 2 - 2), 0, 0, 360, 20, -1, cv2.LINE_AA)
    return sheet
