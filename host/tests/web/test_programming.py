"""The pages that make a program, without the script: forms alone, whose they are, and what they refuse."""

import re
import struct
import tracemalloc
import zlib
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlencode

import pytest

from host.tests.programs.drawn_blanks import arrows_to_join
from host.tests.rehearsal import ANN, BOB, Day
from recount_ballots.layout import Rect
from recount_host.programs.drafting import reading_order
from recount_host.programs.drawing import encode_png
from recount_host.programs.upload import UploadError, kind_of

from .site import Answer, Site

FAIRVIEW = Path(__file__).resolve().parents[3] / "images" / "ballots" / "fairview"
OWN = "http://127.0.0.1:7480"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    site.fill(Day(program=False)).signed_in(ANN, BOB)
    yield site
    site.close()


def token(site: Site) -> str:
    found = re.search(r'name="token" value="([0-9a-f]+)"', site.text("/programs"))
    assert found is not None
    return found[1]


def send(site: Site, path: str, fields: Mapping[str, str], **headers: str) -> Answer:
    """Send a form from the host's own page."""
    body = urlencode({"token": token(site), **fields}).encode()
    told = {"content_type": "application/x-www-form-urlencoded", "origin": OWN, **headers}
    return site.ask(path, method="POST", body=body, content_length=str(len(body)), **told)


def upload(site: Site, path: str, files: Mapping[str, tuple[str, bytes]], **fields: str) -> Answer:
    """Send a form with files."""
    parts = [f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
             for name, value in {"token": token(site), **fields}.items()]  # fmt: skip
    for name, (file, data) in files.items():
        head = f'--b\r\nContent-Disposition: form-data; name="{name}"; filename="{file}"\r\n\r\n'
        parts.append(head.encode() + data + b"\r\n")
    body = b"".join(parts) + b"--b--\r\n"
    told = {"content_type": "multipart/form-data; boundary=b", "origin": OWN}
    return site.ask(path, method="POST", body=body, content_length=str(len(body)), **told)


def plain(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page)).replace("&#34;", '"').replace("&#39;", "'")


def fields_of(page: str) -> dict[str, str]:
    """Return the fields that a page's form holds before anybody touches them."""
    found = re.findall(r'<input[^>]*? name="([^"]+)" value="([^"]*)"', page)
    return {name: value for name, value in found if not name.startswith("mode-")}


def test_from_a_blank_to_a_program_in_the_ledger_without_the_script(site: Site) -> None:
    front = (FAIRVIEW / "blank-101-front.png").read_bytes()
    begun = upload(site, "/programs", {"front": ("../../etc/blank 101.png", front), "back": ("", b"")})
    assert begun.status == HTTPStatus.SEE_OTHER, begun.text
    at = begun.headers["location"]
    assert "Ballot style blank-101" in site.text(at)
    assert site.ask(f"{at}/pages/0.png").body.startswith(b"\x89PNG")
    assert site.ask(f"{at}/pages/1.png").status == HTTPStatus.NOT_FOUND
    assert "no contest was chosen" in plain(send(site, f"{at}/contest", {"contest": "99"}).text).lower()
    assert send(site, f"{at}/contest", {"contest": "6"}).headers["location"] == f"{at}/places"

    form = fields_of(site.text(f"{at}/places"))
    assert (form["title"], form["vote_for"], form["key"]) == ("Governor", "1", "governor")
    names = {"t1-what": "side:D", "t2-what": "side:D", "t3-name": "Howard Stackhouse", "t4-what": "write_in"}
    told = send(site, f"{at}/places", {**form, **names})
    assert told.status == HTTPStatus.UNPROCESSABLE_ENTITY
    assert '"Josiah Bartlett" is the name at two targets, 1 and 2' in plain(told.text)
    assert 'value="Howard Stackhouse"' in told.text, "what was typed is not lost"
    for wrong, why in (
        ({"t2-what": "side:Z"}, "a party that the order does not name"),
        ({"t2-what": "other"}, "target 2 has no name"),
        ({"vote_for": "0"}, "a number from 1 to 50"),
        ({"s0-box": "1,2,3"}, "has no place"),
        ({"s0-box": "0,0,nan,5"}, "has no place"),
        ({"s0-box": "0, 0, 99999, 5"}, "does not lie on the page"),
        ({"s0-t1": "638, 456, -26, 18"}, "does not lie on the page"),
        ({f"s0-t{n}-gone": "on" for n in range(1, 5)}, "no target is left"),
    ):
        told = send(site, f"{at}/places", {**form, **names, "t2-what": "side:R", **wrong})
        assert why in plain(told.text).lower()
    built = send(site, f"{at}/places", {**form, **names, "t2-what": "side:R"})
    assert built.headers.get("location") == f"{at}/proof", plain(built.text)

    program = site.bench.piece(at.rpartition("/")[2]).program()[1]
    assert [option.key for option in program.options] == ["D", "R", "A", "W1"]
    assert site.ask(f"{at}/devices").headers["location"] == f"{at}/proof"
    assert "one person of each side" in plain(send(site, f"{at}/add", {}).text).lower()
    code = program.program_hash.hex()
    for side in ("Z", ""):
        told = send(site, f"{at}/sign", {"side": side, "program": code})
        assert "Nobody of this side is signed in" in plain(told.text)
    for side in ("D", "R"):
        assert send(site, f"{at}/sign", {"side": side, "program": code}).status == HTTPStatus.SEE_OTHER
    assert "built anew" in send(site, f"{at}/sign", {"side": "D", "program": "0"}).text
    assert send(site, f"{at}/add", {}).headers["location"] == f"{at}/devices"
    (act,) = [act for act in site.ledger.acts() if act.kind == "program_added"]
    assert act.by == (ANN, BOB)
    assert "No device is enrolled yet" in site.text(f"{at}/devices")
    assert "in the ledger" in site.text("/programs").lower()
    assert site.ask(f"{at}/proof.pdf").body.startswith(b"%PDF")
    assert site.ask(f"{at}/proof/1.png").body.startswith(b"\x89PNG")
    assert site.ask(f"{at}/proof/9.png").status == HTTPStatus.NOT_FOUND


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://elsewhere.example"}, HTTPStatus.FORBIDDEN),
        ({"origin": "null"}, HTTPStatus.FORBIDDEN),
        ({"sec_fetch_site": "cross-site"}, HTTPStatus.FORBIDDEN),
        ({"sec_fetch_site": "same-site"}, HTTPStatus.FORBIDDEN),
        ({"host": "elsewhere.example"}, HTTPStatus.BAD_REQUEST),
        ({"content_length": "99999999999"}, HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
        ({"content_length": "many"}, HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    ],
)
def test_a_form_from_elsewhere_or_too_large_is_not_taken(
    site: Site, headers: dict[str, str], status: HTTPStatus
) -> None:
    body = urlencode({"token": token(site)}).encode()
    told = {"content_length": str(len(body)), "origin": OWN, **headers}
    assert site.ask("/programs", method="POST", body=body, **told).status == status
    assert site.bench.ids() == ()


