"""The page of a program's logic and accuracy: what differs is shown."""

import re
from collections.abc import Iterator
from html import unescape
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace

import pytest

from host.tests.law.test_d2_logic_accuracy import DECK, RIGHT, compared, fed
from host.tests.rehearsal import ANN, BOB, Day
from host.tests.sound_device import PROGRAM, Sheet
from recount_protocol.fates import COUNTED

from .site import PicturedDevice, Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    site.close()


def fed_wrongly(day: Day, place: int = 1) -> PicturedDevice:
    """Return a device that counts one sheet of the deck for D, whatever it bears."""
    device = PicturedDevice("alpha")
    day.devices["alpha"] = device
    fed(day, (*RIGHT[:place], Sheet(COUNTED, ("D",)), *RIGHT[place + 1 :]))
    return device


def shown(site: Site, device: PicturedDevice) -> dict[int, bytes]:
    """Return the pictures that the pages give, by the number of the sheet's record."""
    answers = {n: site.ask(f"/programs/p/differs/{device.id}/{n}.png") for n in device.crops}
    return {n: answer.body for n, answer in answers.items() if answer.status == HTTPStatus.OK}


def test_a_sheet_that_differs_is_shown_with_its_picture_and_no_other(
    site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    day = Day()
    device = fed_wrongly(day)
    site.fill(day).signed_in(ANN, BOB)
    (difference,) = compared(day, device).differences
    assert shown(site, device) == {difference.judged_n: device.crops[difference.judged_n]}
    program = SimpleNamespace(program_hash=PROGRAM)
    piece = SimpleNamespace(
        id="p", title="p", is_built=True, folder=tmp_path, deck_folder=tmp_path, is_in_ledger=True,
        program=lambda: (b"", program), deck=lambda: (b"", SimpleNamespace(papers=DECK.sheets)),
    )  # fmt: skip
    monkeypatch.setattr(site.bench, "piece", lambda _id: piece)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    page = site.text("/programs/p/devices")
    assert re.findall(r'src="([^"]*/differs/[^"]*)"', page) == [
        f"/programs/p/differs/{device.id}/{difference.judged_n}.png"
    ]
    assert f"expected {difference.expected}; actual {difference.actual}" in unescape(page)


def test_while_the_deck_is_fed_no_sheet_is_shown_nor_to_people_who_did_not_sign_in(site: Site) -> None:
    day = Day()
    device = fed_wrongly(day)
    site.fill(day)
    assert shown(site, device) == {}
    device.open_batch()
    site.fill(day).signed_in(ANN, BOB)
    assert shown(site, device) == {}
