"""A picture that says what was measured on a contest and why it has its fate, for people who check it.

At the top the fate and every reason, in the sentences of `reasons.REASONS`; then the contest as it is and,
beside it, with what was found; then each target close up with its state and the ink in it against the
program's thresholds; then the rest of the contest's box. Nothing hangs on colour alone: a marked target has a
thick outline, an empty one a thin, an unsure one a broken outline, and each says so in words.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_classifier.decide import EMPTY, MARKED, UNSURE
from recount_classifier.drawing import (
    Colour,
    Picture,
    badge,
    dashed,
    filled,
    outline,
    plain,
    text,
    text_width,
    wrapped,
)
from recount_classifier.evidence import Evidence
from recount_classifier.findings import BESIDE, IN_TARGET, LOOSE, OVER_NAME, WRITTEN, Found, strokes_found
from recount_classifier.judge import Measured, Seen, Verdict, see
from recount_classifier.lines import Line
from recount_classifier.program import Option, Program, Style, Target
from recount_classifier.reasons import REASONS
from recount_classifier.sentences import box_sentences, percent, state_sentence, target_sentences
from recount_classifier.thresholds import Thresholds
from recount_classifier.upright import Points, Upright, along_box, box_in, upright
from recount_protocol.fates import COUNTED, NOT_ACCEPTED, RETURNED, SET_ASIDE

WIDTH_PX = 1200
_MARGIN = 24
_INNER = WIDTH_PX - 2 * _MARGIN

PAPER: Colour = (255, 255, 255)
INK: Colour = (33, 33, 33)
QUIET: Colour = (105, 105, 105)
RULE: Colour = (205, 205, 205)
BLUE: Colour = (158, 84, 0)
GREEN: Colour = (84, 122, 0)
RED: Colour = (0, 60, 190)
PURPLE: Colour = (140, 40, 130)
ORANGE: Colour = (0, 110, 220)
"""Told apart with the usual colour blindnesses; and in grey, every use differs in form too."""

STATE_COLOURS: dict[str, Colour] = {EMPTY: GREEN, MARKED: BLUE, UNSURE: RED}
STATE_WORDS = {EMPTY: "empty", MARKED: "MARKED", UNSURE: "UNSURE: a person must look"}
FATE_COLOURS: dict[str, Colour] = {COUNTED: BLUE, SET_ASIDE: RED, NOT_ACCEPTED: INK, RETURNED: INK}

_LARGE, _NORMAL, _SMALL = 0.95, 0.62, 0.52
_LINE = 26
_TAGGED = 5
"""Strokes that get a letter; more would hide the ballot."""
_SHAPE = np.linspace(0, 2 * np.pi, 56, endpoint=False)


@dataclass(frozen=True, slots=True)
class Ink:
    """How a kind of ink is drawn and named."""

    words: str
    colour: Colour
    broken: bool
    lettered: bool


INKS: dict[str, Ink] = {
    IN_TARGET: Ink("ink of a stroke in a target", BLUE, broken=False, lettered=False),
    WRITTEN: Ink("ink in a write-in area", PURPLE, broken=False, lettered=True),
    OVER_NAME: Ink("ink over a printed name", RED, broken=True, lettered=True),
    BESIDE: Ink("ink beside a target", RED, broken=True, lettered=True),
    LOOSE: Ink("other ink", ORANGE, broken=True, lettered=True),
}


def explain(evidence: Evidence, verdict: Verdict, program: Program, note: str = "") -> Picture:
    """Return the explained picture of a located contest (blue, green, red bytes).

    `verdict` is `judge(evidence, program)`. `note` is a sentence that is to stand under the reasons.
    Raises KeyError for evidence of a style that is not in the program.
    """
    shown = upright(evidence, program)
    seen = see(evidence, evidence.registrations[0], shown.style, program.thresholds)
    found = strokes_found(seen.strokes, shown.style, program.thresholds)
    parts = [
        _headline(program, verdict.fate, verdict.choices, verdict.reasons, note),
        _panels(shown, seen, found, verdict),
        _target_rows(shown, verdict, program),
        _box_rows(verdict, program.thresholds, found),
    ]
    return np.concatenate(parts)


def explain_refusal(program: Program, fate: str, reasons: tuple[str, ...]) -> Picture:
    """Return the picture for a sheet on which the contest was not found: words alone."""
    why = "The contest's place on this sheet was not found, so nothing on it was measured."
    return _headline(program, fate, (), reasons, why)


# -- the words at the top ------------------------------------------------------------------------------------


def _headline(
    program: Program, fate: str, choices: tuple[str, ...], reasons: tuple[str, ...], note: str
) -> Picture:
    names = {option.key: option.name for option in program.options}
    said = [REASONS[reason].sentence for reason in reasons]
    if choices:
        said = [f"Counted for {' and '.join(names[key] for key in choices)}."]
    lines = [line for sentence in said for line in _bulleted(sentence)]
    after = wrapped(note, _INNER, _NORMAL)
    part = plain(WIDTH_PX, 76 + _LINE * (len(lines) + len(after)) + 12, PAPER)
    word = fate.replace("_", " ").upper()
    wide = text_width(word, _LARGE, bold=True) + 32
    filled(part, _MARGIN, 20, _MARGIN + wide, 60, FATE_COLOURS[fate])
    text(part, word, _MARGIN + 16, 50, _LARGE, PAPER, bold=True)
    seats = f"vote for {program.vote_for}, program {program.program_hash.hex()[:8]}"
    end = text(part, program.title, _MARGIN + wide + 20, 48, _NORMAL + 0.1, INK, bold=True)
    text(part, seats, end + 16, 48, _SMALL, QUIET)
    for row, line in enumerate([*lines, *after]):
        text(part, line, _MARGIN, 92 + _LINE * row, _NORMAL, INK)
    return part


def _bulleted(sentence: str) -> list[str]:
    lines = wrapped(sentence, _INNER - 24, _NORMAL)
    return [f"- {lines[0]}", *(f"   {line}" for line in lines[1:])]


# -- the contest, as it is and with what was found -----------------------------------------------------------


class _Window:
    """A rectangle of the upright contest, enlarged or made smaller."""

    def __init__(self, shown: Upright, rectangle: tuple[int, int, int, int], zoom: float) -> None:
        self._shown = shown
        self._left, self._top, right, bottom = rectangle
        self.zoom = zoom
        pixels = shown.pixels[self._top : bottom, self._left : right]
        size = (max(1, round(pixels.shape[1] * zoom)), max(1, round(pixels.shape[0] * zoom)))
        method = cv2.INTER_AREA if zoom < 1 else cv2.INTER_CUBIC
        grey = cv2.resize(pixels, size, interpolation=method)
        self.picture: Picture = np.repeat(grey[:, :, None], 3, axis=2).astype(np.uint8)

    def points(self, blank: Points, registration: int = 0) -> Points:
        """Return where a registration puts points of the blank on `picture`."""
        at = self._shown.points(blank, registration) - (self._left, self._top)
        return (at + 0.5) * self.zoom - 0.5


def _panels(shown: Upright, seen: Seen, found: tuple[Found, ...], verdict: Verdict) -> Picture:
    """Return the contest as it is, and with what was found: side by side, or one above the other."""
    box = box_in(shown)
    wide, high = box[2] - box[0], box[3] - box[1]
    beside = wide < 2 * high
    widths = (_INNER * 36 // 100, _INNER * 61 // 100) if beside else (_INNER, _INNER)
    most = 2.6 / max(0.2, shown.scale)
    as_is, drawn = (_Window(shown, box, min(most, width / wide)) for width in widths)
    _draw_contest(drawn, shown.style, seen, found, verdict.measurements[0])
    titles = ("The contest on the sheet", "What was found on it")
    x = (_MARGIN, WIDTH_PX - _MARGIN - drawn.picture.shape[1]) if beside else (_MARGIN, _MARGIN)
    first_high, second_high = as_is.picture.shape[0], drawn.picture.shape[0]
    y = (34, 34) if beside else (34, first_high + 34 + 40)
    legend = _legend()
    part = plain(WIDTH_PX, max(y[0] + first_high, y[1] + second_high) + 12, PAPER)
    for window, title, left, top in zip((as_is, drawn), titles, x, y, strict=True):
        text(part, title, left, top - 10, _SMALL, QUIET)
        rows, columns = window.picture.shape[:2]
        part[top : top + rows, left : left + columns] = window.picture
        cv2.rectangle(part, (left - 1, top - 1), (left + columns, top + rows), RULE, 1)
    return np.concatenate([part, legend])


def _draw_contest(
    window: _Window, style: Style, seen: Seen, found: tuple[Found, ...], measured: Measured
) -> None:
    picture = window.picture
    for area in style.write_in_areas:
        edge = window.points(along_box(area[0], area[1], area[2] - 1, area[3] - 1))
        dashed(picture, edge, PURPLE, 1, 9, 6)
    for target in style.targets:
        label = style.paths[0].details[target.label]
        high, wide = label.pixels.shape
        edge = along_box(label.left, label.top, label.left + wide - 1, label.top + high - 1)
        dashed(picture, window.points(edge), QUIET, 1, 2, 5)
    for line in _bars(style, seen):
        dashed(picture, window.points(line), ORANGE, 2, 14, 8)
    for stroke in found:
        for ring in stroke.rings:
            _ring(picture, window.points(ring), INKS[stroke.kind])
    states = measured.decision.states
    outlines = [window.points(_outline_of(target)) for target in style.targets]
    for around, state in zip(outlines, states, strict=True):
        _state_outline(picture, around, state)
    lettered = [stroke for stroke in found if INKS[stroke.kind].lettered]
    for index, stroke in enumerate(lettered[:_TAGGED]):
        at = window.points(stroke.rings[0])
        corner = at[int(np.argmin(at[:, 0] + at[:, 1]))]
        badge(picture, _letter(index), *_inside(picture, corner - 9), INKS[stroke.kind].colour)
    for number, (around, state) in enumerate(zip(outlines, states, strict=True), 1):
        corner = np.array([around[:, 0].min() - 9, around[:, 1].min() - 5])
        badge(picture, str(number), *_inside(picture, corner), STATE_COLOURS[state])


def _ring(picture: Picture, points: Points, ink: Ink) -> None:
    if ink.broken:
        dashed(picture, points, ink.colour, 2, 6, 4)
    else:
        outline(picture, points, ink.colour, 1)


def _state_outline(picture: Picture, points: Points, state: str) -> None:
    thickness = 1 if state == EMPTY else 3
    if state != EMPTY:
        # A pale edge keeps it apart from dark ink, in grey too.
        outline(picture, points, PAPER, thickness + 3)
    if state == UNSURE:
        dashed(picture, points, STATE_COLOURS[state], thickness, 7, 5)
    else:
        outline(picture, points, STATE_COLOURS[state], thickness)


def _inside(picture: Picture, point: NDArray[np.float64]) -> tuple[float, float]:
    height, width = picture.shape[:2]
    return float(np.clip(point[0], 13, width - 14)), float(np.clip(point[1], 13, height - 14))


def _letter(index: int) -> str:
    return chr(ord("a") + index)


def _outline_of(target: Target) -> Points:
    """Return points round a target on the blank: between an ellipse and a box, as its zones are."""
    x, y = target.centre
    cos, sin = np.cos(_SHAPE), np.sin(_SHAPE)
    return np.column_stack(
        [
            x + target.width / 2 * np.sign(cos) * np.abs(cos) ** (2 / 3),
            y + target.height / 2 * np.sign(sin) * np.abs(sin) ** (2 / 3),
        ]
    )


def _bars(style: Style, seen: Seen) -> list[Points]:
    """Return the strips of all straight lines on the blank: streaks and folds."""
    left, top, right, bottom = style.reference_box
    down = [_bar(line, bottom - top, left, top, down=True) for line in seen.lines.down]
    return [*down, *(_bar(line, right - left, left, top, down=False) for line in seen.lines.across)]


def _bar(line: Line, length: int, left: int, top: int, *, down: bool) -> Points:
    """Return the corners of a straight line's strip on the blank."""
    ends = np.array([0.0, length - 1.0])
    middle = np.array([line.at(end, length) for end in ends])
    along = np.concatenate([ends, ends[::-1]])
    across = np.concatenate([middle - line.half_width, middle[::-1] + line.half_width])
    x, y = (across, along) if down else (along, across)
    return np.column_stack([left + x, top + y])


