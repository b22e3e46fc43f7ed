"""From a blank ballot to an armed device in a real browser, on the whole host with a simulated device."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page

from firmware_tests.day import Day, toml_lines, toml_table, wait_until
from firmware_tests.demo import FAIRVIEW

pytestmark = pytest.mark.timeout(240)

LONGEST_MS = 60_000
MOST_INTERACTIONS = 40
COUNCIL = "Town Council"
"""Contest 13 of the blank: five candidates, of whom a voter may choose three, and a write-in line."""


def an_order() -> str:
    head = {"contest": "council", "title": COUNCIL, "locality": "Fairview County", "vote_for": 3}
    sides = [{"key": "D", "name": "Cora Jarvis"}, {"key": "R", "name": "Peter Osborne"}]
    return (
        toml_lines(head)
        + "".join(toml_table("side", side) for side in sides)
        + toml_table("precinct", {"id": "101", "name": "Courthouse"})
    )


class Person:
    """A person at the browser, who keeps the log of everything they do."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.log: list[str] = []

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
        """Click on a place of the blank, in its pixels."""
        self.log.append(f"click: {name}")
        self.page.mouse.click(*self._on_screen(place))

    def _on_screen(self, place: tuple[float, float]) -> tuple[float, float]:
        self.page.locator(".placing svg.sheet").scroll_into_view_if_needed()
        x, y = self.page.evaluate(
            "([x, y]) => { const at = new DOMPoint(x, y).matrixTransform("
            "document.querySelector('.placing svg.sheet').getScreenCTM()); return [at.x, at.y]; }",
            list(place),
        )
        return x, y


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """Return an empty page of the browser."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(LONGEST_MS)
    yield page
    page.close()


def test_a_clerk_gets_from_a_blank_ballot_to_an_armed_device_in_few_steps(page: Page, tmp_path: Path) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    with Day(tmp_path, an_order(), tmp_path / "none.program") as day:
        day.open_host()
        day.add_table("alpha", [], duplex=False)
        day.enrol("alpha")
        person = Person(page)
        page.goto(day.page)
        make_program(person)
        deck = arm(person, day, tmp_path)
        assert len(deck) > 30
        assert len(person.log) < MOST_INTERACTIONS
        live = ("run", "assign", "101", "--device", "alpha", "--program", str(program_of(tmp_path)))
        day.count("101", "H", 1)
        assert day.does(*live, "--mode", "live", "--by", "Cora Day, coordinator, D")["mode"] == "live"
    assert complaints == []


def make_program(person: Person) -> None:
    """From the blank to the signed program in the ledger."""
    page = person.page
    person.clicks(page.get_by_role("link", name="Make and test a contest program"), "make a program")
    person.chooses_file("#front", FAIRVIEW / "blank-101-front.png")
    person.chooses_file("#back", FAIRVIEW / "blank-101-back.png")
    person.presses("Find the targets")
    person.clicks(page.locator("g.contest", has_text="13"), "the contest in the picture")
    page.wait_for_selector("#names-list")
    # What a clerk may have to do: put a wrong click right, and draw the box anew.
    where = page.locator("[name=s0-t3]").get_attribute("value") or ""
    left, top, width, height = (float(part) for part in where.split(","))
    person.clicks_on_blank((left + width / 2, top + height / 2), "target 3 away")
    assert page.locator("[name=s0-t3-gone]").is_checked()
    person.clicks_on_blank((left + width / 2, top + height / 2), "target 3 back")
    assert not page.locator("[name=s0-t3-gone]").is_checked()
    box = [float(part) for part in page.locator("[name=s0-box]").input_value().split(",")]
    person.pulls((box[0], box[1]), (box[2], box[3]), "the contest's box")
    drawn = [float(part) for part in page.locator("[name=s0-box]").input_value().split(",")]
    assert all(abs(one - other) < 3 for one, other in zip(box, drawn, strict=True))
    for number, name in ((2, "Daniel Hadley"), (3, "Flora Underhill"), (5, "Rosa Yates")):
        person.writes(f"[name=t{number}-name]", name)
    person.chooses("[name=t1-what]", "side:D")
    person.chooses("[name=t4-what]", "side:R")
    person.chooses("[name=t6-what]", "write_in")
    person.presses("Make the program and show its proof")
    page.wait_for_selector(".proof")
    for side, name in (("D", "Ann Lee"), ("R", "Bob Ray")):
        person.writes(f"#name-{side}", name)
        person.clicks(page.locator(f".card:has(#name-{side}) button"), f"{name} signs")
        page.wait_for_selector(f"text=Signed by {name}")
    person.presses("Take the program into the ledger")


def arm(person: Person, day: Day, folder: Path) -> list[str]:
    """Make the deck, run it through the device, certify; return the codes of its sheets."""
    page = person.page
    person.presses("Make the deck")
    page.wait_for_selector(".papers")
    deck = program_of(folder).parent / "deck"
    sheets = tomllib.loads((deck / "deck.toml").read_text(encoding="utf-8"))["sheet"]
    control = day.tables["alpha"].control
    for sheet in sheets:
        if "fault" in sheet:
            control.fault(**sheet["fault"])
    control.load(
        [
            {
                "id": sheet["code"],
                "front": str(deck / sheet["front"]),
                "turned": sheet.get("turned", False),
                "length_mm": sheet["length_mm"],
            }
            for sheet in sheets
        ]
    )
    person.log += ["click: Start at the panel", "click: End batch at the panel"]
    person.presses("Give it the deck")
    page.get_by_role("button", name="Certify it, and arm it").wait_for(timeout=2 * LONGEST_MS)
    person.presses("Certify it, and arm it")
    page.get_by_role("button", name="Print its zero report").wait_for()
    person.presses("Print its zero report")
    page.wait_for_selector("text=Armed, and at zero. It may count.")
    papers = wait_until(
        "the papers are there", lambda: sorted(program_of(folder).parent.glob("papers/*.pdf"))
    )
    assert [path.name for path in papers] == ["certificate-alpha.pdf", "zero-report-alpha.pdf"]
    return [sheet["code"] for sheet in sheets]


def program_of(folder: Path) -> Path:
    (program,) = (folder / "host" / "programs").glob("*/contest.program")
    return program
