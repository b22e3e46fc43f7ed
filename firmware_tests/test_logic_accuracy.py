"""Logic and accuracy on the whole device: a deck passes and arms it; a fault of the machine fails it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np
import pytest

from firmware_tests.day import ANN, BOB, COORDINATOR, Day, run_host, wait_until
from firmware_tests.demo import FAIRVIEW, order_of
from recount_ballots.blank import Grey
from recount_ballots.deck import read_deck
from recount_classifier.decoding import decode_image
from recount_host.cli import main
from recount_host.law.deck import deck_text, parse_deck

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
    day.add_table("alpha", [], faults, duplex=False)
    day.begin_test("alpha", deck)
    return day.compared("alpha")


def test_a_deck_passes_and_arms_the_device_for_a_live_run(deck: Path, tmp_path: Path) -> None:
    with Day(tmp_path, order_of(read_deck(FAIRVIEW)), deck / "f.program") as day:
        day.open_host()
        told = run_deck(day, deck / "deck")
        assert told["differences"] == []
        assert told["passed"]
        live = (
            "run", "assign", "101", "--device", "alpha", "--program", str(day.program),
            "--mode", "live", "--by", COORDINATOR,
        )  # fmt: skip
        day.count("101", "H", 1)
        assert "not armed" in day.refused(*live)
        day.arm("alpha", tmp_path)
        assert day.does(*live)["mode"] == "live"
        wait_until("the device opens the live run", lambda: day.tables["alpha"].asks("press_start"))


def test_a_double_feed_sensor_that_sees_nothing_fails_the_deck(deck: Path, tmp_path: Path) -> None:
    with Day(tmp_path, order_of(read_deck(FAIRVIEW)), deck / "f.program") as day:
        day.open_host()
        told = run_deck(day, deck / "deck", [{"kind": "blind_double_feed"}])
        assert not told["passed"]
        assert "101-024" in {difference["code"] for difference in told["differences"]}


def dirty(picture: Grey) -> Grey:
    """Look through a line of dirt over the contest's targets."""
    dirtied = picture.copy()
    dirtied[:, 660:672] = 40
    return dirtied


def mirrored(picture: Grey) -> Grey:
    """Look through a mirror."""
    return np.ascontiguousarray(picture[:, ::-1])


def as_it_is(picture: Grey) -> Grey:
    """Look as the camera should."""
    return picture


@dataclass(frozen=True)
class Planted:
    """A fault of one machine, and how its test must end."""

    device: str
    faults: Sequence[Mapping[str, object]]
    see: Callable[[Grey], Grey]
    named: str
    """The sheet that differs first and what the device made of it; or what its panel says when it stops."""


PLANTED = (
    Planted("dead-diverter", [{"kind": "diverter_stuck"}], as_it_is, "Sheet 4: nobody saw where it went"),
    Planted(
        "stuck-sensor",
        [{"kind": "sensor_stuck", "sensor": "EXIT_SET_ASIDE", "level": 1}],
        as_it_is,
        "There is still a sheet in the feeder",
    ),
    Planted("dirty-lens", [], dirty, "101-001: set aside (marginal)"),
    Planted("mirrored-camera", [], mirrored, "101-001: not accepted (mirror image)"),
    Planted("dim-lamp", [{"kind": "dim_light"}], as_it_is, "101-001: not accepted (exposure)"),
    Planted("stalled-camera", [{"kind": "camera_stalled"}], as_it_is, "101-002: not accepted (same image)"),
)
FEW = ("101-001", "101-002", "101-004", "101-007", "101-011", "101-026")
"""An option each; a blank sheet, the fourth and the first not to be counted; a write-in; one without TEST."""


def few_sheets(deck: Path, folder: Path, see: Callable[[Grey], Grey]) -> Path:
    """Return a deck of a few of the sheets, as a machine with such a camera sees them."""
    whole = parse_deck((deck / "deck.toml").read_bytes())
    sheets = tuple(sheet for sheet in whole.sheets if sheet.code in FEW)
    (folder / "pictures").mkdir(parents=True)
    for sheet in sheets:
        seen = see(decode_image((deck / sheet.front).read_bytes()))
        cv2.imwrite(str(folder / sheet.front), seen)
    text = deck_text(msgspec.structs.replace(whole, sheets=sheets))
    (folder / "deck.toml").write_text(text, encoding="utf-8")
    return folder


def test_each_planted_fault_of_a_machine_fails_the_deck_by_name_and_arms_nothing(
    deck: Path, tmp_path: Path
) -> None:
    with Day(tmp_path, order_of(read_deck(FAIRVIEW)), deck / "f.program") as day:
        day.open_host()
        for planted in PLANTED:
            day.add_table(planted.device, [], planted.faults, duplex=False)
        for planted in PLANTED:
            made = few_sheets(deck / "deck", tmp_path / f"deck-{planted.device}", planted.see)
            day.begin_test(planted.device, made)
        for planted in PLANTED:
            name = planted.device
            wait_until(f"{name}: {planted.named}", lambda p=planted: p.named in _told(day, p.device), 90)
            both = ("--device", name, "--by", ANN, "--by", BOB)
            why = day.refused("logic-accuracy", "certify", *both, "-o", str(tmp_path / "c.pdf"))
            assert any(words in why for words in ("still open", "no batch was fed", "did not come out"))
            live = ("run", "assign", "101", "--device", name, "--program", str(day.program))
            assert name in day.refused(*live, "--mode", "live", "--by", COORDINATOR)
        assert not (tmp_path / "c.pdf").exists()


def _told(day: Day, name: str) -> str:
    """Return what the panel says, or, when the deck is through, the first sheet that differs."""
    _, out, _ = run_host(
        ("logic-accuracy", "compare", "--device", name, "--data", str(day.folder / "host"), "--json")
    )
    told = json.loads(out)
    if told["hindrances"]:
        return str(day.tables[name].panel().get("text"))
    first = told["differences"][0]
    return f"{first['code']}: {first['actual']}"
