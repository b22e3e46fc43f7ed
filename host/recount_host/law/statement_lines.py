"""What stands on a precinct's statement, line by line (E s. 1).

Whence each figure comes is in `statement.py`.
"""

from dataclasses import asdict, dataclass
from typing import Any

SHORT_CODE_DIGITS = 8
"""Enough to match a sheet of paper with the data; the whole hash stands on the last page."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the result: where its votes come from, and their sum."""

    key: str
    name: str
    accepted: int
    """Votes on sheets that the scanners counted; 0 where the whole precinct is hand counted."""
    by_hand: int
    """Votes on hand-counted ballots of those cast on scanners, without the challenged ones."""
    paper: int
    """Votes on paper ballots (D 1), without the challenged ones."""
    stated: int
    """Votes as the statement of results shows them, where the ballots cannot be found (E)."""
    total: int


@dataclass(frozen=True, slots=True)
class Line:
    """A figure with its name, and a word on where it comes from."""

    name: str
    value: int
    source: str = ""


@dataclass(frozen=True, slots=True)
class IdentityLine:
    """One identity as it stands on the statement."""

    name: str
    meaning: str
    holds: bool | None
    """None where nothing was entered that it could be held against: a note."""
    figures: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class CountLine:
    """One round of a count by hand: the number counted, the attempt, and what each person entered."""

    letter: str
    what: str
    attempt: int
    first: int
    first_by: str
    second: int | None
    """None where the second person never entered it."""
    second_by: str


@dataclass(frozen=True, slots=True)
class RunLine:
    """One device's part."""

    run: str
    device: str
    name: str
    software: str
    firmware: str
    batches: int
    last_record: int
    last_record_sha256: str


@dataclass(frozen=True, slots=True)
class VoidLine:
    """An attempt that both sides voided."""

    name: str
    batch: int
    """0 where the device was withdrawn with all that it had scanned."""
    reason: str
    by: str


@dataclass(frozen=True, slots=True)
class SourceLine:
    """Whence the figures of one stream of ballots come: the ballots, or the statement of results (E)."""

    stream: str
    source: str


@dataclass(frozen=True, slots=True)
class PileLine:
    """One hand-counted pile with its outcomes."""

    pile: str
    what: str
    ballots: int
    outcomes: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class ChallengedLine:
    """One segregated ballot, apart from the valid ballots."""

    tag: str
    envelope: str
    pile: str
    counted_as: str
    in_totals: bool
    """Whether its vote stays in the totals until the court rules: a scanner accepted it (D 2 s. 5)."""
    question: str
    by: str
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContainerLine:
    """One container, as it came."""

    name: str
    holds: str
    seal: str
    seal_was: str
    stated: int | None
    opened_by: str
    sorted_out: int


@dataclass(frozen=True, slots=True)
class Signer:
    """Somebody who signs in ink."""

    name: str
    """Empty where nobody of the side is known by name."""
    role: str
    side: str


@dataclass(frozen=True, slots=True)
class Statement:
    """Everything on the statement."""

    citation: str
    title: str
    locality: str
    precinct_id: str
    precinct_name: str
    vote_for: int
    mode: str
    kind: str
    """Which group of ballots the precinct is; a word of the order."""
    whole_precinct: bool
    """Whether D 2 sent all ballots to hand count."""
    hand_count_reason: str
    """Why both sides sent it there before any figure was shown; empty where the figures did."""
    sources: tuple[SourceLine, ...]
    piles: tuple[PileLine, ...]
    challenged: tuple[ChallengedLine, ...]
    call: tuple[str, ...]
    """What each official said when asked for questioned ballots."""
    not_asked: tuple[str, ...]
    """Officials who have not said that there is no further question: while there is one this is a draft."""
    notes: tuple[str, ...]
    """I8 in words."""
    containers: tuple[ContainerLine, ...]
    excluded: tuple[str, ...]
    substitutions: tuple[str, ...]
    standards: tuple[str, ...]
    """The editions of the standards that the teams read the marks by."""
    parties: tuple[Row, ...]
    others: tuple[Row, ...]
    not_votes: tuple[Line, ...]
    ballots: tuple[Line, ...]
    set_aside_reasons: tuple[Line, ...]
    not_accepted_reasons: tuple[Line, ...]
    identities: tuple[IdentityLine, ...]
    counts: tuple[CountLine, ...]
    moves: tuple[str, ...]
    voided: tuple[VoidLine, ...]
    dropped: tuple[CountLine, ...]
    """Pile counts of scans that were reopened; kept, never used."""
    hand_count_by: tuple[str, ...]
    figures_shown_utc: str
    counted_utc: str
    runs: tuple[RunLine, ...]
    signers: tuple[Signer, ...]
    order_sha256: str
    order_signed_by: tuple[str, ...]
    retention: str
    """How long things are kept, as the order says; nothing is deleted by it."""
    program_sha256: str
    last_act: int
    last_act_sha256: str
    check_total: int
    """All votes on the statement together; stands on every page."""
    facts_sha256: str = ""
    """SHA-256 over everything above; its first digits stand on every page."""

    @property
    def short_code(self) -> str:
        """Return the code that stands on every page."""
        return self.facts_sha256[:SHORT_CODE_DIGITS]

    def to_fields(self) -> dict[str, Any]:
        """Return the statement as plain maps, lists, strings and numbers."""
        return asdict(self)
