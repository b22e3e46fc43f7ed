"""The explained picture: what was measured on a contest and why, and nothing else of the ballot."""

import dataclasses
from collections.abc import Callable
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device.tests.classifier.dabs import Dab
from device.tests.classifier.fairview import STYLE, marked, picture, program
from recount_classifier.decide import state_of
from recount_classifier.drawing import text_width, wrapped
from recount_classifier.explain import INKS, STATE_COLOURS, WIDTH_PX, explain, explain_refusal
from recount_classifier.findings import BESIDE, IN_TARGET, LOOSE, OVER_NAME, WRITTEN, strokes_found
from recount_classifier.judge import see
from recount_classifier.raster import Grey
from recount_classifier.reading import Reading, read_sheet
from recount_classifier.reasons import REASONS
from recount_classifier.sentences import state_sentence, target_sentences
from recount_classifier.upright import contest_only, upright
from recount_device.cli import main

TARGETS = STYLE["targets"]
BOX = STYLE["contest_box"]


@cache
def reading_of(*marks: str) -> Reading:
    return read(marked(*marks))


def read(sheet: Grey) -> Reading:
    return read_sheet([sheet], program())


def drawn(sheet: Grey) -> np.ndarray:
    reading = read(sheet)
    assert reading.evidence is not None
    assert reading.verdict is not None
    return explain(reading.evidence, reading.verdict, program())


def bears(image: np.ndarray, colour: tuple[int, int, int]) -> int:
    return int(np.count_nonzero((image == colour).all(axis=2)))


def states(sheet: Grey) -> dict[str, str]:
    verdict = read(sheet).verdict
    assert verdict is not None
    keys = [target.option for target in program().styles[0].targets]
    return dict(zip(keys, verdict.measurements[0].decision.states, strict=True))


