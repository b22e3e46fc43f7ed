"""Enrolling and revoking devices at the keyboard: both sides, by the words, once."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from host.tests.links.table import a_device
from host.tests.rehearsal import order_text
from recount_host.cli import main
from recount_host.commands.act_command import device_of
from recount_host.law.errors import BadEntry
from recount_host.ledger.ledger import open_ledger
from recount_protocol.key_words import key_words

BOTH = ("--by", "Ann Lee, official, D", "--by", "Bob Ray, official, R")
ALPHA = a_device("alpha", 1)
WORDS = key_words(ALPHA.public_key).split()


class Keyboard:
    """Commands at a ledger with an order, where the device alpha has shown its key."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys
        (folder / "order.toml").write_text(order_text(), encoding="utf-8")
        with open_ledger(folder, create=True) as ledger:
            ledger.introduce(ALPHA.device, "alpha", ALPHA.public_key, 1, ALPHA.head)
        order = ("order", "set", str(folder / "order.toml"), "--by", "Cleo May, coordinator")
        assert main([*order, "--data", str(folder)]) == 0
        capsys.readouterr()

    def do(self, *words: str) -> Any:
        assert main([*words, "--data", str(self.folder), "--json"]) == 0, self.capsys.readouterr().err
        out = self.capsys.readouterr().out
        return json.loads(out) if out else None

    def refused(self, *words: str) -> str:
        assert main([*words, "--data", str(self.folder)]) == 2
        error = self.capsys.readouterr().err
        assert error.count("\n") == 1
        return error

    def standing(self) -> dict[str, str]:
        return {row["name"]: row["standing"] for row in self.do("device", "list")["devices"]}


@pytest.fixture
def keyboard(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Keyboard:
    return Keyboard(tmp_path, capsys)


def test_a_device_waits_until_both_sides_have_enrolled_it_by_its_words(keyboard: Keyboard) -> None:
    assert keyboard.standing() == {"alpha": "waits to be enrolled"}
    assert keyboard.do("device", "enrol", "alpha", *WORDS, *BOTH)["device"] == ALPHA.device
    assert keyboard.standing() == {"alpha": "enrolled"}
    acts = keyboard.do("log")["acts"]
    assert acts[-1]["kind"] == "device_enrolled"
    assert acts[-1]["by"] == ["Ann Lee, official, D", "Bob Ray, official, R"]


def test_one_side_alone_enrols_and_revokes_nothing(keyboard: Keyboard) -> None:
    for by in (BOTH[:2], (*BOTH[:2], "--by", "Abe Orr, official, D")):
        assert "two persons of different sides" in keyboard.refused("device", "enrol", "alpha", *WORDS, *by)
    keyboard.do("device", "enrol", "alpha", *WORDS, *BOTH)
    why = keyboard.refused("device", "revoke", "alpha", "--reason", "lost", *BOTH[:2])
    assert "two persons of different sides" in why
    assert keyboard.standing() == {"alpha": "enrolled"}


def test_words_that_no_waiting_device_has_enrol_nothing(keyboard: Keyboard) -> None:
    others = key_words(a_device("alpha", 2).public_key).split()
    why = keyboard.refused("device", "enrol", "alpha", *others, *BOTH)
    assert "no device with these words waits" in why
    assert "zooo" in keyboard.refused("device", "enrol", "alpha", *WORDS[:7], "zooo", *BOTH)
    assert "calls itself alpha, not beta" in keyboard.refused("device", "enrol", "beta", *WORDS, *BOTH)
    assert keyboard.standing() == {"alpha": "waits to be enrolled"}


def test_a_revoked_key_never_comes_back_and_its_name_may_go_to_another(keyboard: Keyboard) -> None:
    keyboard.do("device", "enrol", "alpha", *WORDS, *BOTH)
    keyboard.do("device", "revoke", "alpha", "--reason", "its table was left alone", *BOTH)
    assert keyboard.standing() == {"alpha": "revoked"}
    assert "revoked already" in keyboard.refused("device", "revoke", "alpha", "--reason", "lost", *BOTH)
    other = a_device("alpha", 2)
    with open_ledger(keyboard.folder) as ledger:
        ledger.introduce(other.device, "alpha", other.public_key, 1, other.head)
    told = keyboard.do("device", "enrol", "alpha", *key_words(other.public_key).split(), *BOTH)
    assert told["device"] == other.device


def test_a_second_device_of_the_same_name_is_not_enrolled_beside_the_first(keyboard: Keyboard) -> None:
    other = a_device("alpha", 2)
    with open_ledger(keyboard.folder) as ledger:
        ledger.introduce(other.device, "alpha", other.public_key, 1, other.head)
    keyboard.do("device", "enrol", "alpha", *WORDS, *BOTH)
    words = key_words(other.public_key).split()
    assert "another device is enrolled as alpha" in keyboard.refused(
        "device", "enrol", "alpha", *words, *BOTH
    )


def test_a_revocation_without_a_reason_is_refused(keyboard: Keyboard) -> None:
    keyboard.do("device", "enrol", "alpha", *WORDS, *BOTH)
    assert "say why" in keyboard.refused("device", "revoke", "alpha", "--reason", "  ", *BOTH)


def test_the_words_of_the_host_are_told_beside_those_of_the_devices(keyboard: Keyboard) -> None:
    assert keyboard.do("device", "list")["host_words"] == ""
    assert main(["device", "list", "--data", str(keyboard.folder)]) == 0
    out = keyboard.capsys.readouterr().out
    assert "has no key yet" in out
    assert f"alpha ({ALPHA.device}), waits to be enrolled: {' '.join(WORDS)}" in out


def test_a_name_that_two_devices_of_a_precinct_bear_is_asked_back() -> None:
    state: Any = SimpleNamespace(
        names={"a1": "alpha", "b2": "alpha", "c3": "beta"}, batches=(SimpleNamespace(device="a1"),)
    )
    with pytest.raises(BadEntry, match="2 devices of this precinct are called"):
        device_of(state, "alpha")
    assert [device_of(state, word) for word in ("a1", "b2", "beta")] == ["a1", "b2", "c3"]
