"""From a contest program and its blanks to a whole deck: sheets, pictures, expected results."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import msgspec

from recount_ballots.blank import draw_blank
from recount_ballots.names import random_design
from recount_classifier.errors import BlankError
from recount_classifier.program import Program
from recount_classifier.raster import Grey
from recount_classifier.reading import read_sheet
from recount_host.decks.composition import Plan, compose
from recount_host.decks.drawing import MM_PER_INCH, StyleBlank, draw_back, draw_sheet, is_printed
from recount_host.errors import OperatorError
from recount_host.given_files import read_given
from recount_host.law.deck import OTHER_BALLOT, Deck, DeckSheet
from recount_host.programs.blanks import read_blank
from recount_host.programs.building import program_of
from recount_host.programs.spec import MAX_SPEC_BYTES, ProgramSpec, SpecError, StyleSpec, parse_spec
from recount_protocol.fates import NOT_ACCEPTED

_INVENTED = range(802_2, 802_2 + 40)
"""Seeds of invented ballots, one of which stands for another style where no blank of one is given."""
_READINGS = 8
"""A ballot of another style is scanned so often when a deck is made, first as it lies in the deck: each time
it must be told as one."""


@dataclass(frozen=True)
class Source:
    """A contest program with the spec and the blanks that it was built from."""

    program: Program
    blanks: dict[str, StyleBlank]
    """By the id of their style."""
    foreign: Grey
    """A ballot of another style."""
    foreign_is_drawn: bool
    """Whether it is an invented ballot, drawn here: it may be printed."""

    @property
    def two_sided(self) -> frozenset[str]:
        """Return the styles whose sheets come back when they lie face down.

        Of the others the program does not know the other side, or finds too little print there to be sure:
        such a sheet may land in the tray NOT ACCEPTED as well, and which of the two is no matter of a test.
        """
        return frozenset(style for style, blank in self.blanks.items() if self._knows_other_side(blank))

    def _knows_other_side(self, blank: StyleBlank) -> bool:
        return blank.other is not None and all(
            read_sheet([side], self.program, expects_test=True).reasons == ("wrong_side",)
            for side in (blank.other, draw_back(blank.spec.id, blank.other))
        )


def read_source(program: Program, spec_path: Path, foreign: Path | None) -> Source:
    """Return what the deck is made from.

    Raises OperatorError where the spec cannot be read, is not the one of this program, or keeps no place for
    the TEST mark.
    """
    try:
        spec = parse_spec(read_given(spec_path, "the spec", MAX_SPEC_BYTES))
        rebuilt = program_of(spec, spec_path.parent)
    except (SpecError, BlankError) as error:
        raise OperatorError(f"{spec_path}: {error}") from error
    if rebuilt.program_hash != program.program_hash:
        raise OperatorError(
            f"{spec_path} with its blanks gives another program ({rebuilt.program_hash.hex()[:16]}) than the "
            f"one given ({program.program_hash.hex()[:16]}): use the spec and the blanks it was built from"
        )
    for style in spec.styles:
        if style.test_mark is None:
            raise OperatorError(
                f"{spec_path}: style {style.id} keeps no place for the TEST mark: add test_mark, a place "
                "empty on the blank, and build the program again"
            )
    blanks = {style.id: _blank(spec, style, spec_path.parent) for style in spec.styles}
    if foreign is None:
        return Source(program, blanks, _invented(spec, program, blanks), foreign_is_drawn=True)
    other = read_blank(foreign.name, foreign.parent, spec.dpi)
    if not _is_foreign(other, program, blanks):
        raise OperatorError(
            "the blank given as one of another style bears this contest just as the program's own do, or is "
            "not surely told from them: give a blank without this contest, or with other names at its place, "
            "or none"
        )
    return Source(program, blanks, other, foreign_is_drawn=False)


def _invented(spec: ProgramSpec, program: Program, blanks: Mapping[str, StyleBlank]) -> Grey:
    """Return the blank of a ballot that nobody was ever given. Raises OperatorError where none can be had."""
    drawn = (draw_blank(random_design(seed), dpi=spec.dpi).image for seed in _INVENTED)
    found = next((blank for blank in drawn if _is_foreign(blank, program, blanks)), None)
    if found is None:
        raise OperatorError(
            "no invented ballot is surely told from this program's own: give a blank of another style "
            "(--foreign)"
        )
    return found


def _is_foreign(blank: Grey, program: Program, blanks: Mapping[str, StyleBlank]) -> bool:
    """Return whether a ballot is told as one of another style, each time that it is scanned."""
    plan = next(plan for plan in compose(program) if plan.foreign)
    code = _code(plan, 0)
    codes = (code if n == 0 else f"{code} {n}" for n in range(_READINGS))
    pictures = (draw_sheet(plan, one, blanks[plan.style], blank) for one in codes)
    verdicts = (read_sheet([picture], program, expects_test=True) for picture in pictures)
    return all(one.fate == NOT_ACCEPTED and OTHER_BALLOT.issuperset(one.reasons) for one in verdicts)


def _blank(spec: ProgramSpec, style: StyleSpec, folder: Path) -> StyleBlank:
    other = None if style.other_side is None else read_blank(style.other_side, folder, spec.dpi)
    return StyleBlank(style, spec.dpi, read_blank(style.blank, folder, spec.dpi), other)


def plan_deck(source: Source) -> tuple[Deck, tuple[Plan, ...]]:
    """Return the deck with the plan of each of its sheets."""
    plans = tuple(compose(source.program, source.two_sided))
    sheets: list[DeckSheet] = []
    papers = count(1)
    for plan in plans:
        sheets.append(_again(sheets[-1], plan) if plan.again else _sheet(source, next(papers), plan))
    for n, plan in enumerate(plans):
        if plan.comes_back == "double_feed":
            stuck = {"kind": "double_feed", "sheets": [sheets[n].code, sheets[n + 1].code]}
            sheets[n] = msgspec.structs.replace(sheets[n], fault=stuck)
    program = source.program
    return (
        Deck(
            title=f"Logic and accuracy: {program.title}"[:200],
            contest=program.key,
            program=program.program_hash.hex(),
            options=tuple(option.key for option in program.printed_options),
            sheets=tuple(sheets),
        ),
        plans,
    )


def _code(plan: Plan, number: int) -> str:
    """Return what stands beside TEST; that of the foreign sheet is known before the deck is numbered."""
    return f"{plan.style}-foreign" if plan.foreign else f"{plan.style}-{number:03}"


def _sheet(source: Source, number: int, plan: Plan) -> DeckSheet:
    code = _code(plan, number)
    blank = source.blanks[plan.style]
    return DeckSheet(
        code=code,
        style=plan.style,
        what=plan.what[:200],
        fate=plan.fate,
        choices=plan.choices,
        reasons=tuple(sorted(plan.reasons)),
        comes_back=plan.comes_back,
        turned=plan.turned,
        face_down=plan.face_down,
        test_mark=plan.test_mark,
        front=f"pictures/{code}.png",
        back=f"pictures/{code}-other.png" if plan.face_down else "",
        length_mm=plan.cut_mm or round(blank.image.shape[0] / blank.dpi * MM_PER_INCH, 1),
    )


def _again(first: DeckSheet, plan: Plan) -> DeckSheet:
    """Return the line of the deck on which the sheet before it is fed a second time."""
    code = f"{first.code}-again"
    return msgspec.structs.replace(
        first, code=code, what=plan.what[:200], fate=plan.fate, choices=plan.choices, reasons=plan.reasons,
        front=f"pictures/{code}.png", again=first.code,
    )  # fmt: skip


def draw_deck(source: Source, deck: Deck, plans: tuple[Plan, ...]) -> Iterator[tuple[str, Grey]]:
    """Yield the name and the picture of every side that a sheet of the deck shows, head first."""
    for sheet, plan in zip(deck.sheets, plans, strict=True):
        blank = source.blanks[plan.style]
        yield sheet.front, draw_sheet(plan, sheet.again or sheet.code, blank, source.foreign)
        if sheet.back and blank.other is not None:
            yield sheet.back, draw_back(sheet.code, blank.other)


def by_hand(plan: Plan) -> Plan:
    """Return the plan without what its overlay prints: what people have to do with pens and cups."""
    return replace(
        plan, marks={spot: kind for spot, kind in plan.marks.items() if not is_printed(plan, kind)}
    )
