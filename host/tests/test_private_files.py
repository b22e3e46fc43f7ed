"""A key that others can read is nobody's own: it signs and opens nothing, and one line says what to do."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from host.tests.rehearsal import order_text
from recount_host.cli import main
from recount_host.exports.sealed import make_court_key
from recount_host.host_key import KEY_FILE, open_host_key
from recount_host.private_files import NotPrivate, read_private
from recount_host.signatures import open_signing_key, signatures_path


@pytest.fixture
def order(tmp_path: Path) -> Path:
    path = tmp_path / "order.toml"
    path.write_text(order_text(), encoding="utf-8")
    return path


def sign(order: Path, key: Path) -> Sequence[str]:
    return ("order", "sign", str(order), "--key", str(key), "--name", "Cleo May, clerk")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o666, 0o620, 0o755])
def test_a_key_that_others_can_read_signs_nothing_and_the_line_says_what_to_do(
    order: Path, mode: int, capsys: pytest.CaptureFixture[str]
) -> None:
    key = order.with_name("clerk.key")
    open_signing_key(key)
    key.chmod(mode)
    assert main(sign(order, key)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(f"{key} can be read by others than its owner: run chmod 600 {key}")
    assert not signatures_path(order).exists()
    key.chmod(0o600)
    assert main(sign(order, key)) == 0


def test_another_users_key_signs_nothing(
    order: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = order.with_name("clerk.key")
    open_signing_key(key)
    monkeypatch.setattr(os, "geteuid", lambda: key.stat().st_uid + 1)
    assert main(sign(order, key)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "belongs to another user" in line
    assert "name your own key" in line
    assert not signatures_path(order).exists()


def test_the_courts_key_opens_nothing_while_others_can_read_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = tmp_path / "court.key"
    make_court_key(key)
    key.chmod(0o644)
    assert main(["verify", str(tmp_path / "bundle.tar"), "--court-key", str(key)]) == 2
    assert f"run chmod 600 {key}" in capsys.readouterr().err


def test_the_hosts_key_goes_by_the_same_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_host_key(tmp_path)
    path = tmp_path / KEY_FILE
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(NotPrivate, match="belongs to another user"):
        open_host_key(tmp_path)


def test_a_file_without_a_private_key_is_no_secret(tmp_path: Path) -> None:
    path = tmp_path / "court.key.pub"
    path.write_bytes(b"-----BEGIN PUBLIC KEY-----")
    path.chmod(0o644)
    assert read_private(path) == b"-----BEGIN PUBLIC KEY-----"
