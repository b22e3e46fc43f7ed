"""Set-aside tags: for each sheet that a scanner put aside a tag with its place, the reasons and its contest.

The picture is the contest as the camera saw it, without a word or a line of the program's: what a mark means
is for the officials to say (D 2 s. 2). When tags may be printed is the law's matter (`disclosure.notices`).
"""

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

from recount_classifier.reasons import REASONS
from recount_host.forms.blocks import form_of
from recount_host.forms.pages import print_form
from recount_host.law.disclosure import Notice, notices
from recount_host.law.precinct import Facts, fold
from recount_host.law.statement_lines import SHORT_CODE_DIGITS

TITLE = "Set-aside tags"
SAYS = (
    "Cut out, and lay each on its sheet. The reasons say why people decide this ballot; what a mark means is "
    "decided by the officials by the standards in use, never by this tag."
)
_PILES: Mapping[str, str] = {"set_aside": "Set aside", "not_accepted": "Not accepted"}

Picture = Callable[[Notice], bytes | None]
"""Gives the picture of a sheet's contest as PNG; None where it has not come."""


def print_tags(facts: Facts, precinct_id: str, picture: Picture) -> bytes:
    """Return the tags of a precinct as a PDF; the same facts and pictures give the same bytes.

    Raises NotAllowed while the notices are closed.
    """
    state = fold(facts, precinct_id)
    told = [(notice, picture(notice)) for notice in notices(state)]
    about = f"precinct {state.precinct.id} {state.precinct.name}"
    form = form_of(facts, TITLE, about, state.mode, ()).to_fields()
    tags = [_tag(notice, png, number) for number, (notice, png) in enumerate(told, 1)]
    everything = json.dumps({**form, "tags": tags}, sort_keys=True, ensure_ascii=False)
    pictures = {tag["picture"]: png for tag, (_, png) in zip(tags, told, strict=True) if png is not None}
    code = sha256(everything.encode() + b"".join(pictures.values())).hexdigest()
    printed = {
        **form,
        "says": SAYS,
        "tags": tags,
        "short_code": code[:SHORT_CODE_DIGITS],
        "order_code": form["order_sha256"][:SHORT_CODE_DIGITS],
    }
    return print_form("tags.typ", printed, form["utc"], pictures)


def _tag(notice: Notice, png: bytes | None, number: int) -> dict[str, Any]:
    return {
        "pile": _PILES[notice.pile],
        "device": notice.device_name,
        "batch": str(notice.batch),
        "sheet": str(notice.sheet),
        "place": notice.place,
        "why": " ".join(REASONS[word].sentence if word in REASONS else f"{word}." for word in notice.reasons),
        "picture": f"{number}.png" if png is not None else "",
    }