def a_dot_in(option: str) -> Grey:
    left, top, width, height = TARGETS[option][0]
    sheet = marked()
    cv2.circle(sheet, (left + width // 2 - 4, top + height // 2), 3, 60, -1)
    return sheet


def kinds_of(sheet: Grey) -> list[str]:
    evidence = read(sheet).evidence
    assert evidence is not None
    style, limits = program().styles[0], program().thresholds
    seen = see(evidence, evidence.registrations[0], style, limits)
    return [stroke.kind for stroke in strokes_found(seen.strokes, style, limits)]


# The picture


def test_each_state_is_drawn_in_its_own_colour() -> None:
    sheet = a_dot_in("R")
    left, top, width, height = TARGETS["D"][0]
    cv2.ellipse(sheet, (left + width // 2, top + height // 2), (11, 7), 0, 0, 360, 20, -1)
    assert states(sheet) == {"D": "marked", "R": "unsure", "I": "empty", "W": "empty"}
    image = drawn(sheet)
    assert image.shape[1] == WIDTH_PX
    for state, colour in STATE_COLOURS.items():
        assert bears(image, colour) > 50, state


def test_what_is_not_on_the_sheet_is_not_drawn() -> None:
    image = drawn(marked())
    assert bears(image, STATE_COLOURS["marked"]) < 400, "only the legend's samples"
    more = drawn(marked("D"))
    assert bears(more, STATE_COLOURS["marked"]) > 3 * bears(image, STATE_COLOURS["marked"])


def test_the_picture_is_taller_with_every_reason() -> None:
    one, two = explain_refusal(program(), "returned", ("blurred",)), ("blurred", "exposure")
    assert len(explain_refusal(program(), "returned", two)) > len(one)
    for reason in REASONS:
        assert explain_refusal(program(), REASONS[reason].fate, (reason,)).shape[1] == WIDTH_PX


def test_a_note_is_drawn_beneath_the_reasons() -> None:
    reading = read(marked("D", "R"))
    assert reading.evidence is not None
    assert reading.verdict is not None
    bare = explain(reading.evidence, reading.verdict, program())
    noted = explain(reading.evidence, reading.verdict, program(), "The device said otherwise.")
    assert len(noted) > len(bare)


def test_the_same_evidence_gives_the_same_picture() -> None:
    assert np.array_equal(drawn(marked("D", "W")), drawn(marked("D", "W")))


# The ink


def with_ink(draw: Callable[[Grey], object]) -> Grey:
    sheet = marked("I")
    draw(sheet)
    return sheet


def test_every_kind_of_ink_is_told_apart() -> None:
    area = STYLE["write_in_areas"][0]
    left, top, width, height = TARGETS["D"][0]
    name_x, name_y = left + width + 60, TARGETS["R"][0][1] + 8
    cases: dict[str, Callable[[Grey], object]] = {
        WRITTEN: lambda s: cv2.line(s, (area[0] + 60, area[1] + 20), (area[0] + 200, area[3] - 15), 30, 4),
        OVER_NAME: lambda s: cv2.line(s, (name_x, name_y), (name_x + 120, name_y), 30, 5),
        BESIDE: lambda s: cv2.line(s, (left - 10, top - 5), (left - 10, top + height + 5), 30, 5),
        LOOSE: lambda s: cv2.line(s, (BOX[2] - 80, BOX[1] + 120), (BOX[2] - 30, BOX[1] + 160), 30, 5),
    }
    for kind, draw in cases.items():
        found = kinds_of(with_ink(draw))
        assert set(found) == {IN_TARGET, kind}, kind
    assert set(INKS) == {IN_TARGET, *cases}


def test_dust_is_not_drawn() -> None:
    sheet = with_ink(lambda s: cv2.circle(s, (BOX[2] - 60, BOX[1] + 150), 1, 30, -1))
    assert kinds_of(sheet) == [IN_TARGET]


# The words


def test_an_unsure_target_is_told_what_it_lacks_and_what_it_has_too_much_of() -> None:
    verdict = read(a_dot_in("D")).verdict
    assert verdict is not None
    target = verdict.measurements[0].targets[0]
    said = state_sentence(target, "unsure", program().thresholds)
    assert said.startswith("Not empty: ink covers ")
    assert "(empty: up to 2.0 %). No clear mark: " in said


@pytest.mark.parametrize(
    ("measure", "value", "words"),
    [
        ("halo", 0.2, "the ground round it has 20 % of ink (empty: up to 2.5 %)"),
        ("ring", 0.05, "its outline has 5.0 % of ink (empty: up to 2.0 %)"),
        ("core", 0.02, "its inside has 2.0 % of pale ink (empty: up to 1.2 %)"),
    ],
)
def test_each_measure_beyond_empty_is_named(measure: str, value: float, words: str) -> None:
    verdict = read(marked("D")).verdict
    assert verdict is not None
    empty = verdict.measurements[0].targets[1]
    said = state_sentence(empty._replace(**{measure: value}), "unsure", program().thresholds)
    assert words in said


def test_a_target_whose_outline_is_pale_is_told_as_unsure_with_its_outlines_ink() -> None:
    sheet = marked("D")
    left, top, width, height = TARGETS["R"][0]
    Dab(0.8, width, height).on(sheet, left + width / 2, top + height / 2)
    assert states(sheet) == {"D": "marked", "R": "unsure", "I": "empty", "W": "empty"}
    verdict = read(sheet).verdict
    assert verdict is not None
    assert verdict.reasons == ("marginal_outline",)
    said = state_sentence(verdict.measurements[0].targets[1], "unsure", program().thresholds)
    assert said.startswith("No ink is seen in it, but where its printed outline is palest it has ")
    assert said.endswith(" of its ink (empty: 65 % or more).")


def test_words_are_broken_between_words_and_never_before_a_percent_sign() -> None:
    sentence = "Not empty: ink covers 34 % of it (empty: up to 2.0 %). No clear mark: it is thin."
    for width in range(60, 600, 20):
        lines = wrapped(sentence, width, 0.5)
        assert " ".join(lines) == sentence
        assert not any(line.startswith("%") for line in lines)
        assert all(text_width(line, 0.5) <= width or line.count(" ") <= 1 for line in lines)
    assert wrapped("", 100, 0.5) == []


SHARES = st.floats(0, 1, width=32)


@settings(max_examples=200, deadline=None)
@given(shares=st.tuples(*[SHARES] * 8))
def test_every_state_can_be_told_in_words(shares: tuple[float, ...]) -> None:
    verdict = reading_of("D").verdict
    assert verdict is not None
    names = ("core", "ring", "halo", "cover", "spot", "span", "body", "inside")
    target = verdict.measurements[0].targets[0]._replace(**dict(zip(names, shares, strict=True)))
    limits = program().thresholds
    said = state_sentence(target, state_of(target, limits), limits)
    assert said.startswith(("Ink covers ", "Not empty: "))
    assert said.endswith(".")


def test_what_else_puts_a_target_in_question_is_told_at_the_target() -> None:
    verdict = reading_of("D").verdict
    assert verdict is not None
    target, limits = verdict.measurements[0].targets[0], program().thresholds
    assert target_sentences(target, "marked", limits) == []
    folded = target._replace(fold=True, shared=True)
    assert target_sentences(folded, "marked", limits) == [
        REASONS["marginal_fold"].sentence, REASONS["marginal_shared_stroke"].sentence,
    ]  # fmt: skip


# Nothing but this contest


@pytest.mark.parametrize("turns", range(4))
def test_the_contest_is_shown_upright_however_the_sheet_was_fed(turns: int) -> None:
    sheet = np.ascontiguousarray(np.rot90(marked("D"), turns))
    evidence = read(sheet).evidence
    assert evidence is not None
    shown = contest_only(evidence, program())
    straight = contest_only(read(marked("D")).evidence or evidence, program())
    height, width = min(shown.shape[0], straight.shape[0]), min(shown.shape[1], straight.shape[1])
    apart = np.abs(shown[4 : height - 4, 4 : width - 4].astype(int) - straight[4 : height - 4, 4 : width - 4])
    assert float(np.median(apart)) < 3
    assert float(apart.mean()) < 12


def test_ink_in_a_neighbouring_contest_is_never_seen_by_people() -> None:
    evidence = reading_of("D").evidence
    assert evidence is not None
    crop = evidence.crop.copy()
    edge = 12
    crop[:edge], crop[-edge:], crop[:, :edge], crop[:, -edge:] = 0, 0, 0, 0
    spoiled = dataclasses.replace(evidence, crop=crop)
    assert np.array_equal(contest_only(spoiled, program()), contest_only(evidence, program()))
    assert np.array_equal(upright(spoiled, program()).pixels, upright(evidence, program()).pixels)


def test_the_stored_evidence_is_left_as_it_was() -> None:
    reading = read(marked("D", "R"))
    assert reading.evidence is not None
    assert reading.verdict is not None
    before = reading.evidence.crop.copy()
    explain(reading.evidence, reading.verdict, program())
    upright(reading.evidence, program())
    assert np.array_equal(reading.evidence.crop, before)


# The command


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    (tmp_path / "delegates.program").write_bytes(program().to_bytes())
    for name, sheet in {"1": marked("D"), "2": marked("D", "R"), "3": picture(STYLE["other_side"])}.items():
        cv2.imwrite(str(tmp_path / f"{name}.png"), sheet)
    return tmp_path


def give(desk: Path, sheets: str, out: Path) -> int:
    names = [str(desk / f"{name}.png") for name in sheets]
    return main(["read", str(desk / "delegates.program"), *names, "--explain", str(out)])


def test_one_sheet_is_explained_in_a_file(desk: Path) -> None:
    assert give(desk, "2", desk / "why.png") == 0
    image = cv2.imread(str(desk / "why.png"))
    assert image is not None
    assert image.shape[1] == WIDTH_PX


def test_several_sheets_are_explained_in_a_folder(desk: Path) -> None:
    assert give(desk, "123", desk / "why" / "today") == 0
    assert sorted(path.name for path in (desk / "why" / "today").iterdir()) == ["1.png", "2.png", "3.png"]


@pytest.mark.parametrize(
    ("sheets", "out", "words"),
    [
        ("12", "why.png", "is one file, but 2 sheets are read: give a folder"),
        ("1", "why.jpg", "pictures are written as PNG"),
        ("12", "1.png/why", "cannot be made"),
        ("1", "nowhere/why.png", "cannot be written"),
    ],
)
def test_a_wrong_place_for_the_pictures_is_one_clear_line(
    desk: Path, capsys: pytest.CaptureFixture[str], sheets: str, out: str, words: str
) -> None:
    code = give(desk, sheets, desk / out)
    told = capsys.readouterr().err
    assert (code, told.count("\n")) == (2, 1)
    assert words in told


def test_two_sheets_of_one_name_are_refused(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (desk / "other").mkdir()
    cv2.imwrite(str(desk / "other" / "1.png"), marked("R"))
    names = [str(desk / "1.png"), str(desk / "other" / "1.png")]
    assert main(["read", str(desk / "delegates.program"), *names, "--explain", str(desk / "why")]) == 2
    assert "two sheets have the same file name" in capsys.readouterr().err
