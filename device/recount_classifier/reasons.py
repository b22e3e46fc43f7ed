"""Every reason the classifier gives: its word in records and figures, its fate, and its sentence for people.

A sheet may have several reasons. `fate_of` names the fate that they lead to together: what can be mended by
feeding again comes first, then what no reading is possible of, then what people decide.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from recount_protocol.fates import COUNTED, NOT_ACCEPTED, RETURNED, SET_ASIDE


@dataclass(frozen=True, slots=True)
class Reason:
    """What a reason leads to, and what the operator reads."""

    fate: str
    sentence: str


REASONS: dict[str, Reason] = {
    # -- people decide --
    "overvote": Reason(SET_ASIDE, "More choices are marked than may be."),
    "undervote": Reason(SET_ASIDE, "Fewer choices are marked than may be."),
    "write_in": Reason(SET_ASIDE, "The write-in line or its target bears ink."),
    "marginal_mark": Reason(SET_ASIDE, "A target bears ink that is neither clearly a mark nor clearly none."),
    "marginal_outside": Reason(SET_ASIDE, "Ink touches or crowds a target without clearly marking it."),
    "marginal_passing": Reason(SET_ASIDE, "A line or loop passes through a target and goes on."),
    "marginal_ground": Reason(
        SET_ASIDE, "A target lies on a stain, a shade or pale print that may be taken for a mark."
    ),
    "marginal_shared_stroke": Reason(SET_ASIDE, "One stroke runs through more than one target."),
    "marginal_weak": Reason(SET_ASIDE, "One mark is much weaker than the others."),
    "marginal_repeated_option": Reason(SET_ASIDE, "One choice is printed twice and marked twice."),
    "marginal_name": Reason(SET_ASIDE, "Ink crosses a printed name."),
    "marginal_writing": Reason(SET_ASIDE, "Something is written inside the contest's box."),
    "marginal_print": Reason(SET_ASIDE, "Print beside a target is covered or missing."),
    "marginal_outline": Reason(
        SET_ASIDE, "A target's printed outline is too pale: a mark may be hidden there."
    ),
    "marginal_fold": Reason(SET_ASIDE, "A fold or line runs through a target."),
    "registration_disagrees": Reason(SET_ASIDE, "The two measurements of the sheet's place do not agree."),
    # -- no reading is possible --
    "wrong_style": Reason(NOT_ACCEPTED, "This is not one of the ballot styles of this contest."),
    "other_contest": Reason(NOT_ACCEPTED, "Another contest stands in this contest's place."),
    "names_exchanged": Reason(NOT_ACCEPTED, "The choices stand in another order than on the blank ballot."),
    "name_changed": Reason(NOT_ACCEPTED, "The print beside a target is not that of the blank ballot."),
    "mirror_image": Reason(NOT_ACCEPTED, "The picture is a mirror image."),
    "blank_paper": Reason(NOT_ACCEPTED, "The sheet bears no print."),
    "not_on_paper": Reason(NOT_ACCEPTED, "Part of the contest is torn off, folded over or covered."),
    "distorted": Reason(NOT_ACCEPTED, "The sheet is too crumpled or stretched to be measured."),
    "test_ballot": Reason(
        NOT_ACCEPTED,
        "The place of the TEST mark bears ink: this is a test ballot, or not to be told from one.",
    ),
    "live_ballot": Reason(
        NOT_ACCEPTED, "This sheet bears no TEST mark: it does not belong to the test deck."
    ),
    # -- feed again --
    "wrong_side": Reason(RETURNED, "The sheet lies wrong side up: turn it over and feed it again."),
    "blurred": Reason(RETURNED, "The picture is blurred: feed the sheet again; clean the camera's glass."),
    "exposure": Reason(
        RETURNED, "The picture is too dark or too bright: check the lamp and feed the sheet again."
    ),
    "contrast": Reason(
        RETURNED, "The print is too pale in the picture: check the lamp and feed the sheet again."
    ),
    "streak": Reason(RETURNED, "A streak runs through a target: clean the glass and feed the sheet again."),
    "two_sheets": Reason(RETURNED, "Two sheets lie on each other: separate them and feed each by itself."),
    "same_image": Reason(RETURNED, "The camera gave the same picture twice: feed the sheet again."),
}

_ORDER = (RETURNED, NOT_ACCEPTED, SET_ASIDE)


def fate_of(reasons: Iterable[str]) -> str:
    """Return the fate that these reasons lead to together; no reason: counted."""
    fates = {REASONS[reason].fate for reason in reasons}
    for fate in _ORDER:
        if fate in fates:
            return fate
    return COUNTED


def reasons_of(fate: str, reasons: Iterable[str]) -> tuple[str, ...]:
    """Return those reasons that led to this fate, each once.

    What else was seen would mislead: under a tear the dark bed looks like marks, and no one may hear of the
    marks of a sheet that is not counted here.
    """
    return tuple(dict.fromkeys(reason for reason in reasons if REASONS[reason].fate == fate))
