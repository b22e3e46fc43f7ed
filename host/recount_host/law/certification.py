"""The draft of the court's certification: the vote for each party, and what the court has to declare (F, H).

The draft says who has how many votes, by precinct, and what is left for the court to declare; it declares
nothing itself. Every figure is what the officials of a precinct signed, with the rulings as deltas.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import msgpack

from recount_host.act import act_hash, encode_act
from recount_host.law.confirmation import reason_in_words
from recount_host.law.court import Court, check_form_ready, fold_court
from recount_host.law.precinct import Facts, PrecinctState
from recount_host.law.result import result_of
from recount_host.law.rulings import effect, standing
from recount_host.law.statement_lines import SHORT_CODE_DIGITS
from recount_host.law.steps_of_court import changes_by_court
from recount_host.law.ties import TIE_BRANCHES, is_tied
from recount_host.order import Order
from recount_host.plain_words import plain_words


@dataclass(frozen=True, slots=True)
class PartyVotes:
    """One party's votes in one precinct, or in all."""

    key: str
    name: str
    written: int
    """As the recount officials wrote it down (E)."""
    by_court: int
    """By how many votes all rulings change it."""
    total: int


@dataclass(frozen=True, slots=True)
class PrecinctVotes:
    """One precinct of the certification."""

    id: str
    name: str
    code: str
    """Record code of the statement that its officials signed."""
    parties: tuple[PartyVotes, ...]


@dataclass(frozen=True, slots=True)
class RulingLine:
    """One ruling, and whether it stands."""

    number: int
    precinct: str
    tag: str
    """Of the ballot; empty for a ruling on a precinct's result."""
    what: str
    """The tag, or which part of the result, in words."""
    says: str
    effect: Mapping[str, int]
    reason: str
    utc: str
    entered_by: str
    stands: bool


@dataclass(frozen=True, slots=True)
class Certification:
    """Everything on the draft."""

    citation: str
    title: str
    locality: str
    court: str
    vote_for: int
    mode: str
    version: int
    amended_by: str
    """The order that asks for this version, empty for the first."""
    precincts: tuple[PrecinctVotes, ...]
    totals: tuple[PartyVotes, ...]
    to_declare: tuple[str, ...]
    """What the court has to declare, in sentences."""
    tie: str
    """The branch of a tie; empty where there is none."""
    rulings: tuple[RulingLine, ...]
    not_considered: tuple[str, ...]
    order_sha256: str
    last_act: int
    last_act_sha256: str
    utc: str
    facts_sha256: str = ""

    def to_fields(self) -> dict[str, Any]:
        """Return it as plain maps, lists, strings and numbers."""
        return asdict(self)


def certification(facts: Facts) -> Certification:
    """Return the draft as it stands. Raises NotAllowed before every questioned ballot is ruled on."""
    court = fold_court(facts)
    check_form_ready(court, "certification")
    lines, sums = precinct_votes(court), totals(court)
    order_act = next((act for act in facts.acts if act.kind == "order_set"), None)
    # A draft is the draft of the last act that changed something; printing it changes nothing.
    last = facts.acts[court.changed_n - 1]
    amended = court.amendments[-1] if court.amendments else None
    draft = Certification(
        citation=facts.order.citation,
        title=facts.order.title,
        locality=facts.order.locality,
        court=facts.order.court or "the recount court",
        vote_for=facts.order.vote_for,
        mode=mode_of(court),
        version=court.version,
        amended_by=f"{amended.body['order']}: {amended.body['reason']}" if amended else "",
        precincts=lines,
        totals=sums,
        to_declare=to_declare(facts.order, sums),
        tie=TIE_BRANCHES[facts.order.office_class] if is_tied(court.precincts) else "",
        rulings=ruling_lines(court),
        not_considered=tuple(
            f"precinct {state.precinct.id}: {act.body['text']} (offered {act.utc})"
            for state in court.precincts.values()
            for act in state.proffered
        ),
        order_sha256=order_act.body["sha256"].hex() if order_act else "",
        last_act=last.n,
        last_act_sha256=act_hash(encode_act(last)).hex(),
        utc=last.utc,
    )
    packed: bytes = msgpack.packb(draft.to_fields()) or b""
    return replace(draft, facts_sha256=hashlib.sha256(packed).hexdigest())


