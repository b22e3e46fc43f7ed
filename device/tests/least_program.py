"""The least contest program that is one: a page of white paper with a target for every option.

For tests of what carries programs about and never reads a sheet with them.
"""

from collections.abc import Sequence

import numpy as np

from recount_classifier.program import Option, Patch, Path, Program, Style, Target, make_program
from recount_classifier.thresholds import Thresholds

SIDE_PX = 8
"""Of a target; the page is one row of them."""


def least_program(key: str, title: str, options: Sequence[Option]) -> Program:
    """Return a program of one style that its own reading accepts."""
    page = (0, 0, SIDE_PX * len(options), SIDE_PX)
    label = Patch(0, 0, np.full((SIDE_PX, SIDE_PX), 255, np.uint8))
    targets = tuple(
        Target(option.key, SIDE_PX * n, 0, SIDE_PX, SIDE_PX, 0) for n, option in enumerate(options)
    )
    path = Path((), (), (label,))
    style = Style(
        id="1",
        side="front",
        width=page[2],
        height=page[3],
        box=page,
        write_in_areas=(),
        targets=targets,
        reference=np.full((page[3], page[2]), 255, np.uint8),
        reference_box=page,
        paths=(path, path),
        other_side=(),
        test_mark=None,
        label_likeness=0.0,
    )
    return make_program(key, title, 1, options, (style,), Thresholds())
