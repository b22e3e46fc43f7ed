"""SPEC.toml of a contest: what `recount-host program build` must know about blank ballots."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor

from recount_ballots.layout import Layout, PlacedContest, Rect


@dataclass(frozen=True)
class StyleEntry:
    """One ballot style of the spec: the side that bears the contest, its picture, and the other side's."""

    style_id: str
    layout: Layout
    blank: str
    side: str = "front"
    other_side: str | None = None


def write_spec(contest_key: str, dpi: int, styles: Sequence[StyleEntry]) -> str:
    """Return the text of SPEC.toml for one contest of ballots drawn here; layouts are in pixels at `dpi`."""
    contest = styles[0].layout.contest(contest_key).contest
    lines = [
        f'key = "{contest.key}"',
        f'title = "{contest.title}"',
        f"vote_for = {contest.vote_for}",
        f"dpi = {dpi}",
    ]
    for candidate in contest.candidates:
        lines += ["", "[[option]]", f'key = "{candidate.key}"', f'name = "{candidate.name}"']
        if candidate.write_in:
            lines.append("write_in = true")
    for style in styles:
        lines += ["", *_style_lines(style, style.layout.contest(contest_key))]
    return "\n".join(lines) + "\n"


def _style_lines(style: StyleEntry, placed: PlacedContest) -> list[str]:
    areas = [edges(option.write_in_area) for option in placed.options if option.write_in_area]
    targets = ", ".join(
        f"{option.candidate.key} = [{corner_and_size(option.target)}]" for option in placed.options
    )
    lines = [
        "[[style]]",
        f'id = "{style.style_id}"',
        f'side = "{style.side}"',
        f'blank = "{style.blank}"',
    ]
    if style.other_side:
        lines.append(f'other_side = "{style.other_side}"')
    lines += [
        f"contest_box = {edges(placed.box)}",
        f"write_in_areas = {areas}",
        f"targets = {{ {targets} }}",
    ]
    if style.layout.test_mark:
        lines.append(f"test_mark = {edges(style.layout.test_mark)}")
    return lines


def edges(rect: Rect) -> list[int]:
    """Return [left, top, right, bottom] in whole pixels that hold the rectangle."""
    return [floor(rect.left), floor(rect.top), ceil(rect.right), ceil(rect.bottom)]


def corner_and_size(rect: Rect) -> list[int]:
    """Return [left, top, width, height] in whole pixels that hold the rectangle."""
    left, top, right, bottom = edges(rect)
    return [left, top, right - left, bottom - top]
