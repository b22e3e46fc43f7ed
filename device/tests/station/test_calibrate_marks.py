"""`recount-device calibrate-marks`: a device passes by its margins against a program's thresholds."""

import dataclasses
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from device.tests.classifier.fairview import STYLE, marked, program
from recount_classifier.program import make_program
from recount_classifier.raster import Grey
from recount_classifier.thresholds import Thresholds
from recount_device.calibration.mark_margins import (
    GUARD_SD,
    MARK_SCORES,
    RESCAN_SD,
    SCORES,
    Score,
    Scores,
    assess,
    repeat_sd,
)
from recount_device.cli import main
from recount_device.errors import OperatorError
from recount_device.known_marks import read_known_marks

LIMITS = Thresholds()
KEYS = ["D", "R", "I", "W"]


def scored(*, marked: bool, sheet: str = "1", option: str = "D", **values: float) -> Score:
    """Return a target's score: quite empty or quite full, but for `values`."""
    usual = dict.fromkeys((*SCORES, *MARK_SCORES), 0.9 if marked else 0.0)
    return Score(sheet, option, ("101", KEYS.index(option)), marked, {**usual, **values})


def scores(*extra: Score, troubles: tuple[tuple[str, str], ...] = ()) -> Scores:
    usual = [scored(marked=False, sheet=str(n), option=key) for n in range(3) for key in KEYS]
    return Scores((*usual, scored(marked=True), *extra), 3, 1, troubles)


def failing(given: Scores, limits: Thresholds = LIMITS) -> set[str]:
    return {margin.name for margin in assess(given, limits).margins if not margin.holds}


# The margins


def test_clean_blanks_and_full_marks_pass() -> None:
    result = assess(scores(), LIMITS)
    assert result.passed
    assert result.advice == ""
    assert [margin.name for margin in result.margins] == [*SCORES, *MARK_SCORES, "between"]


@pytest.mark.parametrize("name", SCORES)
def test_an_empty_target_near_its_limit_fails_the_device(name: str) -> None:
    limit = getattr(LIMITS, SCORES[name])
    given = scores(scored(marked=False, sheet="smudged", option="R", **{name: limit - 0.0015}))
    assert failing(given) == {name}, "5 standard deviations do not fit between"
    result = assess(given, LIMITS)
    assert {margin.worst for margin in result.margins if not margin.holds} == {"R of smudged"}
    assert "clean the glass" in result.advice
    assert "another program with other thresholds" in result.advice


def test_a_score_that_repeats_badly_needs_more_room() -> None:
    half = LIMITS.clear_halo / 2
    steady = [scored(marked=False, sheet=f"s{n}", halo=half) for n in range(6)]
    assert repeat_sd("halo", steady) == pytest.approx(0)
    assert not failing(Scores((*steady, scored(marked=True)), 6, 1, ()))
    restless = [scored(marked=False, sheet=f"r{n}", halo=half * (n % 2)) for n in range(6)]
    assert repeat_sd("halo", restless) == pytest.approx(half * 0.5477, rel=0.001)
    assert failing(Scores((*restless, scored(marked=True)), 6, 1, ())) == {"halo"}


def test_the_repeatability_is_that_of_one_and_the_same_target() -> None:
    different = [scored(marked=False, sheet=str(n), option=key, ring=0.005 * KEYS.index(key))
                 for n in range(4) for key in KEYS]  # fmt: skip
    assert repeat_sd("ring", different) == pytest.approx(0)
    assert repeat_sd("ring", different[:4]) == 0.0, "nothing is known from one sheet"


@pytest.mark.parametrize(("name", "told"), [("relief", "weakest marks"), ("tone", "palest marks")])
def test_a_weak_or_a_pale_mark_fails_the_device(name: str, told: str) -> None:
    limit = getattr(LIMITS, MARK_SCORES[name]) + LIMITS.guard(MARK_SCORES[name]) + GUARD_SD * RESCAN_SD
    strong = scores(scored(marked=True, sheet="pencil", **{name: limit + 0.001}))
    weak = scores(scored(marked=True, sheet="pencil", **{name: limit - 0.001}))
    assert not failing(strong)
    assert failing(weak) == {name}
    assert told in assess(weak, LIMITS).advice
    assert {m.worst for m in assess(weak, LIMITS).margins if not m.holds} == {"D of pencil"}


def test_a_program_whose_thresholds_lie_close_together_fails() -> None:
    narrow = dataclasses.replace(LIMITS, clear_cover=0.2)
    spotted = [scored(marked=False, sheet=str(n), option=key, cover=0.16) for n in range(3) for key in KEYS]
    given = Scores((*spotted, scored(marked=True)), 3, 1, ())
    assert failing(given, narrow) == {"between"}


