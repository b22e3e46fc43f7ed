"""From a blank ballot to an armed device in a real browser: every vendor's blank, and our own to the end."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from firmware_tests.clerk import LONGEST_MS, Clerk, is_at, missed_and_false
from firmware_tests.day import Day, lay_deck, toml_lines, toml_table, wait_until
from firmware_tests.demo import FAIRVIEW
from firmware_tests.races import OWN, Blank, Known, blank_of
from host.tests.rehearsal import ANN, BOB
from host.tests.rehearsal import Day as RehearsedDay
from host.tests.web.site import Site
from recount_classifier.program import Program
from recount_host.links.tcp_link import listen
from recount_host.people import People
from recount_host.programs.drafting import WRITE_IN
from recount_host.web.server import PageServer

pytestmark = pytest.mark.timeout(240)

MOST_INTERACTIONS = 40
PASS_PHRASE = "three plain words"
MOST_FALSE = 2
"""Targets a page that are none."""
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


@pytest.fixture
def clerk(browser: Browser) -> Iterator[Clerk]:
    """Return a clerk before an empty page of the browser, which has nothing to complain about at the end."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    clerk = Clerk(page)
    yield clerk
    page.context.close()
    assert clerk.complaints == []


class Workshop:
    """The pages of one host in this process, on which programs are made."""

    def __init__(self, folder: Path) -> None:
        self.site = Site(folder)
        self.site.fill(RehearsedDay(program=False))
        for person in (ANN, BOB):
            self.site.sign_in.people.add(person, PASS_PHRASE)
        bound = listen("127.0.0.1", 0, purpose="page", beyond_this_machine=False)
        self.address = f"http://127.0.0.1:{bound.getsockname()[1]}/programs"
        self._server = PageServer(self.site.app, bound)
        self._server.start()

    def program_at(self, address: str) -> Program:
        """Return the program that was made at this page of it."""
        return self.site.bench.piece(address.split("/")[-2]).program()[1]

    def close(self) -> None:
        """Stop serving."""
        self._server.stop()
        self.site.close()


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """Return the pages that all vendors' programs are made on."""
    workshop = Workshop(tmp_path_factory.mktemp("workshop"))
    yield workshop
    workshop.close()


@pytest.mark.parametrize(("vendor", "number"), [("juneau", 1), ("durant", 1), ("new-hampshire-letter", 8)])
def test_a_vendors_blank_becomes_a_program_with_every_target_in_its_place(
    clerk: Clerk, workshop: Workshop, shared_folder: Path, vendor: str, number: int
) -> None:
    blank = blank_of(vendor, shared_folder / "ballots")
    sign_in(clerk, workshop.address)
    clerk.brings_blank(blank.files)
    clerk.presses("Find the targets")
    clerk.page.wait_for_selector("svg.sheet")
    for shown, side in zip(clerk.targets_shown(), ("front", "back"), strict=False):
        missed, false = missed_and_false(shown, [known for known in blank.contests if known.side == side])
        assert missed == []
        assert len(false) <= MOST_FALSE

    clerk.clicks(clerk.page.locator(f"g.contest[data-presses=contest-{number}]"), "the contest")
    known = the_contest(clerk, list(blank.contests))
    put_a_false_target_in_and_out(clerk, known)
    name_targets(clerk, known)
    clerk.presses("Make the program and show its proof")
    clerk.page.wait_for_selector(".proof")
    assert placed_as(workshop.program_at(clerk.page.url), [known])


