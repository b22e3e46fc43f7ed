"""Decks: composed by rule, drawn, printed, and passed by a right scanner; planted faults fail by name."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pypdfium2
import pytest

from host.tests.decks.fairview_deck import FAIRVIEW, Drawn, fairview_deck, fairview_source, right_reading
from recount_ballots.blank import Grey
from recount_classifier.program import Option, Program, Style, make_program
from recount_classifier.reading import read_sheet
from recount_host.cli import main
from recount_host.decks.composition import KIND_WORDS, MOST_BEFORE_TWICE, Spot, compose, filled, weights
from recount_host.decks.deck_make import make_deck
from recount_host.decks.drawing import draw_back
from recount_host.decks.making import read_source
from recount_host.decks.papers import DAMAGE_WORDS, TOOL_WORDS
from recount_host.errors import OperatorError
from recount_host.law.deck import Deck, DeckSheet, classes_of, lacking, parse_deck
from recount_host.programs.building import program_of
from recount_host.programs.spec import parse_spec


def differing(program: Program, see: Callable[[Grey], Grey] = lambda picture: picture) -> list[str]:
    """Return the codes of the sheets that are not read as the deck says, by this program and camera."""
    drawn = fairview_deck()
    codes = (_differs(drawn, n, program, see) for n in range(len(drawn.plans)))
    return [code for code in codes if code]


def _differs(drawn: Drawn, n: int, program: Program, see: Callable[[Grey], Grey]) -> str:
    sheet = drawn.deck.sheets[n]
    if sheet.comes_back == "short_sheet":
        return ""  # the feeder tells its length; the camera sees no such sheet
    reading = read_sheet([see(drawn.pictures[sheet.front])], program, expects_test=True)
    read = (reading.fate, reading.choices, classes_of(reading.reasons))
    return "" if read == right_reading(drawn.deck, n) else sheet.code


def changed(
    style: Callable[[Style], Style] = lambda style: style, votes: int = 1, **limits: float
) -> Program:
    """Return the Fairview program with a fault in it."""
    right = fairview_source().program
    return make_program(
        right.key, right.title, votes, right.options, [style(one) for one in right.styles],
        replace(right.thresholds, **limits),
    )  # fmt: skip


def exchanged(one: str, other: str) -> Callable[[Style], Style]:
    names = {one: other, other: one}
    return lambda style: replace(
        style, targets=tuple(replace(t, option=names.get(t.option, t.option)) for t in style.targets)
    )


def shifted(option: str, dx: float = 0.0, dy: float = 0.0) -> Callable[[Style], Style]:
    return lambda style: replace(
        style,
        targets=tuple(
            replace(t, left=t.left + dx * t.width, top=t.top + dy * t.height) if t.option == option else t
            for t in style.targets
        ),
    )


def without_writing(style: Style) -> Style:
    return replace(style, write_in_areas=())


def another_style_alone() -> Program:
    """Return a program that lacks the deck's ballot style: another precinct's stands in its place."""
    text = (FAIRVIEW / "spec.toml").read_text(encoding="utf-8").replace("101", "204")
    return program_of(parse_spec(text.encode("utf-8")), FAIRVIEW)


def without_test_mark(style: Style) -> Style:
    return replace(style, test_mark=None)


def dirty(picture: Grey) -> Grey:
    """Look through a line of dirt over the contest's targets."""
    dirtied = picture.copy()
    dirtied[:, 660:672] = 40
    return dirtied


def blurred(picture: Grey) -> Grey:
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), 5), np.uint8)


