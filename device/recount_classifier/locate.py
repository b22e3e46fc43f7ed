"""Where the contest lies on a sheet of unknown resolution, turn and side, and whether it is this contest.

The page is found from print alone: anchors over the whole page in a small picture, then landmarks near the
contest, then the print beside every target. All of it is done twice, by two paths that share no print of the
blank and no computed pixel of the sheet. What cannot be found is refused with the reason that fits best.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from recount_classifier.anchors import Coarse, locate_anchors
from recount_classifier.deck_mark import INK_GATE, deck_mark_ink_mm2
from recount_classifier.errors import PictureError
from recount_classifier.evidence import SMALLEST_CROP_PX, Evidence, Refusal, crop_bounds
from recount_classifier.lens import Lens
from recount_classifier.points import median
from recount_classifier.program import (
    ANCHOR_SEARCH,
    DETAIL_SEARCH,
    LANDMARK_LEVEL,
    Patch,
    Program,
    Style,
)
from recount_classifier.proof import prove
from recount_classifier.pyramid import Matrix
from recount_classifier.raster import blurred
from recount_classifier.reasons import fate_of
from recount_classifier.registration import Fit, Search, Votes, fit, look_for
from recount_classifier.sheet_map import BentMap, SheetMap, from_affine, shifted
from recount_classifier.thresholds import Thresholds
from recount_classifier.views import Guess, Page, ViewBend, likely_guesses, possible_guesses

LEAST_SIDE_PX = 32
"""Less than this of each side is no picture of a sheet at any resolution."""
LANDMARK_SEARCH, WIDE_LANDMARK_SEARCH = 6, 14
NEAR_ANCHOR = 3
"""How far an anchor is looked for in haste, in 1/16 pixels: 6 mm, as far as feeders mostly shift a sheet."""
_SURE_SHARE = 0.6
"""Share of the anchors that must agree on a place found in haste."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A style found on a page by the first path's anchors."""

    style: Style
    side_index: int
    guess: Guess
    coarse: Coarse
    matrix: Matrix
    """From the blank to the page; with a lens calibration, to the straight page."""


_STILL = np.eye(3)
_UP = np.array([[16.0, 0, 7.5], [0, 16.0, 7.5], [0, 0, 1.0]])
_DOWN = np.linalg.inv(_UP)


def _place(
    page: Page,
    start: int,
    anchors: tuple[Patch, ...],
    guess: Guess,
    search: int | None,
    limits: Thresholds,
    close_to: Matrix | None = None,
) -> tuple[Coarse, Matrix] | None:
    """Return where the anchors put the page, if enough of them agree.

    `close_to` is a matrix to look close to. What is found in haste (a shorter search) must be beyond doubt.
    """
    low, to_page = page.view(start, guess)
    expected = None if close_to is None else np.linalg.inv(to_page) @ close_to @ _UP
    bend = None if page.lens is None else ViewBend(page.lens, to_page)
    coarse = locate_anchors(low, anchors, search, expected, bend)
    if coarse is None or coarse.share < limits.anchor_share or coarse.match < limits.anchor_match:
        return None
    if search == NEAR_ANCHOR and not _beyond_doubt(coarse, anchors, expected):
        return None
    matrix = to_page @ coarse.matrix @ _DOWN
    a, b, c, d = coarse.matrix[:2, :2].ravel().tolist()
    across, down, tolerance = math.hypot(a, c), math.hypot(b, d), limits.scale_tolerance
    if max(abs(across - 1), abs(down - 1)) > tolerance + 0.02 or abs(across / down - 1) > tolerance / 2:
        return None
    if abs(math.degrees(math.atan2(c, a)) + guess.skew_deg) > limits.skew_deg:
        return None
    return coarse, matrix


def _beyond_doubt(coarse: Coarse, anchors: tuple[Patch, ...], expected: Matrix | None) -> bool:
    """Return whether most anchors agree on a place that leaves none of them beyond a hasty search."""
    if coarse.share < _SURE_SHARE:
        return False
    moved = coarse.matrix - (_STILL if expected is None else expected)
    return bool(np.abs(_corners_of(anchors) @ moved[:2].T).max() < NEAR_ANCHOR)


