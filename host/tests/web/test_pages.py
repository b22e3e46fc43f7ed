"""What the pages say, and under which rules they are served."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from host.tests.enrolling import enrol
from host.tests.rehearsal import Day, a_counted_day, a_hand_count_day, a_reconciled_day, a_scanned_day
from host.tests.sound_device import TWELVE_SHEETS
from recount_host.law.reconciliation import Step
from recount_host.law.states import State
from recount_host.ledger.sqlite import damaged
from recount_host.links.session import Condition
from recount_host.web import words
from recount_host.web.access import AccessNotDeclared, check_every_route
from recount_host.web.app import FOLDER, STATIC_TYPES

from .site import PicturedDevice, Site

DAYS = {
    "scanned": a_scanned_day,
    "reconciled": a_reconciled_day,
    "hand_count": a_hand_count_day,
    "counted": a_counted_day,
}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    site.close()


def a_day() -> Day:
    day = Day(("101", "102"))
    day.devices["alpha"] = PicturedDevice("alpha")
    return day


def plain(page: str) -> str:
    """Return the words of a page on one line."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


@pytest.mark.parametrize("name", DAYS)
def test_every_page_of_every_day_can_be_shown(site: Site, name: str) -> None:
    site.fill(DAYS[name]())
    for path in ("/", "/precincts/101"):
        page = site.text(path)
        assert page.count("<h1>") == 1
        assert "</main>" in page
    assert site.ask("/precincts/101/notices").status in (200, 403)


def test_every_state_and_step_has_its_sign() -> None:
    assert set(words.STATE_SIGNS) == set(State)
    assert set(words.STEP_SIGNS) == set(Step)
    signs = [*words.STATE_SIGNS.values(), *words.STEP_SIGNS.values(), *words.DEVICE_SIGNS.values()]
    css = (FOLDER / "static" / "recount.css").read_text(encoding="utf-8")
    for sign in signs:
        assert f".light.{sign.light} " in css
        assert sign.symbol.strip()
        assert sign.words.strip()


def test_the_sign_asks_for_the_reverification_until_all_is_counted_again() -> None:
    day = a_scanned_day()
    day.lock(H=12, c=9, s=2, x=0)
    day.reconcile()
    assert words.precinct_sign(day.state()) is words.STEP_SIGNS[Step.REVERIFY]
    day.lock(H=12, c=9, s=2)
    assert words.precinct_sign(day.state()) is words.STEP_SIGNS[Step.REVERIFY]
    day.lock(x=1)
    assert words.precinct_sign(day.state()) is words.STATE_SIGNS[State.SCANNED]


def test_a_fresh_day_lists_its_precincts(site: Site) -> None:
    site.fill(Day(("101", "102")))
    page = plain(site.text("/"))
    assert "Fairview County" in page
    assert page.count("Not begun") == 2
    assert "No device has connected yet." in page


def test_figures_are_shown_after_the_act(site: Site) -> None:
    site.fill(DAYS["reconciled"]())
    page = plain(site.text("/precincts/101"))
    assert "Josiah Bartlett 5" in page
    assert "Counted 9 9" in page
    assert "I2 holds." in page


def test_a_hand_count_voids_the_scanners_figures_in_words(site: Site) -> None:
    site.fill(DAYS["hand_count"]())
    assert "the scanners' figures count for nothing" in site.text("/precincts/101").replace("&#39;", "'")


def test_what_only_people_can_decide_stands_first(site: Site) -> None:
    day = a_day()
    alpha = day.assign("alpha")
    alpha.open_batch()
    alpha.doubt(alpha.judge(TWELVE_SHEETS[0]))
    page = site.fill(day).text("/")
    assert page.index("Waiting for people") < page.index("Not begun")
    assert "Sheet 1 in batch 1 of alpha is in doubt" in page
    assert "Needs you" in page


