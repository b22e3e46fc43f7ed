"""The lens of a camera is found from printed charts, to a small part of a pixel, and kept in a sound file."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pypdfium2
import pytest

from device.tests.station.chart_pictures import SHARP, chart, chart_scan
from recount_classifier.lens import BOUNDS, Lens, LensError, check_lens, picture_grid
from recount_device.calibration.chart_dots import find_dots
from recount_device.calibration.chart_sheet import (
    LEAST_MARGIN_MM,
    LENGTHS_IN,
    SHEET_WIDTH_MM,
    ChartSheet,
    chart_pdf,
    chart_picture,
)
from recount_device.calibration.lens_fit import LensFit, fit_lens, projected
from recount_device.cli import main
from recount_device.errors import OperatorError
from recount_device.lens_file import LENS_FILE, lens_of_device, read_lens, write_lens

DRAWN_DPI = 144
BENT = Lens(1000, 1400, 510.0, 690.0, -0.06, 0.01, -0.004, 0.002, -0.001)


def fitted(k1: float, pictures: int = 2) -> LensFit:
    return fit_lens([find_dots(chart_scan(SHARP.but(lens=k1), seed).image) for seed in range(pictures)])


# The chart


@pytest.mark.parametrize("length_in", LENGTHS_IN)
def test_a_chart_has_dots_nearly_to_its_edges(length_in: int) -> None:
    sheet = ChartSheet(length_in)
    low, high = sheet.dots.min(axis=0), sheet.dots.max(axis=0)
    assert len(sheet.dots) == 20 * sheet.rows
    assert all(low >= LEAST_MARGIN_MM)
    assert all(low < LEAST_MARGIN_MM + 5)
    assert np.allclose(low + high, (SHEET_WIDTH_MM, sheet.length_mm))


def test_the_printed_chart_is_the_drawn_one() -> None:
    document = pypdfium2.PdfDocument(chart_pdf(ChartSheet()))
    assert len(document) == 1
    printed = np.asarray(document[0].render(scale=DRAWN_DPI // 72, grayscale=True).to_numpy())
    document.close()
    drawn = chart_picture(ChartSheet(), DRAWN_DPI)
    one, other = find_dots(np.ascontiguousarray(printed.reshape(drawn.shape))), find_dots(drawn)
    assert np.abs(one.picture - other.picture).max() < 0.1


def test_the_chart_is_written_for_printer_and_simulator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("chart.pdf", "chart.png"):
        assert main(["chart", str(tmp_path / name)]) == 0
    assert (tmp_path / "chart.pdf").read_bytes().startswith(b"%PDF-")
    drawn = cv2.imread(str(tmp_path / "chart.png"), cv2.IMREAD_GRAYSCALE)
    assert np.array_equal(np.asarray(drawn), chart_picture(ChartSheet()))
    capsys.readouterr()
    assert main(["chart", str(tmp_path / "chart.txt")]) == 2
    assert main(["chart", str(tmp_path / "nowhere" / "chart.pdf")]) == 2
    assert "OUT.pdf (to print)" in (said := capsys.readouterr().err)
    assert said.count("\n") == 2


# The fit


@pytest.mark.parametrize("k1", [0.0, 0.01, -0.03, 0.06, -0.1, 0.1])
def test_a_known_bend_is_recovered(k1: float) -> None:
    fit = fitted(k1)
    lens = fit.lens
    true = Lens(lens.width, lens.height, (lens.width - 1) / 2, (lens.height - 1) / 2, k1, 0, 0, 0, 0)
    grid = picture_grid(lens.width, lens.height, 15, 0.9)
    wanted, found = true.straight(grid), lens.straight(grid)
    # How the sheets lay is not the lens's matter: the two may differ by a homography.
    homography, _ = cv2.findHomography(wanted, found)
    away = projected(np.asarray(homography, np.float64), wanted) - found
    assert np.hypot(away[:, 0], away[:, 1]).max() < 0.15
    assert fit.rms_px < 0.05
    assert lens.corner_share == pytest.approx(true.corner_share, abs=0.003)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_chart_may_lie_any_way(quarters: int) -> None:
    picture = np.ascontiguousarray(np.rot90(chart_scan(SHARP.but(lens=-0.03)).image, quarters))
    assert fit_lens([find_dots(picture)]).lens.corner_share == pytest.approx(0.034, abs=0.002)


def test_dust_on_the_chart_moves_nothing() -> None:
    picture = chart_scan(SHARP.but(lens=-0.03)).image.copy()
    for x, y in find_dots(picture).picture[5::60]:
        cv2.circle(picture, (round(x) + 13, round(y)), 4, (30,), -1)
    fit = fit_lens([find_dots(picture)])
    assert fit.left_out >= 4
    assert fit.rms_px < 0.05


def test_pictures_of_two_sizes_are_no_calibration() -> None:
    other = SHARP.but(margin_px=40)
    with pytest.raises(OperatorError, match="differ in size \\(1335 x 1710 and 1355 x 1730\\)"):
        fit_lens([find_dots(chart_scan(settings).image) for settings in (SHARP, other)])


@pytest.mark.parametrize("kind", ["empty", "noise", "half", "words"])
def test_what_is_no_chart_is_told_in_a_sentence(kind: str) -> None:
    picture = np.full((1650, 1275), 230, np.uint8)
    if kind == "noise":
        picture = np.random.default_rng(0).integers(0, 255, picture.shape, np.uint8)
    elif kind == "half":
        picture[:500] = chart()[:500]
    elif kind == "words":
        for row in range(40, 1600, 24):
            cv2.putText(picture, "o0 quo coco oboe 8B", (60, row), cv2.FONT_HERSHEY_SIMPLEX, 0.9, (20,), 2)
    with pytest.raises(OperatorError, match="no lens chart is seen"):
        find_dots(picture)


# The map


def test_the_map_is_opencvs() -> None:
    grid = picture_grid(BENT.width, BENT.height, 9)
    matrix = np.array([[BENT.radius, 0, BENT.centre_x], [0, BENT.radius, BENT.centre_y], [0, 0, 1]])
    terms = np.array([BENT.k1, BENT.k2, BENT.p1, BENT.p2, BENT.k3])
    rays = np.column_stack([(grid - matrix[:2, 2]) / BENT.radius, np.ones(len(grid))])
    theirs, _ = cv2.projectPoints(rays, np.zeros(3), np.zeros(3), matrix, terms)
    assert np.abs(BENT.bent(grid) - theirs[:, 0]).max() < 1e-9


def test_points_go_there_and_back() -> None:
    grid = picture_grid(BENT.width, BENT.height, 9, 1.1)
    assert np.abs(BENT.bent(BENT.straight(grid)) - grid).max() < 1e-6
    step = 1e-3
    slopes = BENT.slopes(grid)
    for axis in (0, 1):
        moved = grid + np.eye(2)[axis] * step
        assert np.abs((BENT.bent(moved) - BENT.bent(grid)) / step - slopes[:, :, axis]).max() < 1e-5


@pytest.mark.parametrize(
    ("change", "said"),
    [
        *(({name: 1.01 * most}, f"{name} is") for name, most in BOUNDS.items()),
        ({"k2": float("nan")}, "k2 is no finite number"),
        ({"centre_x": 900.0}, "pixels from the middle"),
        ({"k1": -0.3, "k2": -0.2}, "folds the edge"),
        ({"k1": 0.35, "k2": 0.35, "k3": 0.2}, "too far"),
    ],
)
def test_numbers_that_no_lens_has_are_refused(change: dict[str, float], said: str) -> None:
    with pytest.raises(LensError, match=said):
        check_lens(replace(BENT, **change))


# The file


def test_a_calibration_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert lens_of_device(tmp_path) is None
    write_lens(tmp_path, BENT)
    assert lens_of_device(tmp_path) == BENT


def changed(tmp_path: Path, **numbers: Any) -> bytes:
    write_lens(tmp_path, BENT)
    file = json.loads((tmp_path / LENS_FILE).read_bytes())
    file["lens"].update(numbers)
    return json.dumps(file).encode()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no lens calibration"),
        (b"\xff\xfe", "is no lens calibration"),
        (b"[" * 3000, "is no lens calibration"),
        (b"{}" + b" " * 5000, "too large"),
        (b'{"lens": {}, "lens": {}}', "stands twice"),
        (b'{"lens": {}, "sha256": ""}', "must have the entries width"),
        ({"k1": -0.05}, "do not fit its hash"),
        ({"width": 1.5}, "width must be a whole number"),
        ({"height": True}, "height must be a whole number"),
        ({"k2": "0"}, "k2 is no number"),
        ({"k2": float("nan")}, "NaN is no number"),
        ({"k2": 10**400}, "too large"),
        ({"more": 1}, "no others"),
    ],
)
def test_a_file_that_is_none_is_one_line(tmp_path: Path, content: bytes | dict[str, Any], said: str) -> None:
    path = tmp_path / LENS_FILE
    path.write_bytes(content if isinstance(content, bytes) else changed(tmp_path, **content))
    with pytest.raises(OperatorError, match=said) as raised:
        read_lens(path)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="cannot be read: No such file"):
        read_lens(tmp_path / LENS_FILE)
