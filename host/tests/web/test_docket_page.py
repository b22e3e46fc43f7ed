"""The page of the docket: a draft without outcomes, then every ballot with its rulings as they stand."""

import re
from collections.abc import Iterator
from html import unescape
from http import HTTPStatus
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from host.tests.law.test_d3_challenges import challenge
from host.tests.law.test_f_court import counted, in_court
from host.tests.rehearsal import ANN, CLERK_OF_COURT, Day, a_scanned_day
from host.tests.sound_device import TWELVE_SHEETS

from .site import PicturedDevice, Site
from .test_browser import Shown


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    site.close()


def plain(page: str) -> str:
    """Return the words of the page's content on one line."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page.partition("<main")[2])))


def shown(site: Site, day: Day) -> str:
    return plain(site.fill(day).text("/docket"))


def a_pictured_day() -> Day:
    """Return a concluded day with two questioned ballots, of which the first has a picture."""
    day = Day()
    device = day.devices["alpha"] = PicturedDevice("alpha")
    day.scan(TWELVE_SHEETS)
    day.finish()
    day.reconcile_with(H=12, c=9, s=2, x=1)
    day.segregate(device=device.id, batch=1, sheet=10)
    day.segregate("T-2", pile="counted", counted_as="R", question="another hand's ink")
    challenge(day)
    day.lock(p=0, o=0)
    day.count_pile("set_aside", {"challenged": 1, "no_vote": 1})
    day.count_pile("not_accepted", {"D": 1})
    day.conclude()
    return day


def test_a_locality_without_a_questioned_ballot_says_so_and_has_no_button(site: Site) -> None:
    assert "No ballot lies in an envelope." in shown(site, Day())
    assert "/docket" not in site.text("/")


def test_before_all_precincts_are_concluded_the_page_is_a_draft_without_outcomes(site: Site) -> None:
    day = counted(precincts=("101", "102"))
    day.segregate(precinct="102", counted_as="R")
    day.conclude("101")
    page = shown(site, day)
    assert "This is a draft" in page
    assert "it waits for precinct 102" in page
    assert "1 questioned ballot Tag T-1 Precinct 102, precinct 102, envelope E-T-1" in page
    assert "counted as" not in page
    assert 'href="/docket"' in site.text("/")
    assert 'href="/docket"' in site.text("/precincts/102")


def test_the_draft_looks_the_same_whatever_people_still_have_to_find(tmp_path: Path) -> None:
    pages: list[str] = []
    for number, sheets in enumerate((TWELVE_SHEETS, TWELVE_SHEETS[1:])):
        day = a_scanned_day(sheets)
        day.segregate()
        site = Site(tmp_path / str(number))
        pages.append(shown(site, day))
        site.close()
    assert pages[0] == pages[1]


def test_the_open_docket_shows_statements_and_the_parties_still_to_be_heard(site: Site) -> None:
    day = a_pictured_day()
    day.open_docket()
    page = shown(site, day)
    assert "2 questioned ballots, 2 not ruled on" in page
    assert "Bob Ray, official, R (before conclusion): The slash strikes the oval out." in page
    assert "accepted; its vote stays in the totals until the court rules." in page
    assert "What it was counted as: entered by Ann Lee, official, D; not confirmed yet." in page
    assert "Josiah Bartlett: still to be heard" in page


def test_the_docket_shows_the_rulings_as_they_stand_and_the_vote_for_each_party(site: Site) -> None:
    day = a_pictured_day()
    day.open_docket()
    for tag in ("T-1", "T-2"):
        day.hear(tag)
    day.rule("D")
    first = day.rule("overvote", "T-2")
    day.rule("D", "T-2", instead_of=first)
    page = shown(site, day)
    assert "2 questioned ballots, all ruled on" in page
    assert "Arnold Vinick: inspected; no argument" in page
    assert "(replaced): as argued; Arnold Vinick -1." in page
    assert (
        f"Josiah Bartlett (instead of ruling {first}) : as argued; Josiah Bartlett +1, Arnold Vinick -1."
        in page
    )
    assert "Josiah Bartlett 6 +2 8" in page
    assert "Josiah Bartlett received the higher number of votes" in page


def test_what_a_party_raised_and_what_came_too_late_stand_by_themselves(site: Site) -> None:
    day = in_court()
    day.act("ballot_proffered", (ANN,), text="an overvote, by letter on the next morning")
    ruled = {
        "part": "other",
        "votes": {"R": 1},
        "reason": "a digit was copied wrong",
        "ruling": "order of 4 January",
    }
    day.act("result_ruled", (CLERK_OF_COURT,), "101", **ruled)
    page = shown(site, day)
    assert "Precinct 101: An overvote, by letter on the next morning." in page
    assert "Precinct 101, result, other: Arnold Vinick +1 ; a digit was copied wrong (order of 4 Jan" in page


def test_the_page_is_read_only(site: Site) -> None:
    site.fill(in_court())
    assert site.ask("/docket", method="POST").status == HTTPStatus.METHOD_NOT_ALLOWED


def test_in_a_browser_the_docket_shows_pictures_and_fits_a_narrow_screen(
    tmp_path: Path, browser: Browser
) -> None:
    day = a_pictured_day()
    day.open_docket()
    on = Shown(tmp_path, browser, viewport={"width": 390, "height": 800})
    try:
        on.site.fill(day)
        on.page.goto(on.address + "/docket")
        picture = on.page.locator(".notice img")
        expect(picture).to_have_count(1)
        picture.scroll_into_view_if_needed()
        expect(picture).to_have_js_property("naturalWidth", 700)
        assert on.page.evaluate("document.documentElement.scrollWidth") <= 390
        assert on.complaints == []
    finally:
        on.close()