@lru_cache(maxsize=64)
def _corners_of(anchors: tuple[Patch, ...]) -> NDArray[np.float64]:
    return np.array([(anchor.left, anchor.top, 1.0) for anchor in anchors])


@dataclass(frozen=True, slots=True)
class Look:
    """One try to find a style on a picture. `search` None looks everywhere."""

    side_index: int
    guess: Guess
    search: int | None


_Rung = list[Look]


def _hasty_looks(pages: Sequence[Page], style: Style) -> Iterator[_Rung]:
    """Yield rungs for sheets that lie nearly where they should."""
    for index, page in enumerate(pages):
        for guess in likely_guesses(page.image, style.width, style.height):
            yield [Look(index, guess, NEAR_ANCHOR)]


def _looks(pages: Sequence[Page], style: Style) -> Iterator[_Rung]:
    """Yield rungs: the usual first, then everywhere, then every scale and skew."""
    size, sides = (style.width, style.height), list(enumerate(pages))
    likely = [(index, guess) for index, page in sides for guess in likely_guesses(page.image, *size)]
    for index, guess in likely:
        yield [Look(index, guess, ANCHOR_SEARCH)]
    yield [Look(index, guess, None) for index, guess in likely]
    possible = [(index, guess) for index, page in sides for guess in possible_guesses(page.image, *size)]
    yield [Look(index, guess, None) for index, guess in possible if guess.skew_deg == 0]
    yield [Look(index, guess, None) for index, guess in possible if guess.skew_deg != 0]


def _found(
    pages: Sequence[Page], program: Program, looks: Callable[[Sequence[Page], Style], Iterator[_Rung]]
) -> Iterator[list[Placement]]:
    """Yield what is found on each rung of the search, best first; rungs that find nothing are passed over."""
    ladders = (looks(pages, style) for style in program.styles)
    nothing: _Rung = []
    for rungs in zip_longest(*ladders, fillvalue=nothing):
        found: list[Placement] = []
        for style, rung in zip(program.styles, rungs, strict=True):
            for look in rung:
                page, anchors = pages[look.side_index], style.paths[0].anchors
                placed = _place(page, 0, anchors, look.guess, look.search, program.thresholds)
                if placed is not None:
                    found.append(Placement(style, look.side_index, look.guess, *placed))
        if found:
            yield sorted(found, key=lambda placement: -placement.coarse.weight)


def locate(
    sides: Sequence[NDArray[np.uint8]], program: Program, lens: Lens | None = None
) -> Evidence | Refusal:
    """Return where the contest lies on a sheet, or why it cannot be read.

    `sides` are the one or two grey pictures of the sheet, of any size, resolution and orientation; `lens` is
    the calibration of the camera that took the first. Raises PictureError for what is no grey picture, or
    none, and for a first picture of another size than the lens was calibrated with.
    """
    if not sides:
        raise PictureError("no picture of the sheet was given: a sheet has one picture or two")
    for side in sides:
        if side.ndim != 2 or side.dtype != np.uint8 or min(side.shape) < LEAST_SIDE_PX:
            raise PictureError(
                f"a picture of a sheet is grey, of bytes, with sides of {LEAST_SIDE_PX} pixels or more; "
                f"this one is {side.shape} of {side.dtype}"
            )
    if lens is not None and sides[0].shape != (lens.height, lens.width):
        raise PictureError(
            f"the picture has {sides[0].shape[1]} x {sides[0].shape[0]} pixels, but the lens was calibrated "
            f"with {lens.width} x {lens.height}: calibrate the camera anew"
        )
    alone = len(sides) == 1
    pages = [Page(side, lens if index == 0 else None, alone) for index, side in enumerate(sides)]
    for placements in _found(pages, program, _hasty_looks):
        outcome = _best_of(pages, placements, program)
        # In doubt all is looked at as if there had been no haste.
        if isinstance(outcome, Evidence) and outcome.gates["label_match"] > _CERTAIN_MATCH:
            return _unless_two(pages, program, outcome)
    for placements in _found(pages, program, _looks):
        outcome = _best_of(pages, placements, program)
        if isinstance(outcome, Evidence):
            return _unless_two(pages, program, outcome)
        if outcome.reasons != _UNCONFIRMED:
            return _unless_turned(pages, placements[0], program, outcome)
    return _unknown(pages, program)


