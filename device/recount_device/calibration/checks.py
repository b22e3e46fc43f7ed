"""What a camera must show on the lens chart and on white sheets, and what to do where it does not. Pure.

Every limit stands in one table with its reason. Where the classifier has a gate for the same thing, the limit
lies on its safe side: a device that just passes is still some way from giving sheets back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from recount_device.calibration.chart_dots import Dots
from recount_device.calibration.chart_optics import Optics
from recount_device.calibration.lens_fit import LensFit
from recount_device.calibration.white_sheet import WhiteSheets


@dataclass(frozen=True, slots=True)
class Limit:
    """What one figure may be."""

    name: str
    told: str
    """The figure, for people."""
    unit: str
    least: float | None
    most: float | None
    why: str
    do: str
    """One sentence: what to do where it fails."""


FOCUS = "set lens_position_hundredths anew, fasten the camera, and clean the glass and the lens"
LIGHT = "lengthen exposure_us, or mend the lamp"
BRIGHT = "The picture is too bright: shorten exposure_us, or lower gain_hundredths."
FLAT = "The chart does not lie flat, or was printed badly: print it anew at 100 %, and do not fold it."
_CLIPPED_WHY = (
    "What is whiter than white cannot be seen: pale marks and outlines go first (clipped_share, outline_ink)."
)
_PAPER_WHY = "Below 90 a sheet counts as under-exposed (paper_low_grey); a lamp loses a third with age."

LIMITS: Final[tuple[Limit, ...]] = (
    Limit(
        "edge_mm", "width of the bluntest edge", "mm", None, 0.45,
        "From 0.57 mm on, sheets come back as blurred (the classifier's sharpness of 0.42); a fifth "
        "is kept for heat and for paper that does not lie flat.",
        f"The picture is blurred: {FOCUS}.",
    ),
    Limit(
        "edge_ratio", "bluntest against sharpest place", "x", None, 1.8,
        "A camera that is sharp at one side only stands askew: one bump, and the other is over the limit.",
        "One side is blurred: set the camera parallel to the bed, then set lens_position_hundredths anew.",
    ),
    Limit(
        "paper", "darkest paper", "grey", 130, None,
        _PAPER_WHY,
        f"The picture is too dark: {LIGHT}.",
    ),
    Limit(
        "clipped", "paper as white as can be", "%", None, 1.0,
        _CLIPPED_WHY,
        BRIGHT,
    ),
    Limit(
        "contrast", "palest print against its paper", "grey", 100, None,
        "Below 60 a sheet comes back for its contrast (contrast_grey); ballots are paler than the chart.",
        "The print is too pale: print the chart in full black, keep stray light out, set exposure_us anew.",
    ),
    Limit(
        "grain", "noise of the paper", "% of contrast", None, 5.5,
        "A pixel is ink from 22 % on (ink): four standard deviations of noise stay below it.",
        "The picture is noisy: give more light, and lower gain_hundredths.",
    ),
    Limit(
        "lens_rms_mm", "what the lens leaves unexplained", "mm", None, 0.08,
        "0.6 pixels at 200 dpi: a printer places dots to 0.05 mm; above this it is the sheet that bends.",
        FLAT,
    ),
    Limit(
        "lens_worst_mm", "the same, 99 of 100 dots", "mm", None, 0.2,
        "1.6 pixels at 200 dpi: the largest distance of a label from its place (residual_px).",
        FLAT,
    ),
    Limit(
        "lens_corner", "bend of the lens at the corner", "%", None, 16.0,
        "Up to here the targets were measured to be found where they are (docs/classifier.md).",
        "The lens bends too much: use one of a longer focal length, and set the camera higher.",
    ),
    Limit(
        "reach", "field that the chart covers", "%", 60.0, None,
        "Beyond the outermost dots the bend is only guessed.",
        "The chart is small in the picture: print a longer one (chart --length-in), or set the camera lower.",
    ),
    Limit(
        "evenness", "darkest against brightest part", "%", 65.0, None,
        "Paper is measured round every spot of a ballot; so uneven, ballots were read as evenly lit ones "
        "(test_calibration_light.py).",
        "The light is uneven: move the lamps, clean them, and keep daylight out.",
    ),
    Limit(
        "white_darkest", "darkest part of a white sheet", "grey", 130, None,
        _PAPER_WHY,
        f"The light is too weak: {LIGHT}.",
    ),
    Limit(
        "white_clipped", "white sheet as white as can be", "%", None, 1.0,
        _CLIPPED_WHY,
        BRIGHT,
    ),
    Limit(
        "glass", "spots and lines on the glass", "", None, 0,
        "A spot of 0.075 mm2 in the smallest target sets a sheet aside (clear_spot); smaller ones grow.",
        "Something lies on the glass: clean it with a soft cloth; where that does not help, change it.",
    ),
)  # fmt: skip
LIMITS_BY_NAME: Final = {limit.name: limit for limit in LIMITS}


@dataclass(frozen=True, slots=True)
class Check:
    """One figure against its limit."""

    limit: Limit
    value: float
    where: str = ""

    @property
    def holds(self) -> bool:
        """Return whether the figure is within its limit."""
        low, high = self.limit.least, self.limit.most
        return (low is None or self.value >= low) and (high is None or self.value <= high)

    @property
    def room(self) -> str:
        """Return the limit, for people."""
        if self.limit.most is None:
            return f"at least {self.limit.least:g}"
        return f"at most {self.limit.most:g}"


def _check(name: str, value: float, where: str = "") -> Check:
    return Check(LIMITS_BY_NAME[name], value, where)


def focus_and_exposure(pictures: Sequence[Optics]) -> tuple[Check, ...]:
    """Return the checks of the chart's pictures: the worst of them stands for all."""
    bluntest = max((one.bluntest for one in pictures), key=lambda place: place.edge_mm)
    ratios = [one.bluntest.edge_mm / min(place.edge_mm for place in one.places) for one in pictures]
    darkest = min((one.darkest for one in pictures), key=lambda place: place.paper)
    palest = min((one.palest for one in pictures), key=lambda place: place.contrast)
    grain = max(100 * one.grain / max(1.0, one.palest.contrast) for one in pictures)
    return (
        _check("edge_mm", bluntest.edge_mm, bluntest.name),
        _check("edge_ratio", max(ratios), bluntest.name),
        _check("paper", darkest.paper, darkest.name),
        _check("clipped", 100 * max(one.clipped_share for one in pictures)),
        _check("contrast", palest.contrast, palest.name),
        _check("grain", grain),
    )


def lens_checks(fit: LensFit, charts: Sequence[Dots]) -> tuple[Check, ...]:
    """Return the checks of the lens that was found."""
    px_per_mm = min(chart.px_per_mm for chart in charts)
    return (
        _check("lens_rms_mm", fit.rms_px / px_per_mm),
        _check("lens_worst_mm", fit.worst_px / px_per_mm),
        _check("lens_corner", 100 * fit.lens.corner_share),
        _check("reach", 100 * min(max(chart.reach[axis] for chart in charts) for axis in (0, 1))),
    )


def white_checks(white: WhiteSheets) -> tuple[Check, ...]:
    """Return the checks of the white sheets."""
    return (
        _check("evenness", 100 * white.evenness),
        _check("white_darkest", white.darkest),
        _check("white_clipped", 100 * white.clipped_share),
        _check("glass", len(white.dirt), white.dirt[0].words if white.dirt else ""),
    )