_LEGEND = (
    ("solid", BLUE, 3, "target: marked"),
    ("solid", GREEN, 1, "empty"),
    ("broken", RED, 3, "unsure"),
    ("solid", BLUE, 1, "ink in a target"),
    ("solid", PURPLE, 1, "written ink"),
    ("broken", ORANGE, 2, "other ink, streak, fold"),
    ("dots", QUIET, 1, "print that proves whose target it is"),
    ("dashes", PURPLE, 1, "write-in area"),
)
_DASHES = {"broken": (6.0, 4.0), "dots": (2.0, 5.0), "dashes": (9.0, 6.0)}


def _legend() -> Picture:
    part = plain(WIDTH_PX, 34, PAPER)
    x = float(_MARGIN)
    for form, colour, thickness, words in _LEGEND:
        box = along_box(x, 10, x + 22, 24)
        if form == "solid":
            outline(part, box, colour, thickness)
        else:
            dashed(part, box, colour, thickness, *_DASHES[form])
        x = text(part, words, x + 30, 22, 0.44, INK) + 17.0
    return part


# -- the targets ---------------------------------------------------------------------------------------------

_ROW = 92
_CLOSE_UP = (150, 80)
_GAUGE_LEFT, _GAUGE_WIDTH = 560, 250
_SAID_LEFT = _GAUGE_LEFT + _GAUGE_WIDTH + 30


