"""Random days before the court: whatever is tried, the votes are those signed plus the rulings that stand."""

from collections import Counter
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from host.tests.rehearsal import ANN, BOB, CLERK_OF_COURT, Day, a_counted_day
from recount_host.law.certification import certification
from recount_host.law.errors import BadEntry, NotAllowed
from recount_host.law.statement import statement
from recount_host.law.states import State

TAGS = ("T-1", "T-2", "T-3")
"""Of these the first two are segregated: one from a pile counted by hand, one that a scanner accepted."""
TAG = st.sampled_from(TAGS)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("hear"), TAG),
        st.tuples(st.just("rule"), TAG, st.sampled_from(["D", "R", "T", "no_vote", "Z"]), st.booleans()),
        st.tuples(
            st.just("change"),
            st.sampled_from(["accepted", "other"]),
            st.sampled_from(["D", "R", "Z"]),
            st.integers(-4, 3),
        ),
        st.tuples(
            st.sampled_from(["open", "certify", "certify", "amend", "count", "segregate", "challenge"])
        ),
    ),
    max_size=8,
)
LIKELY: tuple[tuple[Any, ...], ...] = (
    ("open",),
    ("hear", "T-1"),
    ("hear", "T-2"),
    ("rule", "T-1", "R", False),
    ("rule", "T-2", "no_vote", False),
    ("certify",),
    ("amend",),
    ("rule", "T-1", "D", True),
    ("change", "other", "R", 1),
    ("certify",),
)


@st.composite
def a_likely_court(draw: st.DrawFn) -> list[tuple[Any, ...]]:
    """A court day as it should be, with steps strewn in that may be none of it."""
    steps = list(LIKELY)
    for step in draw(STEPS):
        steps.insert(draw(st.integers(0, len(steps))), step)
    return steps


class WildCourt:
    """Plays steps at the law, and keeps by itself what the votes must be."""

    def __init__(self) -> None:
        self.day: Day = a_counted_day()
        self.day.segregate("T-1", counted_as="D")
        self.day.segregate("T-2", pile="counted", counted_as="R")
        self.signed = self.day.conclude()
        self.rulings: dict[str, tuple[int, str]] = {}
        self.changes: Counter[str] = Counter()

    def hear(self, tag: str) -> None:
        self.day.hear(tag)

    def rule(self, tag: str, outcome: str, again: bool) -> None:
        before = self.rulings[tag][0] if again and tag in self.rulings else 0
        self.rulings[tag] = (self.day.rule(outcome, tag, instead_of=before), outcome)

    def change(self, part: str, key: str, votes: int) -> None:
        body: dict[str, Any] = {"part": part, "votes": {key: votes}, "reason": "r", "ruling": "o"}
        self.day.act("result_ruled", (CLERK_OF_COURT,), **body)
        self.changes[key] += votes

    def open(self) -> None:
        self.day.open_docket()

    def certify(self) -> None:
        self.day.certify()

    def amend(self) -> None:
        version = len(self.day.court().certified) + 1
        self.day.court_act("amendment_ordered", version=version, order="o", reason="r")

    def count(self) -> None:
        self.day.enter("p", 1, ANN)

    def segregate(self) -> None:
        self.day.segregate("T-3", counted_as="D")

    def challenge(self) -> None:
        self.day.act("challenge_stated", (BOB,), tag="T-1", ground="mark", text="a slash")

    @property
    def votes(self) -> dict[str, int]:
        """What the parties' votes must be, computed here and not by the law."""
        votes = Counter({row.key: row.total for row in self.signed.parties})
        votes.update(self.changes)
        for tag, (_, outcome) in self.rulings.items():
            if tag == "T-2":
                votes["R"] -= 1
            if outcome != "no_vote":
                votes[outcome] += 1
        return {key: votes[key] for key in ("D", "R")}


@settings(max_examples=12, deadline=None)
@given(STEPS | a_likely_court())
def test_the_votes_are_those_signed_with_the_rulings_that_stand_and_nothing_else_moves_them(
    steps: list[tuple[Any, ...]],
) -> None:
    wild = WildCourt()
    sealed: dict[str, int] | None = None
    for name, *rest in steps:
        try:
            getattr(wild, name)(*rest)
        except (NotAllowed, BadEntry):
            continue  # what is refused changes nothing: nothing was written
        event(f"done: {name}")
        court = wild.day.court()
        assert all(state.state is State.CERTIFIED for state in court.precincts.values()) is court.is_sealed
        if court.opened is None or court.unruled:
            assert not court.certified
            continue
        draft = certification(wild.day.facts())
        votes = {party.key: party.total for party in draft.totals}
        assert votes == wild.votes
        assert min(votes.values()) >= 0
        assert sealed in (None, votes), "what is certified was changed"
        sealed = votes if court.is_sealed else None
    state = wild.day.state()
    assert [ballot.tag for ballot in state.segregated] == ["T-1", "T-2"]
    assert statement(wild.day.facts(), "101") == wild.signed, "what was signed was changed"
