"""The redline proof of a contest program: what it holds, drawn on its own ground, for both sides to sign.

The proof is made from the program file alone: it shows what the device will use, not what a spec said.
The same program gives the same bytes.
"""

import json
import tempfile
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import numpy as np
import typst

from recount_classifier.program import WORKING_DPI, Patch, Program, Style, Target
from recount_classifier.raster import Grey
from recount_classifier.thresholds import thresholds_sentence
from recount_host.forms.pages import printable
from recount_host.programs.drawing import encode_png

SHORT_CODE_DIGITS = 8
_WIDEST_PT, _HIGHEST_PT = 500.0, 400.0
_LARGEST_SCALE = 0.5
"""Points for a pixel at the most: print is not shown larger than 1.4 times its size."""
_LETTER_PT, _PLATE_PT = 3.9, 10.5
_SHEET_PT = 90.0
_NO_DATE = "1970-01-01T00:00:00Z"
"""A program has no date, so that the same program has the same proof."""

_Rect = tuple[float, float, float, float]
"""Left, top, width, height."""


def print_proof(program: Program, sides: Sequence[str], signed: Iterable[str]) -> bytes:
    """Return the proof as PDF/UA-1. `sides` are the parties; `signed` says whose keys signed."""
    return _compiled(program, sides, signed, "pdf", None)[0]


def proof_pictures(program: Program, sides: Sequence[str], signed: Iterable[str]) -> list[bytes]:
    """Return the pages of the proof as PNG files of 150 dpi."""
    return _compiled(program, sides, signed, "png", 150.0)


def _compiled(
    program: Program,
    sides: Sequence[str],
    signed: Iterable[str],
    kind: Literal["pdf", "png"],
    ppi: float | None,
) -> list[bytes]:
    pictures: dict[str, Grey] = {}
    facts = proof_facts(program, sides, signed, pictures)
    source = files("recount_host.forms").joinpath("proof.typ").read_bytes()
    with tempfile.TemporaryDirectory(prefix="recount-proof-") as folder:
        root = Path(folder)
        (root / "proof.typ").write_bytes(source)
        for name, picture in pictures.items():
            (root / name).write_bytes(encode_png(picture))
        written = json.dumps(facts, ensure_ascii=False, sort_keys=True)
        try:
            return _typeset(root, written, kind, ppi)
        except typst.TypstError:
            # A name may hold a letter that no font here has; that must not keep the proof from being printed.
            return _typeset(root, printable(written, _NO_DATE), kind, ppi)


def _typeset(root: Path, facts: str, kind: Literal["pdf", "png"], ppi: float | None) -> list[bytes]:
    made: Any = typst.compile(
        str(root / "proof.typ"),
        root=str(root),
        ignore_system_fonts=True,
        format=kind,
        ppi=ppi,
        pdf_standards=["ua-1"] if kind == "pdf" else [],
        sys_inputs={"facts": facts},
        timestamp=0,
    )
    return list(made) if isinstance(made, list) else [made]


def proof_facts(
    program: Program, sides: Sequence[str], signed: Iterable[str], pictures: dict[str, Grey]
) -> dict[str, Any]:
    """Return what the proof says, and put the pictures that it names into `pictures`."""
    code = program.program_hash.hex()
    return {
        "title": program.title,
        "key": program.key,
        "vote_for": program.vote_for,
        "option_count": len(program.options),
        "program_sha256": code,
        "short_code": code[:SHORT_CODE_DIGITS],
        "thresholds": _sentence(thresholds_sentence(program.thresholds)),
        "sides": [*sides, *[""] * max(0, 2 - len(sides))],
        "signed": list(signed),
        "options": [
            {"key": o.key, "name": o.name, "kind": "write-in" if o.write_in else "printed"}
            for o in program.options
        ],
        "styles": [
            _style_facts(program, style, index, pictures) for index, style in enumerate(program.styles, 1)
        ],
    }


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _style_facts(program: Program, style: Style, index: int, pictures: dict[str, Grey]) -> dict[str, Any]:
    height, width = style.reference.shape
    scale = min(_WIDEST_PT / width, _HIGHEST_PT / height, _LARGEST_SCALE)
    left, top = style.reference_box[:2]
    name = f"style-{index}.png"
    pictures[name] = (110 + style.reference.astype(np.float32) * (145 / 255)).astype(np.uint8)

    def shown(box: Sequence[float]) -> _Rect:
        """Return an area (left, top, right, bottom) of the page in points of the picture."""
        x, y = (box[0] - left) * scale, (box[1] - top) * scale
        return x, y, (box[2] - box[0]) * scale, (box[3] - box[1]) * scale

    names = {option.key: option.name for option in program.options}
    words = [f"{n} {names[target.option]}" for n, target in enumerate(style.targets, 1)]
    plates = _plates(style, words, scale)
    return {
        "id": style.id,
        "side": style.side,
        "picture": name,
        "alt": f"The contest as it is printed on ballots of style {style.id}, with its {len(words)} targets",
        "width": width * scale,
        "height": height * scale,
        "contest_box": shown(style.box),
        "areas": [shown(area) for area in style.write_in_areas],
        "targets": [
            _target_facts(style, number, names[target.option], shown, plate, index, pictures)
            for number, (target, plate) in enumerate(zip(style.targets, plates, strict=True), 1)
        ],
        "sheet": _sheet_facts(style),
        "likeness": (
            f"The two most alike prints beside targets of different options agree to "
            f"{style.label_likeness:.2f}; 0.80 would be refused."
        ),
    }