def test_an_open_batch_calls_nobody(site: Site) -> None:
    day = a_day()
    alpha = day.assign("alpha")
    alpha.open_batch()
    alpha.scan(TWELVE_SHEETS[0])
    assert "Waiting for people" not in site.fill(day).text("/")
    assert "Batch 1 of alpha is still open" in site.text("/precincts/101")


def test_withheld_records_are_told_at_the_device_and_the_precinct_and_no_number_of_theirs(site: Site) -> None:
    day = a_day()
    day.scan(TWELVE_SHEETS)
    alpha = day.device("alpha")
    enrol(site.ledger, alpha.name, alpha.public_key)
    for act in day.acts:
        site.ledger.append_act(act.kind, act.by, act.body)
    signed = alpha.signed()
    site.ledger.add_records(signed[:13])
    site.ledger.add_records(signed[16:])
    page = plain(site.text("/"))
    assert "records of alpha did not arrive" in page.lower()
    assert "Records are missing" in page
    assert not {"13", "14", "15", "16"} & set(re.findall(r"\d+", page))
    assert "Needs you" in page


def test_a_device_says_what_it_waits_for(site: Site) -> None:
    day = a_day()
    alpha = day.assign("alpha")
    site.fill(day)
    site.show_live(alpha, "batch_void_needed", "Batch 1 cannot be closed. Call both officials.")
    page = plain(site.text("/"))
    assert "Needs both sides" in page
    assert "Batch 1 cannot be closed. Call both officials." in page
    site.show_live(alpha, "batch_void_needed", "Batch 1 cannot be closed.", connected=False)
    page = plain(site.text("/"))
    assert "Not connected" in page
    assert "Batch 1 cannot be closed." not in page, "what it said is no longer known to be so"


def test_what_a_device_says_is_never_taken_as_markup(site: Site) -> None:
    day = a_day()
    alpha = day.assign("alpha")
    site.fill(day)
    site.show_live(alpha, "feeding", "<script>alert(1)</script>")
    page = site.text("/")
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page


def test_a_refused_device_and_a_wrong_release_are_shown(site: Site) -> None:
    day = a_day()
    day.assign("alpha")
    site.fill(day)
    twin = PicturedDevice("twin")
    site.ledger.introduce(twin.id, "alpha", twin.public_key, 1, bytes(32))
    old = Condition(problem="the other end speaks protocol version 2, this end 1: update the older one")
    site.board.show("tcp 127.0.0.1", old, 1_000, heard=True)
    page = plain(site.text("/"))
    assert "another device, with another key, is enrolled here as alpha" in page
    assert "The other end speaks protocol version 2, this end 1: update the older one." in page


def test_what_was_refused_of_several_records_alike_is_told_once(site: Site) -> None:
    """A list as long as the records would let people count them."""
    day = a_scanned_day()
    site.fill(day)
    for data, _ in day.devices["alpha"].signed():
        site.ledger.add_record(data, bytes(64))
    assert len(site.ledger.refusals()) > 1
    assert plain(site.text("/")).count("does not bear the signature of alpha") == 1


# How they are served


def test_an_unchanged_page_is_not_sent_again(site: Site) -> None:
    day = a_day()
    site.fill(day)
    shown = re.findall(r'"X-Shown": "(\w+)"', site.text("/"))[0]
    assert site.ask("/", x_shown=shown).status == 204
    day.lock(H=12)
    site.fill(day)
    assert site.ask("/", x_shown=shown).status == 200


def test_it_follows_without_javascript_too(site: Site) -> None:
    page = site.fill(a_day()).text("/")
    assert '<noscript><meta http-equiv="refresh" content="5"></noscript>' in page


