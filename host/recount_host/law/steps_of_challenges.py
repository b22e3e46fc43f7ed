"""What segregation, challenges, the call and the conclusion do to a precinct, and when they are refused.

D 3: segregated before the conclusion. E: one official's written statement is enough. F: what was not
segregated before the conclusion is not considered; so nothing here reopens a concluded precinct.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from recount_host.act import Act, Person
from recount_host.law.challenges import CHALLENGED, Challenge, Segregated, find_tag
from recount_host.law.conclusion import Answer, is_official, joined_by, still_to_ask, without
from recount_host.law.errors import NotAllowed
from recount_host.law.hand_count import check_outcomes
from recount_host.law.persons import check_one, in_words, letters_of, same_person
from recount_host.law.piles import PILES
from recount_host.law.precinct_state import LETTER_OF_PILE, PrecinctState, recorded_pile
from recount_host.law.signed_papers import check_new_scan
from recount_host.law.states import Event, State, after

SEVERAL_SIDES = 2
"""§ 24.2-802.1: a team is one representative of each party; never of one alone."""


def _ballot_segregated(state: PrecinctState, act: Act) -> PrecinctState:
    reached, body = after(state.state, Event.SEGREGATE), act.body
    if not any(is_official(person) for person in act.by):
        raise NotAllowed("D 3: a recount official of a side segregates a ballot; name one with --by")
    if find_tag(state.segregated, body["tag"]) is not None:
        raise NotAllowed(f"tag {body['tag']} is on another ballot already: use the next tag")
    if body["counted_as"] != CHALLENGED:
        _check_outcome(state, body["counted_as"])
    _check_pile(state, body["pile"], body["counted_as"])
    ballot = Segregated(
        body["tag"], body["envelope"], body["pile"], body["counted_as"], body["question"],
        act.by, act.utc, act.n, _notice(state, body),
    )  # fmt: skip
    return replace(state, state=reached, segregated=(*state.segregated, ballot))


def _notice(state: PrecinctState, body: Mapping[str, Any]) -> tuple[str, int, int] | None:
    """Return the notice that the officials say is this ballot's. Raises NotAllowed when it cannot be."""
    if not body["sheet"]:
        return None
    if state.shown is None:
        raise NotAllowed("the notices are closed until the figures are shown: leave the sheet's number out")
    named = (body["device"], body["batch"], body["sheet"])
    if recorded_pile(state, *named) != body["pile"]:
        raise NotAllowed(f"there is no notice that puts this sheet into the pile {body['pile']}: see notices")
    if any(ballot.notice == named for ballot in state.segregated):
        raise NotAllowed("this sheet lies in another envelope already")
    return named


def _check_outcome(state: PrecinctState, outcome: str) -> None:
    contest = state.contest
    if contest is None:
        raise NotAllowed("there is no contest program yet, so no outcomes are known: program add")
    check_outcomes({outcome: 1}, contest, state.order)


def _check_pile(state: PrecinctState, pile: str, counted_as: str) -> None:
    if pile in LETTER_OF_PILE and state.counts_whole_precinct:
        raise NotAllowed("all ballots of this precinct are hand counted: say that it comes from all_scanned")
    if pile not in PILES:
        _check_accepted(state, counted_as)
        return
    if state.state is not State.CHALLENGE_CALL:
        if counted_as != CHALLENGED:
            raise NotAllowed(
                "this pile's hand count is not finished: leave --counted-as out, and count the ballot as "
                "challenged "
                "in both passes"
            )
        return
    outcomes = (state.outcomes_by_pile or {}).get(pile, {})
    taken = sum((b.pile, b.counted_as) == (pile, counted_as) for b in state.questioned)
    if outcomes.get(counted_as, 0) <= taken:
        left = ", ".join(outcomes) or "none"
        raise NotAllowed(
            f'no ballot of {PILES[pile]} is left that was counted as "{counted_as}": name the outcome that '
            "it was "
            f"counted as (its outcomes are {left})"
        )