def test_a_known_sheet_that_is_not_read_as_known_fails_whatever_the_margins() -> None:
    result = assess(scores(troubles=(("7", "The picture is blurred."),)), LIMITS)
    assert not result.passed
    assert all(margin.holds for margin in result.margins)
    assert result.advice.startswith("Known sheets are not read as what they are")


def test_nothing_is_assessed_without_both_kinds() -> None:
    with pytest.raises(ValueError, match="known blanks and known marks are needed"):
        assess(Scores((scored(marked=True),), 0, 1, ()), LIMITS)


# The table of known marks


def test_a_technician_writes_one_line_a_sheet() -> None:
    text = "sheet,marked\n# the pens of 2026\n\ndeck-01.png, D\nfolder/deck-02.jpg,R  W\n"
    assert read_known_marks(text, KEYS) == {"deck-01": frozenset("D"), "deck-02": frozenset("RW")}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("deck-01.png", "line 1: write a sheet, a comma and its marked options"),
        ("a.png, D\nb.png, X", 'line 2: "X" is no option of this contest \\(it has D, R, I, W\\)'),
        ("a.png, D\na.jpg, R", "line 2: a was named before"),
        ("a.png,", "line 1: a has no mark: give it with --blank"),
        ("a.png, D, R", "line 1: write a sheet"),
    ],
)
def test_a_mistake_in_the_table_is_named_with_its_line(text: str, said: str) -> None:
    with pytest.raises(OperatorError, match=said):
        read_known_marks(text, KEYS)


# The command


