"""Draws blank ballots and marks, and degrades pages like scans and camera pictures, from a seed.

A ballot is a `Design`; `compose` says where everything lies, `draw_blank` typesets it. `mark`, `write_words`
and `corrections` are what voters do, `paper` what happens to sheets, `scan` what a scanner sees. Everything
random takes a numpy `Generator`: a seed repeats a picture exactly. Nothing of the product is imported here.
"""

from recount_ballots.blank import Blank, Grey, draw_blank, load_blank
from recount_ballots.design import Candidate, Contest, Design
from recount_ballots.geometry import PageMap
from recount_ballots.handwriting import write_words
from recount_ballots.layout import Layout, PlacedContest, PlacedOption, Rect, compose
from recount_ballots.marks import MARKS, mark, mark_patch
from recount_ballots.names import random_design
from recount_ballots.scanner import PERFECT, SCANNERS, Scan, ScanSettings, Streak, scan
from recount_ballots.spec import StyleEntry, write_spec
from recount_ballots.strokes import TOOLS, Pen, Tool, take

__all__ = [
    "MARKS",
    "PERFECT",
    "SCANNERS",
    "TOOLS",
    "Blank",
    "Candidate",
    "Contest",
    "Design",
    "Grey",
    "Layout",
    "PageMap",
    "Pen",
    "PlacedContest",
    "PlacedOption",
    "Rect",
    "Scan",
    "ScanSettings",
    "Streak",
    "StyleEntry",
    "Tool",
    "compose",
    "draw_blank",
    "load_blank",
    "mark",
    "mark_patch",
    "random_design",
    "scan",
    "take",
    "write_spec",
    "write_words",
]