def _check_accepted(state: PrecinctState, counted_as: str) -> None:
    """Raise NotAllowed where no scanner can have counted a ballot as this: a ruling would count it twice.

    Whether any was counted for an option is looked at only once the figures were shown: a refusal would tell.
    How many others were entered as the same is not looked at: what one official entered stops nobody else's
    question, and what each was counted as is confirmed with the ruling (confirmation.py).
    """
    contest, parts = state.contest, counted_as.split("+")
    printed = {option.key for option in contest.printed} if contest is not None else set[str]()
    if not printed.issuperset(parts) or len(parts) != state.order.vote_for:
        raise NotAllowed(
            "a scanner accepted this ballot, and its vote stays in the result until the court rules (D 2): "
            f"say for whom it is counted (--counted-as), {state.order.vote_for} of "
            f"{', '.join(sorted(printed))}"
        )
    if state.shown is None and state.state is not State.CHALLENGE_CALL:
        return
    votes = state.figures.votes if state.shown is not None else {}
    for key in parts:
        if not votes.get(key, 0):
            raise NotAllowed(f'no scanner counted a ballot for "{key}": look again whose vote this one is')


def _tag_corrected(state: PrecinctState, act: Act) -> PrecinctState:
    reached, body = after(state.state, Event.CORRECT_TAG), act.body
    person, ballot = check_one(act.by), find_tag(state.segregated, body["tag"])
    if not is_official(person):
        raise NotAllowed(
            f"D 3: a recount official reads what stands on the envelope, and {person.name} is entered as "
            f"{in_words(person)}"
        )
    if ballot is None:
        raise NotAllowed(f"no ballot has the tag {body['tag']}: see challenge list")
    if (body["right_tag"], body["right_envelope"]) == (ballot.tag, ballot.envelope):
        raise NotAllowed("that is what is entered already: there is nothing to correct")
    if body["right_tag"] != ballot.tag and find_tag(state.segregated, body["right_tag"]) is not None:
        raise NotAllowed(
            f"tag {body['right_tag']} is on another ballot: look at both envelopes, and correct that one "
            "first"
        )
    wrong = f"tag {ballot.tag}, envelope {ballot.envelope}"
    right = replace(
        ballot,
        tag=body["right_tag"],
        envelope=body["right_envelope"],
        entered_as=(*ballot.entered_as, wrong),
    )
    return replace(
        state,
        state=reached,
        segregated=tuple(right if known is ballot else known for known in state.segregated),
        challenges=tuple(
            replace(stated, tag=right.tag) if stated.tag == ballot.tag else stated
            for stated in state.challenges
        ),
    )


def _challenge_stated(state: PrecinctState, act: Act) -> PrecinctState:
    reached, body = after(state.state, Event.STATE_CHALLENGE), act.body
    person = check_one(act.by)
    if not is_official(person):
        raise NotAllowed(
            f"E: a recount official challenges a ballot, and {person.name} is entered as {in_words(person)}: "
            "observers ask the coordinators"
        )
    if not body["text"].strip():
        raise NotAllowed("E: the statement is written; say what is in question about the ballot")
    if find_tag(state.segregated, body["tag"]) is None:
        if state.concluded is None:
            raise NotAllowed(
                f"no ballot has the tag {body['tag']}: lay the ballot into an envelope first (challenge "
                "segregate)"
            )
        raise NotAllowed(
            f"no ballot with the tag {body['tag']} was segregated before the conclusion, and the court may "
            "not "
            "consider any other (F): record that it was offered (challenge proffer)"
        )
    stated = Challenge(
        act.n, body["tag"], body["ground"], body["text"], person, act.utc,
        after_conclusion=state.concluded is not None,
    )  # fmt: skip
    return replace(state, state=reached, challenges=(*state.challenges, stated))


def _challenge_withdrawn(state: PrecinctState, act: Act) -> PrecinctState:
    reached, body = after(state.state, Event.WITHDRAW_CHALLENGE), act.body
    person = check_one(act.by)
    stated = next((known for known in state.challenges if known.number == body["statement"]), None)
    if stated is None:
        raise NotAllowed(f"there is no statement {body['statement']} of this precinct: see challenge list")
    if not same_person(stated.person, person):
        raise NotAllowed(
            f"E: only {stated.person.name} can withdraw this statement; nobody else can stop or end a "
            "challenge"
        )
    if stated.withdrawn:
        raise NotAllowed(f"statement {stated.number} is withdrawn already")
    gone = replace(stated, withdrawn=f"{act.utc}: {body['reason']}")
    kept = tuple(gone if known.number == gone.number else known for known in state.challenges)
    return replace(state, state=reached, challenges=kept)


