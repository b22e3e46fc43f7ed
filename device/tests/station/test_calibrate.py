"""`recount-device calibrate`: a device's camera passes or fails, and each failure says what to do."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from device.tests.classifier import fairview
from device.tests.station.bench import Bench
from device.tests.station.chart_pictures import SHARP, Grey, chart, chart_scan, fallen, lit, white_sheet
from recount_ballots.scanner import ScanSettings, Streak
from recount_device.calibration.calibrate import CHART_WORDS, DECK_WORDS
from recount_device.calibration.checks import LIMITS_BY_NAME
from recount_device.calibration.steps import Step, chart_steps, light_step
from recount_device.cli import main
from recount_device.lens_file import LENS_FILE, read_lens
from recount_device.pictures import encode_png
from recount_world.client import control

NOTHING: Any = None
"""OpenCV's types want a second map where one holds both coordinates."""
DEVICE = """
name = "table-3"
folder = "device"
feeder = "simulated:world.sock"
camera = "simulated:world.sock"
panel = "simulated:world.sock"
host = "tcp://127.0.0.1:1"
"""


def failing(step: Step) -> set[str]:
    return {check.limit.name for check in step.checks if not check.holds}


# The chart


@cache
def sound_chart() -> Grey:
    return chart_scan().image


def smeared(picture: Grey) -> Grey:
    return np.asarray(cv2.blur(picture, (1, 7)), np.uint8)


def blunt_left(picture: Grey) -> Grey:
    """Return the picture of a camera that stands askew: blurred towards its left side."""
    blurred = cv2.GaussianBlur(picture, (0, 0), 2.2).astype(np.float64)
    share = np.clip(1.2 - 3 * np.linspace(0, 1, picture.shape[1]), 0, 1)
    return (blurred * share + picture * (1 - share)).astype(np.uint8)


def brighter(picture: Grey) -> Grey:
    return lit(picture, np.full((2, 2), 1.12))


def noisy(picture: Grey) -> Grey:
    return np.clip(picture - 20.0 + np.random.default_rng(0).normal(0, 14, picture.shape), 0, 255).astype(
        np.uint8
    )


def pale(picture: Grey) -> Grey:
    return (120 + picture * 0.45).astype(np.uint8)


CHART_FAULTS: dict[str, tuple[Callable[[Grey], Grey], set[str], str]] = {
    "blurred": (lambda p: np.asarray(cv2.GaussianBlur(p, (0, 0), 1.4), np.uint8), {"edge_mm"}, "blurred"),
    "smeared": (smeared, {"edge_mm"}, "blurred"),
    "askew": (blunt_left, {"edge_mm", "edge_ratio"}, "parallel to the bed"),
    "dark": (lambda p: (p * 0.5).astype(np.uint8), {"paper"}, "lengthen exposure_us"),
    "clipped": (brighter, {"clipped"}, "shorten exposure_us"),
    "noisy": (noisy, {"grain"}, "give more light"),
    "pale": (pale, {"contrast"}, "full black"),
}


def test_a_sharp_and_well_lit_chart_passes() -> None:
    focus, lens, seen = chart_steps([sound_chart(), chart_scan(seed=1).image])
    assert focus.passed
    assert lens.passed
    assert focus.advice == lens.advice == ()
    assert len(seen.optics) == 2
    assert [place.name for place in seen.optics[0].places][4] == "centre"


@pytest.mark.parametrize("fault", CHART_FAULTS)
def test_each_fault_of_a_picture_fails_by_its_own_figure(fault: str) -> None:
    spoil, names, told = CHART_FAULTS[fault]
    focus, lens, _ = chart_steps([spoil(sound_chart())])
    assert failing(focus) == names
    assert any(told in sentence for sentence in focus.advice)
    assert lens.passed


def test_an_edge_is_measured_in_millimetres_at_any_resolution() -> None:
    widths: list[float] = []
    for dpi in (150, 240):
        blur_px = 0.12 * dpi / 25.4
        focus, _, seen = chart_steps([chart_scan(SHARP.but(blur_px=blur_px, noise=1.0), dpi=dpi).image])
        assert focus.passed
        widths += [place.edge_mm for place in seen.optics[0].places]
    # 10 % to 90 % of a Gaussian's edge is 2.563 times its width; the pixels add to it.
    assert min(widths) > 2.563 * 0.12
    assert max(widths) < 2.563 * 0.12 * 1.3


def test_one_bad_picture_of_three_fails() -> None:
    good = sound_chart()
    focus, _, _ = chart_steps([good, smeared(good), good])
    assert failing(focus) == {"edge_mm"}


