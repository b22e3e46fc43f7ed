"""Looking at the blanks that a person names: pages read, resolution told, targets and contests found."""

import os
from collections.abc import Sequence
from pathlib import Path

from recount_classifier.raster import Grey
from recount_host.errors import OperatorError
from recount_host.programs.blanks import read_blank
from recount_host.programs.contests import look_at
from recount_host.programs.drafting import Side, guess_dpi, style_id
from recount_host.programs.drawing import encode_png
from recount_host.programs.photo import PHOTO_DPI, shows_ground, straightened
from recount_host.programs.standing import upright

PDF_DPI = 200.0


def look_at_blanks(names: Sequence[str], given_dpi: float | None, folder: Path) -> tuple[float, list[Side]]:
    """Return the resolution of the blanks and every page, looked at.

    A name is "FRONT" or "FRONT,BACK", each an image or "FILE.pdf#page=1": one ballot style. `folder` is where
    the spec will lie: the pages' names are told relative to it. A page that lies upside down or on a side, or
    on a dark ground, is set straight first, and kept there as NAME-straight.png. Raises OperatorError.
    """
    if given_dpi is not None and not 100 <= given_dpi <= 1200:
        raise OperatorError(
            f"the resolution is {given_dpi:g}: resolutions from 100 to 1200 can be read (--dpi)"
        )
    dpi = given_dpi
    sides: list[Side] = []
    for name in names:
        front, comma, back = name.partition(",")
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
                    style_id(Path(front.partition("#page=")[0]).stem + front.partition("#page=")[2]),
                    side,
                    _relative(file, folder),
                    None if other is None else _relative(other, folder),
                    page,
                    look_at(page, dpi or PDF_DPI),
                )
            )
    return dpi or PDF_DPI, sides


def _page(file: str, dpi: float | None, folder: Path) -> tuple[Grey, str]:
    """Return a blank's page, upright and without ground beside it, and the file that a spec names for it."""
    read = read_blank(file, Path(), dpi or PDF_DPI)
    page = upright(read)
    if shows_ground(page):
        page = straightened(page, Path(file).name, dpi or PHOTO_DPI)
    return (page, file) if page is read else (page, _kept(page, file, folder))


def _kept(page: Grey, blank: str, folder: Path) -> str:
    """Keep the page that was made of a blank where the spec will lie, and return its name."""
    name, _, number = blank.partition("#page=")
    path = folder / f"{Path(name).stem}{number and f'-{number}'}-straight.png"
    try:
        path.write_bytes(encode_png(page))
    except OSError as error:
        raise OperatorError(f"{path} cannot be written: {error.strerror}") from error
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
