"""The pictures of sheets: explained in open notices, plain in a doubt, and never more than the contest."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from host.tests.rehearsal import Day
from host.tests.sound_device import PROGRAM, Sheet
from recount_classifier.explain import WIDTH_PX
from recount_classifier.upright import contest_only
from recount_host.cli import main
from recount_host.sheet_pictures import CANNOT_BE_JUDGED, NO_PROGRAM
from recount_protocol.fates import SET_ASIDE

from .read_sheets import ReadingDevice, evidence_of, pixels, png_of, program, sheet_of
from .site import Site


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    site.close()


def a_day(marks: str = "DR", **changed: Any) -> Day:
    day = Day(("101", "102"))
    day.devices["alpha"] = ReadingDevice("alpha", marks, **changed)
    return day


def with_open_notices(day: Day, sheet: Sheet | None = None) -> Day:
    """Feed one sheet, and reconcile and show the figures."""
    day.scan([sheet or sheet_of("DR")])
    day.finish()
    day.reconcile_with(H=1, c=0, s=1, x=0)
    return day


def give_program(site: Site) -> None:
    site.ledger.add_program(PROGRAM, program().to_bytes())


def notices_of(site: Site) -> tuple[str, list[bytes]]:
    """Return the words of the notices' page and its pictures."""
    page = site.text("/precincts/101/notices")
    addresses = re.findall(r'src="([^"]+\.png)"', page)
    return unescape(page), [site.ask(address).body for address in addresses]


def test_an_open_notice_shows_what_was_measured_and_why(site: Site) -> None:
    site.fill(with_open_notices(a_day()))
    give_program(site)
    words, (picture,) = notices_of(site)
    image = pixels(picture)
    assert image.ndim == 3, "it is in colours"
    assert image.shape[1] == WIDTH_PX
    assert NO_PROGRAM not in words
    assert 'class="explained"' in words
    assert "More choices are marked than may be." in words
    assert notices_of(site)[1] == [picture], "shown again it is the same"


def test_without_the_program_the_notice_shows_the_crop_and_says_so(site: Site) -> None:
    site.fill(with_open_notices(a_day()))
    words, pictures = notices_of(site)
    assert NO_PROGRAM in words
    assert pictures == [png_of("DR")]


def test_a_program_that_comes_later_explains_the_notices_from_then_on(site: Site) -> None:
    site.fill(with_open_notices(a_day()))
    _, before = notices_of(site)
    give_program(site)
    words, after = notices_of(site)
    assert NO_PROGRAM not in words
    assert after != before


def test_no_explained_picture_is_given_before_the_notices_open(site: Site) -> None:
    day = a_day()
    day.scan([sheet_of("DR")])
    day.finish()
    site.fill(day)
    give_program(site)
    device = day.device("alpha")
    assert site.ask("/precincts/101/notices").status == 403
    assert site.ask(f"/precincts/101/pictures/{device.id}/3.png").status == 404


def a_doubt(site: Site, marks: str) -> bytes:
    """Return the picture of the one sheet that the officials are asked about."""
    day = a_day(marks)
    alpha = day.assign("alpha")
    alpha.open_batch()
    alpha.doubt(alpha.judge(sheet_of(marks)))
    site.fill(day)
    give_program(site)
    (address,) = re.findall(r'src="([^"]+\.png)"', site.text("/precincts/101"))
    return site.ask(address).body


def test_a_sheet_in_doubt_is_shown_without_a_verdict(site: Site) -> None:
    image = pixels(a_doubt(site, "DR"))
    assert image.ndim == 2, "the sheet's own grey pixels, and no colour drawn on them"
    assert np.array_equal(image, contest_only(evidence_of("DR"), program()))


def test_a_counted_sheet_in_doubt_looks_no_different(site: Site) -> None:
    image = pixels(a_doubt(site, "D"))
    assert np.array_equal(image, contest_only(evidence_of("D"), program()))


@pytest.mark.parametrize(
    "changed",
    [
        {"registrations": [[1.0] * 12, [2.0] * 3]},
        {"registrations": []},
        {"gates": {"label_match": "high"}},
        {"style": "another"},
    ],
)
def test_evidence_that_cannot_be_used_still_shows_the_crop(site: Site, changed: dict[str, Any]) -> None:
    site.fill(with_open_notices(a_day(**changed)))
    give_program(site)
    _, pictures = notices_of(site)
    assert pictures == [png_of("DR")]


@pytest.mark.parametrize("size", [1e-9, 40.0, 1e7, 1e15])
def test_a_registration_far_off_is_drawn_or_not_but_never_an_error(site: Site, size: float) -> None:
    far = [size * number for number in (1, 9, -7, 5, 3, 2, 4, 8, -6, 1, 2, 3)]
    site.fill(with_open_notices(a_day(registrations=[far, far])))
    give_program(site)
    _, (picture,) = notices_of(site)
    assert pixels(picture).size > 0


def test_a_style_that_the_program_lacks_is_said(site: Site) -> None:
    day = a_day()
    device = day.device("alpha")
    assert isinstance(device, ReadingDevice)
    device.style = "another"
    site.fill(with_open_notices(day))
    give_program(site)
    assert CANNOT_BE_JUDGED in notices_of(site)[0]


def test_a_verdict_that_differs_from_the_recorded_one_is_said_in_the_picture(tmp_path: Path) -> None:
    as_judged = pixels(_one_picture(tmp_path / "one", sheet_of("DR")))
    otherwise = pixels(_one_picture(tmp_path / "two", Sheet(SET_ASIDE, (), ("undervote",))))
    assert len(otherwise) > len(as_judged), "one more line of words"


def _one_picture(folder: Path, sheet: Sheet) -> bytes:
    folder.mkdir()
    site = Site(folder)
    try:
        site.fill(with_open_notices(a_day(), sheet))
        give_program(site)
        return notices_of(site)[1][0]
    finally:
        site.close()


# The command


def test_the_command_writes_the_same_pictures(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.fill(with_open_notices(a_day()))
    give_program(site)
    folder = tmp_path / "notices"
    words = ["notices", "101", "--data", str(tmp_path), "--pictures", str(folder)]
    assert main(words) == 0
    path = folder / "alpha-batch-1-sheet-1.png"
    assert str(path) in capsys.readouterr().out
    assert path.read_bytes() == notices_of(site)[1][0]
    (tmp_path / "taken").write_text("")
    assert main([*words[:-1], str(tmp_path / "taken")]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_the_command_writes_no_picture_while_the_notices_are_closed(
    site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    day = a_day()
    day.scan([sheet_of("DR")])
    site.fill(day)
    folder = tmp_path / "notices"
    assert main(["notices", "101", "--data", str(tmp_path), "--pictures", str(folder)]) == 2
    assert "notices are closed" in capsys.readouterr().err
    assert not folder.exists()