def test_a_creased_chart_fails_the_lens_and_nothing_else() -> None:
    rows, columns = np.indices(chart().shape, np.float32)
    wave = (2.5 * np.sin(columns / 90) * np.sin(rows / 70)).astype(np.float32)
    creased = cv2.remap(chart(), np.dstack([columns + wave, rows]), NOTHING, cv2.INTER_LINEAR)
    focus, lens, _ = chart_steps([np.asarray(creased, np.uint8)])
    assert focus.passed
    assert not lens.passed
    assert "lay it flat" in lens.advice[0]


def test_a_chart_that_fills_a_small_part_of_the_picture_fails() -> None:
    wide = SHARP.but(scale=0.55)
    _, lens, _ = chart_steps([chart_scan(wide, dpi=240).image])
    assert failing(lens) == {"reach"}


def test_a_picture_without_a_chart_fails_both_steps_in_one_sentence() -> None:
    focus, lens, _ = chart_steps([white_sheet()])
    assert focus.advice == lens.advice
    assert focus.advice[0].startswith("No lens chart is seen: print one")


# White sheets


def spotted(picture: Grey, x: int, y: int, radius: int, grey: int = 120) -> Grey:
    return np.asarray(cv2.circle(picture.copy(), (x, y), radius, (grey,), -1), np.uint8)


@cache
def clean_white(settings: ScanSettings, seed: int) -> Grey:
    return white_sheet(settings, seed)


def whites(
    spoil: Callable[[Grey], Grey] = lambda picture: picture, settings: ScanSettings = SHARP
) -> list[Grey]:
    return [spoil(clean_white(settings, seed)) for seed in range(2)]


LIGHT_FAULTS: dict[str, tuple[Callable[[], list[Grey]], set[str], str]] = {
    "uneven": (lambda: whites(lambda p: lit(p, fallen("side", 0.55))), {"evenness"}, "uneven"),
    "vignette": (lambda: whites(lambda p: lit(p, fallen("corners", 0.5))), {"evenness"}, "uneven"),
    "weak": (lambda: whites(lambda p: (p * 0.45).astype(np.uint8)), {"white_darkest"}, "too weak"),
    "clipped": (lambda: whites(lambda p: lit(p, np.full((2, 2), 1.2))), {"white_clipped"}, "too bright"),
    "dust": (lambda: whites(lambda p: spotted(p, 400, 500, 2)), {"glass"}, "clean it"),
    "hair": (lambda: whites(lambda p: spotted(p, 400, 500, 1, 60)), {"glass"}, "clean it"),
    "streak": (lambda: whites(settings=SHARP.but(streaks=(Streak(0.4, 18.0, 1.5),))), {"glass"}, "clean it"),
}


def test_two_clean_white_sheets_pass() -> None:
    step, light = light_step(whites())
    assert step.passed
    assert light is not None
    assert light.std() < 2


@pytest.mark.parametrize("fault", LIGHT_FAULTS)
def test_each_fault_of_light_and_glass_fails_by_its_own_figure(fault: str) -> None:
    take, names, told = LIGHT_FAULTS[fault]
    step, _ = light_step(take())
    assert failing(step) == names
    assert told in step.advice[0]


def test_specks_on_the_paper_are_no_dirt() -> None:
    one, other = whites()
    step, _ = light_step([spotted(one, 400, 500, 2), spotted(other, 300, 620, 2)])
    assert step.passed
    assert "2 specks lie on the sheets themselves" in step.notes[0]


def test_dirt_is_told_with_its_place() -> None:
    step, _ = light_step(LIGHT_FAULTS["dust"][0]())
    assert step.notes[0].startswith("on the glass: a spot of 1.")
    assert step.notes[0].endswith("at column 400, row 500")


@pytest.mark.parametrize("kind", ["one", "printed", "dark", "sizes", "small"])
def test_what_are_no_white_sheets_is_told_in_a_sentence(kind: str) -> None:
    pictures = {
        "one": whites()[:1],
        "printed": [sound_chart(), sound_chart()],
        "dark": [np.full((1100, 850), 12, np.uint8)] * 2,
        "sizes": [white_sheet(dpi=100), white_sheet(dpi=120)],
        "small": [
            cv2.copyMakeBorder(p, 500, 500, 500, 500, cv2.BORDER_CONSTANT, value=(30,)) for p in whites()
        ],
    }[kind]
    step, _ = light_step([np.asarray(picture, np.uint8) for picture in pictures])
    assert not step.passed
    assert len(step.advice) == 1
    assert step.advice[0].endswith(".")


# The command


