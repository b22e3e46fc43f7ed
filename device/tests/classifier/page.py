"""The tables of docs/classifier.md, made from the code: `python -m device.tests.classifier.page`.

The page's prose is written by hand; what stands between a pair of `made from` marks is replaced.
"""

import ast
import inspect
import re
from itertools import pairwise
from pathlib import Path

from protocol.tests.page import with_tables
from recount_classifier import thresholds
from recount_classifier.reasons import REASONS
from recount_classifier.thresholds import THRESHOLD_NAMES, Thresholds

PAGE = Path(__file__).resolve().parents[3] / "docs" / "classifier.md"


def reason_table() -> str:
    """Return the table of reasons."""
    lines = ["| reason | fate | what the operator reads |", "| --- | --- | --- |"]
    lines += [
        f"| `{word}` | {reason.fate.replace('_', ' ')} | {reason.sentence} |"
        for word, reason in REASONS.items()
    ]
    return "\n".join(lines)


def threshold_table() -> str:
    """Return the table of thresholds with their defaults."""
    told, defaults = threshold_sentences(), Thresholds().to_fields()
    lines = ["| threshold | default | what it is |", "| --- | ---: | --- |"]
    lines += [f"| `{name}` | {defaults[name]:g} | {told[name]} |" for name in THRESHOLD_NAMES]
    return "\n".join(lines)


def threshold_sentences() -> dict[str, str]:
    """Return what stands under each threshold in its module, on one line."""
    module = ast.parse(inspect.getsource(thresholds))
    (body,) = (node.body for node in module.body if isinstance(node, ast.ClassDef))
    told: dict[str, str] = {}
    for field, text in pairwise(body):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            told[field.target.id] = re.sub(r"\s+", " ", str(text.value.value)).replace("|", "/")
    return told


TABLES = {"reasons.REASONS": reason_table, "thresholds.Thresholds": threshold_table}


def made_anew(page: str) -> str:
    """Return the page with its tables made from the code as it is. Raises ValueError without a mark."""
    return with_tables(page, TABLES)


if __name__ == "__main__":
    PAGE.write_text(made_anew(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
