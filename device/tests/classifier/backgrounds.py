"""Grounds that are no plain paper: what lies under targets and goes on beside them, yet is nobody's mark.

    python -m device.tests.classifier.backgrounds --positions 100000

reads that many positions on each background and prints how many were read as marked without a mark (*wrong*),
and how many of the voters' marks on it were still counted. Exits with 1 when there is a wrong one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from device.tests.classifier.accuracy import COUNTED, read
from device.tests.classifier.positions import (
    DIRT,
    KINDS,
    MEANT,
    TOUCHES,
    Chance,
    Sheet,
    Supply,
    make_supply,
    put_marks,
    scanned,
)
from recount_classifier.thresholds import Thresholds

Layer = NDArray[np.float32]
"""What is left of the light at each pixel of a ground: 1 is plain paper."""

PALEST, DARKEST = 0.04, 0.28
"""How much of the light a background takes: from hardly seen to more than the palest clear mark does."""
_BORNE = {**dict.fromkeys(TOUCHES, 0.13), **dict.fromkeys(DIRT, 0.03), **dict.fromkeys(MEANT, 0.02)}
"""Share of the targets that bear each kind; the others bear nothing but the background."""


_LETTERS = cv2.FONT_HERSHEY_SIMPLEX


def _depth(rng: Chance) -> float:
    return float(rng.uniform(PALEST, DARKEST))


def _plain(shape: tuple[int, int]) -> Layer:
    return np.ones(shape, np.float32)


def _soft(layer: Layer, sigma: float) -> Layer:
    return np.asarray(cv2.GaussianBlur(layer, (0, 0), sigma), np.float32) if sigma > 0.3 else layer


def _distance(shape: tuple[int, int], rng: Chance) -> Layer:
    """Return each pixel's distance along a direction, any of all."""
    turn = rng.uniform(0, 2 * np.pi)
    rows, columns = np.arange(shape[0])[:, None], np.arange(shape[1])[None, :]
    return (columns * np.cos(turn) + rows * np.sin(turn)).astype(np.float32)


def bands(shape: tuple[int, int], rng: Chance) -> Layer:
    """Print pale stripes, as wide as a pen's stroke or as a contest's row, at any angle."""
    width = float(np.exp(rng.uniform(np.log(4), np.log(80))))
    period = width * rng.uniform(1.6, 4)
    along = (_distance(shape, rng) + rng.uniform(0, period)) % period
    return _soft(1 - _depth(rng) * (along < width).astype(np.float32), rng.uniform(0, 2))


def words(shape: tuple[int, int], rng: Chance) -> Layer:
    """Print large slanted pale words, over and over."""
    side = int(np.hypot(*shape)) + 8
    layer = np.zeros((side, side), np.uint8)
    scale = rng.uniform(1.0, 5)
    stroke = max(2, round(scale * rng.uniform(2, 6)))
    for y in range(0, side + 200, max(24, int(scale * 26))):
        x = -int(rng.integers(200))
        cv2.putText(layer, "SAMPLE COPY VOID " * 6, (x, y), _LETTERS, scale, (255,), stroke, cv2.LINE_AA)
    turn = cv2.getRotationMatrix2D((side / 2, side / 2), float(rng.uniform(0, 360)), 1.0)
    turned = np.asarray(cv2.warpAffine(layer, turn, (side, side)), np.float32) / 255
    y0, x0 = (side - shape[0]) // 2, (side - shape[1]) // 2
    part = turned[y0 : y0 + shape[0], x0 : x0 + shape[1]]
    return _soft((1 - np.float32(_depth(rng)) * part).astype(np.float32), rng.uniform(0, 1.5))


def areas(shape: tuple[int, int], rng: Chance) -> Layer:
    """Print large pale areas, each with a straight edge: grey fields of a form, the shadow of a sheet."""
    layer = _plain(shape)
    for _ in range(int(rng.integers(2, 9))):
        along = _distance(shape, rng)
        edge = rng.uniform(along.min(), along.max())
        field = (1 - _depth(rng) * 0.7 * (along > edge)).astype(np.float32)
        layer *= _soft(field, rng.uniform(0, 6))
        layer = np.maximum(layer, 1 - DARKEST)
    return layer


