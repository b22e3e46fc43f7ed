"""Looking at the blanks that a person names: pages read, resolution told, targets and contests found."""

import os
from collections.abc import Collection, Sequence
from itertools import count
from pathlib import Path

import numpy as np

from recount_classifier.raster import Grey
from recount_host.errors import OperatorError
from recount_host.programs.blanks import read_blank
from recount_host.programs.contests import look_at
from recount_host.programs.drafting import Side, guess_dpi, style_id
from recount_host.programs.drawing import encode_png
from recount_host.programs.photo import shows_ground, straightened
from recount_host.programs.standing import level, upright

PDF_DPI = 200.0
_PRINT_SHARE, _PRINT_DEPTH = 2, 64
"""Percent of a page's pixels that are print at the least, and how far it differs from the paper."""


def look_at_blanks(names: Sequence[str], given_dpi: float | None, folder: Path) -> tuple[float, list[Side]]:
    """Return the resolution of the blanks and every page, looked at.

    A name is "FRONT" or "FRONT,BACK", each an image or "FILE.pdf#page=1": one ballot style. `folder` is where
    the spec will lie: the pages' names are told relative to it. A page that is turned, or lies on a dark
    ground, is set straight first, and kept there as NAME-straight.png. Raises OperatorError.
    """
    if given_dpi is not None and not 100 <= given_dpi <= 1200:
        raise OperatorError(
            f"the resolution is {given_dpi:g}: resolutions from 100 to 1200 can be read (--dpi)"
        )
    dpi = given_dpi
    sides: list[Side] = []
    for name in names:
        front, comma, back = name.partition(",")
        style = _style_of(front, {side.style for side in sides})
        pages: list[tuple[str, str, Grey]] = []
        for side, named in (("front", front), *((("back", back),) if comma else ())):
            page, file = _page(named, dpi, folder)
            if dpi is None:
                dpi = _dpi_of(file, page)
            pages.append((side, file, page))
        for index, (side, file, page) in enumerate(pages):
            other = pages[1 - index][1] if len(pages) == 2 else None
            sides.append(
                Side(
                    style,
                    side,
                    _relative(file, folder),
                    None if other is None else _relative(other, folder),
                    page,
                    look_at(page, dpi or PDF_DPI),
                )
            )
    return dpi or PDF_DPI, sides


def _style_of(front: str, taken: Collection[str]) -> str:
    """Return a style's id: a word of its file's name, numbered where blanks of several folders share it."""
    file, _, page = front.partition("#page=")
    word = style_id(Path(file).stem + page)
    numbers = (word, *(f"{word[:28]}-{n}" for n in range(2, len(taken) + 2)))
    return next(one for one in numbers if one not in taken)


def _page(file: str, dpi: float | None, folder: Path) -> tuple[Grey, str]:
    """Return a blank's page, upright and without ground beside it, and the file that a spec names for it."""
    read = page = read_blank(file, Path(), dpi or PDF_DPI)
    if shows_ground(page):
        page = straightened(upright(page), Path(file).name, dpi)
    if _is_negative(page):
        raise OperatorError(
            f"the blank {Path(file).name} is a negative, light print on dark: save it as black print on white"
        )
    page = upright(level(page))
    return (page, file) if page is read else (page, _kept(page, file, folder))


def _is_negative(page: Grey) -> bool:
    """Whether what differs most from the bulk of a page is lighter than it."""
    darkest, middle, lightest = np.percentile(page, (_PRINT_SHARE, 50, 100 - _PRINT_SHARE)).tolist()
    return lightest - middle > max(_PRINT_DEPTH, middle - darkest)


def _kept(page: Grey, blank: str, folder: Path) -> str:
    """Keep the page that was made of a blank where the spec will lie, and return its name.

    What another blank of this name left there stays: a spec may name it.
    """
    name, _, number = blank.partition("#page=")
    stem, data = f"{Path(name).stem}{number and f'-{number}'}-straight", encode_png(page)
    paths = (folder / f"{stem}{'' if n == 1 else f'-{n}'}.png" for n in count(1))
    try:
        path = next(path for path in paths if not path.exists() or path.read_bytes() == data)
        path.write_bytes(data)
    except OSError as error:
        raise OperatorError(f"the page set straight cannot be kept in {folder}: {error.strerror}") from error
    return str(path)


def _dpi_of(file: str, page: Grey) -> float:
    if Path(file.partition("#page=")[0]).suffix.lower() == ".pdf":
        return PDF_DPI
    dpi = guess_dpi(page.shape[1])
    if dpi is None:
        raise OperatorError(
            f"the blank {Path(file).name} is {page.shape[1]} pixels wide, which fits no usual paper and "
            "resolution: say its resolution in pixels to the inch (--dpi)"
        )
    return dpi


def _relative(file: str, folder: Path) -> str:
    name, mark, page = file.partition("#page=")
    return Path(os.path.relpath(name, folder)).as_posix() + mark + page
