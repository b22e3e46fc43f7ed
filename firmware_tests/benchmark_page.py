"""docs/benchmarks.md: each target that measures writes its own section there, between its own markers."""

from pathlib import Path

from firmware_tests.rig import ROOT

PAGE = ROOT / "docs" / "benchmarks.md"


def with_section(page: str, target: str, section: str) -> str:
    """Return a page with the section of `make target` renewed, or added at its end."""
    begin, end = f"<!-- make {target}: begin -->\n", f"<!-- make {target}: end -->\n"
    if begin not in page or end not in page:
        return f"{page.rstrip()}\n\n{begin}{section.strip()}\n{end}"
    before, _, rest = page.partition(begin)
    _old, _, after = rest.partition(end)
    return f"{before}{begin}{section.strip()}\n{end}{after}"


def write_section(target: str, section: str, path: Path = PAGE) -> None:
    """Write the section of `make target` into the page."""
    path.write_text(with_section(path.read_text(encoding="utf-8"), target, section), encoding="utf-8")
