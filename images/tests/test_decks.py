"""Decks: the committed one is honest and whole, and drawing is the same every time."""

import fnmatch
import shutil
import tomllib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from recount_ballots.__main__ import main
from recount_ballots.ballots_file import read_ballots, spec_text
from recount_ballots.blank import draw_blank, read_grey
from recount_ballots.deck import Deck, DeckSheet, read_deck
from recount_ballots.errors import DeckError
from recount_ballots.layout import Side
from recount_ballots.render import render_deck, render_sheet

COMMITTED = Path(__file__).resolve().parents[1] / "ballots"
FAIRVIEW = COMMITTED / "fairview"
DECKS = [COMMITTED / name for name in ("fairview", "millbrook", "bonds")]

BALLOTS = """
locality = "A"
election = "B"
date = "C"
recount = "mayor"
[[contest]]
key = "mayor"
title = "Mayor"
write_in = true
candidates = ["A: Ann Lee, Green", "B: Bob Ray"]
[[style]]
id = "1"
code = 7
precinct = "1"
front = ["mayor"]
back = ["mayor"]
"""
DECK = """
title = "T"
precinct = "1"
seed = 3
[[sheet]]
id = "a"
style = "1"
marks = { A = "full" }
damage = ["fold 0.5", "crumple", "coffee 0.5 0.7", "staple"]
fate = "counted"
choices = ["A"]
hand = "A"
[[sheet]]
id = "b"
style = "1"
marks = { A = "full", B = "full" }
erased = ["A"]
crossed_out = ["B"]
write_in = "JANE"
turned = true
damage = ["tear_corner top-left 0.1 0.1", "tear_side right 0.5 0.6 0.1"]
fate = ["set_aside", "not_accepted"]
reasons = ["write_in"]
hand = "other_write_in"
fault = { kind = "jam", at_mm = 120 }
"""


def votes_allowed(deck: Deck) -> int:
    """Return for how many a voter may vote in the contest under recount."""
    printed = deck.ballots.designs[deck.precinct].front
    return next(contest.vote_for for contest in printed if contest.key == deck.ballots.recount)


@pytest.fixture(scope="module")
def fairview() -> Deck:
    return read_deck(FAIRVIEW)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small deck's folder with its blanks drawn."""
    source = tmp_path_factory.mktemp("small")
    (source / "ballots.toml").write_text(BALLOTS)
    (source / "deck.toml").write_text(DECK)
    assert main(["draw", str(source)]) == 0
    return source


@pytest.fixture
def folder(drawn: Path, tmp_path: Path) -> Path:
    """Return a copy of the small deck's folder, to be spoilt."""
    return shutil.copytree(drawn, tmp_path / "small")


def test_every_folder_of_ballots_is_a_deck_that_is_held_here() -> None:
    assert sorted(folder for folder in COMMITTED.iterdir() if folder.is_dir()) == sorted(DECKS)


@pytest.mark.parametrize("folder", DECKS, ids=lambda folder: folder.name)
def test_the_committed_blanks_are_what_the_drawing_code_draws(folder: Path) -> None:
    ballots = read_ballots(folder)
    for style, design in ballots.designs.items():
        sides: tuple[Side, ...] = ("front", "back") if design.back else ("front",)
        for side in sides:
            drawn = draw_blank(design, side, ballots.dpi).image
            assert np.array_equal(drawn, read_grey(ballots.blank_path(style, side)))


@pytest.mark.parametrize("folder", DECKS, ids=lambda folder: folder.name)
def test_the_committed_spec_is_what_the_layout_says(folder: Path) -> None:
    text = (folder / "spec.toml").read_text()
    assert text == spec_text(read_ballots(folder))
    spec = tomllib.loads(text)
    assert [style["id"] for style in spec["style"]] == ["101"]


def test_the_demonstration_has_120_sheets_of_every_kind(fairview: Deck) -> None:
    assert len(fairview.sheets) == 120
    assert Counter(sheet.truth.fates for sheet in fairview.sheets) == {
        ("counted",): 103,
        ("set_aside",): 13,
        ("not_accepted",): 4,
    }
    counted = [sheet for sheet in fairview.sheets if sheet.truth.fates == ("counted",)]
    assert {sheet.truth.choices for sheet in counted} == {("D",), ("R",), ("I",)}
    assert sum(sheet.turned for sheet in counted) >= 5
    assert [sheet.fault["kind"] for sheet in fairview.sheets if sheet.fault] == ["jam"]
    reasons = {reason for sheet in fairview.sheets for reason in sheet.truth.reasons}
    assert {"overvote", "undervote", "write_in"} <= reasons
    assert any("wrong_style" in reason.split("|") for reason in reasons)
    assert any("not_on_paper" in reason.split("|") for reason in reasons)
    assert any(fnmatch.fnmatch("marginal_mark", word) for reason in reasons for word in reason.split("|"))


