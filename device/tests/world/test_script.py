"""WORLD.toml and decks: what they may say, and one clear line for every mistake."""

from collections.abc import Callable
from pathlib import Path

import pytest

from recount_device.cli import main
from recount_world.errors import ScriptError
from recount_world.script import read_script

PageImages = Callable[..., Path]


def written(folder: Path, text: str, name: str = "WORLD.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_world_needs_no_more_than_one_setting(tmp_path: Path) -> None:
    script = read_script(written(tmp_path, "seed = 0"))
    assert script.socket == tmp_path / "world.sock"
    assert script.sheets == ()


def test_sheets_are_fed_in_the_order_of_the_file_with_images_relative_to_it(
    tmp_path: Path, page_image: PageImages
) -> None:
    page_image("a.png")
    script = read_script(
        written(
            tmp_path,
            '[[sheet]]\nid = "b"\nfront = "a.png"\nturned = true\n[[sheet]]\nid = 7\nthickness_um = 180\n',
        )
    )
    first, second = script.sheets
    assert (first.id, first.front, first.turned) == ("b", tmp_path / "a.png", True)
    assert (second.id, second.front, second.thickness_um) == ("7", None, 180)


def test_what_a_deck_knows_of_a_sheet_is_its_truth_and_its_own_fault_is_a_fault(
    tmp_path: Path, page_image: PageImages
) -> None:
    (tmp_path / "deck").mkdir()
    page_image("deck/001-front.jpg")
    written(
        tmp_path / "deck",
        '[[sheet]]\nid = "001"\nfront = "001-front.jpg"\nfate = "counted"\nchoices = ["D"]\n'
        'fault = { kind = "jam", at_mm = 120 }\n',
        "deck.toml",
    )
    script = read_script(written(tmp_path, 'deck = "deck"\n'))
    (sheet,) = script.sheets
    assert sheet.truth == {"fate": "counted", "choices": ["D"]}
    (fault,) = script.faults
    assert (fault.kind, fault.when_sheet, fault.at_mm) == ("jam", "001", 120)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "WORLD.toml is empty: write at least which deck"),
        ("# all of it is a remark", "WORLD.toml is empty"),
        ("seed = ", "is not TOML"),
        ("seed = " + "[" * 5000, "is not TOML"),
        ("sede = 1", "there is no setting sede"),
        ('seed = "one"', "seed must be int"),
        ("seed = true", "seed must be int"),
        ("seed = -1", "seed must be from 0"),
        ('operator = "robot"', "operator must be auto or none"),
        ("bounce_us = 9000", "bounce_us must be from 0 to 2500"),
        ("[geometry]\nwidth_mm = 3", "geometry has no width_mm"),
        ("[geometry]\nentry_to_camera_mm = 5", "must be from 100 to 2000 mm"),
        ("[[sheet]]\nfront = 'x.png'", "the id is missing"),
        ("[[sheet]]\nid = 'a'\nfront = 'x.png'", "there is no image"),
        ("[[sheet]]\nid = 'a'\nfront = 'WORLD.toml'", "is no image"),
        ("[[sheet]]\nid = 'a'\nlength_mm = 20", "length_mm must be from 80"),
        ("[[sheet]]\nid = 'a'\n[[sheet]]\nid = 'a'", "two sheets have the id a"),
        ("[[sheet]]\nid = 'a'\ncolour = 'red'", "there is no setting colour"),
        ("[[fault]]\nkind = 'jam'\nsheet = 'a'", "about sheet a, which is nowhere"),
        ("deck = 'nowhere'", "there is no file"),
    ],
)
def test_a_mistake_in_the_file_is_told_in_one_sentence(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ScriptError, match=complaint) as refusal:
        read_script(written(tmp_path, text))
    assert "\n" not in str(refusal.value)


def test_the_command_ends_with_one_line_and_code_2_for_a_bad_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", str(tmp_path / "nowhere.toml")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("recount-device: there is no file")


@pytest.mark.parametrize("setting", ["flash = '/proc/none'", "trace = '/none/x'", "board_log = '/none/x'"])
def test_a_place_that_cannot_be_written_is_one_line_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], setting: str
) -> None:
    assert main(["simulate", str(written(tmp_path, setting))]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "cannot be written" in line


def test_the_files_whole_format_as_documented_is_accepted(tmp_path: Path, page_image: PageImages) -> None:
    from recount_world import script as module

    assert module.__doc__ is not None
    example = "\n".join(
        line[4:] for line in module.__doc__.splitlines() if line.startswith("    ") and "deck =" not in line
    )
    page_image("000-front.jpg")
    page_image("000-back.jpg")
    script = read_script(written(tmp_path, example))
    assert script.sheets[0].id == "000"
    assert script.faults[0].kind == "jam"
    assert script.seed == 7


def test_the_guide_shows_the_formats_as_the_modules_state_them(pytestconfig: pytest.Config) -> None:
    from recount_world import faults, path, script

    guide = (pytestconfig.rootpath / "docs" / "simulator.md").read_text(encoding="utf-8")
    for module in (script, faults, path):
        assert module.__doc__ is not None
        told = module.__doc__.split("\n\n", 1)[1].strip("\n")
        assert told in guide, f"docs/simulator.md lacks the text of {module.__name__}"
