"""Records of judged and landed sheets as a device writes them, for `make bench`."""

from hashlib import sha256
from typing import Any

from host.tests.links.stand_in import StandIn


def write_sheet_record(device: StandIn, crop_bytes: int) -> None:
    """Have the device write down its next record: a sheet judged and landed in turn, with a crop or none."""
    n = len(device.journal) + 1
    sheet, feeder = (n + 1) // 2, [71, n, n, 0, 0, 0]
    if n % 2 == 0:
        landed = {"sheet": sheet, "bin": "counted", "by": "feeder", "feeder": feeder}
        device.write("sheet_landed", landed, run="run-1", batch=1)
        return
    crop = n.to_bytes(8) * (crop_bytes // 8)
    if crop:
        device.crops[n] = crop
    body = {
        "sheet": sheet, "fate": "counted", "choices": ["D"], "reasons": [], "style": "101", "length_mm": 279,
        "evidence": _evidence(n), "crop_sha256": sha256(crop).digest() if crop else b"",
        "crop_bytes": len(crop), "place": 0, "feeder": feeder,
    }  # fmt: skip
    device.write("sheet_judged", body, run="run-1", batch=1)


def _evidence(n: int) -> dict[str, Any]:
    """Return as many numbers as the evidence of a sheet with four targets holds."""
    return {
        "style": "101",
        "side": 0,
        "registrations": [[n + k / 7 for k in range(20)]] * 2,
        "gates": {f"gate_{k}": n / (k + 3) for k in range(12)},
    }
