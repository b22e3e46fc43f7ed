"""The summary of a calibration: what passed, the figures, and what to do. As text and as JSON. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime

from recount_classifier.lens import LENS_NUMBERS, Lens
from recount_device.calibration.checks import Check
from recount_device.calibration.steps import Seen, Step
from recount_device.lens_file import lens_hash


@dataclass(frozen=True, eq=False)
class Walk:
    """A device's calibration as far as it was done."""

    name: str
    device: str
    """The device id; empty where the device never ran."""
    begun: datetime
    steps: tuple[Step, ...]
    seen: Seen
    said: str
    """What became of the lens calibration; empty where the lens was not looked at."""

    @property
    def passed(self) -> bool:
        """Return whether every step that was done passed."""
        return all(step.passed for step in self.steps)

    @property
    def advice(self) -> tuple[str, ...]:
        """Return what to do, each thing once."""
        return tuple(dict.fromkeys(told for step in self.steps for told in step.advice))

    @property
    def when(self) -> str:
        """Return date and time."""
        return f"{self.begun:%Y-%m-%d %H:%M} UTC"

    @property
    def who(self) -> str:
        """Return the device's name and id."""
        return f"{self.name} ({self.device})" if self.device else self.name

    @property
    def lens(self) -> Lens | None:
        """Return the lens that was found."""
        return self.seen.fit.lens if self.seen.fit is not None else None


def page(walk: Walk) -> str:
    """Return the summary for people."""
    lines = [f"Calibration of device {walk.who}, {walk.when}", ""]
    for step in walk.steps:
        lines.append(f"{step.title}: {'passed' if step.passed else 'FAILED'} ({step.pictures} pictures)")
        lines += [check_line(check) for check in step.checks]
        lines += [f"      {note}" for note in step.notes]
        lines.append("")
    if walk.said:
        lines += [walk.said, ""]
    lines.append("PASSED" if walk.passed else "FAILED. What to do:")
    lines += [f"  {number}. {told}" for number, told in enumerate(walk.advice, 1)]
    return "\n".join(lines)


def check_line(check: Check) -> str:
    """Return one figure against its limit, for people."""
    sign = "ok" if check.holds else " !"
    where = f" ({check.where})" if check.where and not check.holds else ""
    unit = f" {check.limit.unit}" if check.limit.unit else ""
    return f"  {sign}  {check.limit.told}: {check.value:.3g}{unit}, {check.room}{where}"


def json_line(walk: Walk) -> str:
    """Return the summary as one JSON object."""
    lens = walk.lens
    return json.dumps(
        {
            "device": walk.name,
            "id": walk.device,
            "utc": f"{walk.begun:%Y-%m-%dT%H:%M:%SZ}",
            "passed": walk.passed,
            "advice": list(walk.advice),
            "steps": [_step_fields(step) for step in walk.steps],
            "lens": None
            if lens is None
            else {**{name: getattr(lens, name) for name in LENS_NUMBERS}, "sha256": lens_hash(lens)},
            "said": walk.said,
        }
    )


def _step_fields(step: Step) -> dict[str, object]:
    return {
        "name": step.name,
        "passed": step.passed,
        "pictures": step.pictures,
        "checks": [
            {
                "name": check.limit.name,
                "value": round(check.value, 5),
                "unit": check.limit.unit,
                "least": check.limit.least,
                "most": check.limit.most,
                "holds": check.holds,
                "where": check.where,
                "why": check.limit.why,
            }
            for check in step.checks
        ],
        "notes": list(step.notes),
        "advice": list(step.advice),
    }
