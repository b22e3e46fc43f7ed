"""The pages on which a program is made of a blank ballot, proved, signed, and devices are armed with it.

A shell over the workbench, the draft and the gate: each step is a form that says what to do next, and works
without the script, which only spares people the numbers. Everything heavy is done one thing at a time.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import cv2
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from recount_classifier.program import Program
from recount_host.act import Person
from recount_host.commands.desk import Desk
from recount_host.commands.program_add import add_program
from recount_host.decks.deck_make import make_deck
from recount_host.decks.gate import begin_test, certify, end_open_test, last_test, report_zero
from recount_host.decks.making import read_source
from recount_host.errors import OperatorError
from recount_host.law.contest import contests_of
from recount_host.law.errors import BadEntry
from recount_host.law.live import open_test, why_not_live
from recount_host.law.logic_accuracy import Comparison, compare
from recount_host.law.persons import parse_person
from recount_host.law.precinct import Facts
from recount_host.order import Order
from recount_host.programs.drawing import encode_png
from recount_host.programs.proof import print_proof, proof_pictures
from recount_host.programs.workbench import SPEC, Workbench, WorkbenchError, Workpiece
from recount_host.signatures import Signature
from recount_host.web.access import Access, open_to
from recount_host.web.placing import PlacesForm, first_form, form_again, read_places
from recount_host.web.posted import Forms, Posted

DECK_PAPERS = ("overlays.pdf", "marking-guide.pdf", "expected.pdf")
PAPERS = "papers"
"""In a workpiece's folder: certificates and zero reports."""
_NEVER_STORED = {"cache-control": "no-store"}


@dataclass(frozen=True, slots=True)
class Workshop:
    """What the pages work with: the open ledger, and the place where programs are made."""

    desk: Desk
    bench: Workbench


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


