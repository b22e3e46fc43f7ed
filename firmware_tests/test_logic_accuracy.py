"""Logic and accuracy on the whole device: a deck passes and arms it; a fault of the machine fails it."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np
import pytest

from firmware_tests.day import ANN, BOB, COORDINATOR, FOLD_S, Day, Table, wait_until
from firmware_tests.demo import FAIRVIEW, REPOSITORY, order_of
from recount_ballots.blank import Grey
from recount_ballots.deck import read_deck
from recount_classifier.decoding import decode_image
from recount_host.act import Act
from recount_host.cli import main
from recount_host.law.deck import deck_text, parse_deck
from recount_host.law.live import SETTLED
from recount_host.ledger.ledger import open_ledger

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


@pytest.fixture(scope="module")
def day(deck: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Day]:
    """Return a day with its host open and without devices."""
    folder = tmp_path_factory.mktemp("day")
    with Day(folder, order_of(read_deck(FAIRVIEW)), deck / "f.program") as day:
        day.open_host()
        day.count("101", "H", 1)
        yield day


def live(device: str, program: Path) -> tuple[str, ...]:
    """Return the words that give a device a live run."""
    given = ("--device", device, "--program", str(program), "--mode", "live", "--by", COORDINATOR)
    return ("run", "assign", "101", *given)


def test_a_deck_passes_and_arms_the_device_for_a_live_run_in_which_no_test_ballot_is_accepted(
    deck: Path, day: Day, tmp_path: Path
) -> None:
    day.add_table("alpha", [], duplex=False)
    day.begin_test("alpha", deck / "deck")
    told = day.compared("alpha")
    assert told["differences"] == []
    assert told["passed"]
    assert [act.body["fate"] for act in acts_of(day, SETTLED)] == ["returned"], "of the sheet fed twice"
    assert "not armed" in day.refused(*live("alpha", day.program))
    day.arm("alpha", tmp_path)
    assert day.does(*live("alpha", day.program))["mode"] == "live"
    wait_until("the device opens the live run", lambda: day.tables["alpha"].asks("press_start"))
    left_behind = {"id": "left behind", "front": str(deck / "deck" / "pictures" / "101-001.png")}
    day.tables["alpha"].control.load([left_behind])
    (judged,) = wait_until("the test ballot is judged", lambda: judged_in_last_run(day), look_s=FOLD_S)
    assert (judged["fate"], judged["reasons"]) == ("not_accepted", ["test_ballot"])


def acts_of(day: Day, kind: str) -> list[Act]:
    """Return the acts of this kind, from the ledger."""
    with open_ledger(day.folder / "host") as ledger:
        return [act for act in ledger.acts() if act.kind == kind]


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


FEW = ("101-001", "101-002", "101-003", "101-004", "101-008", "101-030", "101-031", "101-034")
"""An option each; a blank sheet, the fourth and the first not to be counted; a write-in; two that stick
together; one without TEST."""
TWICE = ("101-001", "101-036", "101-036-again")
"""One that is fed twice. Of so few sheets a device does not learn what is print, and so knows none again: it
is as one whose memory does not work."""
SOUND: Mapping[str, object] = {"blind_double_feed": False, "dim": False, "stalled": False, "stuck": {}}


@dataclass(frozen=True)
class Planted:
    """A fault of a machine, and how its test must end."""

    name: str
    named: str
    """The sheet that differs first and what the device made of it; or what its panel says when it stops."""
    ailing: Mapping[str, object] = field(default_factory=dict[str, object])
    see: Callable[[Grey], Grey] = as_it_is
    codes: Sequence[str] = FEW
    """The sheets that it is found by."""
    device_finds_it: bool = False
    """Whether the device's own test finds it, before anything is fed."""


PLANTED = (
    Planted("a dirty lens", "101-001: set aside (marginal)", see=dirty),
    Planted("a mirrored camera", "101-001: not accepted (mirror image)", see=mirrored),
    Planted("a dim lamp", "101-001: not accepted (exposure)", {"dim": True}),
    Planted("a memory that knows no sheet again", "101-036-again: counted for R", codes=TWICE),
    Planted("a blind double-feed sensor", "101-030: did not come back for it", {"blind_double_feed": True}),
    Planted(
        "a stuck sensor", "a sensor of the path sees paper", {"stuck": {"EXIT_SET_ASIDE": 1}},
        device_finds_it=True,
    ),
    # Those that the device finds itself come last: their sheets stay in the operator's hands.
    Planted("a stalled camera", "gives one picture twice", {"stalled": True}, device_finds_it=True),
)  # fmt: skip