def _unless_two(pages: Sequence[Page], program: Program, evidence: Evidence) -> Evidence | Refusal:
    """Return the evidence, or that print lies in two places or the other side bears the contest too."""
    others = [page for index, page in enumerate(pages) if index != evidence.side_index]
    overlapped = evidence.gates["elsewhere"] >= program.thresholds.elsewhere_anchors
    if overlapped or any(_bears_it(page, program) for page in others):
        return _refused("two_sheets", evidence.gates)
    return evidence


def _bears_it(page: Page, program: Program) -> bool:
    """Return whether the other side bears the contest too: no sheet does, two that lie back to back do."""
    limits = program.thresholds
    for style in program.styles:
        for guess in likely_guesses(page.image, style.width, style.height):
            placed = _place(page, 0, style.paths[0].anchors, guess, ANCHOR_SEARCH, limits)
            refined = _refine(page, style, (placed[1],), limits) if placed is not None else None
            if refined is not None and not prove(style, program, refined[0].votes, refined[0].fit, {}):
                return True
    return False


_UNCONFIRMED = ("distorted",)
"""The anchors found a page, but print near the contest is not where it should be: perhaps another page."""
_MOST_PLACEMENTS = 8
_CERTAIN_MATCH = 0.75
"""Lowest correlation of a label at which no other style is looked at."""


def _best_of(pages: Sequence[Page], placements: Sequence[Placement], program: Program) -> Evidence | Refusal:
    """Return the evidence whose labels fit best; if none is proved, the first firm refusal."""
    best: Evidence | None = None
    refusals: list[Refusal] = []
    for placement in placements[:_MOST_PLACEMENTS]:
        outcome = _measure(pages[placement.side_index], placement, program)
        if isinstance(outcome, Refusal):
            refusals.append(outcome)
            continue
        if best is None or outcome.gates["label_match"] > best.gates["label_match"]:
            best = outcome
        if best.gates["label_match"] > _CERTAIN_MATCH:
            break
    return best or next((one for one in refusals if one.reasons != _UNCONFIRMED), refusals[0])


def _unless_turned(
    pages: Sequence[Page], placement: Placement, program: Program, refusal: Refusal
) -> Refusal:
    """Return the refusal, or that the sheet lies wrong side up, or that the picture is a mirror image.

    Both sides may have one frame, and a symmetric layout looks alike both ways.
    """
    page = pages[placement.side_index]
    if len(pages) == 1 and placement.style.other_side and _shows_other_side(page, placement, program):
        return _refused("wrong_side", dict(refusal.gates))
    if _is_mirrored(page, placement.style, placement.guess, program):
        return _refused("mirror_image", dict(refusal.gates))
    return refusal


def _shows_other_side(page: Page, placement: Placement, program: Program) -> bool:
    """Return whether the style's other side fits the picture better than the contest's side."""
    style = placement.style
    for guess in likely_guesses(page.image, style.width, style.height):
        placed = _place(page, 0, style.other_side, guess, None, program.thresholds)
        if placed is not None and placed[0].weight > placement.coarse.weight:
            return True
    return False


def _is_mirrored(page: Page, style: Style, guess: Guess, program: Program) -> bool:
    """Return whether the style is proved by the picture's mirror image."""
    flipped = replace(guess, mirrored=True)
    for search in (ANCHOR_SEARCH, None):
        placed = _place(page, 0, style.paths[0].anchors, flipped, search, program.thresholds)
        refined = _refine(page, style, (placed[1],), program.thresholds) if placed is not None else None
        if refined is not None and not prove(style, program, refined[0].votes, refined[0].fit, {}):
            return True
    return False