def _target_rows(shown: Upright, verdict: Verdict, program: Program) -> Picture:
    head = plain(WIDTH_PX, 40, PAPER)
    titles = (
        (_MARGIN, "Each target, close up (dots: where the second measurement puts it)"),
        (_GAUGE_LEFT, "How much of its inside is ink"),
        (_SAID_LEFT, "What that means"),
    )
    for x, words in titles:
        text(head, words, x, 26, _SMALL, QUIET)
    options = {option.key: option for option in program.options}
    rows = [
        _target_row(shown, index, options[target.option], verdict, program)
        for index, target in enumerate(shown.style.targets)
    ]
    return np.concatenate([head, *rows])


def _target_row(shown: Upright, index: int, option: Option, verdict: Verdict, program: Program) -> Picture:
    first, second = verdict.measurements
    state, other = first.decision.states[index], second.decision.states[index]
    said = [state_sentence(first.targets[index], state, program.thresholds)]
    said += target_sentences(first.targets[index], state, program.thresholds)
    lines = [line for one in said for line in wrapped(one, WIDTH_PX - _MARGIN - _SAID_LEFT, _SMALL)]
    row = plain(WIDTH_PX, max(_ROW, 32 + 20 * len(lines)), PAPER)
    cv2.line(row, (_MARGIN, 0), (WIDTH_PX - _MARGIN, 0), RULE, 1)
    close_up = _close_up(shown, index, state)
    high, wide = close_up.shape[:2]
    left, top = _MARGIN + (_CLOSE_UP[0] - wide) // 2, 6 + (_CLOSE_UP[1] - high) // 2
    row[top : top + high, left : left + wide] = close_up
    x = _MARGIN + _CLOSE_UP[0] + 34
    badge(row, str(index + 1), x - 12, 37, STATE_COLOURS[state])
    for line, words in enumerate(wrapped(option.name, 320, _NORMAL, bold=True)[:2]):
        text(row, words, x + 10, 30 + 22 * line, _NORMAL, INK, bold=True)
    words = STATE_WORDS[state] if state == other else f"{state} / {other}: the measurements differ"
    text(row, words, x + 10, 76, _SMALL, STATE_COLOURS[state], bold=True)
    covers = (first.targets[index].cover, second.targets[index].cover)
    _gauge(row, covers, program.thresholds)
    for line, words in enumerate(lines):
        text(row, words, _SAID_LEFT, 24 + 20 * line, _SMALL, INK)
    return row


