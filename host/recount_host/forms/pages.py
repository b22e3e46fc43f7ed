"""Facts and a typst template in, a PDF out: tagged for screen readers (PDF/UA-1), reproducible byte for byte.

Only the fonts that typst carries in itself are used, so every machine prints the same page. The date in the
file is that of the facts; typst derives the file's id from its content.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from importlib.resources import files
from typing import Any

import typst


def print_form(template: str, facts: Mapping[str, Any], utc: str) -> bytes:
    """Return the PDF of the form `template` filled with `facts`; `utc`, ISO 8601 with Z, is their date."""
    source = files("recount_host.forms").joinpath(template).read_bytes()
    return typst.compile(
        source,
        ignore_system_fonts=True,
        format="pdf",
        pdf_standards=["ua-1"],
        sys_inputs={"facts": json.dumps(facts, ensure_ascii=False, sort_keys=True)},
        timestamp=int(datetime.fromisoformat(utc).timestamp()),
    )
