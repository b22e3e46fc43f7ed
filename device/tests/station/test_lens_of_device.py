"""The device reads with the lens calibration in its folder, which logic and accuracy prove with it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from device.tests.classifier.bent_pages import bent_page, found_lens
from device.tests.classifier.drawn_pages import program
from device.tests.station.test_arming import MakeBench, armed, fed_live, restarted_with
from recount_classifier.lens import Lens
from recount_classifier.reading import read_sheet
from recount_device.cli import main
from recount_device.config import BOUNDS, Config, OpticsSettings, PathSettings
from recount_device.errors import OperatorError
from recount_device.lens_file import LENS_FILE, write_lens
from recount_device.pictures import encode_png
from recount_device.reader import SheetRead
from recount_device.reading_process import ReadingProcess
from recount_device.run import calibrated_lens
from recount_device.software import software_hash, software_of
from recount_protocol.software_names import what_changed

LENS = Lens(2028, 3040, 1000.0, 1500.0, -0.02, 0.0, 0.0, 0.0, 0.0)
BEND = -0.1


def a_config(folder: Path, **optics: int) -> Config:
    real = ("serial:/dev/x", "picamera2", "gpio", "tcp://h:1")
    return Config("table-1", folder, *real, optics=OpticsSettings(**optics))


def test_a_device_without_a_calibration_reads_without_one(tmp_path: Path) -> None:
    assert calibrated_lens(a_config(tmp_path)) is None
    assert "lens" not in software_of(a_config(tmp_path), None)


def test_a_device_reads_with_the_calibration_in_its_folder(tmp_path: Path) -> None:
    write_lens(tmp_path, LENS)
    assert calibrated_lens(a_config(tmp_path)) == LENS


def test_a_calibration_of_another_camera_mode_is_one_line(tmp_path: Path) -> None:
    write_lens(tmp_path, LENS)
    with pytest.raises(
        OperatorError, match="with 2028 x 3040 pixels, but the camera gives 1014 x 1520"
    ) as told:
        calibrated_lens(a_config(tmp_path, width=1014, height=1520))
    assert "\n" not in str(told.value)


def test_a_new_calibration_disarms(a_bench: MakeBench) -> None:
    bench = a_bench([])
    bench.software = software_of(a_config(bench.folder), None)
    bench.restart()
    restarted_with(armed(bench, bench.software), software_of(a_config(bench.folder), LENS))
    assert fed_live(bench) == 0
    assert "its lens was measured anew" in bench.panel.text


def test_every_calibration_has_its_own_name(tmp_path: Path) -> None:
    config = a_config(tmp_path)
    names = {software_of(config, lens) for lens in (None, LENS, replace(LENS, k1=-0.020001))}
    assert len(names) == 3
    assert all(name.startswith(software_hash()) for name in names)


@pytest.mark.parametrize("changed", BOUNDS[OpticsSettings])
def test_whatever_is_changed_in_the_optics_disarms_in_words(tmp_path: Path, changed: str) -> None:
    proved = software_of(a_config(tmp_path), LENS)
    now = software_of(a_config(tmp_path, **{changed: 1234}), LENS)
    assert what_changed(proved, now) == "its focus, exposure or picture size was changed"


def test_another_paper_path_disarms_in_words(tmp_path: Path) -> None:
    config = a_config(tmp_path)
    proved = software_of(config, None)
    for other in (replace(config, path=PathSettings(pick_mm_s=200)), replace(config, diverter="prompt")):
        assert what_changed(proved, software_of(other, None)) == "its paper path's numbers were changed"


def test_the_reading_process_reads_with_the_lens() -> None:
    page = bent_page(0, BEND)
    picture, lens = page.picture(), found_lens(BEND)
    process = ReadingProcess(lens)
    try:
        process.begin([picture], program(), expects_test=False, batch=1)
        process.await_result(30.0)
        outcome = process.result()
    finally:
        process.close()
    wanted = read_sheet([picture], program(), lens=lens)
    assert isinstance(outcome, SheetRead), outcome
    assert wanted.evidence is not None
    assert outcome.choices == wanted.choices == (page.choice,)
    assert outcome.evidence["registrations"] == wanted.evidence.to_fields()["registrations"]


def test_ballots_are_read_from_files_with_a_calibration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = bent_page(0, BEND)
    (tmp_path / "1.png").write_bytes(encode_png(page.picture()))
    (tmp_path / "any.program").write_bytes(program().to_bytes())
    words = ("read", str(tmp_path / "any.program"), str(tmp_path / "1.png"), "--json", "--lens")
    lens = str(write_lens(tmp_path, found_lens(BEND)))
    assert main([*words, lens]) == 0
    assert json.loads(capsys.readouterr().out)["choices"] == [page.choice]
    write_lens(tmp_path, LENS)
    assert main([*words, lens]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert "the lens was calibrated with 2028 x 3040: calibrate the camera anew" in told.err
    assert main([*words, str(tmp_path / "nowhere.json")]) == 2
    assert "nowhere.json cannot be read" in capsys.readouterr().err
    (tmp_path / LENS_FILE).write_text("{}")
    assert main([*words, lens]) == 2
    assert "is no lens calibration" in capsys.readouterr().err