def _refused(reason: str, gates: dict[str, float]) -> Refusal:
    return Refusal(fate_of((reason,)), (reason,), gates)


def _measure(page: Page, placement: Placement, program: Program) -> Evidence | Refusal:
    """Refine both registrations at the contest, prove the style, and cut out the contest."""
    style, limits = placement.style, program.thresholds
    gates: dict[str, float] = {
        "anchors": placement.coarse.share,
        "anchor_match": placement.coarse.match,
    }
    # The first path tells the second where to look, not what to find: its anchors are its own.
    anchors = style.paths[1].anchors
    nearby = (limits, placement.matrix)
    second_place = _place(page, 1, anchors, placement.guess, NEAR_ANCHOR, *nearby) or _place(
        page, 1, anchors, placement.guess, ANCHOR_SEARCH, *nearby
    )
    if second_place is None:
        return _refused("distorted", gates)
    refined = _refine(page, style, (placement.matrix, second_place[1]), limits)
    if refined is None:
        return _refused("distorted", gates)
    first, second = refined
    gates["anchors_2"] = second_place[0].share
    gates["elsewhere"] = float(max(placement.coarse.elsewhere, second_place[0].elsewhere))
    gates["scale"] = first.sheet_map.scale
    reasons = prove(style, program, first.votes, first.fit, gates)
    if reasons:
        return Refusal(fate_of(reasons), reasons, gates)
    gates["residual_2_px"] = median(second.fit.distances)
    deck_mark_mm2 = deck_mark_ink_mm2(page.image, _at_deck_mark(page, placement), style, limits)
    if deck_mark_mm2 is not None:
        gates[INK_GATE] = deck_mark_mm2
    height, width = page.image.shape
    maps = _in_the_picture(page, style, (first.sheet_map, second.sheet_map), gates)
    if maps is None:
        return _refused("distorted", gates)
    left, top, right, bottom = crop_bounds(style, maps, width, height)
    if right - left < SMALLEST_CROP_PX or bottom - top < SMALLEST_CROP_PX:
        return _refused("not_on_paper", gates)
    gates["crop_left"], gates["crop_top"] = float(left), float(top)
    crop = page.image[top:bottom, left:right].copy()
    registrations = tuple(shifted(one.coefficients, -left, -top) for one in maps)
    return Evidence(style.id, placement.side_index, crop, (registrations[0], registrations[1]), gates)


_MOST_LEFT_PX = 0.25
"""What a polynomial over the contest may leave of a lens's bend: no more than registrations err by."""


def _in_the_picture(
    page: Page, style: Style, straight: tuple[SheetMap, SheetMap], gates: dict[str, float]
) -> tuple[SheetMap, SheetMap] | None:
    """Return the registrations in the real picture; None where no polynomial follows the lens closely."""
    if page.lens is None:
        return straight
    (first, first_left), (second, second_left) = (
        BentMap(one, page.lens).over(style.reference_box) for one in straight
    )
    gates["lens_left_px"] = max(first_left, second_left)
    return (first, second) if gates["lens_left_px"] <= _MOST_LEFT_PX else None


def _at_deck_mark(page: Page, placement: Placement) -> Matrix:
    """Return the matrix from the blank to the page that holds where the TEST mark stands."""
    place = placement.style.test_mark
    if page.lens is None or place is None:
        return placement.matrix
    middle = np.array([(place[0] + place[2] - 1) / 2, (place[1] + place[3] - 1) / 2])
    linear = placement.matrix[:2, :2]
    straight = (linear @ middle + placement.matrix[:2, 2])[None]
    matrix = placement.matrix.copy()
    matrix[:2, :2] = page.lens.slopes(straight)[0] @ linear
    matrix[:2, 2] = page.lens.bent(straight)[0] - matrix[:2, :2] @ middle
    return matrix


@dataclass(frozen=True, slots=True)
class Refined:
    """One path's registration at the contest, with what its details found."""

    votes: Votes
    fit: Fit

    @property
    def sheet_map(self) -> SheetMap:
        """Return the final map."""
        return self.fit.sheet_map