def folds(shape: tuple[int, int], rng: Chance) -> Layer:
    """Fold the paper sharply or softly: a dark line, and a shade that fades on one side of it."""
    layer = _plain(shape)
    for _ in range(int(rng.integers(3, 10))):
        along = _distance(shape, rng)
        away = along - rng.uniform(along.min(), along.max())
        line = np.exp(-((away / rng.uniform(0.8, 3)) ** 2)) * _depth(rng)
        shade = (away > 0) * np.exp(-np.maximum(away, 0) / rng.uniform(8, 60)) * _depth(rng) * 0.8
        layer *= 1 - np.maximum(line, shade).astype(np.float32)
    return layer


def other_side(shape: tuple[int, int], rng: Chance) -> Layer:
    """Let the other side's marks and words shine through."""
    other = np.zeros(shape, np.uint8)
    for _ in range(int(shape[0] * shape[1] / 2500)):
        x, y = (int(rng.integers(length)) for length in (shape[1], shape[0]))
        half = (int(rng.integers(6, 40)), int(rng.integers(4, 24)))
        if rng.random() < 0.5:
            cv2.ellipse(other, ((x, y), (2 * half[0], 2 * half[1]), rng.uniform(0, 180)), (255,), -1, 16)
        else:
            ends = ((x - half[0], y - half[1]), (x + half[0], y + half[1]))
            cv2.line(other, *ends, (255,), int(rng.integers(3, 12)), 16)
    blurred = _soft(other.astype(np.float32) / np.float32(255), rng.uniform(1, 3))
    return (1 - np.float32(_depth(rng)) * blurred).astype(np.float32)


def coffee(shape: tuple[int, int], rng: Chance) -> Layer:
    """Put cups down and let drops fall: pale discs with a darker rim."""
    layer = _plain(shape)
    rows, columns = np.mgrid[0 : shape[0], 0 : shape[1]].astype(np.float32)
    for _ in range(14):
        radius = float(np.exp(rng.uniform(np.log(10), np.log(160))))
        away = np.hypot(columns - rng.uniform(0, shape[1]), rows - rng.uniform(0, shape[0])) - radius
        rim = np.exp(-((away / rng.uniform(1.5, 8)) ** 2)) * _depth(rng)
        inside = (away < 0) * _depth(rng) * rng.uniform(0.1, 1.0)
        layer = np.minimum(layer, 1 - np.maximum(rim, inside).astype(np.float32))
    return _soft(layer.astype(np.float32), rng.uniform(0, 1.5))


def toner(shape: tuple[int, int], rng: Chance) -> Layer:
    """Copy it on a worn machine: soft bands along the paper, and a veil of toner specks."""
    down = rng.random() < 0.5
    places = np.arange(shape[1] if down else shape[0], dtype=np.float32)
    profile = np.zeros_like(places)
    for _ in range(int(rng.integers(3, 12))):
        away = np.abs(places - rng.uniform(0, len(places))) / np.exp(rng.uniform(np.log(2), np.log(40)))
        profile = np.maximum(profile, np.exp(-(away ** rng.choice([2, 8]))) * _depth(rng))
    speckled = np.asarray(cv2.GaussianBlur(rng.random(shape, np.float32), (0, 0), rng.uniform(0.6, 2.0)))
    speckled = np.clip((speckled - 0.5) * rng.uniform(0, 4) + 1, 0.3, 1.7)
    band = profile[None, :] if down else profile[:, None]
    return np.clip(1 - band * speckled, 1 - DARKEST * 1.2, 1).astype(np.float32)


def glare(shape: tuple[int, int], rng: Chance) -> Layer:
    """Let lamps shine on parts of the paper: what they do not reach is darker."""
    light = np.zeros(shape, np.float32)
    rows, columns = np.mgrid[0 : shape[0], 0 : shape[1]].astype(np.float32)
    for _ in range(int(rng.integers(3, 14))):
        reach = np.exp(rng.uniform(np.log(12), np.log(150), 2))
        x, y = rng.uniform(0, shape[1]), rng.uniform(0, shape[0])
        distance = ((columns - x) / reach[0]) ** 2 + ((rows - y) / reach[1]) ** 2
        light = np.maximum(light, np.exp(-(distance ** rng.choice([1.0, 2.0, 6.0]))).astype(np.float32))
    return (1 - np.float32(_depth(rng)) * (1 - light)).astype(np.float32)