def mode_of(court: Court) -> str:
    """Return the mode of the whole: live only where every precinct is."""
    modes = {state.mode for state in court.precincts.values()}
    return next(iter(modes)) if len(modes) == 1 else "training"


def precinct_votes(court: Court) -> tuple[PrecinctVotes, ...]:
    """Return every precinct's votes for the parties, all precincts concluded."""
    return tuple(_of_precinct(state) for state in court.precincts.values())


def _of_precinct(state: PrecinctState) -> PrecinctVotes:
    result, changes = result_of(state), changes_by_court(state)
    signed = state.concluded
    assert signed is not None  # no docket is opened before
    parties = tuple(
        PartyVotes(
            side.key,
            side.name,
            result.votes(side.key),
            changes.get(side.key, 0),
            result.votes(side.key) + changes.get(side.key, 0),
        )
        for side in state.order.sides
    )
    code = signed.body["facts_sha256"].hex()[:SHORT_CODE_DIGITS]
    return PrecinctVotes(state.precinct.id, state.precinct.name, code, parties)


def totals(court: Court) -> tuple[PartyVotes, ...]:
    """Return every party's votes in all precincts together."""
    columns = zip(*(line.parties for line in precinct_votes(court)), strict=True)
    return tuple(
        PartyVotes(
            own[0].key,
            own[0].name,
            sum(party.written for party in own),
            sum(party.by_court for party in own),
            sum(party.total for party in own),
        )
        for own in columns
    )


def to_declare(order: Order, sums: tuple[PartyVotes, ...]) -> tuple[str, ...]:
    """Return what is left for the court to declare. Nothing here declares it."""
    ranked = sorted(sums, key=lambda party: -party.total)
    told = "; ".join(f"{party.name} {party.total}" for party in ranked)
    if ranked[0].total == ranked[-1].total:
        return (f"each party received an equal number of votes: {told}",)
    if order.office_class == "question":
        return (f"votes for and against: {told}; the court declares the outcome of the referendum (F)",)
    if order.vote_for > 1 or ranked[0].total == ranked[1].total:
        return (f"in the order of their votes: {told}; the court declares who is elected (F)",)
    done = "nominated" if order.office_class == "primary" else "nominated or elected, as appropriate"
    first = f"{ranked[0].name} received the higher number of votes"
    return (f"{first}: {told}; the court declares the person {done} (F)",)


def ruling_lines(court: Court) -> tuple[RulingLine, ...]:
    """Return every ruling in the order of its act, those that another one replaced too."""
    lines: list[RulingLine] = []
    for state in court.precincts.values():
        ballots = {ballot.tag: ballot for ballot in state.questioned}
        for ruling in state.rulings:
            stands = standing(state.rulings, ruling.tag) is ruling
            says = plain_words(ruling.outcome)
            lines.append(
                RulingLine(
                    ruling.number,
                    state.precinct.id,
                    ruling.tag,
                    f"tag {ruling.tag}",
                    f"{says} (instead of ruling {ruling.instead_of})" if ruling.instead_of else says,
                    effect(ballots[ruling.tag], ruling),
                    reason_in_words(ruling),
                    ruling.utc,
                    ruling.entered_by.name,
                    stands,
                )
            )
        lines += [
            RulingLine(
                ruling.number, state.precinct.id, "", f"result, {ruling.part}", ruling.ruling, ruling.votes,
                ruling.reason, ruling.utc, ruling.entered_by.name, stands=True,
            )
            for ruling in state.result_rulings
        ]  # fmt: skip
    return tuple(sorted(lines, key=lambda line: line.number))
