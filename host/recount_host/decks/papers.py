"""The deck on paper: overlays for a printer, the guide for marking by hand, and the expected results."""

from collections.abc import Mapping
from typing import Any

from recount_classifier.thresholds import thresholds_hash, thresholds_sentence
from recount_host.decks.composition import KIND_WORDS, Plan
from recount_host.decks.making import MM_PER_INCH, PRINTED_PARTS, Source, by_hand, is_printed
from recount_host.forms.pages import print_form
from recount_host.law.deck import Deck, DeckSheet, Totals, expected_totals
from recount_host.programs.drawing import encode_png

DATE_UTC = "2000-01-01T00:00:00Z"
"""The date in a deck's files: the same program gives the same bytes, whenever it is made."""
SHORT = 8
"""Hexadecimal digits of a hash that stand on every page."""

TOOL_WORDS = {
    "black_pen": "black pen",
    "blue_pen": "blue pen",
    "red_pen": "red pen",
    "gel_pen": "gel pen",
    "marker": "felt pen",
    "pencil": "pencil",
    "light_pencil": "pencil, hardly pressed",
}
DAMAGE_WORDS = {
    "": "",
    "fold": "fold it across, away from the contest, and unfold it",
    "stain": "put a wet coffee cup on it, away from the contest",
    "bleed_through": "fill many targets of the other side with a felt pen",
    "torn": "tear a piece out of its edge, through a target of the contest",
}


def print_overlays(source: Source, deck: Deck, plans: tuple[Plan, ...]) -> bytes:
    """Return the PDF that prints TEST, the code and the printed marks onto real blanks, a page a sheet."""
    pages = [
        _overlay(source, sheet, plan)
        for sheet, plan in zip(deck.sheets, plans, strict=True)
        if not plan.foreign
    ]
    return print_form("deck_overlays.typ", {"title": deck.title, "pages": pages}, DATE_UTC)


def print_test_ballots(source: Source, deck: Deck, plans: tuple[Plan, ...]) -> bytes:
    """Return the PDF of whole test ballots, blank and overlay together, for where the blank may be printed.

    A sheet has its contest's side and, where it is known, the other one: printed on both sides, at 100 %.
    """
    pictures: dict[str, bytes] = {}
    for style, blank in source.blanks.items():
        pictures[_picture(style)] = encode_png(blank.image)
        if blank.other is not None:
            pictures[_picture(style, "-other")] = encode_png(blank.other)
    pages = [
        {
            **_overlay(source, sheet, plan),
            "blank": _picture(plan.style),
            "other": "" if source.blanks[plan.style].other is None else _picture(plan.style, "-other"),
            "alt": f"The blank ballot of style {plan.style}",
        }
        for sheet, plan in zip(deck.sheets, plans, strict=True)
        if not plan.foreign
    ]
    facts = {"title": deck.title, "pages": pages}
    return print_form("deck_ballots.typ", facts, DATE_UTC, pictures)


def _picture(style: str, side: str = "") -> str:
    return f"{style}{side}.png"


def _overlay(source: Source, sheet: DeckSheet, plan: Plan) -> dict[str, Any]:
    blank = source.blanks[plan.style]
    to_mm = MM_PER_INCH / blank.dpi
    marks = [
        [number * to_mm for number in _printed(blank.spec.targets[key][0], kind)]
        for key, kind in plan.marks.items()
        if is_printed(plan, kind)
    ]
    left, top, right, bottom = (edge * to_mm for edge in blank.spec.test_mark or (0, 0, 0, 0))
    return {
        "width_mm": blank.image.shape[1] * to_mm,
        "height_mm": blank.image.shape[0] * to_mm,
        "test": f"TEST {sheet.code}" if plan.test_mark else "",
        "place_mm": [left, top, right - left, bottom - top],
        "marks_mm": marks,
    }


def _printed(target: tuple[float, float, float, float], kind: str) -> tuple[float, float, float, float]:
    """Return left, top, width and height of the ellipse that marks a target."""
    left, top, width, height = target
    part = PRINTED_PARTS[kind]
    return left + width * (1 - part) / 2, top, width * part, height


def print_guide(source: Source, deck: Deck, plans: tuple[Plan, ...]) -> bytes:
    """Return the PDF that tells people sheet by sheet what to do by hand, and in which order to feed."""
    names = {option.key: option.name for option in source.program.options}
    rows = [
        [str(n), sheet.code, sheet.style, *_guide(plan, names)]
        for n, (sheet, plan) in enumerate(zip(deck.sheets, plans, strict=True), 1)
    ]
    return print_form("deck_guide.typ", {**_head(source, deck), "rows": rows}, DATE_UTC)


def _guide(plan: Plan, names: Mapping[str, str]) -> tuple[str, str]:
    """Return what is printed already, and what is done by hand."""
    left = by_hand(plan)
    printed = [names[key] for key in plan.marks if key not in left.marks]
    steps: list[str] = []
    if plan.foreign:
        steps.append("take a ballot of another style, one that is not in the program, and print TEST on it")
    steps += [
        f"{names[key]}: {KIND_WORDS[kind]}, {TOOL_WORDS[plan.tool]}" for key, kind in left.marks.items()
    ]
    steps += [f"write {plan.writing} on the write-in line, {TOOL_WORDS[plan.tool]}"] if plan.writing else []
    steps += [DAMAGE_WORDS[plan.damage]] if plan.damage else []
    steps += ["its overlay prints no TEST: it stays a ballot of the recount"] if not plan.test_mark else []
    if plan.comes_back:
        steps.append(
            "glue it at two corners to the sheet after it; when both come back, part them, feed again"
        )
    steps += ["feed it upside down"] if plan.turned else []
    return ", ".join(printed) or "none", "; ".join(steps) or "nothing"


def print_expected(source: Source, deck: Deck) -> bytes:
    """Return the PDF of what a right scanner makes of each sheet, and of all together."""
    rows = [
        [str(n), sheet.code, sheet.what, *outcome_words(sheet.fate, sheet.choices, sheet.reasons)]
        for n, sheet in enumerate(deck.sheets, 1)
    ]
    totals = totals_rows(expected_totals(deck), deck, source.program.options)
    return print_form("deck_expected.typ", {**_head(source, deck), "rows": rows, "totals": totals}, DATE_UTC)


def outcome_words(fate: str, choices: tuple[str, ...], reasons: tuple[str, ...]) -> tuple[str, str]:
    """Return a fate, and what it is counted for or why it is not, in words."""
    return fate.replace("_", " "), ", ".join(choices or reasons).replace("_", " ")


def totals_rows(totals: Totals, deck: Deck, options: Any) -> list[list[str]]:
    """Return the totals a line each: what it is, and the number."""
    names = {option.key: option.name for option in options}
    return [
        ["Counted", str(totals.counted)],
        *([f"votes for {names.get(key, key)}", str(totals.votes.get(key, 0))] for key in deck.options),
        ["Set aside", str(totals.set_aside)],
        *([f"for {key.replace('_', ' ')}", str(n)] for key, n in totals.set_aside_reasons.items()),
        ["Not accepted", str(totals.not_accepted)],
        *([f"for {key.replace('_', ' ')}", str(n)] for key, n in totals.not_accepted_reasons.items()),
    ]


def _head(source: Source, deck: Deck) -> dict[str, Any]:
    program = source.program
    return {
        "title": deck.title,
        "program": deck.program,
        "thresholds": thresholds_hash(program.thresholds).hex(),
        "thresholds_sentence": thresholds_sentence(program.thresholds),
        "short_code": deck.program[:SHORT],
        "sheets": len(deck.sheets),
    }
