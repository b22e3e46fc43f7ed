"""Whole ballot pages drawn for tests: one contest's program, and sheets with known votes and faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_ballots.blank import Blank, draw_blank
from recount_ballots.design import Candidate, Contest, Design
from recount_ballots.layout import PlacedContest
from recount_ballots.marks import mark
from recount_ballots.names import random_design
from recount_ballots.paper import Mask
from recount_ballots.scanner import Scan, ScanSettings, scan
from recount_ballots.strokes import take
from recount_classifier.compiling import StyleSpec, TargetSpec, compile_style
from recount_classifier.program import Option, Program, make_program
from recount_classifier.thresholds import Thresholds

Grey = NDArray[np.uint8]
Chance = np.random.Generator
DPI = 200
RECOUNT = "c2"
"""The contest under recount."""


def contest_of(design: Design) -> Contest:
    """Return the design's contest under recount."""
    return next(contest for contest in design.front if contest.key == RECOUNT)


@cache
def usual_design() -> Design:
    """Return the ballot of these tests: the contest under recount has three names and a write-in line."""
    people = ("Cora Whitlock", "Oscar Radford", "Tessa Marlow")
    names = [Candidate(key, name, "Independent") for key, name in zip("ABC", people, strict=True)]
    return with_candidates(random_design(11), (*names, Candidate("W", "Write-in", write_in=True)))


def with_candidates(design: Design, candidates: Sequence[Candidate]) -> Design:
    """Return the ballot with other candidates, or in another order, in the contest under recount."""
    contest = replace(contest_of(design), vote_for=1, candidates=tuple(candidates))
    return replace(design, front=tuple(contest if c.key == RECOUNT else c for c in design.front))


@cache
def blank_of(design: Design) -> Blank:
    """Return the typeset front of a ballot."""
    return draw_blank(design, "front", DPI)


@cache
def program() -> Program:
    """Return the program of the contest under recount."""
    return program_of(usual_design())


@cache
def program_of(design: Design) -> Program:
    """Return the program of the contest under recount on another ballot."""
    return program_on(blank_of(design))


def program_on(blank: Blank) -> Program:
    """Return the program of the contest under recount as this blank bears it."""
    placed = blank.layout.contest(RECOUNT)
    box = placed.box
    spec = StyleSpec(
        id="drawn",
        side="front",
        dpi=DPI,
        box=(np.floor(box.left), np.floor(box.top), np.ceil(box.right), np.ceil(box.bottom)),
        write_in_areas=tuple(
            (np.floor(a.left), np.floor(a.top), np.ceil(a.right), np.ceil(a.bottom))
            for a in (option.write_in_area for option in placed.options)
            if a is not None
        ),
        targets=tuple(
            TargetSpec(
                o.candidate.key,
                o.candidate.write_in,
                (
                    np.floor(o.target.left),
                    np.floor(o.target.top),
                    np.ceil(o.target.right) - np.floor(o.target.left),
                    np.ceil(o.target.bottom) - np.floor(o.target.top),
                ),
            )
            for o in placed.options
        ),
    )
    options = [Option(o.candidate.key, o.candidate.name, o.candidate.write_in) for o in placed.options]
    style = compile_style(spec, blank.image, None)
    return make_program(RECOUNT, placed.contest.title, 1, options, [style], Thresholds())


@dataclass(slots=True, eq=False)
class Page:
    """A sheet while it is marked and spoilt."""

    blank: Blank
    image: Grey
    rng: Chance
    paper: Mask
    settings: ScanSettings
    choice: str
    """The printed option that the voter means."""
    quarter_turns: int = 0

    @property
    def contest(self) -> PlacedContest:
        """Return the contest under recount as it stands on this sheet."""
        return self.blank.layout.contest(RECOUNT)

    def other_choice(self) -> str:
        """Return another printed option than the voter's."""
        return "ABC"[("ABC".index(self.choice) + 1 + int(self.rng.integers(2))) % 3]

    def mark(self, key: str, kind: str = "full", tool: str | None = None) -> None:
        """Mark an option of the contest."""
        usual = ("black_pen", "blue_pen", "gel_pen", "pencil")
        pen = take(tool or usual[int(self.rng.integers(len(usual)))], DPI, self.rng)
        mark(self.image, self.contest.option(key).target, kind, pen, self.rng, DPI)

    def mark_other_contests(self) -> None:
        """Vote in the other contests of the sheet."""
        for contest in self.blank.layout.contests:
            if contest.contest.key != RECOUNT and self.rng.random() < 0.9:
                printed = [option for option in contest.options if not option.candidate.write_in]
                chosen = printed[int(self.rng.integers(len(printed)))]
                mark(self.image, chosen.target, "full", take("black_pen", DPI, self.rng), self.rng, DPI)

    def scanned(self) -> Scan:
        """Return the picture of the sheet with the map to it."""
        return scan(self.image, self.settings, self.rng, self.paper)

    def picture(self) -> Grey:
        """Return the picture of the sheet as it is fed."""
        return np.ascontiguousarray(np.rot90(self.scanned().image, self.quarter_turns))


def fresh_page(seed: tuple[int, ...], design: Design | None = None) -> Page:
    """Return a sheet whose other contests are voted on, before an ordinary scanner."""
    rng = np.random.default_rng(seed)
    blank = blank_of(design or usual_design())
    image = blank.image.copy()
    settings = ScanSettings(
        turn_deg=float(rng.uniform(-0.8, 0.8)),
        scale=float(rng.uniform(0.994, 1.006)),
        shift_px=(float(rng.normal(0, 4)), float(rng.normal(0, 4))),
        margin_px=12,
        background=int(rng.integers(225, 250)),
        white=float(rng.uniform(225, 248)),
        black=float(rng.uniform(12, 34)),
        blur_px=float(rng.uniform(0.45, 0.75)),
        noise=float(rng.uniform(2, 5)),
        jpeg=int(rng.integers(78, 91)),
    )
    choice = "ABC"[int(rng.integers(3))]
    page = Page(blank, image, rng, np.full(image.shape, 255, np.uint8), settings, choice)
    page.mark_other_contests()
    return page


def jpeg(picture: Grey, quality: int) -> Grey:
    """Return the picture through a JPEG of that quality."""
    _, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_GRAYSCALE), np.uint8)