@cache
def chart_png(number: int) -> bytes:
    return encode_png(chart_scan(SHARP.but(lens=-0.02), number).image)


@cache
def white_png(number: int) -> bytes:
    return encode_png(whites()[number])


@cache
def ballot_png(seed: int, *keys: str) -> bytes:
    """Return a ballot as a camera gives it: a little darker, with grain."""
    sheet = fairview.marked(*keys)
    grain = np.random.default_rng(seed).integers(10, 19, sheet.shape, np.uint8)
    return encode_png(np.asarray(cv2.subtract(sheet, grain), np.uint8))


class Desk:
    """A technician's folder with a device and pictures of its camera."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capsys = capsys
        (folder / "DEVICE.toml").write_text(DEVICE)
        self.charts = [self.save(f"chart-{number}.png", chart_png(number)) for number in range(2)]
        self.whites = [self.save(f"white-{number}.png", white_png(number)) for number in range(2)]

    def save(self, name: str, png: bytes) -> str:
        (self.folder / name).write_bytes(png)
        return str(self.folder / name)

    def give(self, *words: str) -> tuple[int, str, str]:
        code = main(["calibrate", str(self.folder / "DEVICE.toml"), *words])
        told = self.capsys.readouterr()
        return code, told.out, told.err

    def from_files(self, *words: str) -> tuple[int, str, str]:
        return self.give("--chart", *self.charts, "--white", *self.whites, *words)

    @property
    def lens(self) -> Path:
        return self.folder / "device" / LENS_FILE


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(tmp_path, capsys)


def test_a_sound_camera_passes_and_its_lens_is_kept(desk: Desk) -> None:
    code, out, err = desk.from_files("-o", str(desk.folder / "out.svg"))
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "PASSED"
    assert "must pass logic and accuracy again" in out
    assert read_lens(desk.lens).corner_share == pytest.approx(0.0217, abs=0.002)
    root = ET.fromstring((desk.folder / "out.svg").read_text(encoding="utf-8"))
    texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "Calibration of table-3: PASSED"
    assert any(text.startswith("ok width of the bluntest edge") or "bluntest edge" in text for text in texts)


def test_the_answer_for_programs_holds_every_figure(desk: Desk) -> None:
    code, out, _ = desk.from_files("--json")
    result = json.loads(out)
    assert (code, result["passed"], result["device"]) == (0, True, "table-3")
    assert [step["name"] for step in result["steps"]] == ["focus", "lens", "light"]
    assert all(check["why"] for step in result["steps"] for check in step["checks"])
    assert result["lens"]["sha256"] == json.loads(desk.lens.read_bytes())["sha256"]


def test_a_camera_that_fails_keeps_the_lens_that_it_had(desk: Desk) -> None:
    desk.from_files()
    before = desk.lens.read_bytes()
    desk.charts[1] = desk.save("chart-1.png", encode_png(smeared(chart_scan(SHARP.but(lens=-0.02), 1).image)))
    code, out, _ = desk.from_files()
    assert code == 1
    assert "No lens calibration was kept: the one before stays." in out
    assert out.splitlines()[-2:] == [
        "FAILED. What to do:",
        f"  1. {LIMITS_BY_NAME['edge_mm'].do}",
    ]
    assert desk.lens.read_bytes() == before


# The marks


class MarksDesk(Desk):
    """A desk with a contest program, two blank ballots and one marked one."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        super().__init__(folder, capsys)
        (folder / "p.program").write_bytes(fairview.program().to_bytes())
        (folder / "known.csv").write_text("deck-D.png, D\n")
        self.program = ("--program", str(folder / "p.program"), "--known", str(folder / "known.csv"))
        self.blanks = [self.save(f"blank-{n}.png", ballot_png(n)) for n in range(2)]
        self.deck = [self.save("deck-D.png", ballot_png(2, "D"))]


@pytest.fixture
def marks_desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> MarksDesk:
    return MarksDesk(tmp_path, capsys)


def test_the_marks_are_a_step_of_the_walk(marks_desk: MarksDesk) -> None:
    desk = marks_desk
    files = (*desk.program, "--blank", *desk.blanks, "--marked")
    code, out, _ = desk.give(*files, *desk.deck)
    assert (code, out.splitlines()[-1]) == (0, "PASSED"), out
    assert "Marks: passed (3 pictures)" in out
    assert "2 blank and 1 marked sheets" in out
    code, out, _ = desk.give(*files, desk.save("deck-D.png", ballot_png(2, "R")))
    assert code == 1
    assert "Known sheets are not read as what they are" in out.splitlines()[-1]
    code, out, _ = desk.give(*files, desk.save("deck-D.png", white_png(0)))
    assert code == 1
    assert "No blank or no marked sheet of this contest could be read" in out.splitlines()[-1]


