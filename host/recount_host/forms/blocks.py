"""What a form is made of: a heading, facts, tables, sentences, labels and lines to sign; one look for all.

A form holds words and digits only; how they look is in form.typ. Every form says of which record it was made:
the short code on each page is the beginning of the SHA-256 over all that stands on it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgpack

from recount_host.act import Act, act_hash, encode_act
from recount_host.forms.pages import print_form
from recount_host.law.persons import in_words
from recount_host.law.precinct import Facts
from recount_host.law.statement_lines import SHORT_CODE_DIGITS
from recount_host.order import Order
from recount_host.plain_words import plain_words

Block = Mapping[str, Any]


def heading(text: str) -> Block:
    """Return a heading of a part."""
    return {"block": "heading", "text": text}


def words(*sentences: str) -> Block:
    """Return sentences, each on a line of its own."""
    return {"block": "words", "lines": [sentence for sentence in sentences if sentence]}


def sentence(text: str) -> str:
    """Return `text` with a capital and a full stop, as the law's sentences have neither; nothing stays so."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?', '!')) else '.'}" if text else ""


def table(columns: Sequence[str], rows: Sequence[Sequence[str | int]], none: str) -> Block:
    """Return a table, numbers to the right; the sentence `none` where there is no row."""
    if not rows:
        return words(none)
    cells = [[{"text": _cell(cell), "number": _is_number(cell)} for cell in row] for row in rows]
    return {"block": "table", "columns": list(columns), "rows": cells}


def _is_number(value: str | int) -> bool:
    return isinstance(value, int) or (value[:1] in ("+", "-", "0") and value.lstrip("+-").isdigit())


def signed(change: int) -> str:
    """Return a change of votes with its sign, as it stands on forms: +2, -1, 0."""
    return f"{change:+d}" if change else "0"


def _cell(value: str | int) -> str:
    return plain_words(value) if isinstance(value, str) else str(value)


def label(*lines: str) -> Block:
    """Return a label to cut out; its first line is the largest."""
    return {"block": "label", "lines": list(lines)}


def signatures(says: str, signers: Sequence[str]) -> Block:
    """Return what is signed for and a line for each signer."""
    return {"block": "signatures", "says": says, "signers": list(signers)}


@dataclass(frozen=True, slots=True)
class Form:
    """One form before it is printed."""

    title: str
    about: str
    """The precinct, or the whole locality; stands at the head of each page."""
    mode: str
    order: Order
    order_sha256: str
    last_act: int
    """The form tells what was so after this act."""
    last_act_sha256: str
    utc: str
    blocks: tuple[Block, ...]

    def to_fields(self) -> dict[str, Any]:
        """Return everything that stands on the form."""
        return {
            "title": self.title,
            "about": self.about,
            "mode": self.mode,
            "citation": self.order.citation,
            "contest": self.order.title,
            "locality": self.order.locality,
            "vote_for": self.order.vote_for,
            "sides": [[side.key, side.name] for side in self.order.sides],
            "order_sha256": self.order_sha256,
            "last_act": self.last_act,
            "last_act_sha256": self.last_act_sha256,
            "utc": self.utc,
            "blocks": [dict(block) for block in self.blocks],
        }

    @property
    def facts_sha256(self) -> bytes:
        """Return the SHA-256 over all that stands on the form."""
        packed: bytes = msgpack.packb(self.to_fields()) or b""
        return hashlib.sha256(packed).digest()

    def pdf(self) -> bytes:
        """Return the form as a PDF. The same facts give the same bytes."""
        facts = self.to_fields() | {
            "facts_sha256": self.facts_sha256.hex(),
            "short_code": self.facts_sha256.hex()[:SHORT_CODE_DIGITS],
            "order_code": self.order_sha256[:SHORT_CODE_DIGITS],
        }
        return print_form("form.typ", facts, self.utc)


def form_of(facts: Facts, title: str, about: str, mode: str, blocks: Sequence[Block]) -> Form:
    """Return a form of these facts, as they are after their last act."""
    last: Act = facts.acts[-1]
    order_act = next((act for act in facts.acts if act.kind == "order_set"), None)
    return Form(
        title, about, mode, facts.order,
        order_act.body["sha256"].hex() if order_act else "",
        last.n, act_hash(encode_act(last)).hex(), last.utc, tuple(blocks),
    )  # fmt: skip


def by_words(act: Act) -> str:
    """Return who did an act, as written on forms."""
    return " and ".join(in_words(person) for person in act.by)
