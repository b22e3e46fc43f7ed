"""`recount-device read`: one line a sheet, every usual picture file, and one clear line for each bad file."""

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from device.tests.classifier.fairview import STYLE, marked, picture, program
from recount_classifier.raster import Grey
from recount_classifier.reasons import REASONS
from recount_device.cli import main

WRITE_IN_AREA = STYLE["write_in_areas"][0]


class Reader:
    """Gives the command and keeps what it answered."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capsys = capsys
        self.program = folder / "delegates.program"
        self.program.write_bytes(program().to_bytes())

    def save(self, name: str, sheet: Grey) -> str:
        path = self.folder / name
        assert cv2.imwrite(str(path), sheet)
        return str(path)

    def give(self, *words: str) -> tuple[int, list[str], list[str]]:
        code = main(["read", str(self.program), *words])
        told = self.capsys.readouterr()
        return code, told.out.splitlines(), told.err.splitlines()

    def read(self, sheet: Grey) -> dict[str, Any]:
        code, out, err = self.give(self.save("sheet.png", sheet), "--json")
        assert (code, err, len(out)) == (0, [], 1)
        reading: dict[str, Any] = json.loads(out[0])
        assert set(reading["reasons"]) <= set(REASONS)
        return reading


@pytest.fixture
def reader(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Reader:
    return Reader(tmp_path, capsys)


def test_a_clear_vote_is_counted(reader: Reader) -> None:
    reading = reader.read(marked("R"))
    assert {key: reading[key] for key in ("sheet", "contest", "fate", "choices", "reasons")} == {
        "sheet": "sheet", "contest": "delegates-52", "fate": "counted", "choices": ["R"], "reasons": [],
    }  # fmt: skip
    assert reading["ms"] > 0


@pytest.mark.parametrize(
    ("options", "reason"), [((), "undervote"), (("D", "R"), "overvote"), (("W",), "write_in")]
)
def test_what_people_must_decide_is_set_aside(reader: Reader, options: tuple[str, ...], reason: str) -> None:
    reading = reader.read(marked(*options))
    assert (reading["fate"], reading["choices"]) == ("set_aside", [])
    assert reason in reading["reasons"]


def test_writing_in_a_write_in_area_is_set_aside_without_any_mark_at_it(reader: Reader) -> None:
    left, _, _, bottom = WRITE_IN_AREA
    sheet = marked("D")
    cv2.putText(sheet, "Pat Doe", (left + 40, bottom - 14), cv2.FONT_HERSHEY_SCRIPT_SIMPLEX, 1.0, 40, 2)
    reading = reader.read(sheet)
    assert reading["fate"] == "set_aside"
    assert "write_in" in reading["reasons"]


def test_a_sheet_fed_upside_down_is_read_as_well(reader: Reader) -> None:
    reading = reader.read(np.ascontiguousarray(marked("I")[::-1, ::-1]))
    assert (reading["fate"], reading["choices"]) == ("counted", ["I"])


def test_both_sides_of_a_sheet_may_be_given(reader: Reader) -> None:
    front = reader.save("7-front.png", marked("I"))
    back = reader.save("7-back.png", picture(STYLE["other_side"]))
    for sheet in (f"{front},{back}", f"{back},{front}"):
        code, out, _ = reader.give(sheet, "--json")
        assert code == 0
        assert json.loads(out[0])["choices"] == ["I"]


def test_two_sheets_back_to_back_are_not_counted_as_one(reader: Reader) -> None:
    one, other = reader.save("1.png", marked("I")), reader.save("2.png", marked("R"))
    turned = reader.save("3.png", np.ascontiguousarray(marked("R")[::-1, ::-1]))
    for sheet in (f"{one},{other}", f"{other},{one}", f"{one},{turned}", f"{one},{one}"):
        code, out, _ = reader.give(sheet, "--json")
        reading = json.loads(out[0])
        assert code == 0
        assert (reading["fate"], reading["choices"], reading["reasons"]) == ("returned", [], ["two_sheets"])


@pytest.mark.parametrize("sheet", [np.full((2200, 1700), 255, np.uint8), marked("D")[:, ::-1]])
def test_what_is_no_ballot_of_this_style_is_not_accepted(reader: Reader, sheet: Grey) -> None:
    reading = reader.read(np.ascontiguousarray(sheet))
    assert (reading["fate"], reading["choices"]) == ("not_accepted", [])
    assert reading["reasons"]


def one_bit_tiff(sheet: Grey) -> bytes:
    """Return a TIFF of one uncompressed strip with one bit a pixel, 1 = white, as scanners write it."""
    height, width = sheet.shape
    strip = np.packbits(sheet > 127, axis=1).tobytes()
    short, long = 3, 4
    tags = [
        (256, long, width), (257, long, height), (258, short, 1), (259, short, 1), (262, short, 1),
        (273, long, 8), (277, short, 1), (278, long, height), (279, long, len(strip)),
    ]  # fmt: skip
    entries = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in tags)
    return (
        struct.pack("<2sHI", b"II", 42, 8 + len(strip))
        + strip
        + struct.pack("<H", len(tags))
        + entries
        + bytes(4)
    )


def test_a_torn_sheet_is_told_as_torn_and_not_by_what_the_hole_looks_like(reader: Reader) -> None:
    sheet = marked("I")
    tear = np.array([[0, 300], [560, 440], [690, 452], [655, 500], [700, 548], [540, 600], [0, 740]])
    cv2.fillPoly(sheet, [tear.astype(np.int32)], 25)  # the empty bed
    reading = reader.read(sheet)
    assert reading["fate"] == "not_accepted"
    assert {REASONS[reason].fate for reason in reading["reasons"]} == {"not_accepted"}


def test_a_one_bit_tiff_is_read(reader: Reader) -> None:
    path = reader.folder / "bits.tif"
    path.write_bytes(one_bit_tiff(marked("D")))
    code, out, err = reader.give(str(path), "--json")
    assert (code, err) == (0, [])
    reading = json.loads(out[0])
    assert (reading["fate"], reading["choices"]) == ("counted", ["D"])


def test_a_bad_file_is_named_and_the_rest_are_read(reader: Reader) -> None:
    no_image = reader.folder / "letter.png"
    no_image.write_text("Dear sir")
    pages = reader.folder / "scans.pdf"
    pages.write_bytes(b"%PDF-1.7")
    good = reader.save("good.png", marked("D"))
    code, out, err = reader.give(str(reader.folder / "gone.png"), str(no_image), str(pages), good)
    assert code == 2
    assert out == ["good: counted: Cora Whitlock"]
    assert err == [
        f"recount-device read: {reader.folder}/gone.png cannot be read: No such file or directory",
        f"recount-device read: {no_image}: the file is not an image, or one that cannot be read",
        f"recount-device read: {pages} is a PDF: save each page as a PNG or TIFF picture, and read those",
    ]


def test_a_png_that_ends_too_early_or_claims_more_than_it_has_is_named_before_it_is_unpacked(
    reader: Reader,
) -> None:
    whole = cv2.imencode(".png", marked("D"))[1].tobytes()
    at = whole.index(b"IDAT")
    for name, data in (
        ("half", whole[: len(whole) // 2]),
        ("vast", whole[: at - 4] + b"\x7f" + whole[at - 3 :]),
    ):
        path = reader.folder / f"{name}.png"
        path.write_bytes(data)
        assert reader.give(str(path)) == (
            2,
            [],
            [f"recount-device read: {path}: the file is a damaged PNG: copy it again"],
        )


def _cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _edited(data: bytes) -> bytes:
    return data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]


def _longer(data: bytes) -> bytes:
    return data + b" "


def _emptied(_data: bytes) -> bytes:
    return b""


def _replaced(_data: bytes) -> bytes:
    return b"key = 1\n"


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (_cut, "damaged or was edited"),
        (_edited, "damaged or was edited"),
        (_longer, "damaged or was edited"),
        (_emptied, "no contest program"),
        (_replaced, "no contest program"),
    ],
)
def test_a_damaged_or_edited_program_is_refused_in_one_line(
    reader: Reader, damage: Callable[[bytes], bytes], sentence: str
) -> None:
    reader.program.write_bytes(damage(reader.program.read_bytes()))
    code, out, err = reader.give(reader.save("sheet.png", marked("D")))
    assert (code, out, len(err)) == (2, [], 1)
    assert err[0].startswith(f"recount-device: {reader.program}: ")
    assert sentence in err[0]


def test_a_program_that_is_not_there_is_one_line(reader: Reader) -> None:
    reader.program.unlink()
    code, out, err = reader.give("any.png")
    assert (code, out) == (2, [])
    assert err == [f"recount-device: the program {reader.program} cannot be read: No such file or directory"]