class Programming:
    """The pages of the workshop."""

    def __init__(self, workshop: Workshop, render: Callable[..., str]) -> None:
        self._desk, self._bench = workshop.desk, workshop.bench
        self._render = render
        self._forms = Forms()
        self._drawing, self._writing = threading.Lock(), threading.Lock()

    @property
    def routes(self) -> list[Route]:
        """The addresses of these pages; what writes takes POST only."""
        shown: dict[str, Any] = {
            "": self.all,
            "/{piece}": self.contests,
            "/{piece}/pages/{page:int}.png": self.page_picture,
            "/{piece}/places": self.places,
            "/{piece}/proof": self.proof,
            "/{piece}/proof/{page:int}.png": self.proof_picture,
            "/{piece}/proof.pdf": self.proof_pdf,
            "/{piece}/devices": self.devices,
            "/{piece}/deck/{name}": self.deck_paper,
            "/{piece}/papers/{name}": self.paper,
        }
        sent: dict[str, Any] = {
            "": self.begin,
            "/{piece}/styles": self.add_style,
            "/{piece}/contest": self.choose,
            "/{piece}/places": self.build,
            "/{piece}/sign": self.sign,
            "/{piece}/add": self.add,
            "/{piece}/deck": self.make_deck,
            "/{piece}/test": self.test,
            "/{piece}/end": self.end,
            "/{piece}/certify": self.certify,
            "/{piece}/zero": self.zero,
        }
        return [
            *(Route(f"/programs{path}", endpoint) for path, endpoint in shown.items()),
            *(Route(f"/programs{path}", endpoint, methods=["POST"]) for path, endpoint in sent.items()),
        ]

    # 1. The blank ballot, and the contest on it

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def all(self, _request: Request) -> Response:
        """Show every program in the making, and the form to begin one."""
        return self._all()

    def _all(self, wrong: str = "") -> Response:
        pieces = [self._told(self._bench.piece(piece)) for piece in self._bench.ids()]
        return self._page("programs.html", "Programs", wrong, pieces=pieces)

    def _told(self, piece: Workpiece) -> tuple[str, str, str]:
        """Return id, title and where it stands."""
        if not piece.is_built:
            return piece.id, "A blank ballot", "its contest is not placed yet"
        with suppress(OperatorError):
            _, program = piece.program()
            in_ledger = program.program_hash in contests_of(self._desk.facts().acts)
            standing = "in the ledger" if in_ledger else f"signed by {len(piece.signatures())} of 2"
            return piece.id, f"{program.title} ({program.program_hash.hex()[:8]})", standing
        return piece.id, "A program", "its file is damaged"

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def begin(self, request: Request) -> Response:
        """Take the blank of the first ballot style."""
        posted = await self._forms.read(request, files=True)

        def work() -> Response:
            dpi = posted.text("dpi")
            try:
                given = float(dpi) if dpi else None
            except ValueError:
                return self._all(f'"{dpi}" is no resolution: write a number such as 200')
            front, back = posted.file("front"), posted.file("back")
            try:
                piece = self._bench.begin(front.name, front.data, back.data, given)
            except OperatorError as error:
                return self._all(str(error))
            return _go(f"/programs/{piece.id}")

        return await self._work(work)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def add_style(self, request: Request) -> Response:
        """Take the blank of one more ballot style."""
        posted = await self._forms.read(request, files=True)
        piece = self._piece(request)

        def work() -> Response:
            front, back = posted.file("front"), posted.file("back")
            try:
                piece.add_style(front.name, front.data, back.data)
            except OperatorError as error:
                return self._contests(piece, str(error))
            return _go(f"/programs/{piece.id}")

        return await self._work(work)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def contests(self, request: Request) -> Response:
        """Show what was found on the blanks, to choose the contest from."""
        return self._contests(self._piece(request))

    def _contests(self, piece: Workpiece, wrong: str = "") -> Response:
        pages = [
            (number, side, [one for one in piece.found if one.on is side])
            for number, side in enumerate(piece.sides)
        ]
        styles = tuple(dict.fromkeys(side.style for side in piece.sides))
        chosen = {one.number for one in piece.chosen}
        title = "Which contest is recounted?"
        return self._page(
            "program_contests.html", title, wrong, piece=piece, pages=pages, styles=styles, chosen=chosen
        )

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def page_picture(self, request: Request) -> Response:
        """Show one page of a blank."""
        piece, number = self._piece(request), request.path_params["page"]
        if number >= len(piece.sides):
            raise WorkbenchError("there is no such page")
        return Response(encode_png(piece.sides[number].page), media_type="image/png")

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def choose(self, request: Request) -> Response:
        """Take the contest that a person chose on each style."""
        posted = await self._forms.read(request)
        piece = self._piece(request)
        told = [value for name, value in posted.fields.items() if name.startswith("contest")]
        numbers = [int(value) for value in told if value.isdecimal() and len(value) < 6]

        def work() -> Response:
            try:
                piece.choose(numbers)
            except OperatorError as error:
                return self._contests(piece, str(error))
            return _go(f"/programs/{piece.id}/places")

        return await self._work(work)

    # 2. Its targets and names

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def places(self, request: Request) -> Response:
        """Show the contest with its targets, to be named."""
        piece = self._piece(request)
        if not piece.chosen:
            return _go(f"/programs/{piece.id}")
        return self._places(piece, self._first_form(piece))

    def _first_form(self, piece: Workpiece) -> PlacesForm:
        return first_form(piece.chosen, piece.sides, piece.dpi, self._order)

    def _places(self, piece: Workpiece, form: PlacesForm, wrong: str = "") -> Response:
        title = "Check the targets and write the names"
        return self._page("program_places.html", title, wrong, piece=piece, form=form)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def build(self, request: Request) -> Response:
        """Build the program from what the form says."""
        posted = await self._forms.read(request)
        piece = self._piece(request)

        def work() -> Response:
            try:
                placed, said = read_places(piece.chosen, posted.fields, piece.dpi, self._order)
                piece.build(placed, said)
            except OperatorError as error:
                return self._places(piece, form_again(self._first_form(piece), posted.fields), str(error))
            return _go(f"/programs/{piece.id}/proof")

        return await self._work(work)

    # 3. Its proof and signatures

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def proof(self, request: Request) -> Response:
        """Show the redline proof, to be compared with the paper and signed."""
        return self._proof(self._piece(request))

    def _proof(self, piece: Workpiece, wrong: str = "") -> Response:
        if not piece.is_built:
            return _go(f"/programs/{piece.id}/places")
        _, program = piece.program()
        signatures = piece.signatures()
        signed = {side.key: _signer_of(signatures, side.key) for side in self._order.sides}
        count = sum(bool(name) for name in signed.values())
        in_ledger = program.program_hash in contests_of(self._desk.facts().acts)
        return self._page(
            "program_proof.html", "Compare the proof with the paper ballot", wrong,
            piece=piece, program=program, signed=signed, count=count, in_ledger=in_ledger,
            numbers=range(1, len(self._proof_pages(piece, program)) + 1),
        )  # fmt: skip

    def _proof_pages(self, piece: Workpiece, program: Program) -> list[bytes]:
        """Return the proof's pages as pictures, made once for the program and its signatures."""
        told = [f"{s.name} (key {s.fingerprint})" for s in piece.signatures()]
        mark = f"{program.program_hash.hex()} {told}"
        with self._drawing:
            if piece.proof_pages is None or piece.proof_pages[0] != mark:
                piece.proof_pages = (mark, proof_pictures(program, self._side_names, told))
            return piece.proof_pages[1]

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def proof_picture(self, request: Request) -> Response:
        """Show one page of the proof."""
        piece = self._piece(request)
        pages = self._proof_pages(piece, piece.program()[1])
        number = request.path_params["page"]
        if not 1 <= number <= len(pages):
            raise WorkbenchError("the proof has no such page")
        return Response(pages[number - 1], media_type="image/png", headers=_NEVER_STORED)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def proof_pdf(self, request: Request) -> Response:
        """Give the proof as PDF, to be printed."""
        piece = self._piece(request)
        _, program = piece.program()
        told = [f"{s.name} (key {s.fingerprint})" for s in piece.signatures()]
        return _pdf(print_proof(program, self._side_names, told), "proof.pdf")

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def sign(self, request: Request) -> Response:
        """Sign for a person of one side."""
        posted = await self._forms.read(request)
        piece = self._piece(request)

        def work() -> Response:
            try:
                side, name = posted.text("side"), posted.text("name")
                if side not in self._order.side_keys:
                    raise BadEntry("say for which side you sign")
                if not name:
                    raise BadEntry("write the name of the person who signs")
                person = parse_person(f"{name}, official, {side}")
                piece.sign(f"{person.name}, {person.role}, {person.side}", side, posted.text("program"))
            except OperatorError as error:
                return self._proof(piece, str(error))
            return _go(f"/programs/{piece.id}/proof#sign")

        return await self._work(work)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def add(self, request: Request) -> Response:
        """Take the signed program into the ledger."""
        await self._forms.read(request)
        piece = self._piece(request)

        def work() -> Response:
            try:
                data, program = piece.program()
                signatures = piece.signatures()
                by = _signers(signatures, self._order)
                add_program(self._desk, data, program, signatures, by)
            except OperatorError as error:
                return self._proof(piece, str(error))
            return _go(f"/programs/{piece.id}/devices")

        return await self._work(work)

    # 4. The deck, and the devices that run it

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def devices(self, request: Request) -> Response:
        """Show the deck, and how each device stands with it."""
        return self._devices(self._piece(request))

    def _devices(self, piece: Workpiece, wrong: str = "") -> Response:
        if not piece.is_built:
            return _go(f"/programs/{piece.id}/places")
        facts, (_, program) = self._desk.facts(), piece.program()
        if program.program_hash not in contests_of(facts.acts):
            return _go(f"/programs/{piece.id}/proof")
        deck = piece.deck()
        rows = [_tested(facts, piece, device, program) for device in facts.names]
        waiting = any(row.is_waiting for row in rows)
        rows.sort(key=lambda row: row.name)
        by = _signers(piece.signatures(), self._order)
        return self._page(
            "program_devices.html", "Test each device with the deck", wrong, piece=piece, program=program,
            deck=None if deck is None else deck[1], rows=rows, papers=DECK_PAPERS, by=by,
            refresh=waiting,
        )  # fmt: skip

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def make_deck(self, request: Request) -> Response:
        """Make the logic-and-accuracy deck of the program."""
        posted = await self._forms.read(request, files=True)
        piece = self._piece(request)

        def work() -> Response:
            try:
                _make_deck(piece, posted)
            except OperatorError as error:
                return self._devices(piece, str(error))
            return _go(f"/programs/{piece.id}/devices")

        return await self._work(work)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def deck_paper(self, request: Request) -> Response:
        """Give one of the deck's papers."""
        piece, name = self._piece(request), request.path_params["name"]
        if name not in DECK_PAPERS:
            raise WorkbenchError("the deck has no such paper")
        return _pdf(_read(piece.deck_folder / name), name)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def paper(self, request: Request) -> Response:
        """Give a certificate or a zero report that was made here."""
        piece, name = self._piece(request), request.path_params["name"]
        folder = piece.folder / PAPERS
        if name not in {path.name for path in folder.glob("*.pdf")}:
            raise WorkbenchError("there is no such paper")
        return _pdf(_read(folder / name), name)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def test(self, request: Request) -> Response:
        """Give a device the deck to run."""

        def act(piece: Workpiece, device: str, by: tuple[Person, ...]) -> None:
            deck = piece.deck()
            if deck is None:
                raise OperatorError("make the deck first")
            begin_test(self._desk, device, piece.program()[1], deck[0], by)

        return await self._on_device(request, act)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def end(self, request: Request) -> Response:
        """End a device's test without arming it."""
        return await self._on_device(request, lambda _, device, by: end_open_test(self._desk, device, by))

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def certify(self, request: Request) -> Response:
        """Certify a device that passed, and arm it."""

        def act(piece: Workpiece, device: str, by: tuple[Person, ...]) -> None:
            pdf, _ = certify(self._desk, device, by)
            self._keep(piece, f"certificate-{_file_word(self._name(device))}.pdf", pdf)

        return await self._on_device(request, act)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def zero(self, request: Request) -> Response:
        """Print that an armed device stands at zero."""

        def act(piece: Workpiece, device: str, by: tuple[Person, ...]) -> None:
            pdf = report_zero(self._desk, device, by)
            self._keep(piece, f"zero-report-{_file_word(self._name(device))}.pdf", pdf)

        return await self._on_device(request, act)

    async def _on_device(
        self, request: Request, act: Callable[[Workpiece, str, tuple[Person, ...]], object]
    ) -> Response:
        posted = await self._forms.read(request)
        piece = self._piece(request)

        def work() -> Response:
            try:
                device = posted.text("device")
                if device not in self._desk.facts().names:
                    raise BadEntry("this device is not enrolled: both sides enrol it first (device enrol)")
                by = tuple(
                    parse_person(f"{posted.text(f'by-{key}')}, official, {key}")
                    for key in self._order.side_keys
                    if posted.text(f"by-{key}")
                )
                act(piece, device, by)
            except OperatorError as error:
                return self._devices(piece, str(error))
            return _go(f"/programs/{piece.id}/devices")

        return await self._work(work)

    def _keep(self, piece: Workpiece, name: str, pdf: bytes) -> None:
        folder = piece.folder / PAPERS
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(pdf)

    def _name(self, device: str) -> str:
        return self._desk.facts().names[device]

    # What all have in common

    @property
    def _order(self) -> Order:
        return self._desk.facts().order

    @property
    def _side_names(self) -> list[str]:
        return [side.name for side in self._order.sides]

    def _piece(self, request: Request) -> Workpiece:
        return self._bench.piece(request.path_params["piece"])

    async def _work(self, work: Callable[[], Response]) -> Response:
        def alone() -> Response:
            with self._writing:
                cv2.setNumThreads(1)
                return work()

        return await run_in_threadpool(alone)

    def _page(self, template: str, title: str, wrong: str, **values: Any) -> Response:
        html = self._render(
            template, title=title, wrong=wrong, order=self._order, token=self._forms.token, **values
        )
        status = HTTPStatus.UNPROCESSABLE_ENTITY if wrong else HTTPStatus.OK
        return HTMLResponse(html, status, headers=_NEVER_STORED)