MISTAKES: dict[str, tuple[str, ...]] = {
    "nowhere.png cannot be read": ("--chart", "nowhere.png"),
    "needs --program and --known": ("--only", "marks"),
    "both --program and --known": ("--program", "p"),
    "both --blank and --marked": ("--blank", "b", "b", "--program", "p", "--known", "k"),
    "marks need 2 blank sheets or more": ("--program", "p", "--known", "k"),
    "marks need --blank and --marked too": (
        "--chart",
        "c",
        "--program",
        "p",
        "--known",
        "k",
        "--blanks",
        "2",
    ),
    "0 is no number of sheets from 1 to 1000": ("--charts", "0"),
    "world.sock": (),
}


@pytest.mark.parametrize("said", MISTAKES)
def test_what_cannot_be_is_one_clear_line(desk: Desk, said: str) -> None:
    code, out, err = desk.give(*MISTAKES[said])
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


def test_pictures_of_another_camera_are_one_clear_line(desk: Desk) -> None:
    real = 'feeder = "serial:/dev/x"\ncamera = "picamera2"\npanel = "gpio"\nhost = "tcp://127.0.0.1:1"\n'
    (desk.folder / "DEVICE.toml").write_text(f'name = "table-3"\nfolder = "device"\n{real}')
    code, out, err = desk.from_files()
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "has 1335 x 1710 pixels, but the camera of table-3 gives 2028 x 3040" in err
    assert not desk.lens.exists()


def test_a_drawing_that_cannot_be_written_is_one_clear_line(desk: Desk) -> None:
    code, _, err = desk.give("--white", *desk.whites, "-o", str(desk.folder / "nowhere" / "out.svg"))
    assert code == 2
    assert "cannot be written" in err


def test_no_device_is_calibrated_in_an_open_run(desk: Desk) -> None:
    (desk.folder / "device").mkdir()
    bench = Bench(desk.folder / "device", [])
    bench.assign()
    bench.journal.close()
    code, _, err = desk.from_files()
    assert code == 2
    assert "has run r1 open, which another calibration would end: end it first" in err
    assert not desk.lens.exists()


# On the simulated device


HOPPER = ("printed", "printed", "", "", "blank-0", "blank-1", "deck-D")
"""What lies in the simulated hopper; white sheets have no picture."""


@pytest.fixture
def world(marks_desk: MarksDesk) -> Iterator[MarksDesk]:
    """Give a desk with a simulated machine, whose hopper holds the sheets of the whole walk."""
    desk = marks_desk
    desk.save("printed.png", encode_png(chart(fairview.SPEC["dpi"])))
    sheets = [
        f'[[sheet]]\nid = "{number}"\n' + (f'front = "{name}.png"' if name else "")
        for number, name in enumerate(HOPPER)
    ]
    script = 'socket = "world.sock"\nduplex = false\nseed = 3\noperator = "none"\n' + "\n".join(sheets)
    (desk.folder / "WORLD.toml").write_text(script)
    process = subprocess.Popen(
        [sys.executable, "-m", "recount_device", "simulate", str(desk.folder / "WORLD.toml")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert "simulated device at" in process.stdout.readline()
    yield desk
    with control(desk.folder / "world.sock") as hands:
        hands.quit()
    process.wait(10)
    process.stdout.close()


@pytest.mark.skipif(sys.platform != "linux", reason="the simulated board runs on Linux only")
def test_the_walk_on_the_simulated_device(world: MarksDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO("\n" * 4))
    code, out, err = world.give("--charts", "2", "--blanks", "2", *world.program)
    assert (code, out.splitlines()[-1]) == (0, "PASSED"), out
    assert err.splitlines() == [
        f"{CHART_WORDS.format(count=2)} Then press Enter.",
        "Lay 2 blank white sheets into the hopper. Then press Enter.",
        "Lay 2 unmarked ballots into the hopper. Then press Enter.",
        f"{DECK_WORDS.format(count=1)} Then press Enter.",
    ]
    assert "Marks: passed (3 pictures)" in out
    assert world.lens.exists()
    with control(world.folder / "world.sock") as hands:
        places = hands.positions()
        assert len(places["not_accepted"]) == len(HOPPER)
    monkeypatch.setattr(sys, "stdin", StringIO("\n"))
    code, _, err = world.give("--only", "white")
    assert code == 2
    assert "the feeder stopped: There is no sheet in the hopper." in err
