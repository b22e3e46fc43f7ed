"""A blank photographed by a device's own camera: set straight and good for a program, or refused in words."""

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

from host.tests.decks.fairview_deck import FAIRVIEW, fairview_source
from recount_ballots.ballots_file import read_ballots
from recount_ballots.blank import Grey
from recount_ballots.layout import compose
from recount_ballots.paper import whole
from recount_ballots.scanner import camera, page_scanner, scan
from recount_classifier.reading import read_sheet
from recount_host.decks.drawing import draw_sheet
from recount_host.decks.making import plan_deck
from recount_host.programs.building import build_program
from recount_host.programs.looking import look_at_blanks
from recount_host.programs.photo import PHOTO_DPI, PhotoError, shows_ground, straightened

PLACE_PX = 2.5
"""On the photo's own paper; a scan's targets are found to 2."""


def blank(side: str = "front") -> Grey:
    return np.asarray(cv2.imread(str(FAIRVIEW / f"blank-101-{side}.png"), cv2.IMREAD_GRAYSCALE), np.uint8)


def photo(seed: int, page: Grey) -> Grey:
    """Return a page as a camera sees it: from not quite above, through a lens, in uneven light."""
    rng = np.random.default_rng(seed)
    return np.asarray(scan(page, camera(rng), rng, whole(page)).image, np.uint8)


@pytest.mark.parametrize("seed", [0, 1])
def test_targets_are_found_in_their_places_on_the_paper_of_a_photo(seed: int) -> None:
    seen = photo(seed, blank())
    assert shows_ground(seen)
    page = straightened(seen, "photo.png", None)
    assert page.shape == blank().shape
    layout = compose(read_ballots(FAIRVIEW).designs["101"], "front").layout.at(200)
    # Each printed target lies where the straightened page has it: as like as print can be, and not elsewhere.
    for contest in layout.contests:
        for option in contest.options:
            x, y = option.target.centre
            wide, high = 40, 30
            piece = blank()[int(y) - high : int(y) + high, int(x) - wide : int(x) + wide]
            ground = page[int(y) - high - 9 : int(y) + high + 9, int(x) - wide - 9 : int(x) + wide + 9]
            _, _, _, (dx, dy) = cv2.minMaxLoc(cv2.matchTemplate(ground, piece, cv2.TM_CCOEFF_NORMED))
            assert max(abs(dx - 9), abs(dy - 9)) <= PLACE_PX, (contest.contest.key, dx - 9, dy - 9)


def test_a_program_of_a_photo_reads_the_deck_of_the_scanned_blank(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "front.png"), photo(7, blank()))
    dpi, sides = look_at_blanks([str(tmp_path / "front.png")], None, tmp_path)
    assert dpi == PHOTO_DPI
    assert [side.blank for side in sides] == ["front-straight.png"]
    spec = (FAIRVIEW / "spec.toml").read_text(encoding="utf-8")
    spec = spec.replace("blank-101-front.png", "front-straight.png").replace("blank-101-back.png", "back.png")
    cv2.imwrite(str(tmp_path / "back.png"), blank("back"))
    (tmp_path / "spec.toml").write_text(spec, encoding="utf-8")
    program, source = build_program(tmp_path / "spec.toml"), fairview_source()
    assert program.program_hash != source.program.program_hash
    deck, plans = plan_deck(source)
    for n in (0, 6, 13):
        sheet = deck.sheets[n]
        picture = draw_sheet(plans[n], sheet.code, source.blanks["101"], source.foreign)
        reading = read_sheet([picture], program, expects_test=True)
        assert (reading.fate, reading.choices) == (sheet.fate, sheet.choices), sheet.what


def test_scans_are_no_photos() -> None:
    assert not shows_ground(blank())
    rng = np.random.default_rng(1)
    assert not shows_ground(np.asarray(scan(blank(), page_scanner(rng), rng).image, np.uint8))


def test_a_scan_on_dark_ground_keeps_the_size_of_its_pixels() -> None:
    size = (1698, 2205)
    page = np.asarray(cv2.resize(blank(), size, interpolation=cv2.INTER_AREA), np.uint8)
    seen = cv2.copyMakeBorder(page, 30, 50, 70, 40, cv2.BORDER_CONSTANT, value=8)
    turn = cv2.getRotationMatrix2D((900, 1100), 0.8, 1)
    seen = cv2.warpAffine(seen, turn, seen.shape[::-1], borderValue=8)
    height, width = straightened(np.asarray(seen, np.uint8), "scan.png", None).shape
    assert abs(width - size[0]) <= 1
    assert abs(height - size[1]) <= 1


def cut_off(seen: Grey) -> Grey:
    return seen[:1400]


def from_afar(seen: Grey) -> Grey:
    return np.asarray(cv2.resize(seen, None, fx=0.4, fy=0.4, interpolation=cv2.INTER_AREA), np.uint8)


def covered(seen: Grey) -> Grey:
    """Lay something dark over a corner."""
    rows, columns = np.indices(seen.shape)
    return np.where(rows + columns < 900, 20, seen).astype(np.uint8)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [(cut_off, "no usual ballot"), (from_afar, "go nearer"), (covered, "torn, folded or covered")],
)
def test_a_photo_that_cannot_be_used_is_refused_in_words(spoil: Callable[[Grey], Grey], why: str) -> None:
    with pytest.raises(PhotoError, match=why):
        straightened(spoil(photo(3, blank())), "photo.png", None)
