"""What the camera sees: the sheet as it lies, or the bed."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from device.tests.world.bench import PICK, TRANSPORT, Worlds, feeds, motors, plays
from recount_world.camera import BED_GREY, PAPER_GREY, Noise
from recount_world.faults import read_fault
from recount_world.paper import Sheet
from recount_world.world import World

PageImages = Callable[..., Path]


def image(path: Path) -> NDArray[np.uint8]:
    return cast("NDArray[np.uint8]", cv2.imread(str(path), cv2.IMREAD_GRAYSCALE))


NOISE = 1
"""How far a pixel may be from what lies there."""


def same(view: NDArray[np.uint8], expected: NDArray[np.uint8]) -> bool:
    """Return whether a picture shows this, but for the noise."""
    return view.shape == expected.shape and int(cv2.absdiff(view, expected).max()) <= NOISE


def at_camera(a_world: Worlds, *sheets: Sheet, **script: object) -> World:
    world = a_world(feeds([None]), sheets, **script)
    world.run_until(3_000_000)
    return world


def test_a_sheet_at_rest_gives_its_own_image(a_world: Worlds, page_image: PageImages) -> None:
    front, back = page_image("f.png"), page_image("b.png", bottom=120)
    above, below = at_camera(a_world, Sheet("1", front, back)).capture()
    assert same(above, image(front))
    assert same(below, image(back))


def test_a_sheet_upside_down_is_seen_turned_by_half(a_world: Worlds, page_image: PageImages) -> None:
    front = page_image("f.png")
    (above,) = at_camera(a_world, Sheet("1", front, turned=True), duplex=False).capture()
    assert same(above, image(front)[::-1, ::-1])


def test_a_sheet_face_down_shows_its_back_to_the_camera_above(
    a_world: Worlds, page_image: PageImages
) -> None:
    front, back = page_image("f.png"), page_image("b.png", bottom=120)
    above, below = at_camera(a_world, Sheet("1", front, back, wrong_side=True)).capture()
    assert same(above, image(back))
    assert same(below, image(front))


def test_a_sheet_without_a_back_image_has_a_blank_back_of_its_size(
    a_world: Worlds, page_image: PageImages
) -> None:
    front = page_image("f.png")
    _, below = at_camera(a_world, Sheet("1", front)).capture()
    assert below.shape == image(front).shape
    assert same(below, np.full_like(below, PAPER_GREY))


def test_the_empty_bed_is_dark(a_world: Worlds) -> None:
    for view in a_world().capture():
        assert same(view, np.full_like(view, BED_GREY))


def test_of_two_sheets_over_each_other_each_camera_sees_its_own(
    a_world: Worlds, page_image: PageImages
) -> None:
    upper = Sheet("1", page_image("1f.png"), page_image("1b.png", bottom=150))
    lower = Sheet("2", page_image("2f.png", bottom=120), page_image("2b.png", bottom=130))
    double = read_fault({"kind": "double_feed", "sheets": ["1", "2"]}, "fault 1")
    above, below = at_camera(a_world, upper, lower, faults=(double,)).capture()
    assert same(above, image(tmp(upper.front)))
    assert same(below, image(tmp(lower.back)))


def tmp(path: Path | None) -> Path:
    assert path is not None
    return path


def test_of_a_partly_overlapped_pair_the_camera_sees_both(a_world: Worlds, page_image: PageImages) -> None:
    sheets = Sheet("1", page_image("1f.png", bottom=101)), Sheet("2", page_image("2f.png", bottom=250))
    double = read_fault({"kind": "double_feed", "sheets": ["1", "2"], "overlap_mm": 230}, "fault 1")
    above, _ = at_camera(a_world, *sheets, faults=(double,)).capture()
    rows_per_mm = 220 / 279.4
    bed = above[: round(9 * rows_per_mm)]
    assert same(bed, np.full_like(bed, BED_GREY))
    first_end = round((10 + 279.4) * rows_per_mm)
    assert np.all(above[first_end - 5 : first_end - 1] <= 101 + NOISE)
    assert np.all(above[first_end + 5 : first_end + 10] > 200)


def test_a_sheet_half_under_the_camera_is_seen_with_the_bed_behind_it(
    a_world: Worlds, page_image: PageImages
) -> None:
    running = plays([motors(pick=PICK, transport=TRANSPORT, wait_us=300_000)])
    world = a_world(running, (Sheet("1", page_image("f.png")),))
    world.run_until(2_000_000)
    above, _ = world.capture()
    assert same(above[0], np.full_like(above[0], BED_GREY))
    assert np.all(above[-1] >= 100 - NOISE)


def test_paper_that_moves_is_smeared(a_world: Worlds, tmp_path: Path) -> None:
    page = np.zeros((2200, 1700), np.uint8)
    page[::40] = 255
    cv2.imwrite(str(tmp_path / "lines.png"), page)
    running = plays([motors(pick=PICK, transport=TRANSPORT, wait_us=3_000_000)])
    world = a_world(running, (Sheet("1", tmp_path / "lines.png"),))
    world.run_until(1_060_000)
    above, _ = world.capture()
    assert world.hands.in_path() == ("1",)
    assert above.max() < 100


def test_a_weak_lamp_gives_a_dark_picture(a_world: Worlds, page_image: PageImages) -> None:
    front = page_image("f.png")
    dim = read_fault({"kind": "dim_light"}, "fault 1")
    above, _ = at_camera(a_world, Sheet("1", front), faults=(dim,)).capture()
    assert above.mean() < image(front).mean() / 2


@pytest.mark.parametrize("grey", [0, 128, 255])
def test_no_two_pictures_of_one_sheet_are_the_same_bytes(grey: int, a_world: Worlds, tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "plain.png"), np.full((220, 170), grey, np.uint8))
    world = at_camera(a_world, Sheet("1", tmp_path / "plain.png"))
    pictures = [view.tobytes() for _ in range(300) for view in world.capture()]
    assert len(set(pictures)) == 600


def test_the_seed_repeats_the_noise(a_world: Worlds, page_image: PageImages) -> None:
    front = page_image("f.png")
    views = [at_camera(a_world, Sheet("1", front), seed=seed).capture()[0].tobytes() for seed in (4, 4, 5)]
    assert views[0] == views[1] != views[2]


def test_noise_lies_over_pages_of_any_size() -> None:
    noise = Noise(1)
    for shape in ((64, 64), (400, 100), (100, 400), (300, 300)):
        page = np.full(shape, 200, np.uint8)
        assert same(noise.over(page), page)
        assert noise.over(page).tobytes() != noise.over(page).tobytes()


def test_a_camera_that_stalls_gives_its_last_picture_again(a_world: Worlds, page_image: PageImages) -> None:
    world = at_camera(a_world, Sheet("1", page_image("f.png")))
    before = world.capture()
    world.add_fault(read_fault({"kind": "camera_stalled", "at_s": 3.1, "for_s": 0.5}, "fault 1"))
    world.run_until(3_200_000)
    stalled = world.capture()
    world.run_until(3_700_000)
    after = world.capture()
    assert [view.tobytes() for view in before] == [view.tobytes() for view in stalled]
    assert after[0].tobytes() != before[0].tobytes()
    assert after[1].tobytes() != before[1].tobytes()