def dark(picture: Grey) -> Grey:
    return np.asarray(picture // 6, np.uint8)


def bright(picture: Grey) -> Grey:
    return np.minimum(picture.astype(np.int32) + 120, 255).astype(np.uint8)


def mirrored(picture: Grey) -> Grey:
    return np.ascontiguousarray(picture[:, ::-1])


def half_seen(picture: Grey) -> Grey:
    return np.ascontiguousarray(picture[:, : picture.shape[1] // 2])


@dataclass(frozen=True)
class Fault:
    """A planted fault, and a sheet that it must be found by."""

    name: str
    program: Callable[[], Program]
    named: str
    """How the words of this sheet begin."""
    see: Callable[[Grey], Grey] = lambda picture: picture


def right() -> Program:
    return fairview_source().program


FAULTS = (
    Fault("two candidates exchanged", lambda: changed(exchanged("D", "R")), "D: the middle"),
    Fault("two other candidates exchanged", lambda: changed(exchanged("R", "I")), "R: the middle"),
    Fault("a candidate and the write-in exchanged", lambda: changed(exchanged("I", "W")), "I: the middle"),
    Fault("a target half its width to the right", lambda: changed(shifted("D", 0.5)), "D: the middle"),
    Fault("a target half its width to the left", lambda: changed(shifted("R", -0.5)), "R: the middle"),
    Fault("a target its height too low", lambda: changed(shifted("I", dy=1.0)), "I: the middle"),
    Fault("N too high", lambda: changed(votes=2), "D: the middle"),
    Fault("the ballot style missing", another_style_alone, "D: the middle"),
    Fault("no write-in area", lambda: changed(without_writing), "write-in W: a name written"),
    Fault("no place for the TEST mark", lambda: changed(without_test_mark), "D: the middle"),
    Fault("marks asked too much of", lambda: changed(marked_cover=0.95), "R: half filled"),
    Fault(
        "marks asked too little of", lambda: changed(marked_cover=0.03, marked_span=0.05), "I: a small dot"
    ),
    Fault("ink too high", lambda: changed(ink=0.8), "D: filled in pencil"),
    Fault("stray ink let pass", lambda: changed(crowd_mm2=99.0, stray_mm2=99.0), "write-in W: target"),
    Fault("the write-in line let pass", lambda: changed(write_in_mm2=99.0), "write-in W: a name written"),
    Fault("the TEST mark's ink asked too much of", lambda: changed(test_mark_mm2=300.0), "D: the middle"),
    Fault(
        "torn paper let pass",
        lambda: changed(paper_step=9.0, blot_halo=9.0, outline_ink=0.0),
        "a corner of the contest torn",
    ),
    Fault("a mirrored camera", right, "D: the middle", mirrored),
    Fault("a dirty lens", right, "D: the middle", dirty),
    Fault("a camera out of focus", right, "D: the middle", blurred),
    Fault("a dark lamp", right, "D: the middle", dark),
    Fault("a lamp too bright", right, "D: the middle", bright),
    Fault("a camera that sees half of the sheet", right, "D: the middle", half_seen),
)


def test_a_right_scanner_reads_every_sheet_as_the_deck_says() -> None:
    assert differing(right()) == []


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_fails_the_deck_with_the_right_sheet_named(fault: Fault) -> None:
    drawn, program = fairview_deck(), fault.program()
    n = next(n for n, sheet in enumerate(drawn.deck.sheets) if sheet.what.startswith(fault.named))
    assert _differs(drawn, n, program, fault.see) == drawn.deck.sheets[n].code


@pytest.mark.parametrize("dx", [-0.5, 0.5])
def test_a_target_half_its_width_off_fails_the_deck_whichever_option_has_it(dx: float) -> None:
    drawn = fairview_deck()
    for key in drawn.deck.options:
        narrow = next(n for n, plan in enumerate(drawn.plans) if plan.marks == {Spot(key): "middle"})
        assert _differs(drawn, narrow, changed(shifted(key, dx)), lambda picture: picture), key


def test_a_sheet_that_lies_face_down_shows_a_side_that_the_program_knows() -> None:
    drawn = fairview_deck()
    backs = [sheet.back for sheet in drawn.deck.sheets if sheet.face_down]
    assert len(backs) == 2
    for back in backs:
        assert read_sheet([drawn.pictures[back]], right(), expects_test=True).reasons == ("wrong_side",)


def test_no_dust_lies_on_a_sheet_of_a_deck() -> None:
    for number in range(30):
        picture = draw_back(f"sheet {number}", np.full((300, 220), 255, np.uint8))
        assert picture[50:-50, 50:-50].min() > 190


def test_every_option_gets_marks_of_several_kinds_and_all_of_them_together_each_pen_and_orientation() -> None:
    deck, plans = fairview_deck().deck, fairview_deck().plans
    for option in deck.options:
        kinds = {kind for plan in plans for spot, kind in plan.marks.items() if spot.option == option}
        assert len(kinds & set(KIND_WORDS)) >= 3, option
    assert {kind for plan in plans for kind in plan.marks.values()} == set(KIND_WORDS)
    assert {plan.tool for plan in plans} == {*TOOL_WORDS}
    assert {(plan.turned, plan.face_down) for plan in plans} == {(a, b) for a in (0, 1) for b in (0, 1)}
    assert {plan.damage for plan in plans} == {*DAMAGE_WORDS, ""}


def test_any_two_options_are_overvoted_together_and_with_the_write_in() -> None:
    overvotes = {
        frozenset(spot.option for spot in plan.marks)
        for plan in fairview_deck().plans
        if "overvote" in plan.reasons
    }
    assert overvotes == {frozenset(pair) for pair in ("DR", "DI", "RI", "DW", "RW", "IW")}


@pytest.mark.parametrize(("options", "votes"), [(2, 1), (9, 1), (12, 1), (5, 2), (9, 3), (12, 5), (4, 4)])
def test_any_two_parties_are_overvoted_together_however_many_options_there_are(
    options: int, votes: int
) -> None:
    names = [Option(f"C{n}", "", write_in=False) for n in range(options)]
    plans = compose(with_options(*names, Option("W", "", write_in=True), votes=votes))
    over = [{spot.option for spot in plan.marks} for plan in plans if "overvote" in plan.reasons]
    assert {len(marked) for marked in over} == {votes + 1}
    met = {frozenset(pair) for marked in over for pair in combinations(marked, 2)}
    wanted = combinations([*(option.key for option in names), "W"], 2)
    assert met >= {frozenset(pair) for pair in wanted if votes < options or "W" in pair}


def test_one_sheet_is_fed_twice_after_all_others_and_bears_what_tells_it_from_them() -> None:
    drawn = fairview_deck()
    *others, first, again = drawn.deck.sheets
    assert (first.fate, again.fate, again.reasons) == ("counted", "returned", ("read_before",))
    assert (again.code, again.again) == ("101-036-again", first.code) == ("101-036-again", "101-036")
    assert not any(sheet.again for sheet in others)
    assert drawn.deck.papers == (*others, first)
    pictures = [drawn.pictures[sheet.front] for sheet in (first, again)]
    assert pictures[0].shape != pictures[1].shape or (pictures[0] != pictures[1]).any(), "another scan of it"


def test_in_a_long_deck_the_sheet_is_fed_twice_while_a_batch_has_room() -> None:
    many = [Option(f"C{n}", "", write_in=False) for n in range(30)]
    plans = compose(with_options(*many))
    places = [n for n, plan in enumerate(plans) if plan.again]
    assert len(plans) > 400
    assert places == [MOST_BEFORE_TWICE + 1]


def test_each_style_has_a_sheet_that_is_fed_twice_behind_its_own() -> None:
    program = with_options(DEE, ARE)
    (style,) = program.styles
    styles = [style, replace(style, id="other")]
    both = make_program("c", "C", 1, program.options, styles, program.thresholds)
    plans = compose(both)
    assert [plan.style for plan in plans if plan.again] == [style.id, "other"]
    assert [plan.style for plan in plans] == sorted(plan.style for plan in plans), "style by style"
    assert plans[-1].again


DEE, ARE = Option("D", "Dee", write_in=False), Option("R", "Are", write_in=False)


def with_options(*options: Option, votes: int = 1, twice: str = "") -> Program:
    """Return a program of these options, one under the other; `twice` is printed in two places."""
    style = fairview_source().program.styles[0]
    target = style.targets[0]
    places = [*(option.key for option in options), *twice]
    targets = tuple(replace(target, option=key, top=40.0 * n) for n, key in enumerate(places))
    areas = tuple((0, 40 * n, 10, 40 * n + 30) for n, option in enumerate(options) if option.write_in)
    style = replace(style, targets=targets, write_in_areas=areas)
    return make_program("c", "C", votes, options, [style], fairview_source().program.thresholds)


@pytest.mark.parametrize("write_in", [False, True])
@pytest.mark.parametrize(("options", "votes"), [(1, 1), (2, 1), (2, 2), (3, 2), (2, 3), (9, 1)])
def test_a_made_deck_lacks_nothing_that_the_law_wants_whatever_the_contest(
    options: int, votes: int, *, write_in: bool
) -> None:
    names = [Option(f"C{n}", "", write_in=False) for n in range(options)]
    program = with_options(*names, *[Option("W", "", write_in=True)] * write_in, votes=votes)
    sheets = tuple(
        DeckSheet(f"t-{n}", plan.style, plan.what, plan.fate, plan.choices)
        for n, plan in enumerate(compose(program))
    )
    deck = Deck("Logic and accuracy", "c", program.program_hash.hex(), (), sheets)
    assert lacking(deck, [option.key for option in names]) == ()


def test_an_option_printed_twice_is_marked_at_either_place_and_at_both() -> None:
    program = with_options(DEE, ARE, twice="R")
    marked = [
        (plan.fate, set(plan.marks)) for plan in compose(program) if any(spot.target for spot in plan.marks)
    ]
    assert marked == [
        ("counted", {Spot("R", 1)}),
        ("set_aside", {Spot("R", 0), Spot("R", 1)}),
    ]


def test_every_write_in_line_is_written_on_and_every_write_in_target_filled() -> None:
    lines = [Option(f"W{n}", "", write_in=True) for n in (1, 2, 3)]
    plans = compose(with_options(DEE, ARE, *lines))
    assert {plan.area for plan in plans if plan.writing} == {0, 1, 2}
    written = [plan for plan in plans if plan.writing and Spot(f"W{plan.area + 1}") in plan.marks]
    assert len(written) == 3, "each name beside its own target"
    bare = [plan for plan in plans if plan.reasons == ("write_in",)]
    assert [list(plan.marks) for plan in bare] == [[Spot("W1")], [Spot("W2")], [Spot("W3")]]


def test_each_option_has_a_count_of_its_own() -> None:
    deck = fairview_deck().deck
    counts = [sum(key in sheet.choices for sheet in deck.sheets) for key in deck.options]
    assert len(set(counts)) == len(counts)
    for options in range(2, 13):
        for votes in range(1, options):
            besides = [(7 * option) % 5 for option in range(options)]
            sheets = weights(options, votes, besides)
            sums = [sum(sheets[(o - b) % options] for b in range(votes)) for o in range(options)]
            totals = [own + more for own, more in zip(sums, besides, strict=True)]
            assert len(set(totals)) == options


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the Fairview deck."""
    folder = tmp_path_factory.mktemp("made") / "deck"
    make_deck(fairview_source(), folder)
    return folder


def test_a_deck_is_written_as_pictures_papers_and_expected_results(folder: Path) -> None:
    deck = fairview_deck().deck
    assert parse_deck((folder / "deck.toml").read_bytes()) == deck
    assert {f"pictures/{path.name}" for path in (folder / "pictures").iterdir()} == {
        name for sheet in deck.sheets for name in (sheet.front, sheet.back) if name
    }
    for name in ("overlays", "test-ballots", "marking-guide", "expected"):
        with pypdfium2.PdfDocument(folder / f"{name}.pdf") as document:
            text = "".join(page.get_textpage().get_text_bounded() for page in document)
        assert ("101-001" if name in {"marking-guide", "expected"} else "TEST 101-001") in text


def test_a_printed_test_ballot_is_the_blank_with_its_marks_and_is_read_as_the_deck_says(folder: Path) -> None:
    drawn = fairview_deck()
    with pypdfium2.PdfDocument(folder / "test-ballots.pdf") as document:
        printed = [plan for plan in drawn.plans if not plan.foreign and not plan.again]
        assert len(document) == 2 * len(printed), "both sides of each"
        assert document[0].get_size() == (612, 792)
        dots: Any = 200 / 72
        first, back = (document[n].render(scale=dots, grayscale=True).to_numpy() for n in (0, 1))
    sheet, plan = drawn.deck.sheets[0], drawn.plans[0]
    assert plan.marks == filled(["D"], "middle"), "a mark that is printed"
    reading = read_sheet([np.ascontiguousarray(first.reshape(2200, 1700))], right(), expects_test=True)
    assert (reading.fate, reading.choices) == (sheet.fate, sheet.choices)
    returned = read_sheet([np.ascontiguousarray(back.reshape(2200, 1700))], right(), expects_test=True)
    assert returned.reasons == ("wrong_side",)


def test_the_overlay_prints_the_test_mark_into_its_place(folder: Path) -> None:
    place = fairview_source().program.styles[0].test_mark or (0, 0, 0, 0)
    left, top, right_, bottom = (edge / 200 * 4 * 72 for edge in place)
    with pypdfium2.PdfDocument(folder / "overlays.pdf") as document:
        picture = document[1].render(scale=4, grayscale=True).to_numpy()
    ink = np.argwhere(picture.reshape(*picture.shape[:2]) < 128)
    assert top <= ink[:, 0].min()
    assert ink[:, 0].max() < bottom
    assert left <= ink[:, 1].min()
    assert ink[:, 1].max() < right_


def test_every_page_that_bears_test_bears_the_program_and_its_number_and_no_other_page_any_print(
    folder: Path,
) -> None:
    drawn = fairview_deck()
    with pypdfium2.PdfDocument(folder / "overlays.pdf") as document:
        texts = [page.get_textpage().get_text_bounded() for page in document]
    papers = [plan for plan in drawn.plans if not plan.again]
    for n, (plan, text) in enumerate(zip(papers, texts, strict=True), 1):
        line = f"program {drawn.deck.program[:8]}, page {n} of {len(texts)}"
        assert (line in text) if plan.test_mark else text == ""


def test_a_deck_is_made_only_from_the_programs_own_blanks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.program"
    other.write_bytes(changed(votes=2).to_bytes())
    words = ["deck", "make", str(other), str(tmp_path / "deck"), "--spec", str(FAIRVIEW / "spec.toml")]
    assert main(words) == 2
    assert "gives another program" in capsys.readouterr().err
    assert not (tmp_path / "deck").exists()


def test_a_blank_that_is_refused_for_another_reason_than_its_style_cannot_stand_for_another_style(
    tmp_path: Path,
) -> None:
    blank = cv2.imread(str(FAIRVIEW / "blank-101-front.png"), cv2.IMREAD_GRAYSCALE)
    assert blank is not None
    left, top, right_edge, bottom = (
        round(edge) for edge in parse_spec((FAIRVIEW / "spec.toml").read_bytes()).styles[0].contest_box
    )
    blank[top:bottom, left:right_edge] = 255
    cv2.imwrite(str(tmp_path / "bare.png"), blank)
    with pytest.raises(OperatorError, match="not surely told from them"):
        read_source(right(), FAIRVIEW / "spec.toml", tmp_path / "bare.png")