def _official_substituted(state: PrecinctState, act: Act) -> PrecinctState:
    reached = after(state.state, Event.SUBSTITUTE)
    leaves, comes = Person(*act.body["leaves"]), Person(*act.body["comes"])
    seated = next((person for person in state.team if same_person(person, leaves)), None)
    if seated is None:
        names = ", ".join(person.name for person in state.team) or "nobody yet"
        raise NotAllowed(f"{leaves.name} has no seat in this team: its officials are {names}")
    rest = without(state.team, seated.name)
    if not letters_of(comes.name):
        return _seated(state, act, reached, rest)
    if not is_official(comes) or comes.side != seated.side or same_person(comes, seated):
        raise NotAllowed(
            f"{seated.name}'s seat is taken by another official of the same side ({seated.side}): "
            f'write "name, official, {seated.side}"'
        )
    return _seated(state, act, reached, joined_by(rest, comes))


def _seated(state: PrecinctState, act: Act, reached: State, team: tuple[Person, ...]) -> PrecinctState:
    return replace(state, state=reached, team=team, substitutions=(*state.substitutions, act))


def _call_answered(state: PrecinctState, act: Act) -> PrecinctState:
    reached, person = after(state.state, Event.ANSWER_CALL), check_one(act.by)
    if not is_official(person):
        raise NotAllowed(
            f"D 3: the recount officials are asked, and {person.name} is none: {in_words(person)}"
        )
    answer = Answer(person, act.body["answer"], act.n)
    return replace(state, state=reached, answers=(*state.answers, answer))


def _precinct_concluded(state: PrecinctState, act: Act) -> PrecinctState:
    reached = after(state.state, Event.CONCLUDE)
    for pile, (counted, envelopes) in state.challenged_outcomes.items():
        if counted != envelopes:
            raise NotAllowed(
                f"of {PILES[pile]} {counted} were counted as challenged, but {envelopes} lie in envelopes: "
                "lay the "
                "rest into envelopes (challenge segregate)"
            )
    for person in still_to_ask(state.team, state.answers):
        raise NotAllowed(
            f"D 3: every official is asked for questioned ballots before the conclusion, and {person.name} "
            "has not "
            "said that there is no further question (challenge call)"
        )
    printed = state.statements[-1] if state.statements else None
    if printed is None or printed.n < state.last_act_n:
        raise NotAllowed("E: the statement as it stands now is printed first (statement), then all sign it")
    if any(printed.body[name] != act.body[name] for name in ("sha256", "facts_sha256")):
        raise NotAllowed("the statement signed is not the last one printed: print and sign it again")
    _check_all_sign(state, act)
    return replace(state, state=reached, concluded=act)


def _check_all_sign(state: PrecinctState, act: Act) -> None:
    for person in state.team:
        if not any(same_person(person, signer) for signer in act.by):
            raise NotAllowed(
                f"E: every recount official signs, and {person.name} has not: give --by once for each; who "
                "left is "
                "replaced first (team substitute)"
            )
    if len({person.side for person in state.team}) < SEVERAL_SIDES:
        raise NotAllowed("a team has an official of each party (§ 24.2-802.1): one of another side signs too")


def _signed_statement_kept(state: PrecinctState, act: Act) -> PrecinctState:
    reached = after(state.state, Event.KEEP_SIGNED)
    check_new_scan(state.scans, act)
    return replace(state, state=reached, scans=(*state.scans, act))


def _ballot_proffered(state: PrecinctState, act: Act) -> PrecinctState:
    return replace(state, state=after(state.state, Event.PROFFER), proffered=(*state.proffered, act))


CHALLENGE_STEPS: Mapping[str, Callable[[PrecinctState, Act], PrecinctState]] = {
    "ballot_segregated": _ballot_segregated,
    "tag_corrected": _tag_corrected,
    "challenge_stated": _challenge_stated,
    "challenge_withdrawn": _challenge_withdrawn,
    "official_substituted": _official_substituted,
    "call_answered": _call_answered,
    "precinct_concluded": _precinct_concluded,
    "signed_statement_kept": _signed_statement_kept,
    "ballot_proffered": _ballot_proffered,
}
"""By kind of act."""
