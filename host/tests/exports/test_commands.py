"""The commands: export bundle, verify and court-key make, as people and programs meet them."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from host.tests.exports.localities import UTC, a_finished_day, a_scanned_day, fill
from host.tests.exports.tampering import path_of, sound_bundle, with_change
from host.tests.rehearsal import Day
from recount_host.cli import main
from recount_host.exports.sealed import CHUNK_BYTES, HEAD_BYTES, LEAST_BYTES, TAG_BYTES
from recount_host.ledger.ledger import open_ledger
from recount_host.order import order_text_of


@pytest.fixture
def locality(tmp_path: Path) -> Path:
    """A folder with the order and the data of a finished locality."""
    day = a_finished_day()
    times = iter([act.utc for act in day.acts])
    with open_ledger(tmp_path / "data", create=True) as ledger:
        ledger._clock = lambda: next(times, UTC)
        fill(ledger, day)
    (tmp_path / "order.toml").write_text(order_text_of(day.acts) or "")
    return tmp_path


def export_words(locality: Path, target: str, *more: str) -> list[str]:
    order, data = str(locality / "order.toml"), str(locality / "data")
    return ["export", "bundle", order, str(locality / target), "--data", data, *more]


def test_a_bundle_is_exported_and_holds(locality: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(export_words(locality, "bundle.tar")) == 0
    assert "signed by the host's key" in capsys.readouterr().out
    assert main(["verify", str(locality / "bundle.tar")]) == 0
    told = capsys.readouterr()
    assert "precinct 101: challenge call, I1 holds" in told.out
    assert told.out.endswith("everything holds; compare the codes and the host's key with the signed paper\n")
    assert "files: 12 of 12" in told.err
    assert "\r" not in told.err


def test_c_evidence_is_exported_from_the_filing_on_before_anything_else_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    day = Day(program=False)
    with open_ledger(tmp_path / "data", create=True) as ledger:
        fill(ledger, day)
    (tmp_path / "order.toml").write_text(order_text_of(day.acts) or "")
    keys = tmp_path / "court.key"
    assert main(["court-key", "make", str(keys)]) == 0
    assert main(export_words(tmp_path, "bundle.tar", "--court-key", f"{keys}.pub")) == 0
    assert main(["verify", str(tmp_path / "bundle.tar"), "--court-key", str(keys)]) == 0
    assert "precinct 101: not open" in capsys.readouterr().out


def test_programs_read_one_object(locality: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(export_words(locality, "bundle", "--json")) == 0
    made: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert main(["verify", str(locality / "bundle"), "--json", "--host-key", made["host_fingerprint"]]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["sound"], told["problems"], told["checked"]["crops"]) == (True, [], 5)
    assert told["host_fingerprint"] == made["host_fingerprint"]


def test_the_host_keeps_its_key(locality: Path) -> None:
    main(export_words(locality, "first.tar"))
    key = (locality / "data" / "host.key").read_bytes()
    main(export_words(locality, "second.tar"))
    assert (locality / "data" / "host.key").read_bytes() == key


def test_only_the_court_reads_a_sealed_bundle(locality: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = str(locality / "court.key")
    assert main(["court-key", "make", key]) == 0
    assert main(export_words(locality, "sealed.tar", "--court-key", f"{key}.pub")) == 0
    assert b"Fairview" not in (locality / "sealed.tar").read_bytes()
    assert main(["verify", str(locality / "sealed.tar"), "--court-key", key]) == 0
    capsys.readouterr()
    assert main(["verify", str(locality / "sealed.tar")]) == 2
    assert "sealed to the court's key" in capsys.readouterr().err
    assert main(export_words(locality, "sealed", "--court-key", f"{key}.pub")) == 2
    assert "a sealed bundle is one file" in capsys.readouterr().err


@pytest.mark.parametrize("json_too", [[], ["--json"]])
def test_a_sealed_bundle_of_a_blind_count_tells_nobody_how_much_it_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], json_too: list[str]
) -> None:
    day, key = a_scanned_day(), str(tmp_path / "court.key")
    with open_ledger(tmp_path / "data", create=True) as ledger:
        fill(ledger, day, day.devices["alpha"].signed()[:3] + day.devices["alpha"].signed()[4:])
    (tmp_path / "order.toml").write_text(order_text_of(day.acts) or "")
    assert main(["court-key", "make", key]) == 0
    capsys.readouterr()
    assert main([*export_words(tmp_path, "sealed.tar", "--court-key", f"{key}.pub"), *json_too]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    chunks = LEAST_BYTES // CHUNK_BYTES
    assert (tmp_path / "sealed.tar").stat().st_size == HEAD_BYTES + chunks * (CHUNK_BYTES + TAG_BYTES)
    if json_too:
        said = json.loads(told.out)
        assert set(said) == {"bundle", "court_key", "host_fingerprint", "manifest_sha256"}
    else:
        (line,) = told.out.splitlines()
        assert "what it holds is not told while precinct 101 is counted blind" in line
        assert "files" not in line


def test_what_does_not_hold_makes_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bundle.tar"
    path.write_bytes(with_change(path_of("statements/"), lambda pdf: pdf + b" "))
    assert main(["verify", str(path)]) == 1
    told = capsys.readouterr().out
    assert f"FAILS {path_of('statements/')}: it is not the form that act 21 printed" in told
    assert told.endswith("1 thing does not hold\n")


def test_what_is_no_bundle_makes_one_line_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bundle.tar").write_bytes(b"PK\x03\x04" * 1000)
    assert main(["verify", str(tmp_path / "bundle.tar")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_another_order_than_the_ledgers_is_refused(
    locality: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (locality / "order.toml").write_text((locality / "order.toml").read_text() + "\n")
    assert main(export_words(locality, "bundle.tar")) == 2
    assert "works under another order" in capsys.readouterr().err


def test_verifying_needs_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bundle.tar"
    path.write_bytes(sound_bundle())

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("it opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    assert main(["verify", str(path)]) == 0
