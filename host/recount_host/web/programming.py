"""The pages on which a program is made of a blank ballot, proved and signed; `proving` has those of devices.

A shell over the workbench and the draft: each step is a form that says what to do next, and works without the
script, which only spares people the numbers. Everything heavy is done one thing at a time.
"""

import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recount_classifier.program import Program
from recount_host.commands.program_add import add_program
from recount_host.errors import OperatorError
from recount_host.law.contest import contests_of
from recount_host.law.errors import BadEntry
from recount_host.law.persons import in_words, parse_person
from recount_host.programs.drawing import encode_png
from recount_host.programs.proof import print_proof, proof_pictures
from recount_host.programs.workbench import WorkbenchError, Workpiece
from recount_host.signatures import Signature
from recount_host.web.access import Access, open_to
from recount_host.web.placing import PlacesForm, first_form, form_again, read_places
from recount_host.web.shop import NEVER_STORED, Shop, go, pdf


class Programming:
    """The pages of the workshop."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        self._drawing = threading.Lock()

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
        }
        sent: dict[str, Any] = {
            "": self.begin,
            "/{piece}/styles": self.add_style,
            "/{piece}/contest": self.choose,
            "/{piece}/places": self.build,
            "/{piece}/sign": self.sign,
            "/{piece}/add": self.add,
        }
        return self._shop.routes_of(shown, sent)

    # 1. The blank ballot, and the contest on it

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def all(self, _request: Request) -> Response:
        """Show every program in the making, and the form to begin one."""
        return self._all()

    def _all(self, wrong: str = "") -> Response:
        pieces = [self._told(self._shop.bench.piece(piece)) for piece in self._shop.bench.ids()]
        return self._shop.page("programs.html", "Programs", wrong, pieces=pieces)

    def _told(self, piece: Workpiece) -> tuple[str, str, str]:
        """Return id, title and where it stands."""
        if not piece.is_built:
            return piece.id, "A blank ballot", "its contest is not placed yet"
        with suppress(OperatorError):
            _, program = piece.program()
            in_ledger = program.program_hash in contests_of(self._shop.desk.facts().acts)
            standing = "in the ledger" if in_ledger else f"signed by {len(piece.signatures())} of 2"
            return piece.id, f"{program.title} ({program.program_hash.hex()[:8]})", standing
        return piece.id, "A program", "its file is damaged"

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def begin(self, request: Request) -> Response:
        """Take the blank of the first ballot style."""
        posted = await self._shop.forms.read(request, files=True)

        def work() -> Response:
            dpi = posted.text("dpi")
            try:
                given = float(dpi) if dpi else None
            except ValueError:
                return self._all(f'"{dpi}" is no resolution: write a number such as 200')
            front, back = posted.file("front"), posted.file("back")
            try:
                piece = self._shop.bench.begin(front.name, front.data, back.data, given)
            except OperatorError as error:
                return self._all(str(error))
            return go(f"/programs/{piece.id}")

        return await self._shop.work(work)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def add_style(self, request: Request) -> Response:
        """Take the blank of one more ballot style."""
        posted = await self._shop.forms.read(request, files=True)
        piece = self._shop.piece(request)

        def work() -> Response:
            front, back = posted.file("front"), posted.file("back")
            try:
                piece.add_style(front.name, front.data, back.data)
            except OperatorError as error:
                return self._contests(piece, str(error))
            return go(f"/programs/{piece.id}")

        return await self._shop.work(work)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def contests(self, request: Request) -> Response:
        """Show what was found on the blanks, to choose the contest from."""
        return self._contests(self._shop.piece(request))

    def _contests(self, piece: Workpiece, wrong: str = "") -> Response:
        pages = [
            (number, side, [one for one in piece.found if one.on is side])
            for number, side in enumerate(piece.sides)
        ]
        styles = tuple(dict.fromkeys(side.style for side in piece.sides))
        chosen = {one.number for one in piece.chosen}
        title = "Which contest is recounted?"
        return self._shop.page(
            "program_contests.html", title, wrong, piece=piece, pages=pages, styles=styles, chosen=chosen
        )

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def page_picture(self, request: Request) -> Response:
        """Show one page of a blank."""
        piece, number = self._shop.piece(request), request.path_params["page"]
        if number >= len(piece.sides):
            raise WorkbenchError("there is no such page")
        return Response(encode_png(piece.sides[number].page), media_type="image/png")

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def choose(self, request: Request) -> Response:
        """Take the contest that a person chose on each style."""
        posted = await self._shop.forms.read(request)
        piece = self._shop.piece(request)
        told = [value for name, value in posted.fields.items() if name.startswith("contest")]
        numbers = [int(value) for value in told if value.isdecimal() and len(value) < 6]

        def work() -> Response:
            try:
                piece.choose(numbers)
            except OperatorError as error:
                return self._contests(piece, str(error))
            return go(f"/programs/{piece.id}/places")

        return await self._shop.work(work)

    # 2. Its targets and names

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def places(self, request: Request) -> Response:
        """Show the contest with its targets, to be named."""
        piece = self._shop.piece(request)
        if not piece.chosen:
            return go(f"/programs/{piece.id}")
        return self._places(piece, self._first_form(piece))

    def _first_form(self, piece: Workpiece) -> PlacesForm:
        return first_form(piece.chosen, piece.sides, piece.dpi, self._shop.order)

    def _places(self, piece: Workpiece, form: PlacesForm, wrong: str = "") -> Response:
        title = "Check the targets and write the names"
        return self._shop.page("program_places.html", title, wrong, piece=piece, form=form)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def build(self, request: Request) -> Response:
        """Build the program from what the form says."""
        posted = await self._shop.forms.read(request)
        piece = self._shop.piece(request)

        def work() -> Response:
            try:
                placed, said = read_places(piece.chosen, posted.fields, piece.dpi, self._shop.order)
                piece.build(placed, said)
            except OperatorError as error:
                return self._places(piece, form_again(self._first_form(piece), posted.fields), str(error))
            return go(f"/programs/{piece.id}/proof")

        return await self._shop.work(work)

    # 3. Its proof and signatures

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def proof(self, request: Request) -> Response:
        """Show the redline proof, to be compared with the paper and signed."""
        return self._proof(self._shop.piece(request))

    def _proof(self, piece: Workpiece, wrong: str = "") -> Response:
        if not piece.is_built:
            return go(f"/programs/{piece.id}/places")
        _, program = piece.program()
        signatures = piece.signatures()
        signed = {side.key: _signer_of(signatures, side.key) for side in self._shop.order.sides}
        count = sum(bool(name) for name in signed.values())
        in_ledger = program.program_hash in contests_of(self._shop.desk.facts().acts)
        return self._shop.page(
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
                piece.proof_pages = (mark, proof_pictures(program, self._shop.side_names, told))
            return piece.proof_pages[1]

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def proof_picture(self, request: Request) -> Response:
        """Show one page of the proof."""
        piece = self._shop.piece(request)
        pages = self._proof_pages(piece, piece.program()[1])
        number = request.path_params["page"]
        if not 1 <= number <= len(pages):
            raise WorkbenchError("the proof has no such page")
        return Response(pages[number - 1], media_type="image/png", headers=NEVER_STORED)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    def proof_pdf(self, request: Request) -> Response:
        """Give the proof as PDF, to be printed."""
        piece = self._shop.piece(request)
        _, program = piece.program()
        told = [f"{s.name} (key {s.fingerprint})" for s in piece.signatures()]
        return pdf(print_proof(program, self._shop.side_names, told), "proof.pdf")

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def sign(self, request: Request) -> Response:
        """Sign for a person of one side."""
        posted = await self._shop.forms.read(request)
        piece = self._shop.piece(request)

        def work() -> Response:
            try:
                side = posted.text("side")
                person = next((one for one in self._shop.both if one.side == side), None)
                if person is None:
                    raise BadEntry("nobody of this side is signed in: sign in first")
                piece.sign(in_words(person), side, posted.text("program"))
            except OperatorError as error:
                return self._proof(piece, str(error))
            return go(f"/programs/{piece.id}/proof#sign")

        return await self._shop.work(work)

    @open_to(Access.BOTH_SIDES_AT_THE_HOST)
    async def add(self, request: Request) -> Response:
        """Take the signed program into the ledger."""
        await self._shop.forms.read(request)
        piece = self._shop.piece(request)

        def work() -> Response:
            try:
                data, program = piece.program()
                signatures = piece.signatures()
                by = self._shop.persons
                add_program(self._shop.desk, data, program, signatures, by)
            except OperatorError as error:
                return self._proof(piece, str(error))
            return go(f"/programs/{piece.id}/devices")

        return await self._shop.work(work)


def _signer_of(signatures: Sequence[Signature], side: str) -> str:
    """Return who signed for a side; empty where nobody has."""
    names = [parse_person(signature.name) for signature in signatures]
    return next((person.name for person in names if person.side == side), "")
