"""What the camera sees: the sheet as it lies, or the bed."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from device.tests.world.bench import PICK, TRANSPORT, Worlds, feeds, motors, plays
from recount_world.camera import BED_GREY, PAPER_GREY
from recount_world.faults import read_fault
from recount_world.paper import Sheet
from recount_world.world import World

PageImages = Callable[..., Path]


def image(path: Path) -> NDArray[np.uint8]:
    return cast("NDArray[np.uint8]", cv2.imread(str(path), cv2.IMREAD_GRAYSCALE))


def at_camera(a_world: Worlds, *sheets: Sheet, **script: object) -> World:
    world = a_world(feeds([None]), sheets, **script)
    world.run_until(3_000_000)
    return world


def test_a_sheet_at_rest_gives_its_own_image_untouched(a_world: Worlds, page_image: PageImages) -> None:
    front, back = page_image("f.png"), page_image("b.png", bottom=120)
    above, below = at_camera(a_world, Sheet("1", front, back)).capture()
    assert np.array_equal(above, image(front))
    assert np.array_equal(below, image(back))


def test_a_sheet_upside_down_is_seen_turned_by_half(a_world: Worlds, page_image: PageImages) -> None:
    front = page_image("f.png")
    (above,) = at_camera(a_world, Sheet("1", front, turned=True), duplex=False).capture()
    assert np.array_equal(above, image(front)[::-1, ::-1])


def test_a_sheet_face_down_shows_its_back_to_the_camera_above(
    a_world: Worlds, page_image: PageImages
) -> None:
    front, back = page_image("f.png"), page_image("b.png", bottom=120)
    above, below = at_camera(a_world, Sheet("1", front, back, wrong_side=True)).capture()
    assert np.array_equal(above, image(back))
    assert np.array_equal(below, image(front))


def test_a_sheet_without_a_back_image_has_a_blank_back_of_its_size(
    a_world: Worlds, page_image: PageImages
) -> None:
    front = page_image("f.png")
    _, below = at_camera(a_world, Sheet("1", front)).capture()
    assert below.shape == image(front).shape
    assert np.all(below == PAPER_GREY)


def test_the_empty_bed_is_dark(a_world: Worlds) -> None:
    for view in a_world().capture():
        assert np.all(view == BED_GREY)


def test_of_two_sheets_over_each_other_each_camera_sees_its_own(
    a_world: Worlds, page_image: PageImages
) -> None:
    upper = Sheet("1", page_image("1f.png"), page_image("1b.png", bottom=150))
    lower = Sheet("2", page_image("2f.png", bottom=120), page_image("2b.png", bottom=130))
    double = read_fault({"kind": "double_feed", "sheets": ["1", "2"]}, "fault 1")
    above, below = at_camera(a_world, upper, lower, faults=(double,)).capture()
    assert np.array_equal(above, image(tmp(upper.front)))
    assert np.array_equal(below, image(tmp(lower.back)))


def tmp(path: Path | None) -> Path:
    assert path is not None
    return path


def test_of_a_partly_overlapped_pair_the_camera_sees_both(a_world: Worlds, page_image: PageImages) -> None:
    sheets = Sheet("1", page_image("1f.png", bottom=101)), Sheet("2", page_image("2f.png", bottom=250))
    double = read_fault({"kind": "double_feed", "sheets": ["1", "2"], "overlap_mm": 230}, "fault 1")
    above, _ = at_camera(a_world, *sheets, faults=(double,)).capture()
    rows_per_mm = 220 / 279.4
    assert np.all(above[: round(9 * rows_per_mm)] == BED_GREY)
    first_end = round((10 + 279.4) * rows_per_mm)
    assert np.all(above[first_end - 5 : first_end - 1] <= 101)
    assert np.all(above[first_end + 5 : first_end + 10] > 200)


def test_a_sheet_half_under_the_camera_is_seen_with_the_bed_behind_it(
    a_world: Worlds, page_image: PageImages
) -> None:
    running = plays([motors(pick=PICK, transport=TRANSPORT, wait_us=300_000)])
    world = a_world(running, (Sheet("1", page_image("f.png")),))
    world.run_until(2_000_000)
    above, _ = world.capture()
    assert np.all(above[0] == BED_GREY)
    assert np.all(above[-1] >= 100)


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