def test_one_program_of_two_ballot_styles_is_made_in_the_browser(clerk: Clerk, workshop: Workshop) -> None:
    first, second = (fronts_of(blank_of(style, FAIRVIEW)) for style in OWN)
    sign_in(clerk, workshop.address)
    clerk.brings_blank(first.files)
    clerk.presses("Find the targets")
    clerk.clicks(clerk.page.locator("summary", has_text="Add the blank of another"), "another style")
    clerk.brings_blank(second.files)
    clerk.presses("Add this style")
    clerk.page.wait_for_selector("text=Go on with these")
    for shown, blank in zip(clerk.targets_shown(), (first, second), strict=True):
        assert missed_and_false(shown, list(blank.contests)) == ([], [])

    for style in OWN:
        clerk.clicks(clerk.page.locator(f"[name='contest-blank-{style[-3:]}-front']").first, f"in {style}")
    clerk.presses("Go on with these")
    known = [the_contest(clerk, list(blank.contests), n) for n, blank in enumerate((first, second))]
    name_targets(clerk, known[0])
    clerk.presses("Make the program and show its proof")
    clerk.page.wait_for_selector(".proof")
    assert placed_as(workshop.program_at(clerk.page.url), known)


def sign_in(clerk: Clerk, address: str) -> None:
    """Open the workshop's page, which asks who is there, and let one person of each side sign in."""
    clerk.page.goto(address)
    for person in (ANN, BOB):
        clerk.signs_in(person, PASS_PHRASE)
    clerk.page.wait_for_selector("#front")


def fronts_of(blank: Blank) -> Blank:
    """Return a blank of which only the front was scanned."""
    contests = tuple(known for known in blank.contests if known.side == "front")
    return replace(blank, files=blank.files[:1], contests=contests)


def the_contest(clerk: Clerk, contests: list[Known], style: int = 0) -> Known:
    """Return the contest whose targets are numbered in the second step: all of them, and nothing else."""
    clerk.page.wait_for_selector("#names-list")
    found = list(clerk.targets_numbered(style).values())
    fitting = [known for known in contests if missed_and_false(found, [known]) == ([], [])]
    assert len(fitting) == 1
    return fitting[0]


def put_a_false_target_in_and_out(clerk: Clerk, known: Known) -> None:
    """Click where no target is: it gets a number; click on it again: it has none."""
    left, top, width, height = known.targets[0][0]
    for beside in (True, False):
        clerk.clicks_on_blank((left + 2.5 * width, top + height / 2), "no target")
        found = list(clerk.targets_numbered().values())
        assert (len(found) > len(known.targets)) is beside


def name_targets(clerk: Clerk, known: Known) -> None:
    """Say of each target what stands beside it."""
    said: set[str] = set()
    for n, place in clerk.targets_numbered().items():
        (name,) = (name for where, name in known.targets if is_at(place, where))
        if name == WRITE_IN:
            clerk.chooses(f"[name=t{n}-what]", "write_in")
        else:
            clerk.writes(f"[name=t{n}-name]", name)
        if name in said and name != WRITE_IN:
            clerk.clicks(clerk.page.locator(f"[name=t{n}-again]"), "printed twice")
        said.add(name)
    clerk.writes("[name=vote_for]", str(known.vote_for))


def placed_as(program: Program, contests: list[Known]) -> bool:
    """Return whether each style of a program has the targets of its contest under the right names."""
    names = {option.key: WRITE_IN if option.write_in else option.name for option in program.options}
    return program.vote_for == contests[0].vote_for and all(
        sorted(names[target.option] for target in style.targets) == sorted(name for _, name in known.targets)
        and all(
            any(
                is_at((target.left, target.top, target.width, target.height), place)
                and names[target.option] == name
                for place, name in known.targets
            )
            for target in style.targets
        )
        for style, known in zip(program.styles, contests, strict=True)
    )


def test_a_clerk_gets_from_a_blank_ballot_to_an_armed_device_in_few_steps(
    clerk: Clerk, tmp_path: Path
) -> None:
    with Day(tmp_path, an_order(), tmp_path / "none.program") as day:
        day.open_host()
        day.add_table("alpha", [], duplex=False)
        day.enrol("alpha")
        for person in (ANN, BOB):
            People(tmp_path / "host").add(person, PASS_PHRASE)
        clerk.page.goto(day.page)
        make_program(clerk)
        arm(clerk, day, tmp_path)
        assert len(clerk.log) < MOST_INTERACTIONS
        live = ("run", "assign", "101", "--device", "alpha", "--program", str(program_of(tmp_path)))
        day.count("101", "H", 1)
        assert day.does(*live, "--mode", "live", "--by", "Cora Day, coordinator, D")["mode"] == "live"


