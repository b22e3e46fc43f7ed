"""The page on which a program's deck is made, each device runs it, and those that pass are armed.

A shell over the gate of logic and accuracy: what may be done, and what is printed, is decided there.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recount_classifier.program import Program
from recount_host.act import Act, Person
from recount_host.decks.deck_make import make_deck
from recount_host.decks.gate import begin_test, certify, end_open_test, last_test, report_zero, settle
from recount_host.decks.making import read_source
from recount_host.errors import OperatorError
from recount_host.law.contest import contests_of
from recount_host.law.errors import BadEntry
from recount_host.law.live import assigned_tests, open_test, why_not_live
from recount_host.law.logic_accuracy import Comparison, Question, compare
from recount_host.law.precinct import Facts
from recount_host.ledger import Ledger
from recount_host.programs.workbench import SPEC, WorkbenchError, Workpiece
from recount_host.sheet_pictures import SheetPictures
from recount_host.web.access import Access, open_to
from recount_host.web.posted import Posted
from recount_host.web.shop import NEVER_STORED, Shop, go, pdf
from recount_protocol.records import Record

DECK_PAPERS = ("test-ballots.pdf", "overlays.pdf", "marking-guide.pdf", "expected.pdf")
PAPERS = "papers"
"""In a workpiece's folder: certificates and zero reports."""

_Shown = Callable[[SheetPictures, Record, bytes], bytes | None]
"""How a sheet is shown, by its record and its program's hash."""


@dataclass(frozen=True, slots=True)
class Tested:
    """A device on the page of logic and accuracy."""

    device: str
    name: str
    is_testing: bool
    is_armed: bool
    """For this program, by its own records."""
    why_not: str
    """Why it may not be given a live run now, in a sentence; empty where it may."""
    comparison: Comparison | None
    paper_names: tuple[str, ...]
    pictured: frozenset[int]
    """The records of sheets that differ and have a picture."""

    @property
    def question(self) -> Question | None:
        """What the device asks both sides in its test."""
        return self.comparison.question if self.is_testing and self.comparison is not None else None

    @property
    def is_waiting(self) -> bool:
        """Whether something comes from the device by itself: the rest of the test, or that it is armed."""
        if self.comparison is None or self.is_armed:
            return False
        return bool(self.comparison.hindrances) or not self.is_testing

    @property
    def says(self) -> str:
        """How it stands, in a sentence."""
        if not self.why_not:
            return "Armed, and at zero. It may count."
        if self.is_armed:
            return f"Armed, but {self.why_not}."
        return "Not tested with this program yet." if self.comparison is None else self._of(self.comparison)

    def _of(self, comparison: Comparison) -> str:
        if comparison.hindrances:
            return f"The test runs: {'; '.join(comparison.hindrances)}."
        if not comparison.passed:
            number = len(comparison.differences)
            return f"It did not pass: {number} {'sheet differs' if number == 1 else 'sheets differ'}."
        if self.is_testing:
            return "Every sheet of the deck came out as it must. Certify it next."
        return "Certified. It is armed as soon as it hears of it."