def _refine(page: Page, style: Style, matrices: Sequence[Matrix], limits: Thresholds) -> list[Refined] | None:
    """Return the registrations of the first path, or of both, at the contest; None if one is not found."""
    paths = style.paths[: len(matrices)]
    pyramids = [page.pyramid(start) for start in range(len(matrices))]
    maps = [SheetMap(from_affine(matrix, style.frame), style.frame) for matrix in matrices]
    wanting = list(range(len(matrices)))
    for reach in (LANDMARK_SEARCH, WIDE_LANDMARK_SEARCH):
        searches = [
            Search(pyramids[start], _seen(page, maps[start]), paths[start].landmarks) for start in wanting
        ]
        found = _straight(page, look_for(searches, LANDMARK_LEVEL, reach))
        priors = [maps[start] for start in wanting]
        fits = fit(found, priors, limits.landmark_match, tolerance_px=3.0, second_order=0.05)
        for start, votes, fitted in zip(tuple(wanting), found, fits, strict=True):
            agreeing = (fitted.distances < 6.0) & (votes.scores >= limits.landmark_match)
            if float(agreeing.mean()) >= limits.landmark_share:
                maps[start] = fitted.sheet_map
                wanting.remove(start)
        if not wanting:
            break
    if wanting:
        return None
    searches = [
        Search(pyramid, _seen(page, sheet_map), path.details)
        for pyramid, sheet_map, path in zip(pyramids, maps, paths, strict=True)
    ]
    votes = _straight(page, look_for(searches, 0, DETAIL_SEARCH))
    fits = fit(votes, maps, limits.landmark_match)
    return [Refined(*both) for both in zip(votes, fits, strict=True)]


def _seen(page: Page, sheet_map: SheetMap) -> SheetMap | BentMap:
    """Return the map to the real picture: through the lens, where it is known."""
    return sheet_map if page.lens is None else BentMap(sheet_map, page.lens)


def _straight(page: Page, votes: list[Votes]) -> list[Votes]:
    """Return the votes with their goals in the straight picture."""
    if page.lens is None:
        return votes
    return [replace(one, goal=page.lens.straight(one.goal)) for one in votes]


# -- what a sheet is that bears none of the styles -----------------------------------------------------------


def _unknown(pages: Sequence[Page], program: Program) -> Refusal:
    """Return why no style was found: bad light, no print, the wrong side, a mirror, or another ballot."""
    darkest = max(float(np.percentile(page.pyramid(0).levels[-1], 90)) for page in pages)
    lightest = max(float(np.percentile(page.pyramid(0).levels[-1], 2)) for page in pages)
    texture = max(_print_texture(page) for page in pages)
    gates = {"paper": darkest, "darkest": lightest, "texture": texture}
    if darkest < program.thresholds.paper_low_grey * 0.6:
        return _refused("exposure", gates)
    if texture < 3.0:
        return _refused("blank_paper", gates)
    for style in program.styles:
        for page in pages:
            size = (page.image, style.width, style.height)
            straight = [guess for guess in possible_guesses(*size) if guess.skew_deg == 0]
            for guess in dict.fromkeys([*likely_guesses(*size), *straight]):
                if style.other_side and _place(page, 0, style.other_side, guess, None, program.thresholds):
                    return _refused("wrong_side", gates)
                if _is_mirrored(page, style, guess, program):
                    return _refused("mirror_image", gates)
    return _refused("wrong_style", gates)


def _print_texture(page: Page) -> float:
    """Return how much print-like detail the inner page bears, in grey levels."""
    level = min(3, len(page.pyramid(0).levels) - 1)
    low = page.pyramid(0).levels[level]
    height, width = low.shape
    inner = low[height // 8 : height - height // 8, width // 8 : width - width // 8]
    smooth = blurred(np.ascontiguousarray(inner), 4.0)
    return float(np.percentile(np.abs(inner.astype(np.float32) - smooth), 97))
