"""The pages in a real browser: alive without a reload, no complaints, honest when the host is gone."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from host.tests.rehearsal import Day
from host.tests.sound_device import TWELVE_SHEETS
from recount_host.links.tcp_link import listen
from recount_host.web.server import PageServer

from .site import PicturedDevice, Site

LONGEST_MS = 20_000


class Shown:
    """A site that is served on a port, and everything its pages complained about."""

    def __init__(self, folder: Path, browser: Browser, **context: Any) -> None:
        self.site = Site(folder)
        bound = listen("127.0.0.1", 0, purpose="page", beyond_this_machine=False)
        self.address = f"http://127.0.0.1:{bound.getsockname()[1]}"
        self.server = PageServer(self.site.app, bound)
        self.server.start()
        self.context = browser.new_context(**context)
        self.context.set_default_timeout(LONGEST_MS)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def close(self) -> None:
        self.context.close()
        self.server.stop()
        self.site.close()


@pytest.fixture
def show(tmp_path: Path, browser: Browser) -> Iterator[Callable[..., Shown]]:
    """Return how to open a browser of some kind on a site; all are closed at the end."""
    opened: list[Shown] = []

    def open_one(**context: Any) -> Shown:
        opened.append(Shown(tmp_path, browser, **context))
        return opened[-1]

    yield open_one
    for shown in opened:
        shown.close()


@pytest.fixture
def shown(show: Callable[..., Shown]) -> Shown:
    return show()


def a_day() -> Day:
    day = Day(("101", "102"))
    day.devices["alpha"] = PicturedDevice("alpha")
    return day


def test_a_page_follows_the_day_without_a_reload_and_without_complaints(shown: Shown) -> None:
    day = a_day()
    shown.site.fill(day)
    shown.page.goto(shown.address)
    card = shown.page.locator(".card").first
    expect(card.locator(".light")).to_contain_text("Not begun")
    shown.page.evaluate("window.kept = true")
    alpha = day.assign("alpha")
    shown.site.fill(day)
    expect(card.locator(".light")).to_contain_text("Ready to feed", timeout=LONGEST_MS)
    alpha.open_batch()
    alpha.doubt(alpha.judge(TWELVE_SHEETS[9]))
    shown.site.fill(day)
    expect(shown.page.locator(".asks")).to_contain_text("Sheet 1 in batch 1 of alpha", timeout=LONGEST_MS)
    assert shown.page.evaluate("window.kept") is True, "the page was never loaded anew"
    assert shown.complaints == []
    assert all(url.startswith(shown.address) for url in shown.asked)


def test_the_picture_of_the_sheet_in_doubt_is_seen(shown: Shown) -> None:
    day = a_day()
    alpha = day.assign("alpha")
    alpha.open_batch()
    alpha.doubt(alpha.judge(TWELVE_SHEETS[9]))
    shown.site.fill(day)
    shown.page.goto(f"{shown.address}/precincts/101")
    picture = shown.page.locator(".question img")
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.complete && image.naturalWidth") == 700
    assert shown.complaints == []


def test_a_page_that_has_lost_the_host_says_so(shown: Shown) -> None:
    shown.site.fill(a_day())
    shown.page.goto(shown.address)
    stale = shown.page.locator("#stale")
    expect(stale).to_be_hidden()
    shown.server.stop()
    expect(stale).to_be_visible(timeout=LONGEST_MS)
    expect(stale).to_contain_text("This page is not up to date")


def test_the_keyboard_reaches_the_content_and_every_precinct(shown: Shown) -> None:
    shown.site.fill(a_day())
    shown.page.goto(shown.address)
    shown.page.keyboard.press("Tab")
    assert shown.page.evaluate("document.activeElement.textContent") == "Skip to the content"
    reached: list[str] = []
    for _ in range(4):
        shown.page.keyboard.press("Tab")
        reached.append(shown.page.evaluate("document.activeElement.textContent"))
    assert "Precinct 101" in reached
    assert "Precinct 102" in reached


def test_it_follows_the_day_without_javascript(show: Callable[..., Shown]) -> None:
    shown = show(java_script_enabled=False)
    day = a_day()
    shown.site.fill(day)
    shown.page.goto(shown.address)
    expect(shown.page.locator(".card .light").first).to_contain_text("Not begun")
    day.assign("alpha")
    shown.site.fill(day)
    expect(shown.page.locator(".card .light").first).to_contain_text("Ready to feed", timeout=LONGEST_MS)


def test_a_narrow_screen_needs_no_sideways_scrolling(show: Callable[..., Shown]) -> None:
    shown = show(viewport={"width": 390, "height": 800})
    day = a_day()
    day.scan(TWELVE_SHEETS)
    day.finish()
    day.reconcile_with(H=12, c=9, s=2, x=1)
    shown.site.fill(day)
    for path in ("/", "/precincts/101", "/precincts/101/notices"):
        shown.page.goto(shown.address + path)
        width = shown.page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390, path
