"""The parts of docs/feeder.md and docs/wiring.md that are made from the firmware's own tables.

`python -m device.tests.firmware.pages`, in the repository's folder, writes them anew.
"""

import re
from pathlib import Path

from device.tests.firmware.bench import FIRMWARE, ROOT
from device.tests.firmware.sources import firmware_module

BEGIN = "<!-- made from {}: begin -->\n"
WIRE = re.compile(r"([A-Z_]+) = (\d+)  # (.*)")
END = "<!-- made from {}: end -->\n"


def state_diagram() -> str:
    """Return the feeder's transitions as a Mermaid state diagram."""
    feeder = firmware_module("feeder")
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> unconfigured"]
    for state in feeder.STATES:
        by_target: dict[str, list[str]] = {}
        for event, target in feeder.TRANSITIONS[state].items():
            if target != state:
                by_target.setdefault(target, []).append(event)
        lines.extend(
            f"    {state} --> {target}: {', '.join(sorted(by_target[target]))}"
            for target in feeder.STATES
            if target in by_target
        )
    return "\n".join([*lines, "```", ""])


def edge_table() -> str:
    """Return what each edge means in each state, as a table."""
    feeder = firmware_module("feeder")
    edges = list(feeder.EDGES[feeder.LEAVING])
    rows = ["| edge | " + " | ".join(feeder.STATES) + " |", "| --- " * (len(feeder.STATES) + 1) + "|"]
    rows.extend(
        f"| {edge} | " + " | ".join(feeder.EDGES[state].get(edge, "") for state in feeder.STATES) + " |"
        for edge in edges
    )
    return "\n".join([*rows, ""])


def pin_table() -> str:
    """Return the wires with what pins.py says about them, as a table."""
    rows = ["| pin | GPIO | name | direction | meaning |", "| --- | --- | --- | --- | --- |"]
    direction = ""
    for line in (FIRMWARE / "pins.py").read_text().splitlines():
        if line.startswith("# "):
            direction = {"Se": "in", "Ou": "out", "Li": "UART0"}[line[2:4]]
        wire = WIRE.fullmatch(line)
        if wire and wire[1] != "STEPS_PER_MM":
            rows.append(f"| {board_pin(int(wire[2]))} | {wire[2]} | {wire[1]} | {direction} | {wire[3]} |")
    return "\n".join([*rows, ""])


def board_pin(gpio: int) -> int:
    """Return the pin of a Raspberry Pi Pico that is a GPIO up to 22: every fifth from 3 on is ground."""
    assert 0 <= gpio <= 22
    return 1 + gpio + (gpio + 2) // 4


PARTS = {
    "docs/feeder.md": {"TRANSITIONS": state_diagram, "EDGES": edge_table},
    "docs/wiring.md": {"pins.py": pin_table},
}


def with_parts(page: str, text: str) -> str:
    """Return the page's text with its made parts as they should be."""
    for name, make in PARTS[page].items():
        begin, end = BEGIN.format(name), END.format(name)
        before, _, rest = text.partition(begin)
        _old, _, after = rest.partition(end)
        text = before + begin + make() + end + after
    return text


def main() -> None:
    for page in PARTS:
        path: Path = ROOT / page
        path.write_text(with_parts(page, path.read_text()))


if __name__ == "__main__":
    main()
