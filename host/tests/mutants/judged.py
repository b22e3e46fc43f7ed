"""docs/mutants.md: the mutants that no test notices, each under the reason why it is not wrong."""

from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "mutants.md"


def judged() -> list[str]:
    """Return the names of the mutants that a person judged, in the order of the page."""
    lines = PAGE.read_text(encoding="utf-8").splitlines() if PAGE.exists() else []
    return [line[3:-1] for line in lines if line.startswith("* `") and line.endswith("`")]