class Proving:
    """The pages of a program's logic and accuracy."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop

    @property
    def routes(self) -> list[Route]:
        """The addresses of these pages; what writes takes POST only."""
        shown: dict[str, Any] = {
            "/{piece}/devices": self.devices,
            "/{piece}/deck/{name}": self.deck_paper,
            "/{piece}/papers/{name}": self.paper,
            "/{piece}/asked/{device}/{sheet:int}.png": self.asked_picture,
            "/{piece}/differs/{device}/{n:int}.png": self.differing_picture,
        }
        sent: dict[str, Any] = {
            "/{piece}/deck": self.make_deck,
            "/{piece}/test": self.test,
            "/{piece}/settle/{sheet:int}": self.settle,
            "/{piece}/end": self.end,
            "/{piece}/certify": self.certify,
            "/{piece}/zero": self.zero,
        }
        return self._shop.routes_of(shown, sent)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def devices(self, request: Request) -> Response:
        """Show the deck, and how each device stands with it."""
        return self._devices(self._shop.piece(request))

    def _devices(self, piece: Workpiece, wrong: str = "") -> Response:
        if not piece.is_built:
            return go(f"/programs/{piece.id}/places")
        facts, (_, program) = self._shop.desk.facts(), piece.program()
        if program.program_hash not in contests_of(facts.acts):
            return go(f"/programs/{piece.id}/proof")
        deck = piece.deck()
        rows = [_tested(facts, piece, device, program, self._shop.desk.ledger) for device in facts.names]
        waiting = any(row.is_waiting for row in rows)
        rows.sort(key=lambda row: row.name)
        return self._shop.page(
            "program_devices.html", "Test each device with the deck", wrong, piece=piece, program=program,
            deck=None if deck is None else deck[1], rows=rows, papers=DECK_PAPERS,
            by=self._shop.both, refresh=waiting,
        )  # fmt: skip

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def make_deck(self, request: Request) -> Response:
        """Make the logic-and-accuracy deck of the program."""
        posted = await self._shop.forms.read(request, files=True)
        piece = self._shop.piece(request)

        def work() -> Response:
            try:
                _make_deck(piece, posted)
            except OperatorError as error:
                return self._devices(piece, str(error))
            return go(f"/programs/{piece.id}/devices")

        return await self._shop.work(work)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def deck_paper(self, request: Request) -> Response:
        """Give one of the deck's papers."""
        piece, name = self._shop.piece(request), request.path_params["name"]
        if name not in DECK_PAPERS:
            raise WorkbenchError("the deck has no such paper")
        return pdf(_read(piece.deck_folder / name), name)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def paper(self, request: Request) -> Response:
        """Give a certificate or a zero report that was made here."""
        piece, name = self._shop.piece(request), request.path_params["name"]
        folder = piece.folder / PAPERS
        if name not in {path.name for path in folder.glob("*.pdf")}:
            raise WorkbenchError("there is no such paper")
        return pdf(_read(folder / name), name)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def test(self, request: Request) -> Response:
        """Give a device the deck to run."""

        def act(piece: Workpiece, device: str, by: tuple[Person, ...]) -> None:
            deck = piece.deck()
            if deck is None:
                raise OperatorError("make the deck first")
            begin_test(self._shop.desk, device, piece.program()[1], deck[0], by)

        return await self._on_device(request, act)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def asked_picture(self, request: Request) -> Response:
        """Show the contest on one of the two sheets of a test that the device takes for one."""
        device, number = request.path_params["device"], request.path_params["sheet"]
        facts = self._shop.desk.facts()
        test = open_test(facts.acts, device)
        asked = None if test is None else compare(facts, test).question
        if test is None or asked is None or number not in (asked.sheet, asked.like):
            raise WorkbenchError("no device asks about this sheet")
        return self._picture(test, lambda record: record.body["sheet"] == number, SheetPictures.plain)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def differing_picture(self, request: Request) -> Response:
        """Show a sheet that differs, with what was measured on it, by the number of its record."""
        device, n = request.path_params["device"], request.path_params["n"]
        facts = self._shop.desk.facts()
        test = next(reversed(assigned_tests(facts.acts, device)), None)
        if test is None or n not in _shown_differing(compare(facts, test)):
            raise WorkbenchError("this sheet does not differ")
        return self._picture(test, lambda record: record.n == n, SheetPictures.explained)

    def _picture(self, test: Act, is_it: Callable[[Record], bool], shown: _Shown) -> Response:
        """Give the picture of the sheet judged in a test whose record it is."""
        ledger = self._shop.desk.ledger
        device, program = test.body["device"], test.body["program"]
        judged = (r for r in ledger.records() if r.device == device and r.kind == "sheet_judged")
        pictures = SheetPictures(ledger.crop, ledger.program)
        png = next((shown(pictures, record, program) for record in judged if is_it(record)), None)
        if png is None:
            raise WorkbenchError("there is no picture of this sheet")
        return Response(png, media_type="image/png", headers=NEVER_STORED)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def settle(self, request: Request) -> Response:
        """Answer that the sheet about which a device asks is the one that it read before."""
        seen = request.path_params["sheet"]
        return await self._on_device(request, lambda _, device, by: settle(self._shop.desk, device, by, seen))

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def end(self, request: Request) -> Response:
        """End a device's test without arming it."""
        return await self._on_device(
            request, lambda _, device, by: end_open_test(self._shop.desk, device, by)
        )

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def certify(self, request: Request) -> Response:
        """Certify a device that passed, and arm it."""

        def act(piece: Workpiece, device: str, by: tuple[Person, ...]) -> None:
            pdf, _ = certify(self._shop.desk, device, by)
            self._keep(piece, f"certificate-{_file_word(self._name(device))}.pdf", pdf)

        return await self._on_device(request, act)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def zero(self, request: Request) -> Response:
        """Print that an armed device stands at zero."""

        def act(piece: Workpiece, device: str, by: tuple[Person, ...]) -> None:
            pdf = report_zero(self._shop.desk, device, by)
            self._keep(piece, f"zero-report-{_file_word(self._name(device))}.pdf", pdf)

        return await self._on_device(request, act)

    async def _on_device(
        self, request: Request, act: Callable[[Workpiece, str, tuple[Person, ...]], object]
    ) -> Response:
        posted = await self._shop.forms.read(request)
        piece = self._shop.piece(request)

        def work() -> Response:
            try:
                device = posted.text("device")
                if device not in self._shop.desk.facts().names:
                    raise BadEntry("this device is not enrolled: both sides enrol it first (device enrol)")
                act(piece, device, self._shop.both)
            except OperatorError as error:
                return self._devices(piece, str(error))
            return go(f"/programs/{piece.id}/devices")

        return await self._shop.work(work)

    def _keep(self, piece: Workpiece, name: str, pdf: bytes) -> None:
        folder = piece.folder / PAPERS
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(pdf)

    def _name(self, device: str) -> str:
        return self._shop.desk.facts().names[device]


