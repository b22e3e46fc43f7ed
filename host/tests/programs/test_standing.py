"""A blank that lies upside down, on a side or on dark ground is set straight before it is looked at."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from recount_ballots.ballots_file import read_ballots
from recount_ballots.layout import compose
from recount_classifier.raster import Grey
from recount_host.cli import main
from recount_host.programs.blanks import read_blank
from recount_host.programs.contests import look_at
from recount_host.programs.looking import look_at_blanks
from recount_host.programs.standing import level, upright

from .drawn_blanks import TARGETS, drawn_blank
from .shared_blanks import VENDORS, blanks_of, targets_of

FAIRVIEW = Path(__file__).resolve().parents[3] / "images" / "ballots" / "fairview"
PLACE_PX = 2.0
TAGS = {1: 6, 2: 3, 3: 8}
"""The orientation tag that takes back so many quarter turns against the clock."""


def blank(side: str = "front") -> Grey:
    return np.asarray(cv2.imread(str(FAIRVIEW / f"blank-101-{side}.png"), cv2.IMREAD_GRAYSCALE), np.uint8)


def turned(page: Grey, quarters: int) -> Grey:
    return np.ascontiguousarray(np.rot90(page, quarters))


def tilted(page: Grey, degrees: float) -> Grey:
    """Return the page turned by some degrees on a larger white sheet."""
    edge = round(0.06 * page.shape[0])
    page = np.pad(page, edge, constant_values=255)
    height, width = page.shape
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1)
    return np.asarray(cv2.warpAffine(page, turn, (width, height), borderValue=255), np.uint8)


def worst_px(path: Path) -> tuple[float, str]:
    """Return how far the target found worst lies from where the blank's back has it, and the page's file."""
    dpi, (side,) = look_at_blanks([str(path)], None, path.parent)
    layout = compose(read_ballots(FAIRVIEW).designs["101"], "back").layout.at(dpi)
    known = np.array([option.target.centre for contest in layout.contests for option in contest.options])
    found = np.array([spot.centre for contest in side.found.contests for spot in contest.targets])
    assert len(found) == len(known)
    apart = np.abs(known[:, None] - found[None]).max(axis=2)
    return float(apart.min(axis=1).max()), side.blank


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_blank_that_lies_upside_down_or_on_a_side_is_turned_upright(quarters: int) -> None:
    assert np.array_equal(upright(turned(blank("back"), quarters)), blank("back"))


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_vendors_blank_is_known_to_lie_upright_and_to_lie_upside_down(
    shared_folder: Path, vendor: str
) -> None:
    for one in blanks_of(shared_folder, vendor):
        page = one.page
        assert upright(page) is page
        assert np.array_equal(upright(turned(page, 2)), page)


@pytest.mark.parametrize(("vendor", "degrees"), list(zip(VENDORS, (-11, -3, 1, 5), strict=True)))
def test_a_blank_that_is_turned_by_some_degrees_and_lies_on_a_side_is_set_straight(
    shared_folder: Path, vendor: str, degrees: float
) -> None:
    one = next(blanks_of(shared_folder, vendor))
    found = look_at(upright(level(turned(tilted(one.page, degrees), 1))), one.dpi).contests
    assert [len(contest.targets) for contest in found] == [len(targets_of(c)) for c in one.contests]


def test_a_blank_that_lies_level_keeps_its_pixels() -> None:
    page = tilted(blank(), 0.3)
    assert level(page) is page


def test_a_page_that_does_not_tell_how_it_is_turned_stays_as_it_lies() -> None:
    noise = np.random.default_rng(3).integers(0, 256, (600, 400)).astype(np.uint8)
    for page in (noise, np.full((600, 400), 255, np.uint8), np.zeros((600, 400), np.uint8)):
        assert level(page) is page


def test_a_page_whose_letters_tell_nothing_stays_as_it_lies() -> None:
    page, _ = drawn_blank(TARGETS["circle"], on_the_right=False, ruled=True, dpi=150)
    page = page.copy()
    page[: page.shape[0] * 9 // 10] = 255
    for empty in (turned(page, 2), np.full((600, 400), 255, np.uint8), np.zeros((600, 400), np.uint8)):
        assert upright(empty) is empty


def test_what_was_turned_is_kept_where_the_spec_will_lie(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "front.png"), turned(blank("back"), 2))
    worst, file = worst_px(tmp_path / "front.png")
    assert worst <= PLACE_PX
    assert file == "front-straight.png"


@pytest.mark.parametrize("quarters", TAGS)
def test_a_picture_with_an_orientation_tag_is_taken_as_people_see_it(tmp_path: Path, quarters: int) -> None:
    jpeg = cv2.imencode(".jpg", turned(blank(), quarters))[1].tobytes()
    tag = b"\x01\x12\x00\x03\x00\x00\x00\x01\x00" + bytes([TAGS[quarters]]) + b"\x00\x00"
    exif = b"Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x01" + tag + b"\x00\x00\x00\x00"
    segment = b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif
    (tmp_path / "front.jpg").write_bytes(jpeg[:2] + segment + jpeg[2:])
    page = read_blank("front.jpg", tmp_path, 200)
    assert page.shape == blank().shape
    assert np.mean(np.abs(page.astype(float) - blank())) < 2


@pytest.mark.parametrize("ground", [(0, 0, 25, 0), (0, 200, 40, 60)], ids=["one side", "three sides"])
def test_ground_that_a_scanner_shows_on_some_sides_is_no_part_of_the_page(
    tmp_path: Path, ground: tuple[int, int, int, int]
) -> None:
    seen = cv2.copyMakeBorder(blank("back"), *ground, cv2.BORDER_CONSTANT, value=8)
    cv2.imwrite(str(tmp_path / "scan.png"), seen)
    worst, file = worst_px(tmp_path / "scan.png")
    assert worst <= PLACE_PX
    assert file == "scan-straight.png"


def test_a_file_that_the_decoder_grumbles_about_is_refused_in_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "front.tif"
    cv2.imwrite(str(path), blank().astype(np.float32))
    path.write_bytes(path.read_bytes()[:5000])
    assert main(["program", "draft", str(path)]) == 2
    assert capfd.readouterr().err.count("\n") == 1


def refusal(capsys: pytest.CaptureFixture[str], path: Path) -> str:
    assert main(["program", "draft", str(path)]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    return told.err


def test_a_negative_is_refused_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cv2.imwrite(str(tmp_path / "front.png"), 255 - blank())
    assert "front.png is a negative" in refusal(capsys, tmp_path / "front.png")


def test_a_page_without_a_contest_is_refused_with_what_it_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = blank()
    page[300:] = 255
    cv2.imwrite(str(tmp_path / "front.png"), page)
    told = refusal(capsys, tmp_path / "front.png")
    assert "no contest was found on" in told
    assert "program import" in told


def test_blanks_of_one_name_in_different_folders_are_two_styles_with_a_page_each(tmp_path: Path) -> None:
    names: list[str] = []
    for ward, side in (("ward-1", "front"), ("ward-2", "back")):
        (tmp_path / ward).mkdir()
        names.append(str(tmp_path / ward / "blank.png"))
        cv2.imwrite(names[-1], turned(blank(side), 2))
    for _ in range(2):  # the second time the pages are there already
        _, sides = look_at_blanks(names, None, tmp_path)
        assert [side.style for side in sides] == ["blank", "blank-2"]
        assert [side.blank for side in sides] == ["blank-straight.png", "blank-straight-2.png"]
        for side, name in zip(sides, ("front", "back"), strict=True):
            assert np.array_equal(read_blank(side.blank, tmp_path, 200), blank(name))
