"""Pictures of sheets: the reported geometry is the true one, and each fault of a scanner shows."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recount_ballots import (
    PERFECT,
    SCANNERS,
    Blank,
    Grey,
    ScanSettings,
    Streak,
    draw_blank,
    random_design,
    scan,
)
from recount_ballots import paper as sheet
from recount_ballots.geometry import PageMap, place

SIZE = (850, 1100)
SPOTS = np.array([[x, y] for x in (60, 300, 520, 790) for y in (70, 400, 800, 1030)], np.float64)


def spotted_page() -> Grey:
    """Return a page with round spots whose centres are SPOTS."""
    page = np.full((SIZE[1], SIZE[0]), 255, np.uint8)
    for x, y in SPOTS:
        cv2.circle(page, (round(x * 16), round(y * 16)), 8 * 16, (0,), -1, cv2.LINE_AA, 4)
    return page


def centre_of_darkness(image: Grey, near: np.ndarray) -> np.ndarray:
    x, y = np.round(near).astype(int)
    part = 255.0 - image[y - 16 : y + 17, x - 16 : x + 17]
    part[part < 60] = 0
    rows, columns = np.mgrid[y - 16 : y + 17, x - 16 : x + 17]
    return np.array([(part * columns).sum(), (part * rows).sum()]) / part.sum()


GEOMETRIES = {
    "turned a little": ScanSettings(turn_deg=6, margin_px=90),
    "turned by a quarter": ScanSettings(turn_deg=90),
    "turned by a quarter and a bit": ScanSettings(turn_deg=-88.5, margin_px=40),
    "upside down": ScanSettings(turn_deg=180),
    "smaller": ScanSettings(scale=0.94, shift_px=(7.3, -4.6)),
    "in perspective": ScanSettings(perspective_px=25, margin_px=30),
    "stretched in the feed": ScanSettings(stretch_px=5),
    "through a lens": ScanSettings(lens=-0.02, margin_px=30),
    "mirrored": ScanSettings(mirror=True, turn_deg=2, lens=0.01, margin_px=30),
    "all at once": ScanSettings(
        turn_deg=176, scale=0.97, shift_px=(3, 5), perspective_px=10, stretch_px=3, lens=0.01, margin_px=60
    ),
}


@pytest.mark.parametrize("name", GEOMETRIES)
def test_every_point_of_the_page_is_seen_where_the_map_says(name: str) -> None:
    rng = np.random.default_rng(11)
    picture = scan(spotted_page(), GEOMETRIES[name], rng)
    expected = picture.page_map.to_scan(SPOTS)
    seen = np.array([centre_of_darkness(picture.image, point) for point in expected])
    assert np.abs(seen - expected).max() < 0.12


@pytest.mark.parametrize("name", GEOMETRIES)
def test_the_map_leads_back_to_the_page(name: str) -> None:
    picture = scan(spotted_page(), GEOMETRIES[name], np.random.default_rng(11))
    there = picture.page_map.to_scan(SPOTS)
    assert np.abs(picture.page_map.to_page(there) - SPOTS).max() < 1e-6


@settings(max_examples=60, deadline=None)
@given(
    turn=st.floats(-180, 180),
    scale=st.floats(0.9, 1.1),
    stretch=st.floats(-8, 8),
    lens=st.floats(-0.03, 0.03),
    mirror=st.booleans(),
)
def test_any_map_leads_there_and_back(
    turn: float, scale: float, stretch: float, lens: float, mirror: bool
) -> None:
    homography = place(SIZE, SIZE, scale=scale, turn_deg=turn, mirror=mirror)
    page_map = PageMap(homography, SIZE, SIZE, stretch, 0.6, 1.0, lens)
    assert np.abs(page_map.to_page(page_map.to_scan(SPOTS)) - SPOTS).max() < 1e-5


def test_the_sampling_grid_is_the_map() -> None:
    homography = place(SIZE, SIZE, scale=0.97, turn_deg=4)
    page_map = PageMap(homography, SIZE, SIZE, 4, 0.6, 1.0, 0.02)
    grid = page_map.sampling_grid()
    points = np.array([[0, 0], [849, 0], [0, 1099], [849, 1099], [400, 555], [77, 901]])
    assert np.abs(grid[points[:, 1], points[:, 0]] - page_map.to_page(points)).max() < 0.01


@pytest.fixture(scope="module")
def blank() -> Blank:
    return draw_blank(random_design(3))


def test_a_perfect_scanner_changes_nothing(blank: Blank) -> None:
    assert np.array_equal(scan(blank.image, PERFECT, np.random.default_rng(1)).image, blank.image)


@pytest.mark.parametrize("name", SCANNERS)
def test_the_same_seed_gives_the_same_picture(name: str, blank: Blank) -> None:
    def picture(seed: int) -> Grey:
        rng = np.random.default_rng(seed)
        return scan(blank.image, SCANNERS[name](rng), rng).image

    assert np.array_equal(picture(1), picture(1))
    assert not np.array_equal(picture(1), picture(2))


def test_what_is_torn_off_shows_the_background(blank: Blank) -> None:
    mask = sheet.whole(blank.image)
    rng = np.random.default_rng(1)
    sheet.tear_corner(mask, "bottom-right", 500, 400, rng)
    sheet.tear_side(mask, "left", 900, 1200, 300, rng)
    image = scan(blank.image, ScanSettings(background=30), rng, mask).image
    assert image[-20, -20] == 30
    assert image[1050, 100] == 30
    assert image[-20, 20] > 200


def test_streaks_run_along_the_feed_and_dust_is_scattered(blank: Blank) -> None:
    rng = np.random.default_rng(1)
    streaked = scan(blank.image, ScanSettings(streaks=(Streak(0.4, 80),)), rng).image
    assert (streaked[:, 680] <= 175).all()
    dusty = scan(blank.image, ScanSettings(dust=20), rng).image
    assert 20 < np.count_nonzero(dusty != blank.image) < 1000


def test_one_bit_pictures_are_black_and_white(blank: Blank) -> None:
    image = scan(blank.image, ScanSettings(noise=5, one_bit=140), np.random.default_rng(1)).image
    assert set(np.unique(image)) == {0, 255}


def test_noise_has_the_deviation_that_was_asked_for() -> None:
    grey = np.full((1000, 800), 128, np.uint8)
    image = scan(grey, ScanSettings(noise=8), np.random.default_rng(1)).image
    assert image.std() == pytest.approx(8, abs=0.3)
    assert image.mean() == pytest.approx(128, abs=0.3)


def test_folds_stains_holes_and_watermarks_darken_only_their_places() -> None:
    rng = np.random.default_rng(1)

    def changed(act: str) -> Grey:
        page = np.full((1100, 850), 255, np.uint8)
        mask = sheet.whole(page)
        match act:
            case "fold":
                sheet.fold(page, 500, rng)
            case "coffee":
                sheet.coffee(page, 400, 300, 120, rng)
            case "staple":
                sheet.staple(page, mask, 100, 60, rng)
            case "show through":
                sheet.show_through(page, spotted_page(), 0.2)
            case _:
                sheet.watermark(page, "SAMPLE")
        return page

    assert set(np.flatnonzero((changed("fold") < 230).any(axis=1))) <= set(range(480, 520))
    stained = np.argwhere(changed("coffee") < 240)
    assert np.abs(stained - (300, 400)).max() < 150
    assert np.argwhere(changed("staple") < 240)[:, 0].max() < 120
    shown = changed("show through")
    assert 190 < shown[70, 850 - 1 - 60] < 230
    assert 0.05 < (changed("watermark") < 255).mean() < 0.5