@pytest.mark.parametrize("folder", DECKS, ids=lambda folder: folder.name)
def test_a_counted_sheet_bears_as_many_clear_marks_as_allowed_and_they_are_the_choices(folder: Path) -> None:
    deck = read_deck(folder)
    allowed = votes_allowed(deck)
    for sheet in deck.sheets:
        if sheet.truth.fates == ("counted",):
            assert tuple(sheet.marks) == sheet.truth.choices
            assert len(sheet.marks) == allowed
            assert sheet.truth.hand == "+".join(sheet.truth.choices)
            assert set(sheet.marks.values()) <= {"full", "x"}
            assert not any((sheet.write_in, sheet.crossed_out, sheet.erased))


@pytest.mark.parametrize("folder", DECKS, ids=lambda folder: folder.name)
def test_a_sheet_that_people_decide_is_never_a_clean_vote(folder: Path) -> None:
    deck = read_deck(folder)
    allowed = votes_allowed(deck)

    def clean(sheet: DeckSheet) -> bool:
        full = len(sheet.marks) == allowed and "W" not in sheet.marks
        clear = full and set(sheet.marks.values()) <= {"full", "x"}
        return clear and not (sheet.write_in or sheet.contest or any("tear_side" in d for d in sheet.damage))

    for sheet in deck.sheets:
        if sheet.truth.fates != ("counted",):
            assert not clean(sheet)
            assert sheet.truth.choices == ()
            assert sheet.truth.reasons


def test_a_sheet_of_another_precinct_lacks_the_contest(fairview: Deck) -> None:
    foreign = [sheet for sheet in fairview.sheets if sheet.style != fairview.precinct]
    assert foreign
    assert all(sheet.truth.hand == "no_contest" for sheet in foreign)


def test_rendering_twice_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert render_deck(folder, tmp_path / name, duplex=True) == 2
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    expected = ["a-back.jpg", "a-front.jpg", "b-back.jpg", "b-front.jpg", "deck.toml", "rendered.json"]
    assert names == expected
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_sheet_of_the_demonstration_is_drawn_the_same_twice(fairview: Deck) -> None:
    sheet = fairview.sheets[16]
    assert np.array_equal(render_sheet(fairview, sheet).image, render_sheet(fairview, sheet).image)


def test_sheets_are_drawn_once_and_again_when_the_deck_changes(folder: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    out = tmp_path / "out"
    assert render_deck(folder, out, progress=lambda done, of: seen.append((done, of))) == 2
    assert render_deck(folder, out) == 0
    (folder / "deck.toml").write_text(DECK.replace("seed = 3", "seed = 4"))
    assert render_deck(folder, out) == 2
    assert seen == [(1, 2), (2, 2)]


def test_the_deck_beside_the_pictures_tells_files_truth_and_faults(folder: Path, tmp_path: Path) -> None:
    assert main(["render", str(folder), "-o", str(tmp_path / "out")]) == 0
    deck = tomllib.loads((tmp_path / "out" / "deck.toml").read_text())
    first, second = deck["sheet"]
    assert first == {
        "id": "a",
        "front": "a-front.jpg",
        "turned": False,
        "length_mm": 279.4,
        "fate": "counted",
        "choices": ["A"],
        "reasons": [],
        "hand": "A",
    }
    assert second["turned"]
    assert second["fate"] == ["set_aside", "not_accepted"]
    assert second["fault"] == {"kind": "jam", "at_mm": 120}


MISTAKES = [
    ("fate = ", 'tool = "crayon"\nfate = ', "there is no tool crayon"),
    ('A = "full"', 'A = "fill"', "there is no mark fill"),
    ('hand = "A"', 'hand = "A"\nhnad = 1', 'there is no key "hnad"'),
    ('fate = "counted"', 'fate = "maybe"', "fate is one of"),
    ('id = "b"', 'id = "a"', "stands there twice"),
    ('"fold 0.5"', '"fold x"', "a word where a number belongs"),
    ('"fold 0.5"', '"burnt"', 'there is no damage "burnt"'),
    ("seed = 3", 'seed = "x"', '"seed" must be int'),
    ('style = "1"', 'style = "2"', "has no style 2"),
    ('title = "T"', "title = ", "is not TOML"),
]


@pytest.mark.parametrize(("right", "wrong", "sentence"), MISTAKES)
def test_a_mistake_in_a_deck_is_one_clear_line(
    right: str, wrong: str, sentence: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "deck.toml").write_text(DECK.replace(right, wrong, 1))
    capsys.readouterr()
    assert main(["render", str(folder), "-o", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_a_folder_without_a_deck_is_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["render", str(tmp_path), "-o", str(tmp_path / "out")]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_a_blank_of_another_size_is_refused(folder: Path) -> None:
    ballots = (folder / "ballots.toml").read_text()
    (folder / "ballots.toml").write_text('height = "legal"\n' + ballots)
    with pytest.raises(DeckError, match="draw it again"):
        read_ballots(folder).blank("1")
