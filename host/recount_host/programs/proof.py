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
from recount_host.errors import OperatorError
from recount_host.forms.pages import printable
from recount_host.programs.drawing import encode_png
from recount_host.programs.proof_plates import Box, Plate, place_plates

SHORT_CODE_DIGITS = 8
_SHEET_PT = 90.0
_NO_DATE = "1970-01-01T00:00:00Z"
"""A program has no date, so that the same program has the same proof."""


class PartyError(OperatorError):
    """A party to the recount that is no option of the program, or is named twice."""


def parties(program: Program, named: Sequence[str]) -> list[str]:
    """Return the names of the parties, each named by its candidate's or answer's name or key.

    Raises PartyError.
    """
    printed = program.printed_options
    known = {option.name: option.name for option in printed} | {option.key: option.name for option in printed}
    for word in named:
        if word not in known:
            options = ", ".join(f"{option.key} ({option.name})" for option in printed)
            raise PartyError(f'"{word}" is no option of this program: a party is one of {options}')
    found = [known[word] for word in named]
    for name in found:
        if found.count(name) > 1:
            raise PartyError(f'"{name}" is named twice: each party signs once')
    return found


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
    names = {option.key: option.name for option in program.options}
    words = [f"{n} {names[target.option]}" for n, target in enumerate(style.targets, 1)]
    placing = place_plates(style, words)
    scale, (height, width) = placing.scale, style.reference.shape
    left, top = style.reference_box[:2]
    name = f"style-{index}.png"
    pictures[name] = (110 + style.reference.astype(np.float32) * (145 / 255)).astype(np.uint8)

    def shown(box: Sequence[float]) -> Box:
        """Return an area (left, top, right, bottom) of the page in points of the picture."""
        x, y = (box[0] - left) * scale, (box[1] - top) * scale
        return x, y, (box[2] - box[0]) * scale, (box[3] - box[1]) * scale

    return {
        "id": style.id,
        "side": style.side,
        "picture": name,
        "alt": f"The contest as it is printed on ballots of style {style.id}, with its {len(words)} targets",
        "width": width * scale,
        "height": height * scale,
        "margins": placing.margins,
        "contest_box": shown(style.box),
        "areas": [shown(area) for area in style.write_in_areas],
        "targets": [
            _target_facts(style, number, names[target.option], shown, plate, index, pictures)
            for number, (target, plate) in enumerate(zip(style.targets, placing.plates, strict=True), 1)
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
    plate: Plate,
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
        "plate": plate.rect,
        "leader": plate.leader,
        "place": f"{x / WORKING_DPI:.2f}, {y / WORKING_DPI:.2f} in",
    }


def _edges(target: Target) -> Box:
    return target.left, target.top, target.left + target.width, target.top + target.height


def _patch_edges(patch: Patch) -> Box:
    height, width = patch.pixels.shape
    return patch.left, patch.top, patch.left + width, patch.top + height


def _sheet_facts(style: Style) -> dict[str, Any]:
    """Return the sheet in small, with the contest's place on it."""
    scale = _SHEET_PT / style.width

    def small(box: Sequence[float]) -> Box:
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