def _target_facts(
    style: Style,
    number: int,
    name: str,
    shown: Any,
    plate: _Rect,
    index: int,
    pictures: dict[str, Grey],
) -> dict[str, Any]:
    target = style.targets[number - 1]
    label = style.paths[0].details[target.label]
    picture = f"label-{index}-{number}.png"
    pictures[picture] = label.pixels
    x, y = target.centre
    return {
        "number": number,
        "option": target.option,
        "name": name,
        "box": shown(_edges(target)),
        "label_box": shown(_patch_edges(label)),
        "label": picture,
        "plate": plate,
        "place": f"{x / WORKING_DPI:.2f}, {y / WORKING_DPI:.2f} in",
    }


def _edges(target: Target) -> _Rect:
    return target.left, target.top, target.left + target.width, target.top + target.height


def _patch_edges(patch: Patch) -> _Rect:
    height, width = patch.pixels.shape
    return patch.left, patch.top, patch.left + width, patch.top + height


def _sheet_facts(style: Style) -> dict[str, Any]:
    """Return the sheet in small, with the contest's place on it."""
    scale = _SHEET_PT / style.width

    def small(box: Sequence[float]) -> _Rect:
        return box[0] * scale, box[1] * scale, (box[2] - box[0]) * scale, (box[3] - box[1]) * scale

    words = f"The sheet, {style.width / WORKING_DPI:.1f} x {style.height / WORKING_DPI:.1f} in"
    if style.test_mark is not None:
        words += "; dashed: place of the test mark"
    return {
        "width": style.width * scale,
        "height": style.height * scale,
        "box": small(style.box),
        "test_mark": None if style.test_mark is None else small(style.test_mark),
        "words": words,
    }


def _plates(style: Style, words: Sequence[str], scale: float) -> list[_Rect]:
    """Return where each target's number and name stand, in points: over as little print as may be."""
    taken = (255 - style.reference).astype(np.float32) / 255
    height, width = taken.shape
    left, top = style.reference_box[:2]
    for target in style.targets:
        _claim(taken, target.left - left, target.top - top, target.width, target.height)
    found: list[_Rect] = []
    for target, text in zip(style.targets, words, strict=True):
        wide, high = (len(text) * _LETTER_PT + 6) / scale, _PLATE_PT / scale
        x, y = target.left - left, target.top - top
        middle_x, middle_y = x + target.width / 2 - wide / 2, y + target.height / 2 - high / 2
        gap = 3.0
        places = (
            (middle_x, y - high - gap),
            (middle_x, y + target.height + gap),
            (x + target.width + gap, middle_y),
            (x - wide - gap, middle_y),
            (x + target.width - wide, y - high - gap),
            (x, y - high - gap),
            (x + target.width - wide, y + target.height + gap),
            (x, y + target.height + gap),
        )
        at_x, at_y = min(
            (
                (min(max(px, 0.0), max(0.0, width - wide)), min(max(py, 0.0), max(0.0, height - high)))
                for px, py in places
            ),
            key=lambda place: _covered(taken, place[0], place[1], wide, high),
        )
        _claim(taken, at_x, at_y, wide, high)
        found.append((at_x * scale, at_y * scale, wide * scale, high * scale))
    return found


def _covered(taken: Any, x: float, y: float, wide: float, high: float) -> float:
    return float(taken[int(y) : int(y + high) + 1, int(x) : int(x + wide) + 1].sum())


def _claim(taken: Any, x: float, y: float, wide: float, high: float) -> None:
    """Make a place dear: no plate may cover a target or another plate."""
    taken[max(0, int(y)) : int(y + high) + 1, max(0, int(x)) : int(x + wide) + 1] = 50
