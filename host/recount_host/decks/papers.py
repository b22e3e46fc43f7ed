"""The deck on paper: overlays for a printer, the guide for marking by hand, and the expected results."""

from collections.abc import Mapping, Sequence
from typing import Any

from recount_ballots.layout import Rect
from recount_classifier.thresholds import thresholds_hash, thresholds_sentence
from recount_host.decks.composition import KIND_WORDS, WORDS, Marks, Plan, Spot
from recount_host.decks.drawing import MM_PER_INCH, is_printed, printed_mark
from recount_host.decks.making import Source, by_hand
from recount_host.forms.logic_accuracy import option_names
from recount_host.forms.pages import print_form
from recount_host.law.deck import Deck, DeckSheet, Totals, expected_totals
from recount_host.plain_words import plain_words
from recount_host.programs.drawing import encode_png

DATE_UTC = "2000-01-01T00:00:00Z"
"""The date in a deck's files: the same program gives the same bytes, whenever it is made."""
SHORT = 8
"""Hexadecimal digits of a hash that stand on every page."""
FOREIGN_PICTURE = "foreign.png"

TOOL_WORDS = {
    "black_pen": "black pen",
    "blue_pen": "blue pen",
    "red_pen": "red pen",
    "gel_pen": "gel pen",
    "marker": "felt pen",
    "pencil": "pencil",
    "faint_pencil": "hard pencil, so lightly that the grey is hardly seen",
}
DAMAGE_WORDS = {
    "fold": "fold it across, away from the contest, and unfold it",
    "stain": "put a wet coffee cup on it, away from the contest",
    "smudge": "rub soft pencil over it with a finger, away from the contest, to a grey smudge",
    "bleed_through": "fill many targets of the other side with a felt pen",
    "words": f"write {WORDS} on it in big letters, away from the contest and from TEST, felt pen",
    "covered": "stick a slip of white paper over the first target of the contest, as large as the target",
    "torn": "tear a piece out of its edge, through a target of the contest",
}
FOREIGN_WORDS = {
    True: "it is an invented ballot: print its page of test-ballots.pdf on plain paper",
    False: "take the ballot of another style that the deck was made with; its overlay prints TEST on it",
}
"""What to do for the sheet of another style, by whether it is drawn here."""
BACK_WORDS = {
    "": "",
    "wrong_side": "where it comes back, turn it over, feed it again",
    "double_feed": "glued at two corners to the sheet after it; when both come back, part them, feed again",
    "short_sheet": "when it comes back, feed it again; the second time lay it where the panel says",
}
"""How a sheet is fed that comes back first."""
FED_TWICE = (
    "The sheet above once more, alone: when the hopper is empty, take it from the tray COUNTED, where it "
    "lies on top, lay it on the hopper, press Start. The panel asks whether it was read before: take it out, "
    "lay it back on top in the tray COUNTED; both sides answer at the host that it is the same sheet."
)
"""How a sheet is fed a second time."""


def print_overlays(source: Source, deck: Deck, plans: tuple[Plan, ...]) -> bytes:
    """Return the PDF that prints TEST, the code and the printed marks onto real blanks, a page a sheet."""
    pages = [
        {**_overlay(source, sheet, plan), "blank": "", "other": "", "alt": ""}
        for sheet, plan in _papers(deck, plans)
    ]
    return _print_sheets("overlays", deck, pages)


def print_test_ballots(source: Source, deck: Deck, plans: tuple[Plan, ...]) -> bytes:
    """Return the PDF of whole test ballots, blank and overlay together, for where the blank may be printed.

    A sheet has its contest's side and, where it is known, the other one: printed on both sides, at 100 %. Of
    a ballot of another style only the invented one is printed.
    """
    pictures: dict[str, bytes] = {FOREIGN_PICTURE: encode_png(source.foreign)}
    for style, blank in source.blanks.items():
        pictures[_picture(style)] = encode_png(blank.image)
        if blank.other is not None:
            pictures[_picture(style, "-other")] = encode_png(blank.other)
    pages = [
        {**_overlay(source, sheet, plan), **_sides(source, plan)}
        for sheet, plan in _papers(deck, plans)
        if source.foreign_is_drawn or not plan.foreign
    ]
    return _print_sheets("test ballots", deck, pages, pictures)


def _papers(deck: Deck, plans: tuple[Plan, ...]) -> list[tuple[DeckSheet, Plan]]:
    """Return every sheet of paper with its plan, each once however often it is fed."""
    return [(sheet, plan) for sheet, plan in zip(deck.sheets, plans, strict=True) if not plan.again]


def _sides(source: Source, plan: Plan) -> dict[str, str]:
    """Return the pictures that lie under a sheet's overlay and on its other side."""
    if plan.foreign:
        return {"blank": FOREIGN_PICTURE, "other": "", "alt": "A ballot of another style"}
    other = "" if source.blanks[plan.style].other is None else _picture(plan.style, "-other")
    return {"blank": _picture(plan.style), "other": other, "alt": f"The blank ballot of style {plan.style}"}


def _print_sheets(
    what: str, deck: Deck, pages: list[dict[str, Any]], pictures: Mapping[str, bytes] | None = None
) -> bytes:
    facts = {"title": f"{deck.title}: {what}", "short_code": deck.program[:SHORT], "pages": pages}
    return print_form("deck_sheets.typ", facts, DATE_UTC, pictures)


def _picture(style: str, side: str = "") -> str:
    return f"{style}{side}.png"