def _close_up(shown: Upright, index: int, state: str) -> Picture:
    """Return a target enlarged, with its outline by both registrations: the second one in dots."""
    target = shown.style.targets[index]
    x, y = target.centre
    half_x, half_y = target.width * 0.95, target.height * 1.05
    corners = shown.points(along_box(x - half_x, y - half_y, x + half_x, y + half_y))
    low, high = np.floor(corners.min(axis=0)), np.ceil(corners.max(axis=0))
    rows, columns = shown.pixels.shape
    left, top = max(0, int(low[0])), max(0, int(low[1]))
    right, bottom = min(columns, int(high[0]) + 1), min(rows, int(high[1]) + 1)
    right, bottom = max(right, left + 1), max(bottom, top + 1)
    zoom = min(_CLOSE_UP[0] / (right - left), _CLOSE_UP[1] / (bottom - top))
    window = _Window(shown, (left, top, right, bottom), zoom)
    _state_outline(window.picture, window.points(_outline_of(target)), state)
    dashed(window.picture, window.points(_outline_of(target), 1), INK, 1, 2, 6)
    return window.picture


def _gauge(row: Picture, covers: tuple[float, float], limits: Thresholds) -> None:
    """Draw the share of a target's inside that is ink: a bar, with the zones of empty and marked."""
    left, top, bottom = _GAUGE_LEFT, 34, 54

    def at(share: float) -> float:
        # The root spreads the small shares, where empty ends.
        return left + _GAUGE_WIDTH * float(np.sqrt(min(1.0, max(0.0, share))))

    clear, marked = at(limits.clear_cover), at(limits.marked_cover)
    filled(row, left, top, clear, bottom, (222, 240, 226))
    filled(row, clear, top, marked, bottom, (225, 228, 252))
    filled(row, marked, top, left + _GAUGE_WIDTH, bottom, (250, 232, 214))
    filled(row, left, top + 5, at(covers[0]), top + 9, INK)
    filled(row, left, top + 11, at(covers[1]), top + 15, QUIET)
    for place in (clear, marked):
        cv2.line(row, (round(place), top - 4), (round(place), bottom + 4), INK, 1)
    cv2.rectangle(row, (left, top), (left + _GAUGE_WIDTH, bottom), QUIET, 1)
    _centred(row, "empty", (left + clear) / 2, bottom + 20)
    _centred(row, "unsure", (clear + marked) / 2, bottom + 20)
    _centred(row, "marked", (marked + left + _GAUGE_WIDTH) / 2, bottom + 20)
    both = " / ".join(percent(cover) for cover in dict.fromkeys(covers))
    text(
        row,
        both if percent(covers[0]) != percent(covers[1]) else percent(covers[0]),
        left,
        top - 12,
        _SMALL,
        INK,
    )