def crumpled(shape: tuple[int, int], rng: Chance) -> Layer:
    """Crumple the paper: shades that go from dark to bright within a target or over several."""
    step = rng.uniform(12, 60)
    coarse = rng.random((int(shape[0] / step) + 3, int(shape[1] / step) + 3), np.float32)
    way = cv2.INTER_CUBIC if rng.random() < 0.5 else cv2.INTER_NEAREST
    shade = np.asarray(cv2.resize(coarse, (shape[1], shape[0]), interpolation=way), np.float32)
    return _soft(1 - np.float32(_depth(rng)) * np.clip(shade, 0, 1), rng.uniform(0.5, 3))


BACKGROUNDS: dict[str, Callable[[tuple[int, int], Chance], Layer]] = {
    "pale bands": bands,
    "a watermark of words": words,
    "grey areas": areas,
    "folds with a shade": folds,
    "the other side shining through": other_side,
    "coffee": coffee,
    "toner bands": toner,
    "edges of glare": glare,
    "crumpled paper": crumpled,
}


def compose_on(background: str, supply: Supply, rng: Chance) -> Sheet:
    """Return a sheet with that background under all of its targets; every shape is as frequent."""
    bank = supply.banks[int(rng.integers(len(supply.banks)))]
    flat = bank.prints[int(rng.integers(len(bank.prints)))].copy()
    kinds, depths = put_marks(flat, bank, rng, _BORNE)
    layer = BACKGROUNDS[background](flat.shape, rng)
    flat = np.round(flat * layer).astype(np.uint8)
    return scanned(flat, bank.blank, kinds, depths, supply, rng)


@dataclass(frozen=True, slots=True)
class Found:
    """What was read on one background."""

    positions: int
    wrong: tuple[tuple[int, int], ...]
    """Sheet's number and target of each that bears no mark and was read as marked."""
    marks: int
    counted: int


_IS_MEANT = np.array([kind in MEANT for kind in KINDS])


def judge_on(
    background: str, supply: Supply, seed: tuple[int, ...], sheets: int, limits: Thresholds
) -> Found:
    """Compose and read that many sheets with a background."""
    positions = marks = counted = 0
    wrong: list[tuple[int, int]] = []
    for number in range(sheets):
        sheet = compose_on(background, supply, np.random.default_rng((*seed, number)))
        is_marked = read(sheet, limits) == COUNTED
        meant = _IS_MEANT[sheet.kinds]
        wrong += [(number, int(target)) for target in np.flatnonzero(is_marked & ~meant)]
        positions += len(meant)
        marks += int(meant.sum())
        counted += int((meant & is_marked).sum())
    return Found(positions, tuple(wrong), marks, counted)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the positions, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(prog="backgrounds", description="Read drawn positions on backgrounds.")
    parser.add_argument("--positions", type=int, default=100_000, help="on each (default: %(default)s)")
    parser.add_argument("--marks", type=int, default=100, help="patches of each kind (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(BACKGROUNDS), action="append")
    given = parser.parse_args(arguments)
    cv2.setNumThreads(1)
    supply = make_supply(given.marks, prints=25, seed=(given.seed, 7))
    mean = float(np.mean([len(bank.blank.centres) for bank in supply.banks]))
    print(f"{'background':<32} {'positions':>10} {'wrong':>6} {'marks':>7} {'counted':>8}")
    wrong = 0
    for background in given.only or BACKGROUNDS:
        seed = (given.seed, list(BACKGROUNDS).index(background))
        found = judge_on(background, supply, seed, round(given.positions / mean), Thresholds())
        wrong += len(found.wrong)
        share = found.counted / max(1, found.marks)
        print(
            f"{background:<32} {found.positions:>10,} {len(found.wrong):>6} {found.marks:>7,} {share:>8.1%}"
            f"  {found.wrong[:4]}",
            flush=True,
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
