"""Scans of papers that were signed in ink: a precinct's statement (E), the court's certification (F).

The signed paper is what holds, and stays with the clerk. Its scan lies in the evidence, so that whoever
checks it sees who signed, and holds the record code on the page against the facts.
"""

from collections.abc import Sequence

from recount_host.act import Act
from recount_host.law.errors import NotAllowed

SCAN_TYPES = ("pdf", "png", "jpg")
"""The kinds of files that a scan can be; each is the end of the file's name in the evidence."""

KEPT = ("signed_statement_kept", "signed_certification_kept")
"""The kinds of acts that take a scan."""


def check_new_scan(kept: Sequence[Act], act: Act) -> None:
    """Raise NotAllowed for a file that is kept already of this paper."""
    for earlier in kept:
        if earlier.body["sha256"] == act.body["sha256"]:
            raise NotAllowed(f"this very file is kept already (act {earlier.n}): scan the paper anew")
