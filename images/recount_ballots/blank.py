"""Blank ballots as pictures: the typesetter draws a composition at any resolution."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_ballots.design import Design
from recount_ballots.errors import DeckError, FontsMissing
from recount_ballots.layout import Composition, Ink, Layout, Shape, Side, Text, compose

Grey = NDArray[np.uint8]
"""A page: rows of grey pixels, 0 black, 255 white."""


@dataclass(frozen=True)
class Blank:
    """One side of an unmarked ballot, with the place of everything on it in pixels of the picture.

    Voters mark a copy: `page = blank.image.copy()`.
    """

    image: Grey
    layout: Layout


def draw_blank(design: Design, side: Side = "front", dpi: float = 200) -> Blank:
    """Typeset one side of a ballot; the same design always gives the same pixels."""
    composition = compose(design, side)
    return Blank(_typeset(composition, dpi), composition.layout.at(dpi))


@lru_cache(maxsize=16)
def load_blank(design: Design, path: Path, side: Side = "front", dpi: float = 200) -> Blank:
    """Return a blank from the picture drawn before; raises DeckError when it is not that ballot's."""
    image = read_grey(path)
    layout = compose(design, side).layout.at(dpi)
    if (image.shape[1], image.shape[0]) != layout.size_px:
        raise DeckError(
            f"{path} is not a picture of ballot {design.name} at {dpi:g} dots per inch: draw it again"
        )
    image.flags.writeable = False
    return Blank(image, layout)


def read_grey(path: Path) -> Grey:
    """Return the picture in a file as grey pixels, or raise DeckError."""
    try:
        data = np.frombuffer(path.read_bytes(), np.uint8)
    except OSError as error:
        raise DeckError(f"cannot read {path}: {error.strerror}") from None
    image = cv2.imdecode(data, cv2.IMREAD_GRAYSCALE) if data.size else None
    if image is None:
        raise DeckError(f"{path} is not a picture")
    return np.asarray(image, np.uint8)


def _typeset(composition: Composition, dpi: float) -> Grey:
    try:
        import typst  # noqa: PLC0415  (only those who draw new blanks need it)
    except ImportError:
        raise FontsMissing("drawing a blank ballot needs typst: install recount-scanner[host]") from None
    source = _markup(composition).encode()
    png = typst.compile(source, format="png", ppi=dpi, ignore_system_fonts=True)
    return np.asarray(cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_GRAYSCALE), np.uint8)


def _markup(composition: Composition) -> str:
    layout = composition.layout
    head = (
        f"#set page(width: {layout.width}pt, height: {layout.height}pt, margin: 0pt)\n"
        '#set text(font: "Libertinus Serif", top-edge: 0.8em, bottom-edge: -0.2em, hyphenate: false)\n'
        "#set par(leading: 0pt, spacing: 0pt)\n"
    )
    return head + "\n".join(_place(ink) for ink in composition.ink)


def _place(ink: Ink) -> str:
    match ink:
        case Text():
            font = ', font: "DejaVu Sans Mono"' if ink.mono else ""
            weight = ', weight: "bold"' if ink.bold else ""
            words = ink.words.replace("\\", "\\\\").replace('"', '\\"')
            body = f'text(size: {ink.size}pt{weight}{font}, "{words}")'
            if ink.width is not None:
                body = f"block(width: {ink.width}pt, align({'center' if ink.centred else 'left'}, {body}))"
            return f"#place(top + left, dx: {ink.x}pt, dy: {ink.y}pt, {body})"
        case Shape():
            rect = ink.rect
            fill = "none" if ink.fill is None else f"luma({ink.fill})"
            stroke = f"{ink.stroke}pt + black" if ink.stroke else "none"
            # half of a stroke lies outside its path: the path is set inwards, so the rectangle holds all ink
            inset = ink.stroke / 2
            size = f"width: {rect.width - ink.stroke:.4f}pt, height: {rect.height - ink.stroke:.4f}pt"
            body = f"{ink.kind}({size}, fill: {fill}, stroke: {stroke})"
            return f"#place(top + left, dx: {rect.left + inset:.4f}pt, dy: {rect.top + inset:.4f}pt, {body})"