def few_sheets(
    deck: Path, folder: Path, see: Callable[[Grey], Grey] = as_it_is, codes: Sequence[str] = FEW
) -> Path:
    """Return a deck of a few of the sheets, as a machine with such a camera sees them."""
    whole = parse_deck((deck / "deck.toml").read_bytes())
    sheets = tuple(sheet for sheet in whole.sheets if sheet.code in codes)
    (folder / "pictures").mkdir(parents=True)
    for sheet in sheets:
        seen = see(decode_image((deck / sheet.front).read_bytes()))
        cv2.imwrite(str(folder / sheet.front), seen)
    text = deck_text(msgspec.structs.replace(whole, sheets=sheets))
    (folder / "deck.toml").write_text(text, encoding="utf-8")
    return folder


def test_each_planted_fault_of_a_machine_fails_the_deck_by_name_and_arms_nothing(
    deck: Path, day: Day, tmp_path: Path
) -> None:
    table = day.add_table("beta", [], duplex=False)
    for n, planted in enumerate(PLANTED):
        made = few_sheets(deck / "deck", tmp_path / str(n), planted.see, planted.codes)
        table.control.set(**{**SOUND, **planted.ailing})
        fails(day, "beta", made, planted.named)
        table.control.set(**SOUND)
        table.control.take_out("hopper", None)
        if planted.device_finds_it:
            wait_until("beta passes its own test", partial(confirmed_as_mended, table), look_s=FOLD_S)
        day.end_test("beta")
    table.control.fault(kind="diverter_stuck")
    fails(day, "beta", few_sheets(deck / "deck", tmp_path / "last"), "nobody saw where it went")
    # The flap stands where the last deck left it, at the tray NOT ACCEPTED: the first vote shows it.
    (judged,) = judged_in_last_run(day)
    assert f"Sheet {judged['sheet']}:" in told(day, "beta")


def confirmed_as_mended(table: Table) -> bool:
    """Press Confirm; return whether the device has found no fault since it was pressed before."""
    is_mended = not table.asks("fault")
    table.control.press("confirm")
    return is_mended


def judged_in_last_run(day: Day) -> list[Mapping[str, Any]]:
    """Return what was recorded of the sheets that were read in the run opened last."""
    with open_ledger(day.folder / "host") as ledger:
        records = ledger.records()
    last = [record.run for record in records if record.kind == "run_opened"][-1]
    return [record.body for record in records if record.kind == "sheet_judged" and record.run == last]


def test_a_board_with_an_old_firmware_is_fed_nothing_and_the_device_is_not_armed(
    deck: Path, day: Day, tmp_path: Path
) -> None:
    older = shutil.copytree(REPOSITORY / "device" / "firmware", tmp_path / "older")
    with (older / "main.py").open("a", encoding="utf-8") as main_program:
        main_program.write("# of the release before\n")
    day.add_table("gamma", [], duplex=False, world={"firmware": str(older)})
    fails(day, "gamma", few_sheets(deck / "deck", tmp_path / "deck"), "firmware of the feeder is not the one")


def fails(day: Day, device: str, deck: Path, named: str) -> None:
    """Run the deck on the device: it must end as named, be certified by nobody, and the device not armed."""
    day.begin_test(device, deck)
    wait_until(f"{device}: {named}", lambda: named in told(day, device), 90, FOLD_S)
    both = ("--device", device, "--by", ANN, "--by", BOB)
    why = day.refused("logic-accuracy", "certify", *both, "-o", str(day.folder / "c.pdf"))
    assert any(words in why for words in ("still open", "not begun", "no batch was fed", "did not come out"))
    assert device in day.refused(*live(device, day.program))
    assert not (day.folder / "c.pdf").exists()


def told(day: Day, device: str) -> str:
    """Return what the panel says, or, when the deck is through, the first sheet that differs."""
    compared = day.compared_so_far(device)
    if compared is None:
        return str(day.tables[device].panel().get("text"))
    first = compared["differences"][0]
    return f"{first['code']}: {first['actual']}"