def _centred(row: Picture, words: str, x: float, y: float) -> None:
    text(row, words, x - text_width(words, 0.44) / 2, y, 0.44, QUIET)


# -- the rest of the box -------------------------------------------------------------------------------------


def _box_rows(verdict: Verdict, limits: Thresholds, found: tuple[Found, ...]) -> Picture:
    """Return the rest of the box in words: the lettered ink on the left, sums against limits on the right."""
    lettered = [stroke for stroke in found if INKS[stroke.kind].lettered]
    said: list[tuple[str, Colour]] = []
    for index, stroke in enumerate(lettered[:_TAGGED]):
        ink = INKS[stroke.kind]
        said.append((f"{_letter(index)}   {ink.words}: {stroke.ink_mm2:.1f} mm\u00b2", ink.colour))
    if len(lettered) > _TAGGED:
        said.append((f"and {len(lettered) - _TAGGED} smaller strokes", QUIET))
    if not lettered:
        said.append(("No ink outside the targets and their marks.", INK))
    sums = box_sentences(verdict.measurements[0].box, limits)
    apart = f"Two independent measurements of its place differ by {verdict.disagreement_px:.2f} px"
    sums.append(
        (f"{apart} (less than {limits.disagreement_px:g})", verdict.disagreement_px >= limits.disagreement_px)
    )
    part = plain(WIDTH_PX, 44 + 24 * max(len(said), len(sums)) + 16, PAPER)
    cv2.line(part, (_MARGIN, 0), (WIDTH_PX - _MARGIN, 0), RULE, 1)
    text(part, "The rest of the contest's box", _MARGIN, 28, _SMALL, QUIET)
    for row, (words, colour) in enumerate(said):
        text(part, words, _MARGIN, 56 + 24 * row, _SMALL, colour, bold=colour not in (INK, QUIET))
    for row, (words, beyond) in enumerate(sums):
        colour = RED if beyond else INK
        text(
            part,
            f"! {words}" if beyond else words,
            480 if beyond else 496,
            56 + 24 * row,
            _SMALL,
            colour,
            bold=beyond,
        )
    return part
