"""Until the figures are shown, no page tells a figure: not as a number, and not by looking different."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from host.tests.rehearsal import ANN, BOB, Day
from host.tests.sound_device import Sheet
from recount_host.act import Person
from recount_protocol.fates import COUNTED, NOT_ACCEPTED, SET_ASIDE

from .site import PicturedDevice, Site

FOR_D = Sheet(COUNTED, ("D",))
FOR_R = Sheet(COUNTED, ("R",))
OVERVOTE = Sheet(SET_ASIDE, (), ("overvote",))
WRONG_STYLE = Sheet(NOT_ACCEPTED, (), ("wrong_style",))

SHEETS = [FOR_D] * 44 + [FOR_R] * 23 + [OVERVOTE] * 19 + [WRONG_STYLE] * 13
FIGURES = {"C": 67, "S": 19, "X": 13, "votes for D": 44, "votes for R": 23, "R": 86}
FED = 99
PAGES = ("/", "/precincts/101", "/precincts/101/notices", "/docket")


def begun(sheets: Sequence[Sheet] = SHEETS) -> Day:
    day = Day(("101", "102"))
    day.devices["alpha"] = PicturedDevice("alpha")
    device = day.assign("alpha")
    device.open_batch()
    for sheet in sheets:
        device.scan(sheet)
    return day


def with_a_doubt() -> Day:
    day = begun()
    alpha = day.device("alpha")
    alpha.doubt(alpha.judge(OVERVOTE))
    return day


def batch_closed() -> Day:
    day = begun()
    day.device("alpha").close_batch()
    return day


def finished() -> Day:
    day = batch_closed()
    day.finish()
    return day


def one_has_counted() -> Day:
    day = finished()
    for letter, value in (("H", FED), ("c", 67), ("s", 19), ("x", 13)):
        day.enter(letter, value, ANN)
    return day


def counts_differ() -> Day:
    day = one_has_counted()
    day.enter("c", 66, BOB)
    return day


def all_hold() -> Day:
    day = finished()
    day.lock(H=FED, c=67, s=19, x=13)
    day.reconcile()
    return day


def to_be_verified_again() -> Day:
    day = finished()
    day.lock(H=FED + 1, c=67, s=19, x=13)
    day.reconcile()
    return day


def goes_to_hand_count() -> Day:
    day = to_be_verified_again()
    day.lock(H=FED + 1, c=67, s=19, x=13)
    day.reconcile()
    return day


def voided() -> Day:
    day = batch_closed()
    alpha = day.device("alpha")
    day.act(
        "batch_void_ordered", (ANN, BOB), "101", run=alpha.run, device=alpha.id, batch=1, reason="I9 fails"
    )
    return day


STAGES: dict[str, Callable[[], Day]] = {
    "begun": begun,
    "with a doubt": with_a_doubt,
    "batch closed": batch_closed,
    "batch voided": voided,
    "finished": finished,
    "one has counted": one_has_counted,
    "counts differ": counts_differ,
    "all hold": all_hold,
    "to be verified again": to_be_verified_again,
    "goes to hand count": goes_to_hand_count,
}
"""Every stage of the day before the figures are shown."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    site.close()


def numbers_in(page: str) -> set[int]:
    """Return the numbers that stand alone in a page, in its words as in its addresses."""
    return {int(number) for number in re.findall(r"(?<![\w.])\d+(?![\w.])", page)}


@pytest.mark.parametrize("stage", STAGES)
def test_no_page_holds_a_figure_before_the_figures_are_shown(site: Site, stage: str) -> None:
    day = STAGES[stage]()
    site.fill(day)
    site.show_live(day.device("alpha"), "feeding", "Feeding batch 1.")
    for path in PAGES:
        found = numbers_in(site.ask(path).text)
        told = {what for what, number in FIGURES.items() if number in found}
        assert not told, f"{path} tells {told}"


@pytest.mark.parametrize("stage", ["begun", "batch closed", "finished"])
def test_the_number_of_sheets_fed_is_not_told_before_h_is_locked(site: Site, stage: str) -> None:
    site.fill(STAGES[stage]())
    assert all(FED not in numbers_in(site.ask(path).text) for path in PAGES)


def test_the_bare_number_of_sheets_fed_is_told_once_h_is_locked(site: Site) -> None:
    day = begun()
    day.lock(H=FED + 1)
    site.fill(day)
    assert f"<strong>{FED}</strong>" in site.text("/precincts/101")


