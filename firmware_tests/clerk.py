"""A clerk at a real browser who makes a contest program on the host's pages, and keeps a log of it."""

from pathlib import Path

from playwright.sync_api import Locator, Page

from firmware_tests.races import Known, Place
from recount_host.act import Person

LONGEST_MS = 60_000
CLOSE_PX = 2.0
"""How far the edges of a target that was found may lie from where people measured them."""


class Clerk:
    """A person at the browser; every click, field and drag goes into the log."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.log: list[str] = []
        self.complaints: list[str] = []
        """What the page said into the browser's log."""
        page.set_default_timeout(LONGEST_MS)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def clicks(self, what: Locator, name: str) -> None:
        """Click on something."""
        self.log.append(f"click: {name}")
        what.click()

    def presses(self, name: str) -> None:
        """Press the button with these words."""
        self.clicks(self.page.get_by_role("button", name=name).first, name)

    def writes(self, field: str, text: str) -> None:
        """Fill a field in."""
        self.log.append(f"field: {field}")
        self.page.locator(field).fill(text)

    def chooses(self, field: str, value: str) -> None:
        """Choose from a list."""
        self.log.append(f"field: {field}")
        self.page.locator(field).select_option(value)

    def chooses_file(self, field: str, path: Path) -> None:
        """Choose a file."""
        self.log.append(f"field: {field}")
        self.page.locator(field).set_input_files(path)

    def pulls(self, first: tuple[float, float], second: tuple[float, float], name: str) -> None:
        """Pull the pointer from one place of the blank, in its pixels, to another."""
        self.log.append(f"drag: {name}")
        start, end = (self._on_screen(place) for place in (first, second))
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*end, steps=4)
        self.page.mouse.up()

    def clicks_on_blank(self, place: tuple[float, float], name: str) -> None:
        """Click on a place of the first blank, in its pixels."""
        self.log.append(f"click: {name}")
        self.page.mouse.click(*self._on_screen(place))

    def _on_screen(self, place: tuple[float, float]) -> tuple[float, float]:
        self.page.locator(".placing svg.sheet").first.scroll_into_view_if_needed()
        x, y = self.page.evaluate(
            "([x, y]) => { const at = new DOMPoint(x, y).matrixTransform("
            "document.querySelector('.placing svg.sheet').getScreenCTM()); return [at.x, at.y]; }",
            list(place),
        )
        return x, y

    def signs_in(self, person: Person, pass_phrase: str) -> None:
        """Let a person sign in on the page that is open."""
        self.writes("#name", person.name)
        self.writes("#pass-phrase", pass_phrase)
        self.presses("Sign in")
        self.page.wait_for_selector(f"b:has-text('{person.name}')")

    # What the pages of the workshop show

    def brings_blank(self, files: tuple[Path, ...]) -> None:
        """Choose the files of a ballot's sides; the button comes next."""
        for field, file in zip(("#front", "#back"), files, strict=False):
            self.chooses_file(field, file)

    def targets_shown(self) -> list[list[Place]]:
        """Return the outlined targets of each page of the blank, as the first step shows them."""
        return self.page.evaluate(
            "() => Array.from(document.querySelectorAll('svg.sheet'), sheet => "
            "Array.from(sheet.querySelectorAll('rect.target'), rect => "
            "['x', 'y', 'width', 'height'].map(name => Number(rect.getAttribute(name)))))"
        )

    def targets_numbered(self, style: int = 0) -> dict[int, Place]:
        """Return the targets of a style in the second step by their numbers, those taken away left out."""
        found: dict[int, Place] = {}
        for row in self.page.locator(f"[data-rows='{style}'] > li").all():
            n = row.get_attribute("data-n") or ""
            if row.locator(f"[name=s{style}-t{n}-gone]").is_checked():
                continue
            text = row.locator(f"[name=s{style}-t{n}]").input_value()
            left, top, width, height = (float(part) for part in text.split(","))
            found[int(n)] = (left, top, width, height)
        return found


def is_at(found: Place, place: Place) -> bool:
    """Return whether a target that was found lies where it is, edge by edge."""
    edges, other = ((p[0], p[1], p[0] + p[2], p[1] + p[3]) for p in (found, place))
    return all(abs(one - two) <= CLOSE_PX for one, two in zip(edges, other, strict=True))


def missed_and_false(found: list[Place], contests: list[Known]) -> tuple[list[Place], list[Place]]:
    """Return the targets of contests that were not found just once, and what was found and is none."""
    places = [place for contest in contests for place, _ in contest.targets]
    missed = [place for place in places if sum(is_at(one, place) for one in found) != 1]
    return missed, [one for one in found if not any(is_at(one, place) for place in places)]