def _overlay(source: Source, sheet: DeckSheet, plan: Plan) -> dict[str, Any]:
    blank = source.blanks[plan.style]
    to_mm = MM_PER_INCH / blank.dpi
    marks = [
        [number * to_mm for number in _corner_and_size(printed_mark(Rect(*place), kind))]
        for (option, target), kind in plan.marks.items()
        if is_printed(plan, kind)
        for place in [blank.spec.targets[option][target]]
    ]
    left, top, right, bottom = (edge * to_mm for edge in blank.spec.test_mark or (0, 0, 0, 0))
    rows, columns = (source.foreign if plan.foreign else blank.image).shape
    return {
        "width_mm": columns * to_mm,
        "height_mm": rows * to_mm,
        "test": f"TEST {sheet.code}" if plan.test_mark else "",
        "place_mm": [left, top, right - left, bottom - top],
        "marks_mm": marks,
    }


def _corner_and_size(rect: Rect) -> tuple[float, float, float, float]:
    return rect.left, rect.top, rect.width, rect.height


def print_guide(source: Source, deck: Deck, plans: tuple[Plan, ...]) -> bytes:
    """Return the PDF that tells people sheet by sheet what to do by hand, and in which order to feed."""
    names = option_names(source.program.options)
    rows = [
        [str(n), sheet.code, *_guide(source, plan, names)]
        for n, (sheet, plan) in enumerate(zip(deck.sheets, plans, strict=True), 1)
    ]
    return print_form("deck_guide.typ", {**_head(source, deck), "rows": rows}, DATE_UTC)


def _guide(source: Source, plan: Plan, names: Mapping[str, str]) -> tuple[str, ...]:
    """Return what is printed already, what is done by hand, and how it is fed; or, in one, what is."""
    if plan.again:
        return (FED_TWICE,)
    left = by_hand(plan)
    printed = [_place(spot, names) for spot in plan.marks if spot not in left.marks]
    steps = [FOREIGN_WORDS[source.foreign_is_drawn]] if plan.foreign else []
    steps += [
        f"{_together(spots, names)}: {KIND_WORDS[kind]}, {TOOL_WORDS[plan.tool]}"
        for kind, spots in _by_kind(left.marks).items()
    ]
    areas = len(source.blanks[plan.style].spec.write_in_areas)
    line = f"write-in line {plan.area + 1}" if areas > 1 else "the write-in line"
    steps += [f"write {plan.writing} on {line}, {TOOL_WORDS[plan.tool]}"] if plan.writing else []
    steps += [DAMAGE_WORDS[plan.damage]] if plan.damage else []
    steps += [f"cut its foot off: {plan.cut_mm:.0f} mm (6 inches) are left"] if plan.cut_mm else []
    steps += ["nothing: its overlay prints no TEST, it stays a ballot of the recount"] * (not plan.test_mark)
    return ", ".join(printed) or "none", "; ".join(steps) or "nothing", _fed(plan)


def _by_kind(marks: Marks) -> dict[str, list[Spot]]:
    """Return the targets that bear each kind of mark."""
    spots: dict[str, list[Spot]] = {}
    for spot, kind in marks.items():
        spots.setdefault(kind, []).append(spot)
    return spots


def _together(spots: Sequence[Spot], names: Mapping[str, str]) -> str:
    return ("each of " if len(spots) > 1 else "") + ", ".join(_place(spot, names) for spot in spots)


def _place(spot: Spot, names: Mapping[str, str]) -> str:
    """Return whose target it is, and which where the name is printed more than once."""
    return names[spot.option] + (f" (printed again, {spot.target + 1})" if spot.target else "")


def _fed(plan: Plan) -> str:
    """Return how a sheet is fed, in words."""
    ways = [words for is_so, words in ((plan.turned, "upside down"), (plan.face_down, "face down")) if is_so]
    told = " and ".join(ways) or "as usual"
    back = BACK_WORDS["wrong_side" if plan.face_down else plan.comes_back]
    return f"{told}; {back}" if back else told


def print_expected(source: Source, deck: Deck) -> bytes:
    """Return the PDF of what a right scanner makes of each sheet, and of all together."""
    rows = [
        [str(n), sheet.code, sheet.what, *outcome_words(sheet.fate, sheet.choices, sheet.reasons)]
        for n, sheet in enumerate(deck.sheets, 1)
    ]
    names = option_names(source.program.options)
    facts = {
        "rows": rows,
        "totals": totals_rows(expected_totals(deck), deck, names),
        "names": [*names.items()],
    }
    return print_form("deck_expected.typ", {**_head(source, deck), **facts}, DATE_UTC)


def outcome_words(fate: str, choices: tuple[str, ...], reasons: tuple[str, ...]) -> tuple[str, str]:
    """Return a fate, and what it is counted for or why it is not, in words."""
    return plain_words(fate), plain_words(", ".join(choices or reasons))


def totals_rows(totals: Totals, deck: Deck, names: Mapping[str, str]) -> list[list[str]]:
    """Return the totals a line each: what it is, and the number; what is a part of one begins small."""
    return [
        ["Counted", str(totals.counted)],
        *([f"votes for {names[key]}", str(totals.votes.get(key, 0))] for key in deck.options),
        ["Set aside", str(totals.set_aside)],
        *([f"for {plain_words(key)}", str(n)] for key, n in totals.set_aside_reasons.items()),
        ["Not accepted", str(totals.not_accepted)],
        *([f"for {plain_words(key)}", str(n)] for key, n in totals.not_accepted_reasons.items()),
        ["Given back as read before", str(totals.read_before)],
    ]


def _head(source: Source, deck: Deck) -> dict[str, Any]:
    program = source.program
    return {
        "title": deck.title,
        "program": deck.program,
        "thresholds": thresholds_hash(program.thresholds).hex(),
        "thresholds_sentence": thresholds_sentence(program.thresholds),
        "short_code": deck.program[:SHORT],
        "sheets": len(deck.papers),
        "styles": len({sheet.style for sheet in deck.sheets}),
    }