def test_every_answer_forbids_what_is_not_from_here(site: Site) -> None:
    site.fill(a_day())
    for path in ("/", "/precincts/101", "/static/recount.css", "/nothing"):
        headers = site.ask(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_nothing_is_loaded_from_elsewhere(site: Site) -> None:
    site.fill(DAYS["counted"]())
    for path in ("/", "/precincts/101", "/precincts/101/notices"):
        links = re.findall(r'(?:src|href|hx-get)="([^"]+)"', site.text(path))
        assert links
        assert all(re.match(r"/(?!/)|#", link) for link in links)
        assert not re.findall(r"\sstyle=|<style|\son\w+=", site.text(path)), "the policy forbids inline code"
    for name in ("recount.css", "recount.js"):
        assert "//" not in re.sub(r"// .*", "", (FOLDER / "static" / name).read_text(encoding="utf-8"))


def test_only_the_named_files_are_served(site: Site) -> None:
    site.fill(a_day())
    for name, kind in STATIC_TYPES.items():
        answer = site.ask(f"/static/{name}")
        assert (answer.status, answer.headers["content-type"].split(";")[0]) == (200, kind)
    for name in ("app.py", "..%2Fapp.py", "../app.py"):
        assert site.ask(f"/static/{name}").status == 404
    assert {path.name for path in (FOLDER / "static").iterdir()} == set(STATIC_TYPES)


@pytest.mark.parametrize(
    "path", ["/precincts/999", "/precincts/999/notices", "/x", "/precincts/101/pictures/a/1.png"]
)
def test_what_is_not_there_is_said_to_be_not_there(site: Site, path: str) -> None:
    site.fill(a_day())
    answer = site.ask(path)
    assert answer.status == 404
    assert "There is no such page here" in answer.text


def test_a_page_elsewhere_cannot_reach_in_under_its_own_name(site: Site) -> None:
    site.fill(a_day())
    assert site.ask("/", host="evil.example:7480").status == 400


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_pages_only_show(site: Site, method: str) -> None:
    site.fill(a_day())
    assert site.ask("/", method=method).status == 405


def test_a_damaged_ledger_is_told_on_the_page(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> tuple[int, ...]:
        raise damaged(Path("ledger.sqlite"), "act 3 is not as it was written")

    monkeypatch.setattr(site.ledger, "mark", broken)
    answer = site.ask("/")
    assert answer.status == 503
    assert "act 3 is not as it was written" in answer.text


def test_a_page_that_declares_no_access_stops_the_start() -> None:
    def page(_request: Request) -> Response:
        return Response("all figures")

    with pytest.raises(AccessNotDeclared, match="does not declare who may open it"):
        check_every_route([Route("/figures", page)])
    with pytest.raises(AccessNotDeclared):
        check_every_route([Mount("/files", routes=[])])


# For every eye


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(
    ("text", "ground"),
    [(light, f"{light}-soft") for light in ("go", "work", "wait", "stop", "off")]
    + [(light, "white") for light in ("go", "work", "wait", "stop", "off")]
    + [("ink", "table"), ("ink", "paper"), ("quiet", "table"), ("quiet", "paper")],
)
def test_words_stand_out_from_their_ground(text: str, ground: str) -> None:
    """WCAG 2.2, success criterion 1.4.3: at least 4.5 to 1."""
    css = (FOLDER / "static" / "recount.css").read_text(encoding="utf-8")
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", css)) | {"white": "#ffffff"}
    assert _contrast(colours[text], colours[ground]) >= 4.5


def test_every_picture_and_table_says_what_it_is(site: Site) -> None:
    day = a_day()
    day.scan(TWELVE_SHEETS)
    day.finish()
    day.reconcile_with(H=12, c=9, s=2, x=1)
    site.fill(day)
    for path in ("/precincts/101", "/precincts/101/notices"):
        page = site.text(path)
        assert all('alt="' in image for image in re.findall(r"<img[^>]+>", page))
        assert all(" scope=" in header for header in re.findall(r"<th\b[^>]*>", page))
        levels = [int(level) for level in re.findall(r"<h(\d)", page)]
        assert levels[0] == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