def make_program(clerk: Clerk) -> None:
    """From the blank to the signed program in the ledger."""
    page = clerk.page
    clerk.clicks(page.get_by_role("link", name="Make and test a contest program"), "make a program")
    for person in (ANN, BOB):
        clerk.signs_in(person, PASS_PHRASE)
    clerk.chooses_file("#front", FAIRVIEW / "blank-101-front.png")
    clerk.chooses_file("#back", FAIRVIEW / "blank-101-back.png")
    clerk.presses("Find the targets")
    clerk.clicks(page.locator("g.contest", has_text="13"), "the contest in the picture")
    page.wait_for_selector("#names-list")
    # What a clerk may have to do: put a wrong click right, and draw the box anew.
    where = page.locator("[name=s0-t3]").get_attribute("value") or ""
    left, top, width, height = (float(part) for part in where.split(","))
    clerk.clicks_on_blank((left + width / 2, top + height / 2), "target 3 away")
    assert page.locator("[name=s0-t3-gone]").is_checked()
    clerk.clicks_on_blank((left + width / 2, top + height / 2), "target 3 back")
    assert not page.locator("[name=s0-t3-gone]").is_checked()
    box = [float(part) for part in page.locator("[name=s0-box]").input_value().split(",")]
    clerk.pulls((box[0], box[1]), (box[2], box[3]), "the contest's box")
    drawn = [float(part) for part in page.locator("[name=s0-box]").input_value().split(",")]
    assert all(abs(one - other) < 3 for one, other in zip(box, drawn, strict=True))
    for number, name in ((2, "Daniel Hadley"), (3, "Flora Underhill"), (5, "Rosa Yates")):
        clerk.writes(f"[name=t{number}-name]", name)
    clerk.chooses("[name=t1-what]", "side:D")
    clerk.chooses("[name=t4-what]", "side:R")
    clerk.chooses("[name=t6-what]", "write_in")
    clerk.presses("Make the program and show its proof")
    page.wait_for_selector(".proof")
    for person in (ANN, BOB):
        clerk.clicks(page.locator(f".card:has-text('({person.side})') button"), f"{person.name} signs")
        page.wait_for_selector(f"text=Signed by {person.name}")
    clerk.presses("Take the program into the ledger")


def arm(clerk: Clerk, day: Day, folder: Path) -> None:
    """Make the deck, run it through the device, certify."""
    page = clerk.page
    clerk.presses("Make the deck")
    page.wait_for_selector(".papers")
    lay_deck(day.tables["alpha"], program_of(folder).parent / "deck")
    clerk.log += ["click: Start at the panel", "click: End batch at the panel"]
    clerk.presses("Give it the deck")
    page.wait_for_selector("text=Is sheet", timeout=2 * LONGEST_MS)
    pictures = page.locator(".question img")
    assert [one.evaluate("picture => picture.naturalWidth > 0") for one in pictures.all()] == [True, True]
    day.tables["alpha"].lay_back()
    clerk.log.append("lay: the sheet back into its tray")
    clerk.presses("It is the same sheet")
    page.get_by_role("button", name="Certify it, and arm it").wait_for(timeout=2 * LONGEST_MS)
    clerk.presses("Certify it, and arm it")
    page.get_by_role("button", name="Print its zero report").wait_for()
    clerk.presses("Print its zero report")
    page.wait_for_selector("text=Armed, and at zero. It may count.")
    papers = wait_until(
        "the papers are there", lambda: sorted(program_of(folder).parent.glob("papers/*.pdf"))
    )
    assert [path.name for path in papers] == ["certificate-alpha.pdf", "zero-report-alpha.pdf"]


def program_of(folder: Path) -> Path:
    (program,) = (folder / "host" / "programs").glob("*/contest.program")
    return program