def _shown_differing(comparison: Comparison) -> frozenset[int]:
    """Return the records of the sheets that differ, once the deck is through: before, nobody is told."""
    if comparison.hindrances:
        return frozenset()
    return frozenset(one.judged_n for one in comparison.differences if one.judged_n)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise OperatorError(f"{path.name} cannot be read: {error.strerror}") from error


def _file_word(name: str) -> str:
    return "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in name)[:40]


def _make_deck(piece: Workpiece, posted: Posted) -> None:
    _, program = piece.program()
    foreign = posted.file("foreign").data
    path = piece.keep_foreign(foreign) if foreign else None
    source = read_source(program, piece.folder / SPEC, path)
    if not piece.deck_folder.exists():
        try:
            make_deck(source, piece.deck_folder)
        except OSError as error:
            raise OperatorError(f"the deck cannot be written: {error.strerror}") from error


def _tested(facts: Facts, piece: Workpiece, device: str, program: Program, ledger: Ledger) -> Tested:
    name = facts.names[device]
    told = facts.devices.get(device)
    armed = told.arming.armed if told is not None else None
    is_armed = armed is not None and armed.program == program.program_hash
    comparison = None
    with suppress(OperatorError):
        test = last_test(facts, device)
        if test.body["program"] == program.program_hash:
            comparison = compare(facts, test)
    differing = _shown_differing(comparison) if comparison is not None else frozenset[int]()
    word = _file_word(name)
    papers = (f"certificate-{word}.pdf", f"zero-report-{word}.pdf")
    return Tested(
        device, name, open_test(facts.acts, device) is not None, is_armed,
        why_not=why_not_live(facts, device, program.program_hash), comparison=comparison,
        paper_names=tuple(paper for paper in papers if (piece.folder / PAPERS / paper).exists()),
        pictured=frozenset(n for n in differing if ledger.crop(device, n) is not None),
    )  # fmt: skip
