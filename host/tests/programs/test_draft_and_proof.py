"""From a blank ballot to a signed proof at the keyboard: draft, build, sign, proof."""

import json
import tomllib
from pathlib import Path

import cv2
import numpy as np
import pypdfium2
import pytest

from recount_classifier.program import Program, read_program
from recount_host.cli import main
from recount_host.programs.drafting import guess_dpi, style_id
from recount_host.programs.proof import parties

from .shared_blanks import blanks_of, targets_of

FAIRVIEW = Path(__file__).resolve().parents[3] / "images" / "ballots" / "fairview"
FRONT, BACK = FAIRVIEW / "blank-101-front.png", FAIRVIEW / "blank-101-back.png"


class Keyboard:
    """The command line in a folder of its own."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capsys = capsys

    def run(self, *words: str) -> str:
        code = main(list(words))
        told = self.capsys.readouterr()
        assert (code, told.err) == (0, "")
        return told.out

    def refusal(self, *words: str) -> str:
        code = main(list(words))
        told = self.capsys.readouterr()
        assert (code, told.out, told.err.count("\n")) == (2, "", 1)
        return told.err

    def draft(self, blanks: str, contests: list[int], *options: str, vote_for: int = 1) -> Program:
        """Draft, build, and return the program."""
        spec, program = self.folder / "spec.toml", self.folder / "contest.program"
        chosen = [word for number in contests for word in ("--contest", str(number))]
        named = [word for option in options for word in ("--option", option)]
        said = ["--key", "race", "--title", "The Race", "--vote-for", str(vote_for)]
        self.run("program", "draft", *blanks.split(), *chosen, *named, *said, "-o", str(spec))
        self.run("program", "build", str(spec), "-o", str(program))
        return read_program(program.read_bytes())


@pytest.fixture
def keyboard(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Keyboard:
    return Keyboard(tmp_path, capsys)


def test_a_blank_alone_is_answered_with_its_contests_and_their_numbers(keyboard: Keyboard) -> None:
    found = json.loads(keyboard.run("program", "draft", f"{FRONT},{BACK}", "--json"))
    assert found["dpi"] == 200
    assert [contest["number"] for contest in found["contests"]] == list(range(1, 16))
    assert [contest["side"] for contest in found["contests"]][-2:] == ["back", "back"]


def test_a_contest_for_two_with_a_write_in_becomes_a_program(keyboard: Keyboard) -> None:
    names = ("Abigail Thorne", "Simon Vance", "Wanda Fairfield", "Harold Quimby")
    program = keyboard.draft(f"{FRONT},{BACK}", [7], *names, "write-in", vote_for=2)
    assert [option.key for option in program.options] == ["A", "B", "C", "D", "W1"]
    assert (program.vote_for, program.write_in_keys) == (2, {"W1"})
    style = program.styles[0]
    assert len(style.write_in_areas) == 1
    assert style.test_mark is not None
    assert style.other_side


def test_one_contest_on_two_styles_is_one_program(keyboard: Keyboard) -> None:
    other = str(FRONT).replace("101", "204")
    fronts = f"{FRONT} {other}"
    program = keyboard.draft(fronts, [1, 14], "Helen Calloway", "Victor Lockwood", "Ivy Sawyer", "write-in")
    assert [style.id for style in program.styles] == ["blank-101-front", "blank-204-front"]


def test_a_question_on_the_back_is_programmed_for_the_back(keyboard: Keyboard, shared_folder: Path) -> None:
    front, back = blanks_of(shared_folder, "juneau")
    program = keyboard.draft(f"{front.file},{back.file}", [6], "Yes", "No")
    assert [(s.side, len(s.targets), s.write_in_areas) for s in program.styles] == [("back", 2, ())]
    assert program.styles[0].other_side


def wipe_all_but_the_contest(blank: Path, spec: Path) -> None:
    """Leave nothing on a blank but the contest that a spec names."""
    page = cv2.imread(str(blank), cv2.IMREAD_GRAYSCALE)
    assert page is not None
    left, top, right, bottom = map(int, tomllib.loads(spec.read_text())["style"][0]["contest_box"])
    wiped = np.full_like(page, 255)
    wiped[top:bottom, left:right] = page[top:bottom, left:right]
    cv2.imwrite(str(blank), wiped)


def test_a_page_with_too_little_print_is_sent_to_the_hand_count(keyboard: Keyboard, tmp_path: Path) -> None:
    spec, blank = tmp_path / "spec.toml", tmp_path / "blank.png"
    blank.write_bytes(FRONT.read_bytes())
    people = ("Helen Calloway", "Victor Lockwood", "Ivy Sawyer", "write-in")
    named = [word for person in people for word in ("--option", person)]
    keyboard.run("program", "draft", str(blank), "--contest", "1", *named, "-o", str(spec))
    wipe_all_but_the_contest(blank, spec)
    told = keyboard.refusal("program", "build", str(spec), "-o", str(tmp_path / "p"))
    assert "too little print to find the page by" in told
    assert "could not be programmed" in told


def test_a_person_printed_twice_is_one_option_with_two_targets(
    keyboard: Keyboard, shared_folder: Path
) -> None:
    front, back = blanks_of(shared_folder, "new-hampshire-letter")
    sheriff = next(contest for contest in back.contests if contest["number"] == 8)
    program = keyboard.draft(
        f"{front.file},{back.file}", [8], "Edward Randolph", "Edward Randolph", "write-in"
    )
    assert [option.key for option in program.options] == ["A", "W1"]
    targets = program.styles[0].targets
    assert [target.option for target in targets] == ["A", "A", "W1"]
    for target, (left, top, _, _) in zip(targets, targets_of(sheriff), strict=True):
        assert abs(target.left - left) <= 2
        assert abs(target.top - top) <= 2


def test_a_draft_without_names_says_what_is_missing(keyboard: Keyboard, tmp_path: Path) -> None:
    spec = tmp_path / "spec.toml"
    out = keyboard.run("program", "draft", str(FRONT), "--contest", "1", "-o", str(spec))
    assert "write its title, vote_for and names" in out
    assert "option A has no name" in keyboard.refusal(
        "program", "build", str(spec), "-o", str(tmp_path / "p")
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--contest", "99", "-o", "SPEC"), "there is no contest 99: 13 were found"),
        (("--contest", "1"), "add -o SPEC.toml"),
        (
            ("--contest", "1", "--option", "Only One", "-o", "SPEC"),
            "1 options are named, but the contest has 4",
        ),
        (("--contest", "1", "--contest", "2", "-o", "SPEC"), "have 3 and 4 targets"),
        (("--contest", "1", "--contest", "1", "-o", "SPEC"), "two contests of one ballot style"),
        (("--dpi", "nan"), "resolutions from 100 to 1200"),
    ],
)
def test_what_cannot_be_drafted_is_one_line(
    keyboard: Keyboard, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    given = [str(tmp_path / "spec.toml") if word == "SPEC" else word for word in words]
    assert sentence in keyboard.refusal("program", "draft", str(FRONT), *given)


def test_a_style_that_cannot_be_programmed_is_sent_to_the_hand_count(
    keyboard: Keyboard, tmp_path: Path
) -> None:
    spec = (FAIRVIEW / "spec.toml").read_text(encoding="utf-8").replace("blank-101", f"{FAIRVIEW}/blank-101")
    close = spec.replace("R = [[638, 526, 26, 18]]", "R = [[638, 460, 26, 18]]")
    path = tmp_path / "spec.toml"
    path.write_text(close, encoding="utf-8")
    told = keyboard.refusal("program", "build", str(path), "-o", str(tmp_path / "p"))
    assert "are too close" in told
    assert "could not be programmed: leave it out, and its ballots are counted by hand" in told


def test_the_proof_names_every_option_and_carries_the_code_on_every_page(
    keyboard: Keyboard, tmp_path: Path
) -> None:
    program = tmp_path / "p.program"
    keyboard.run("program", "build", str(FAIRVIEW / "spec.toml"), "-o", str(program))
    first = keyboard.run(
        "program", "sign", str(program), "--key", str(tmp_path / "a"), "--name", "Ann Lee, official, D"
    )
    assert "one more person has to sign" in first
    keyboard.run(
        "program", "sign", str(program), "--key", str(tmp_path / "b"), "--name", "Bo Ray, official, R"
    )
    proof = tmp_path / "proof.pdf"
    words = ("program", "proof", str(program), "-o", str(proof), "--side", "Cora Whitlock")
    keyboard.run(*words)
    code = read_program(program.read_bytes()).program_hash.hex()[:8]
    with pypdfium2.PdfDocument(proof) as document:
        pages = [page.get_textpage().get_text_range() for page in document]
    assert len(pages) == 2
    for number, page in enumerate(pages, 1):
        assert code in page
        assert f"page {number} of 2" in page
        assert (tmp_path / f"proof-{number}.png").read_bytes().startswith(b"\x89PNG")
    for name in ("Cora Whitlock", "Oscar Radford", "Tessa Marlow", "Write-in"):
        assert all(name in page for page in pages)
    assert "Ann Lee, official, D (key" in pages[0]
    assert "Bo Ray, official, R (key" in pages[0]
    again = proof.read_bytes()
    keyboard.run(*words)
    assert proof.read_bytes() == again


def test_a_proof_is_signed_by_parties_that_the_program_names(keyboard: Keyboard, tmp_path: Path) -> None:
    program, proof = tmp_path / "p.program", tmp_path / "proof.pdf"
    keyboard.run("program", "build", str(FAIRVIEW / "spec.toml"), "-o", str(program))
    wrong = {
        ("Cora Whitelock",): '"Cora Whitelock" is no option of this program: a party is one of D (Cora Whit',
        ("W",): '"W" is no option',
        ("Cora Whitlock", "D"): '"Cora Whitlock" is named twice',
    }
    for sides, why in wrong.items():
        named = [word for side in sides for word in ("--side", side)]
        assert why in keyboard.refusal("program", "proof", str(program), "-o", str(proof), *named)
    assert not proof.exists()
    assert parties(read_program(program.read_bytes()), ("Oscar Radford", "D")) == [
        "Oscar Radford",
        "Cora Whitlock",
    ]


def test_a_program_that_was_changed_after_it_was_signed_is_neither_proved_nor_added(
    keyboard: Keyboard, tmp_path: Path
) -> None:
    program, spec = tmp_path / "p.program", tmp_path / "spec.toml"
    text = (FAIRVIEW / "spec.toml").read_text(encoding="utf-8").replace("blank-101", f"{FAIRVIEW}/blank-101")
    spec.write_text(text, encoding="utf-8")
    keyboard.run("program", "build", str(spec), "-o", str(program))
    keyboard.run(
        "program", "sign", str(program), "--key", str(tmp_path / "a"), "--name", "Ann Lee, official, D"
    )
    spec.write_text(text.replace("Cora Whitlock", "Cora Whitelock"), encoding="utf-8")
    keyboard.run("program", "build", str(spec), "-o", str(program))
    told = keyboard.refusal("program", "proof", str(program), "-o", str(tmp_path / "proof.pdf"))
    assert "is not over this program" in told
    desk = ("--data", str(tmp_path / "data"), "--by", "Cleo May, clerk")
    assert "is not over this program" in keyboard.refusal("program", "add", str(program), *desk)


@pytest.mark.parametrize(("width", "dpi"), [(1700, 200), (1704, 200), (2516, 300), (1275, 150), (1000, None)])
def test_the_resolution_is_told_from_the_width_of_usual_paper(width: int, dpi: int | None) -> None:
    assert guess_dpi(width) == dpi


@pytest.mark.parametrize("name", ["006-front", "Ward 3 (north)", "...", "", "é"])
def test_a_style_id_is_always_a_word(name: str) -> None:
    word = style_id(name)
    assert word[0].isalnum()
    assert set(word) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