class Desk:
    """A technician's folder with known sheets as the device's camera gave them."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capsys = capsys
        self.program = folder / "delegates.program"
        self.program.write_bytes(program().to_bytes())
        self.known = folder / "known.csv"
        self.known.write_text("".join(f"deck-{key}.png, {key}\n" for key in KEYS))
        self.blanks = [self.save(f"blank-{n}.png", sound_png("", n)) for n in range(2)]
        self.deck = [self.save(f"deck-{key}.png", sound_png(key, 9)) for key in KEYS]

    def save(self, name: str, png: bytes) -> str:
        path = self.folder / name
        path.write_bytes(png)
        return str(path)

    def give(self, *words: str) -> tuple[int, str, str]:
        sheets = ("--blank", *self.blanks, "--marked", *self.deck, "--known", str(self.known))
        code = main(["calibrate-marks", str(self.program), *sheets, *words])
        told = self.capsys.readouterr()
        return code, told.out, told.err

    def result(self) -> dict[str, Any]:
        code, out, err = self.give("--json")
        assert err == ""
        result: dict[str, Any] = json.loads(out)
        assert code == (0 if result["passed"] else 1)
        return result


@cache
def grain(seed: int) -> Grey:
    return np.random.default_rng(seed).integers(0, 9, marked().shape, np.uint8)


def png(sheet: Grey, seed: int = 0) -> bytes:
    """Return the sheet as a camera gives it: a little darker, with grain."""
    seen = cv2.subtract(sheet, grain(seed) + np.uint8(10))
    return cv2.imencode(".png", seen, [cv2.IMWRITE_PNG_COMPRESSION, 0])[1].tobytes()


@cache
def sound_png(key: str, seed: int) -> bytes:
    return png(marked(*key), seed)


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(tmp_path, capsys)


def test_a_sound_device_passes_and_its_scores_are_drawn(desk: Desk) -> None:
    svg = desk.folder / "scores.svg"
    code, out, err = desk.give("-o", str(svg))
    assert (code, err) == (0, ""), out
    assert out.splitlines()[0] == "2 blank and 4 marked sheets: 20 empty and 4 marked targets"
    assert out.splitlines()[-1] == "PASSED"
    assert "Few sheets: 200 of each kind are recommended before a recount." in out
    root = ET.fromstring(svg.read_text(encoding="utf-8"))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == f"{program().title}, program {program().program_hash.hex()[:8]}: PASSED"
    assert {*SCORES, *MARK_SCORES} <= set(texts)
    assert texts.count("marked from 0.25") == len(("cover", "relief"))
    assert f"marked from {LIMITS.marked_tone:g}" in texts
    assert f"empty below {LIMITS.clear_cover:g}" in texts


def test_the_answer_for_programs_holds_every_margin(desk: Desk) -> None:
    result = desk.result()
    assert result["passed"]
    assert result["program"] == program().program_hash.hex()
    assert (result["empty_targets"], result["marked_targets"], result["troubles"]) == (20, 4, [])
    assert [margin["name"] for margin in result["margins"]] == [*SCORES, *MARK_SCORES, "between"]


def test_a_pen_that_hardly_marks_fails_the_device(desk: Desk) -> None:
    left, top, width, height = STYLE["targets"]["D"][0]
    sheet = marked("D")
    inside = (slice(top + 2, top + height - 2), slice(left + 2, left + width - 2))
    sheet[inside] = 255
    cv2.line(sheet, (left + 9, top + 9), (left + 15, top + 9), 60, 1)
    desk.save("deck-D.png", png(sheet))
    result = desk.result()
    assert "relief" in {margin["name"] for margin in result["margins"] if not margin["holds"]}
    told = "The target of D is marked and was read as unsure."
    assert {"sheet": "deck-D", "why": told} in result["troubles"]
    code, out, _ = desk.give()
    assert code == 1
    assert out.splitlines()[-1].startswith("FAILED. ")


def test_a_pale_pen_fails_the_device_though_its_marks_are_read(desk: Desk) -> None:
    left, top, width, height = STYLE["targets"]["D"][0]
    sheet = marked("D")
    sheet[top + 2 : top + height - 2, left + 2 : left + width - 2] = 168
    desk.save("deck-D.png", png(sheet))
    result = desk.result()
    assert result["troubles"] == []
    assert [margin["name"] for margin in result["margins"] if not margin["holds"]] == ["tone"]
    assert result["advice"].startswith("The palest marks are too close to the threshold")


def test_a_blank_that_bears_a_mark_fails_the_device(desk: Desk) -> None:
    desk.save("blank-1.png", png(marked("R")))
    result = desk.result()
    assert not result["passed"]
    told = "The target of R is empty and was read as marked."
    assert result["troubles"] == [{"sheet": "blank-1", "why": told}]
    assert "cover" in {margin["name"] for margin in result["margins"] if not margin["holds"]}


def test_a_dirty_glass_fails_the_device(desk: Desk) -> None:
    sheet = marked()
    left, _, width, _ = STYLE["targets"]["R"][0]
    cv2.line(sheet, (left + width // 2, 0), (left + width // 2, sheet.shape[0]), 150, 2)
    desk.save("blank-0.png", png(sheet))
    result = desk.result()
    assert not result["passed"]
    assert any("streak" in trouble["why"] for trouble in result["troubles"])


def test_other_thresholds_may_fail_what_passed(desk: Desk) -> None:
    one = program()
    strict = dataclasses.replace(one.thresholds, clear_ring=0.0005)
    other = make_program(one.key, one.title, one.vote_for, one.options, one.styles, strict)
    desk.program.write_bytes(other.to_bytes())
    assert not desk.result()["passed"]


SPOILED: dict[str, Callable[[Desk], object]] = {
    "give 2 blank sheets or more": lambda desk: desk.blanks.pop(),
    "does not say what is marked on deck-R": lambda desk: desk.known.write_text("deck-D.png, D\n"),
    "line 1: write a sheet, a comma": lambda desk: desk.known.write_text("deck-D.png; D\n"),
    "known.csv cannot be read": lambda desk: desk.known.unlink(),
    "is no text file": lambda desk: desk.known.write_bytes(b"\xff\xfe\xff"),
    "this is no contest program": lambda desk: desk.program.write_bytes(b"?"),
    "blank-0.png": lambda desk: Path(desk.blanks[0]).write_bytes(b"?"),
    "nowhere.png cannot be read": lambda desk: desk.blanks.append("nowhere.png"),
}


@pytest.mark.parametrize("said", SPOILED)
def test_files_that_are_no_calibration_are_one_clear_line(desk: Desk, said: str) -> None:
    SPOILED[said](desk)
    code, out, err = desk.give()
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_sheets_of_another_contest_are_refused_and_the_reason_is_told(desk: Desk) -> None:
    desk.deck = desk.deck[:1]
    cv2.imwrite(desk.deck[0], np.full((2200, 1700), 255, np.uint8))
    code, _, err = desk.give()
    assert code == 2
    assert "could be read (deck-D: The sheet bears no print.)" in err


def test_a_picture_that_cannot_be_written_is_one_clear_line(desk: Desk) -> None:
    code, _, err = desk.give("-o", str(desk.folder / "nowhere" / "scores.svg"))
    assert code == 2
    assert "cannot be written" in err
