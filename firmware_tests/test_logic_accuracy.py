"""Logic and accuracy on the whole device: a deck passes and arms it; a fault of the machine fails it."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from firmware_tests.day import ANN, BOB, COORDINATOR, Day, run_host, wait_until
from firmware_tests.demo import FAIRVIEW, order_of
from recount_ballots.deck import read_deck
from recount_host.cli import main

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def deck(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("deck")
    program, made, spec = str(folder / "f.program"), str(folder / "deck"), str(FAIRVIEW / "spec.toml")
    assert main(["program", "build", spec, "-o", program]) == 0
    foreign = str(FAIRVIEW / "blank-204-front.png")
    assert main(["deck", "make", program, made, "--spec", spec, "--foreign", foreign]) == 0
    for person in (ANN, BOB):
        key = str(folder / f"{person.split()[0]}.key")
        assert main(["program", "sign", program, "--key", key, "--name", person]) == 0
    return folder


def run_deck(day: Day, deck: Path, faults: Sequence[Mapping[str, object]] = ()) -> dict[str, Any]:
    """Feed the deck in mode test and return the comparison."""
    table = tomllib.loads((deck / "deck" / "deck.toml").read_text(encoding="utf-8"))["sheet"]
    sheets = [
        {
            "id": sheet["code"],
            "front": str(deck / "deck" / sheet["front"]),
            "turned": sheet.get("turned", False),
            "length_mm": sheet["length_mm"],
        }
        for sheet in table
    ]
    own = [sheet["fault"] for sheet in table if "fault" in sheet]
    day.add_table("alpha", sheets, [*own, *faults], duplex=False)
    day.enrol("alpha")
    words = ("--device", "alpha", "--program", str(day.program))
    day.does("logic-accuracy", "begin", *words, "--deck", str(deck / "deck"), "--by", COORDINATOR)

    def done() -> dict[str, Any] | None:
        day.tables["alpha"].station.check()
        data = str(day.folder / "host")
        _, out, _ = run_host(("logic-accuracy", "compare", "--device", "alpha", "--data", data, "--json"))
        told: dict[str, Any] = json.loads(out)
        return None if told["hindrances"] else told

    return wait_until("the deck is fed", done, 150, 0.5)


def test_a_deck_passes_and_arms_the_device_for_a_live_run(deck: Path, tmp_path: Path) -> None:
    with Day(tmp_path, order_of(read_deck(FAIRVIEW)), deck / "f.program") as day:
        key, clerk = str(tmp_path / "clerk.key"), "Cleo May, clerk of the court"
        run_host(("order", "sign", str(tmp_path / "order.toml"), "--key", key, "--name", clerk))
        day.open_host()
        told = run_deck(day, deck)
        assert told["differences"] == []
        assert told["passed"]
        live = (
            "run", "assign", "101", "--device", "alpha", "--program", str(day.program),
            "--mode", "live", "--by", COORDINATOR,
        )  # fmt: skip
        day.count("101", "H", 1)
        assert "not armed" in day.refused(*live)
        both = ("--by", ANN, "--by", BOB)
        day.does("logic-accuracy", "certify", "--device", "alpha", "-o", str(tmp_path / "c.pdf"), *both)
        zero = ("zero-report", "--device", "alpha", "-o", str(tmp_path / "z.pdf"), "--by", ANN)
        data = ("--data", str(tmp_path / "host"))
        wait_until("the device is armed", lambda: run_host((*zero, *data))[0] == 0)
        assert day.does(*live)["mode"] == "live"
        wait_until("the device opens the live run", lambda: day.tables["alpha"].asks("press_start"))


def test_a_double_feed_sensor_that_sees_nothing_fails_the_deck(deck: Path, tmp_path: Path) -> None:
    with Day(tmp_path, order_of(read_deck(FAIRVIEW)), deck / "f.program") as day:
        day.open_host()
        told = run_deck(day, deck, [{"kind": "blind_double_feed"}])
        assert not told["passed"]
        assert "101-024" in {difference["code"] for difference in told["differences"]}
