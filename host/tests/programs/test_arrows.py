"""Ballots on which voters join an arrow: nothing is found on them, and places by hand make a program."""

from pathlib import Path

import cv2
import pytest

from recount_classifier.reading import read_sheet
from recount_host.cli import main
from recount_host.programs.building import build_program
from recount_protocol.fates import COUNTED

from .drawn_blanks import arrows_to_join, scanned

NAMES = ("Ada Poe", "Otto Bloom", "Uwe Low")
DPI = 200


def test_a_ballot_with_arrows_is_drafted_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, _ = arrows_to_join(NAMES, DPI)
    cv2.imwrite(str(tmp_path / "arrows.png"), page)
    assert main(["program", "draft", str(tmp_path / "arrows.png")]) == 2
    assert "no contest was found" in capsys.readouterr().err


def test_arrows_that_were_programmed_by_hand_are_read(tmp_path: Path) -> None:
    page, gaps = arrows_to_join(NAMES, DPI)
    cv2.imwrite(str(tmp_path / "arrows.png"), page)
    box = (250, gaps[0].top - 60, gaps[0].right + 60, gaps[-1].bottom + 60)
    lines = ['key = "clerk"', 'title = "County Clerk"', "vote_for = 1", f"dpi = {DPI}"]
    for key, name in zip("ABC", NAMES, strict=True):
        lines += ["[[option]]", f'key = "{key}"', f'name = "{name}"']
    places = [[spot.left, spot.top - 2, spot.width, spot.height + 4] for spot in gaps]
    lines += ["[[style]]", 'id = "1"', 'side = "front"', 'blank = "arrows.png"', f"contest_box = {list(box)}"]
    lines.append(f"targets = {{ A = [{places[0]}], B = [{places[1]}], C = [{places[2]}] }}")
    (tmp_path / "spec.toml").write_text("\n".join(lines), encoding="utf-8")
    program = build_program(tmp_path / "spec.toml")
    for key, spot, thick in zip("ABC", gaps, (3, 6, 9), strict=True):
        sheet, y = page.copy(), round(spot.centre[1])
        cv2.line(sheet, (round(spot.left) - 4, y), (round(spot.right) + 4, y + 1), 40, thick, cv2.LINE_AA)
        reading = read_sheet([scanned(sheet, thick)], program)
        assert (reading.fate, reading.choices) == (COUNTED, (key,))
    assert read_sheet([scanned(page, 1)], program).choices == ()
