"""`recount-host program build`: from a spec and blanks to a program; every mistake in them is one line."""

import shutil
from pathlib import Path

import cv2
import numpy as np
import pypdfium2
import pytest

from recount_classifier.program import read_program
from recount_classifier.thresholds import THRESHOLD_NAMES
from recount_host.cli import main

FAIRVIEW = Path(__file__).resolve().parents[3] / "images" / "ballots" / "fairview"


class Bench:
    """A folder with the demonstration's spec and blanks, to be spoiled."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capsys = capsys
        for path in FAIRVIEW.glob("blank-*.png"):
            shutil.copy(path, folder)
        self.text = (FAIRVIEW / "spec.toml").read_text(encoding="utf-8")
        self.output = folder / "delegates.program"

    def change(self, before: str, after: str) -> None:
        assert before in self.text
        self.text = self.text.replace(before, after)

    def build(self) -> tuple[int, str, str]:
        spec = self.folder / "spec.toml"
        spec.write_text(self.text, encoding="utf-8")
        code = main(["program", "build", str(spec), "-o", str(self.output)])
        told = self.capsys.readouterr()
        return code, told.out, told.err

    def refusal(self) -> str:
        code, out, err = self.build()
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("recount-host: ")
        assert not self.output.exists()
        return err


@pytest.fixture
def bench(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Bench:
    return Bench(tmp_path, capsys)


def test_a_pdf_whose_drawing_breaks_off_is_one_line(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    # As when the process that draws it has no more memory, or no more time, of what it was given.
    monkeypatch.setattr("recount_host.programs.pdf_page.sys.executable", "false")
    pypdfium2.PdfDocument.new().save(str(bench.folder / "ballots.pdf"))
    bench.change("blank-101-front.png", "ballots.pdf")
    assert "is a PDF that takes too much memory or time to draw, or is damaged" in bench.refusal()


def test_a_spec_becomes_one_file_with_one_hash(bench: Bench) -> None:
    code, out, err = bench.build()
    assert (code, err) == (0, "")
    program = read_program(bench.output.read_bytes())
    assert (program.key, program.vote_for) == ("delegates-52", 1)
    assert [option.key for option in program.options] == ["D", "R", "I", "W"]
    assert program.program_hash.hex() in out
    assert "all thresholds are the defaults" in out
    first = bench.output.read_bytes()
    bench.build()
    assert bench.output.read_bytes() == first


def test_other_thresholds_are_another_program(bench: Bench) -> None:
    bench.build()
    before = read_program(bench.output.read_bytes())
    name, value = next(iter(before.thresholds.to_fields().items()))
    bench.text += f"\n[thresholds]\n{name} = {value * 1.01}\n"
    _, out, _ = bench.build()
    assert read_program(bench.output.read_bytes()).program_hash != before.program_hash
    assert f"thresholds that are not the defaults: {name} " in out


def test_a_program_holds_several_styles(bench: Bench) -> None:
    head, style = bench.text.split("[[style]]")
    bench.text = f"{head}[[style]]{style}\n[[style]]{style.replace('101', '102', 1)}"
    code, out, _ = bench.build()
    assert code == 0
    assert "2 styles" in out
    assert [style.id for style in read_program(bench.output.read_bytes()).styles] == ["101", "102"]


@pytest.mark.parametrize("suffix", [".jpg", ".tif"])
def test_a_blank_may_be_any_usual_picture(bench: Bench, suffix: str) -> None:
    picture = cv2.imread(str(bench.folder / "blank-101-front.png"), cv2.IMREAD_GRAYSCALE)
    assert picture is not None
    assert cv2.imwrite(str(bench.folder / f"blank{suffix}"), picture)
    bench.change("blank-101-front.png", f"blank{suffix}")
    assert bench.build()[0] == 0


def lay_into_a_pdf(folder: Path) -> None:
    """Write front and back of the blank as the two pages of ballots.pdf."""
    document = pypdfium2.PdfDocument.new()
    for side in ("front", "back"):
        picture = cv2.imread(str(folder / f"blank-101-{side}.png"), cv2.IMREAD_GRAYSCALE)
        assert picture is not None
        jpeg = folder / f"{side}.jpg"
        assert cv2.imwrite(str(jpeg), picture, [cv2.IMWRITE_JPEG_QUALITY, 95])
        width, height = picture.shape[1] * 72 / 200, picture.shape[0] * 72 / 200
        image = pypdfium2.PdfImage.new(document)
        image.load_jpeg(str(jpeg), inline=True)
        image.set_matrix(pypdfium2.PdfMatrix().scale(width, height))
        page = document.new_page(width, height)
        page.insert_obj(image)
        page.gen_content()
    document.save(str(folder / "ballots.pdf"))
    document.close()


def test_a_blank_may_be_a_page_of_a_pdf(bench: Bench) -> None:
    lay_into_a_pdf(bench.folder)
    bench.change("blank-101-front.png", "ballots.pdf#page=1")
    bench.change("blank-101-back.png", "ballots.pdf#page=2")
    code, _, err = bench.build()
    assert (code, err) == (0, "")
    style = read_program(bench.output.read_bytes()).styles[0]
    assert (style.width, style.height) == (1700, 2200)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("ballots.pdf", "has 2 pages: name one"), ("ballots.pdf#page=3", "has 2 pages, but no page 3")],
)
def test_a_page_that_is_not_there_is_one_line(bench: Bench, name: str, sentence: str) -> None:
    lay_into_a_pdf(bench.folder)
    bench.change("blank-101-front.png", name)
    assert sentence in bench.refusal()


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("D = [[638", "D = [[9000", "is not on the page, which is 1700 x 2200 pixels"),
        ("D = [[638, 456", "D = [[638, 20", "is not inside the contest_box"),
        ("[611, 350, 1089, 723]", "[0, 0, 99999, 723]", "contest_box [0, 0, 99999, 723] is not on the page"),
        ("D = [[638", "Z = [[638", "a target for Z, which is no option"),
        ("D = [[638, 456, 26, 18]], ", "", "no target for option D"),
        ("vote_for = 1", "vote_for = 4", "only 3 options are printed"),
        ("vote_for = 1", 'vote_for = "one"', "vote_for: a whole number"),
        ('key = "R"', 'key = "D"', "option D is given twice"),
        ('name = "Cora Whitlock"', "", "option D has no name"),
        ("dpi = 200", "dpi = 200\nink = 3", "ink"),
        ("dpi = 200", "dpi =", "it is not TOML"),
        ("dpi = 200", "dpi = " + "[" * 5000, "it is not TOML"),
        ("blank-101-front.png", "gone.png", "cannot be read: No such file or directory"),
        ("blank-101-front.png", "spec.toml", "the file is not an image"),
        ("blank-101-front.png", "blank-101-front.png#page=2", "is no PDF"),
    ],
)
def test_a_mistake_in_the_spec_is_one_line(bench: Bench, before: str, after: str, sentence: str) -> None:
    bench.change(before, after)
    assert sentence in bench.refusal()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [("inkiness = 1.0", 'there is no threshold "inkiness"'), ("{name} = nan", "must be a number from 0 up")],
)
def test_a_threshold_that_cannot_be_is_one_line(bench: Bench, line: str, sentence: str) -> None:
    bench.text += "\n[thresholds]\n" + line.format(name=THRESHOLD_NAMES[0]) + "\n"
    assert sentence in bench.refusal()


def test_a_blank_page_bears_no_program(bench: Bench) -> None:
    white = np.full((2200, 1700), 255, np.uint8)
    assert cv2.imwrite(str(bench.folder / "blank-101-front.png"), white)
    assert "style 101" in bench.refusal()


def test_a_place_that_cannot_be_written_is_one_line(bench: Bench) -> None:
    bench.output = bench.folder / "nowhere" / "delegates.program"
    assert "cannot be written" in bench.refusal()


def test_a_folder_in_the_programs_place_is_one_line_and_leaves_nothing_behind(bench: Bench) -> None:
    bench.output.mkdir()
    code, out, err = bench.build()
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "Is a directory" in err
    assert not list(bench.folder.glob("*.part"))


@pytest.mark.parametrize("name", ["", ".", "/"])
def test_an_output_without_a_name_is_one_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["program", "build", str(tmp_path / "spec.toml"), "-o", name]) == 2
    assert capsys.readouterr().err == (
        f'recount-host: "{name}" is no name for a file: write -o NAME.program\n'
    )


@pytest.mark.parametrize("mark", ["filled black", "filled grey", "crossed"])
def test_a_blank_whose_target_is_filled_or_marked_is_no_blank(bench: Bench, mark: str) -> None:
    path = bench.folder / "blank-101-front.png"
    page = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
    assert page is not None
    left, top, width, height = 638, 526, 26, 18
    if mark == "crossed":
        for y0, y1 in ((top, top + height), (top + height, top)):
            cv2.line(page, (left, y0), (left + width, y1), 20, 3)
    else:
        middle, half = (left + width // 2, top + height // 2), (width // 2 - 1, height // 2 - 1)
        cv2.ellipse(page, middle, half, 0, 0, 360, 20 if mark == "filled black" else 120, -1)
    cv2.imwrite(str(path), page)
    told = bench.refusal()
    assert "the target at 638, 526 of R is filled or marked on the blank" in told
    assert "take a ballot that nobody marked" in told