fates = st.lists(
    st.sampled_from([FOR_D, FOR_R, Sheet(COUNTED, ("T",)), OVERVOTE, WRONG_STYLE]), min_size=6, max_size=6
)


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(one=fates, other=fates, rest=st.sampled_from(["begun", "finished", "reconciled"]))
def test_days_that_differ_only_in_their_figures_have_the_same_pages(
    tmp_path_factory: pytest.TempPathFactory, one: list[Sheet], other: list[Sheet], rest: str
) -> None:
    """The strongest form of "no figure": whatever the figures are, the pages are the same byte for byte."""
    pages: list[list[str]] = []
    for sheets in (one, other):
        site = Site(tmp_path_factory.mktemp("day"))
        day = begun(sheets)
        if rest != "begun":
            day.device("alpha").close_batch()
            day.finish()
        if rest == "reconciled":
            count = {fate: sum(sheet.fate == fate for sheet in sheets) for fate in _LETTER}
            day.lock(H=len(sheets), **{_LETTER[fate]: number for fate, number in count.items()})
            day.reconcile()
        pages.append([site.fill(day).ask(path).text for path in PAGES])
        site.close()
    assert pages[0] == pages[1]


_LETTER = {COUNTED: "c", SET_ASIDE: "s", NOT_ACCEPTED: "x"}


# Notices and pictures


def test_the_notices_are_closed_and_so_are_their_pictures(site: Site) -> None:
    day = finished()
    site.fill(day)
    closed = site.ask("/precincts/101/notices")
    assert closed.status == 403
    assert "The notices open when a sheet has to be looked for" in closed.text
    device = day.device("alpha")
    assert isinstance(device, PicturedDevice)
    for n in device.crops:
        assert site.ask(f"/precincts/101/pictures/{device.id}/{n}.png").status == 404


def test_the_sheet_in_doubt_is_shown_with_its_picture_and_without_its_place(site: Site) -> None:
    day = with_a_doubt()
    site.fill(day)
    page = site.text("/precincts/101")
    assert "Where does sheet 100 of alpha lie?" in page
    assert "from the bottom" not in page
    assert "overvote" not in page.lower()
    device = day.device("alpha")
    pictures = re.findall(rf"/precincts/101/pictures/{device.id}/(\d+)\.png", page)
    assert len(pictures) == 1
    answer = site.ask(f"/precincts/101/pictures/{device.id}/{pictures[0]}.png")
    assert (answer.status, answer.headers["content-type"]) == (200, "image/png")
    assert answer.body == device.crops[int(pictures[0])]  # type: ignore[attr-defined]


def test_a_sheet_that_looks_like_one_read_before_is_shown_beside_it(site: Site) -> None:
    day = begun()
    alpha = day.device("alpha")
    first = alpha.scan(OVERVOTE)
    alpha.doubt(alpha.judge(OVERVOTE), like=first)
    site.fill(day)
    page = site.text("/precincts/101")
    assert f"the same paper as sheet {first}?" in page
    assert "overvote" not in page.lower()
    pictures = re.findall(rf"/precincts/101/pictures/{alpha.id}/(\d+)\.png", page)
    assert len(set(pictures)) == 2
    assert [site.ask(f"/precincts/101/pictures/{alpha.id}/{n}.png").status for n in pictures] == [200, 200]


def test_the_picture_closes_when_the_doubt_is_settled(site: Site) -> None:
    day = with_a_doubt()
    device = day.device("alpha")
    site.fill(day)
    (n,) = re.findall(r"/pictures/\w+/(\d+)\.png", site.text("/precincts/101"))
    device.settle(100, SET_ASIDE)
    site.fill(day)
    assert site.ask(f"/precincts/101/pictures/{device.id}/{n}.png").status == 404
    assert "Where does sheet" not in site.text("/precincts/101")


def test_a_picture_of_another_precinct_is_not_shown_through_this_one(site: Site) -> None:
    day = with_a_doubt()
    site.fill(day)
    device = day.device("alpha")
    (n,) = re.findall(r"/pictures/\w+/(\d+)\.png", site.text("/precincts/101"))
    assert site.ask(f"/precincts/102/pictures/{device.id}/{n}.png").status == 404


def test_the_notices_open_when_a_sheet_has_to_be_looked_for(site: Site) -> None:
    day = finished()
    for _ in range(2):
        day.lock(H=FED, c=68, s=18, x=13)
        day.reconcile()
    site.fill(day)
    assert "Look for a sheet" in site.text("/precincts/101")
    page = site.text("/precincts/101/notices")
    assert page.count("<li class=") >= 19 + 13
    assert "Set-aside tray" in page
    assert "number 19 from the bottom" in page
    assert "More choices are marked than may be." in page
    assert page.count(".png") == 19 + 13
    assert "Votes on counted ballots" not in site.text("/precincts/101")


def test_a_day_with_persons_of_odd_names_is_shown_safely(site: Site) -> None:
    day = finished()
    for person in (Person("Ann <b>Lee</b>", "official", "D"), Person("Bob & Ray", "official", "R")):
        for letter, value in (("H", FED), ("c", 67), ("s", 19), ("x", 13)):
            day.enter(letter, value, person)
    day.reconcile()
    day.show_figures()
    page = site.fill(day).text("/precincts/101")
    assert "Ann &lt;b&gt;Lee&lt;/b&gt;" in page
    assert "<b>Lee" not in page
