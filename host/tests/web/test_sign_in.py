"""Signing in at the pages that write: by pass phrase, one person of a side, and not for ever."""

import re
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlencode

import pytest

from host.tests.rehearsal import ANN, BOB, Day
from recount_host.act import Person
from recount_host.cli import main
from recount_host.people import PEOPLE_FILE, WRONG_AT_MOST, People, SignInRefused
from recount_host.web.sign_in import IDLE_S, SignIn

from .site import Answer, Site

PASS_PHRASE = "three plain words"


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    site.fill(Day(program=False))
    yield site
    site.close()


def send(site: Site, path: str, fields: dict[str, str] | None = None) -> Answer:
    token = re.search(r'name="token" value="([0-9a-f]+)"', site.text("/sign-in"))
    body = urlencode({"token": token[1] if token else "", **(fields or {})}).encode()
    told = {"content_type": "application/x-www-form-urlencoded", "origin": "http://127.0.0.1:7480"}
    return site.ask(path, method="POST", body=body, content_length=str(len(body)), **told)


def sign_in(site: Site, name: str, pass_phrase: str) -> Answer:
    """Sign in on the page, and keep the cookie as a browser does."""
    answer = send(site, "/sign-in", {"name": name, "pass-phrase": pass_phrase})
    told = answer.headers.get("set-cookie", "")
    cookie = re.fullmatch(r"recount-session=([^;]+); HttpOnly; Path=/; SameSite=strict", told)
    site.cookie = cookie[1] if cookie else site.cookie
    return answer


@pytest.mark.parametrize("path", ["/programs", "/programs/00000000/devices", "/programs/00000000/proof.pdf"])
def test_whoever_is_not_signed_in_is_led_to_the_sign_in(site: Site, path: str) -> None:
    answer = site.ask(path)
    assert (answer.status, answer.headers["location"]) == (HTTPStatus.SEE_OTHER, "/sign-in")


@pytest.mark.parametrize("act", ["", "/00000000/sign", "/00000000/add", "/00000000/certify"])
def test_nothing_is_written_for_whoever_is_not_signed_in(site: Site, act: str) -> None:
    # The page of the sign-in bears its token only where somebody can sign in.
    site.sign_in.people.add(ANN, PASS_PHRASE)
    before = len(site.ledger.acts())
    assert send(site, f"/programs{act}").headers["location"] == "/sign-in"
    assert (len(site.ledger.acts()), site.bench.ids()) == (before, ())


def test_one_person_of_each_side_signs_in_with_a_pass_phrase_and_both_out(site: Site) -> None:
    assert "Nobody can sign in yet" in site.text("/sign-in")
    site.sign_in.people.add(ANN, PASS_PHRASE)
    site.sign_in.people.add(BOB, PASS_PHRASE + "!")
    refused = sign_in(site, "Ann Lee", PASS_PHRASE + "!")
    assert "do not belong together" in refused.text
    assert site.ask("/programs").status == HTTPStatus.SEE_OTHER
    assert sign_in(site, "ann lee", PASS_PHRASE).headers["location"] == "/sign-in"
    first = site.cookie
    assert sign_in(site, "Bob Ray", PASS_PHRASE + "!").headers["location"] == "/programs"
    assert site.sign_in.persons(first) == ()
    assert site.sign_in.persons(site.cookie) == (ANN, BOB)
    assert "Signed in: Ann Lee (D), Bob Ray (R)" in re.sub(r"<[^>]+>", "", site.text("/programs"))
    send(site, "/sign-out")
    assert site.sign_in.persons(site.cookie) == ()


def test_a_second_person_of_a_side_takes_the_place_of_the_first(tmp_path: Path) -> None:
    sessions = SignIn(People(tmp_path))
    cookie = sessions.begin(sessions.begin("", ANN), Person("Amy Fox", "official", "D"))
    assert [person.name for person in sessions.persons(cookie)] == ["Amy Fox"]


def test_a_session_is_over_when_nobody_was_there_for_half_an_hour(tmp_path: Path) -> None:
    clock = Clock()
    sessions = SignIn(People(tmp_path), clock)
    cookie = sessions.begin("", ANN)
    clock.now_s += IDLE_S - 1
    assert sessions.persons(cookie) == (ANN,)
    clock.now_s += IDLE_S
    assert sessions.persons(cookie) == ()
    assert sessions.persons("") == ()


def test_a_role_that_may_not_write_is_led_away_even_with_a_session(site: Site) -> None:
    site.signed_in(Person("Cy Poe", "observer", "R"))
    assert site.ask("/programs").headers["location"] == "/sign-in"


def test_pass_phrases_are_not_guessed_in_a_row(tmp_path: Path) -> None:
    clock = Clock()
    people = People(tmp_path, clock)
    people.add(ANN, PASS_PHRASE)
    for _ in range(WRONG_AT_MOST):
        with pytest.raises(SignInRefused, match="do not belong together"):
            people.check("Ann Lee", "another phrase")
    with pytest.raises(SignInRefused, match="wait a minute"):
        people.check("Ann Lee", PASS_PHRASE)
    clock.now_s += 61
    assert people.check("Ann Lee", PASS_PHRASE) == ANN


def test_pass_phrases_are_kept_as_hashes_for_the_owner_alone(tmp_path: Path) -> None:
    People(tmp_path).add(ANN, PASS_PHRASE)
    file = tmp_path / PEOPLE_FILE
    assert b"argon2id" in file.read_bytes()
    assert PASS_PHRASE.encode() not in file.read_bytes()
    assert file.stat().st_mode & 0o077 == 0


def test_a_file_of_people_that_is_none_is_one_line(tmp_path: Path) -> None:
    (tmp_path / PEOPLE_FILE).write_bytes(b"{")
    with pytest.raises(SignInRefused, match="cannot be read"):
        People(tmp_path).known()


def test_people_are_added_and_listed_at_the_keyboard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    phrases = iter([PASS_PHRASE, PASS_PHRASE, PASS_PHRASE, "another one", PASS_PHRASE, PASS_PHRASE])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)

    def typed(_asked: str) -> str:
        return next(phrases)

    monkeypatch.setattr("getpass.getpass", typed)
    data = ["--data", str(tmp_path)]
    assert main(["person", "add", "Ann Lee, official, D", *data]) == 0
    assert main(["person", "list", *data]) == 0
    assert capsys.readouterr().out == "Ann Lee, official, D may sign in\nAnn Lee, official, D\n"
    assert main(["person", "add", "Bob Ray, official, R", *data]) == 2
    assert main(["person", "add", "Cy Poe, observer, R", *data]) == 2
    assert main(["person", "list", "--data", str(tmp_path / "none")]) == 2
    told = capsys.readouterr().err.splitlines()
    assert "the two are not the same" in told[0]
    assert "the roles that sign in are" in told[1]
    assert "there is no data folder" in told[2]
    with pytest.raises(SignInRefused, match="three words"):
        People(tmp_path).add(ANN, "short")