@pytest.mark.parametrize("sent", [b"", b"token=0", b"token=%ff", b"\xff\xfe", b"&" * 30_000])
def test_a_form_without_the_pages_token_is_not_taken(site: Site, sent: bytes) -> None:
    assert site.ask("/programs", method="POST", body=sent).status in (400, 403)
    assert site.bench.ids() == ()


@pytest.mark.parametrize("body", [b"", b"--b", b"--b--", b"--b\r\n\r\n--b--", b"--b\r\nx" * 30 + b"--b--"])
def test_a_broken_form_with_files_is_refused(site: Site, body: bytes) -> None:
    kind = "multipart/form-data; boundary=b"
    assert site.ask("/programs", method="POST", body=body, content_type=kind).status in (400, 403)


def png(width: int, height: int) -> bytes:
    """Return the head of a PNG of that size, with nothing in it."""
    head = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no file was chosen"),
        (b"GIF89a" + bytes(100), "no PNG, JPEG, TIFF or PDF"),
        (png(60_000, 60_000), "60000 x 60000 pixels"),
        (png(500, 500), "a damaged PNG"),
        (b"\x89PNG\r\n\x1a\n", "the picture is damaged"),
        (b"\xff\xd8\xff\xe0" + bytes(40), "the picture is damaged"),
        (b"\xff\xd8\xff\xc0\x00\x11\x08\xff\xff\xff\xff" + bytes(20), "65535 x 65535 pixels"),
        (b"II*\0" + struct.pack("<I", 2**31), "the picture is damaged"),
        (b"II*\0" + struct.pack("<IHHHII", 8, 1, 256, 4, 1, 90_000), "the picture is damaged"),
        (b"%PDF-1.7 of nothing", "PDF that cannot be read"),
    ],
)
def test_a_file_that_is_no_blank_is_refused_in_words_and_not_kept(site: Site, data: bytes, why: str) -> None:
    tracemalloc.start()
    told = upload(site, "/programs", {"front": ("a.png", data)})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert told.status == HTTPStatus.UNPROCESSABLE_ENTITY
    assert why.lower() in plain(told.text).lower()
    assert peak < 50_000_000
    assert list(site.bench.folder.iterdir()) == []


def test_a_blank_without_a_contest_is_told_what_it_takes(site: Site) -> None:
    page, _ = arrows_to_join(("Ada Poe", "Otto Bloom"), 150)
    begun = upload(site, "/programs", {"front": ("arrows.png", encode_png(page)), "back": ("", b"")})
    told = plain(site.text(begun.headers["location"]))
    assert "No contest was found. It takes a whole blank ballot" in told
    assert "These contests were found" not in told


def test_the_kinds_of_files_are_told_by_their_bytes() -> None:
    assert kind_of((FAIRVIEW / "blank-101-front.png").read_bytes()) == ".png"
    with pytest.raises(UploadError, match="larger than 40 MB"):
        kind_of(bytes(40_000_001))


@pytest.mark.parametrize("path", ["/programs/00000000", "/programs/..%2f..", "/programs/zzz/places"])
def test_a_program_that_is_not_there_is_said_to_be_absent(site: Site, path: str) -> None:
    assert site.ask(path).status == HTTPStatus.NOT_FOUND


def test_no_more_programs_are_begun_than_anybody_needs(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recount_host.programs.workbench.MAX_WORKPIECES", 0)
    told = upload(site, "/programs", {"front": ("a.png", png(500, 500))})
    assert "programs are in the making" in told.text


def test_targets_are_read_column_by_column_from_the_top_down() -> None:
    spots = [Rect(x, y, 20, 14) for x, y in ((300, 10), (103, 90), (100, 10), (98, 50), (302, 50))]
    assert reading_order(spots) == (2, 3, 1, 0, 4)
