"""Patches of the blank, prepared to be searched in one go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recount_classifier.matching import Bank, bank_of
from recount_classifier.points import Points
from recount_classifier.program import Patch


@dataclass(frozen=True, slots=True, eq=False)
class Banked:
    """Patches of one size prepared for searching."""

    members: NDArray[np.intp]
    """Which of all the patches they are."""
    middles: Points
    """On the blank, in pixels of the patches' level."""
    bank: Bank


def banked(patches: tuple[Patch, ...], search: int, near: int) -> tuple[Banked, ...]:
    """Return the patches prepared for searching, those of one size together."""
    sizes: dict[tuple[int, ...], list[int]] = {}
    for index, patch in enumerate(patches):
        sizes.setdefault(patch.pixels.shape, []).append(index)
    groups: list[Banked] = []
    for members in sizes.values():
        bank = bank_of([patches[index].pixels for index in members], 2 * search + 1, 2 * near + 1)
        corners = np.array([(patches[index].left, patches[index].top) for index in members], np.float64)
        groups.append(Banked(np.array(members), corners + bank.middle, bank))
    return tuple(groups)