def _go(path: str) -> Response:
    return RedirectResponse(path, HTTPStatus.SEE_OTHER)


def _pdf(data: bytes, name: str) -> Response:
    headers = {"content-disposition": f'inline; filename="{name}"', **_NEVER_STORED}
    return Response(data, media_type="application/pdf", headers=headers)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise OperatorError(f"{path.name} cannot be read: {error.strerror}") from error


def _file_word(name: str) -> str:
    return "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in name)[:40]


def _signer_of(signatures: Sequence[Signature], side: str) -> str:
    """Return who signed for a side; empty where nobody has."""
    names = [parse_person(signature.name) for signature in signatures]
    return next((person.name for person in names if person.side == side), "")


def _signers(signatures: Sequence[Signature], order: Order) -> tuple[Person, ...]:
    """Return the first two persons of different sides who signed."""
    found = {}
    for signature in signatures:
        person = parse_person(signature.name)
        if person.side in order.side_keys:
            found.setdefault(person.side, person)
    return tuple(found.values())[:2]


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


def _tested(facts: Facts, piece: Workpiece, device: str, program: Program) -> Tested:
    name = facts.names[device]
    told = facts.devices.get(device)
    armed = told.arming.armed if told is not None else None
    is_armed = armed is not None and armed.program == program.program_hash
    comparison = None
    with suppress(OperatorError):
        test = last_test(facts, device)
        if test.body["program"] == program.program_hash:
            comparison = compare(facts, test)
    word = _file_word(name)
    papers = (f"certificate-{word}.pdf", f"zero-report-{word}.pdf")
    return Tested(
        device, name, open_test(facts.acts, device) is not None, is_armed,
        why_not=why_not_live(facts, device, program.program_hash), comparison=comparison,
        paper_names=tuple(paper for paper in papers if (piece.folder / PAPERS / paper).exists()),
    )  # fmt: skip
