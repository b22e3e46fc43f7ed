"""Files that a person names: read whole and bounded, or refused in one sentence, and never waited for."""

import os
from pathlib import Path

import pytest

from recount_host.cli import main
from recount_host.errors import OperatorError
from recount_host.given_files import read_given
from recount_host.signatures import Signed, read_signatures

SPEC = """
key = "governor"
title = "Governor"
vote_for = 1
dpi = 200
[[option]]
key = "D"
name = "Josiah Bartlett"
[[option]]
key = "R"
name = "Arnold Vinick"
[[style]]
id = "card-3"
side = "front"
blank = "blank.png"
contest_box = [60, 419, 1648, 573]
targets = { D = [[603, 488, 40, 26]], R = [[1003, 488, 40, 26]] }
"""


def test_a_file_is_read_up_to_its_bound_and_a_longer_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_given(path, "the order", 5) == b"12345"
    with pytest.raises(OperatorError, match=r"the order .* is larger than 4 bytes: name the right file"):
        read_given(path, "the order", 4)


def test_of_a_huge_file_no_more_than_the_bound_is_read(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 40)  # it takes no room on the disk, and would take more memory than there is
    with pytest.raises(OperatorError, match="is larger than 2 MB: scan it in grey"):
        read_given(tmp_path / "huge", "the scan", 2_000_000, instead="scan it in grey")


def test_a_pipe_is_not_waited_for_and_a_folder_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(OperatorError, match="cannot be read: it is no file"):
            read_given(tmp_path / name, "the order", 10)


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match=r"the order .* cannot be read: No such file or directory"):
        read_given(tmp_path / "nothing", "the order", 10)


@pytest.mark.parametrize("name", ["SPEC.toml", "blank.png"])
def test_a_pipe_in_place_of_a_spec_or_a_blank_keeps_no_program_waiting(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "SPEC.toml").write_text(SPEC)
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    assert main(["program", "build", str(tmp_path / "SPEC.toml"), "-o", str(tmp_path / "out")]) == 2
    assert f"{name} cannot be read: it is no file" in capsys.readouterr().err


def test_a_pipe_in_place_of_signatures_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "order.toml.signatures")
    with pytest.raises(OperatorError, match=r"order.toml.signatures cannot be read: it is no file"):
        read_signatures(tmp_path / "order.toml", Signed("order", b""))


def test_a_pipe_in_place_of_a_bundle_keeps_no_verification_waiting(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "bundle.tar")
    assert main(["verify", str(tmp_path / "bundle.tar")]) == 2
    assert "cannot be read: it is no file" in capsys.readouterr().err
