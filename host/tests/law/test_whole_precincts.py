"""Whole random precincts: totals equal the folded facts, nothing is shown early or printed while open."""

import json
from collections import Counter
from contextlib import suppress
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from host.tests.rehearsal import ANN, BOB, BOTH, CLERK, Day
from host.tests.remembering import folding_plainly
from host.tests.sound_device import Sheet
from recount_host.act import Person
from recount_host.law.disclosure import notices, view
from recount_host.law.errors import BadEntry, NotAllowed
from recount_host.law.obstacles import obstacles
from recount_host.law.precinct import Facts, fold
from recount_host.law.reconciliation import Step
from recount_host.law.statement import statement
from recount_host.law.statement_lines import Statement
from recount_host.law.states import State
from recount_host.law.tally import Gap

COUNTED = st.sampled_from(["D", "R", "T"]).map(lambda key: Sheet("counted", (key,)))
SET_ASIDE = st.lists(
    st.sampled_from(["overvote", "undervote", "write_in", "marginal_light"]),
    min_size=1,
    max_size=3,
    unique=True,
).map(lambda reasons: Sheet("set_aside", (), tuple(reasons)))
NOT_ACCEPTED = st.sampled_from(["torn", "wrong_style"]).map(
    lambda reason: Sheet("not_accepted", (), (reason,))
)
SHEETS = st.lists(COUNTED | COUNTED | SET_ASIDE | NOT_ACCEPTED, max_size=12)
BATCHES = st.lists(
    st.tuples(st.sampled_from(["alpha", "beta"]), SHEETS, st.booleans()), min_size=1, max_size=4
)
"""Batches as (device, sheets, whether both sides void it afterwards)."""
RECOUNT_STEPS = settings(max_examples=25, deadline=None)


def a_day(batches: list[tuple[str, list[Sheet], bool]]) -> tuple[Day, list[Sheet]]:
    """A day that scanned these batches, and the sheets that count."""
    day = Day()
    devices = {name: day.assign(name) for name in dict.fromkeys(name for name, _, _ in batches)}
    counting: list[Sheet] = []
    for name, sheets, voided in batches:
        device = devices[name]
        number = device.open_batch()
        for index, sheet in enumerate(sheets):
            if index % 4 == 3:
                device.give_back()
            device.scan(sheet)
        device.close_batch()
        if voided:
            where: dict[str, Any] = {"run": device.run, "device": device.id, "batch": number}
            day.act("batch_void_ordered", BOTH, **where, reason="run again")
        else:
            counting += sheets
    return day, counting


def fates(sheets: list[Sheet]) -> Counter[str]:
    return Counter(sheet.fate for sheet in sheets)


@RECOUNT_STEPS
@given(BATCHES)
def test_the_precincts_figures_are_those_of_the_sheets_in_batches_that_stand(
    batches: list[tuple[str, list[Sheet], bool]],
) -> None:
    day, counting = a_day(batches)
    figures, by_fate = day.state().figures, fates(counting)
    assert (figures.counted, figures.set_aside, figures.not_accepted) == (
        by_fate["counted"],
        by_fate["set_aside"],
        by_fate["not_accepted"],
    )
    assert figures.votes == Counter(key for sheet in counting for key in sheet.choices)
    assert not obstacles(day.state())


@RECOUNT_STEPS
@given(BATCHES, st.integers(0, 3), st.integers(0, 3), st.data())
def test_a_true_day_ends_with_a_statement_whose_totals_are_the_ballots(
    batches: list[tuple[str, list[Sheet], bool]], not_programmable: int, slip: int, data: st.DataObject
) -> None:
    day, counting = a_day(batches)
    day.finish()
    by_fate = fates(counting)
    c, s, x = (by_fate[fate] for fate in ("counted", "set_aside", "not_accepted"))
    if slip:
        day.lock(H=len(counting) + slip, c=c, s=s, x=x)
        day.reconcile()
    day.lock(H=len(counting), c=c, s=s, x=x)
    assert day.reconcile().step is Step.SHOW_RECONCILED
    day.show_figures()
    without = data.draw(st.integers(0, x))
    day.lock(p=not_programmable)
    if x:
        day.lock(o=without)
    by_hand = s + x - without + not_programmable
    for_d = data.draw(st.integers(0, by_hand))
    if by_hand:
        day.hand_count({"D": for_d, "no_vote": by_hand - for_d})
    said = statement(day.facts(), "101")
    votes = Counter(key for sheet in counting for key in sheet.choices)
    assert {row.key: row.total for row in said.parties} == {"D": votes["D"] + for_d, "R": votes["R"]}
    ballots = sum(row.total for row in (*said.parties, *said.others)) + sum(
        line.value for line in said.not_votes
    )
    assert ballots == len(counting) - without + not_programmable


PEOPLE = st.sampled_from([ANN, BOB, CLERK, Person("Carl Orr", "official", "D")])
SMALL = st.integers(0, 6)
HOW = ("true", "one more in the stack", "one in the wrong pile")
"""How people's counts differ from what the scanners report."""
WILD = st.one_of(
    st.tuples(st.just("enter"), st.sampled_from("Hcsxpo"), SMALL, PEOPLE),
    st.tuples(st.just("lock"), st.sampled_from(HOW)),
    st.tuples(st.just("rest"), st.sampled_from("po")),
    st.tuples(st.sampled_from(["finish", "reconcile", "figures", "end search", "assign"])),
    st.tuples(st.just("batch"), SHEETS, st.booleans()),
    st.tuples(st.just("void"), st.integers(1, 3)),
    st.tuples(st.just("move"), st.sampled_from(["counted", "set_aside"])),
    st.tuples(st.just("hand"), SMALL, st.booleans()),
    st.tuples(st.just("gap"), st.booleans()),
    st.tuples(st.sampled_from(["withdraw", "order hand count", "paper", "print", "conclude"])),
    st.tuples(
        st.just("segregate"), st.sampled_from(["set_aside", "counted"]), st.sampled_from(["D", "challenged"])
    ),
    st.tuples(st.just("challenge"), PEOPLE),
    st.tuples(st.just("answer"), PEOPLE, st.booleans()),
)
"""Things that people and devices might do, sensible or not, in any order."""

SENSIBLE: tuple[tuple[Any, ...], ...] = (
    ("batch", [Sheet("counted", ("D",)), Sheet("set_aside", (), ("overvote",))], True),
    ("batch", [Sheet("counted", ("R",)), Sheet("not_accepted", (), ("torn",))], True),
    ("finish",),
    ("lock", ""),
    ("reconcile",),
    ("lock", ""),
    ("reconcile",),
    ("move", "set_aside"),
    ("reconcile",),
    ("end search",),
    ("rest", "p"),
    ("rest", "o"),
    ("hand", 1, True),
    ("answer", ANN, True),
    ("answer", BOB, True),
    ("print",),
    ("conclude",),
    ("challenge", ANN),
    ("print",),
)


@st.composite
def a_nearly_sensible_day(draw: st.DrawFn) -> list[tuple[Any, ...]]:
    """A sensible day in which now and then a step is left out or something wild happens."""
    how = draw(st.sampled_from(HOW))
    steps = [("lock", how) if step[0] == "lock" else step for step in SENSIBLE]
    for position in draw(st.lists(st.integers(0, len(steps)), max_size=3)):
        steps.insert(position, draw(WILD))
    for position in draw(st.lists(st.integers(0, len(steps) - 1), max_size=1)):
        del steps[position]
    return steps


DAYS = st.lists(WILD, max_size=20) | a_nearly_sensible_day() | a_nearly_sensible_day()


NONE = bytes(32)


class WildDay:
    """Plays steps, sensible or not; what the law refuses does not happen."""

    def __init__(self) -> None:
        self.day = Day()

    def play(self, step: tuple[Any, ...]) -> None:
        name, *rest = step
        with suppress(NotAllowed, BadEntry):
            getattr(self, name.replace(" ", "_"))(*rest)

    def enter(self, letter: str, value: int, person: Person) -> None:
        self.day.enter(letter, value, person)

    def lock(self, how: str) -> None:
        figures = self.day.state().figures
        piles = {"c": figures.counted, "s": figures.set_aside, "x": figures.not_accepted}
        more = int(how == "one more in the stack")
        if how == "one in the wrong pile" and piles["s"]:
            piles |= {"c": piles["c"] + 1, "s": piles["s"] - 1}
        for letter, value in {"H": sum(piles.values()) + more, **piles}.items():
            with suppress(NotAllowed):
                self.day.lock(**{letter: value})

    def rest(self, letter: str) -> None:
        self.day.lock(**{letter: 0})

    def finish(self) -> None:
        self.day.finish()

    def reconcile(self) -> None:
        self.day.reconcile()

    def figures(self) -> None:
        self.day.show_figures()

    def end_search(self) -> None:
        self.day.show_figures(search_ended=True)

    def assign(self) -> None:
        self.day.assign()

    def batch(self, sheets: list[Sheet], sound: bool) -> None:
        device = self.day.device()
        if device.run:
            device.open_batch()
            for sheet in sheets:
                device.scan(sheet)
            device.close_batch(**({} if sound else {"counted": 99}))

    def void(self, batch: int) -> None:
        device = self.day.device()
        where: dict[str, Any] = {"run": device.run or "101-1", "device": device.id, "batch": batch}
        self.day.act("batch_void_ordered", BOTH, **where, reason="run again")

    def move(self, to_pile: str) -> None:
        found = next((n for n in notices(self.day.state()) if n.pile == to_pile), None)
        where: dict[str, Any] = {"device": "", "batch": 0, "sheet": 0}
        if found is not None:
            where = {"device": found.device, "batch": found.batch, "sheet": found.sheet}
        other = "set_aside" if to_pile == "counted" else "counted"
        self.day.act("sheet_moved", BOTH, **where, from_pile=other, to_pile=to_pile)

    def hand(self, for_d: int, fitting: bool) -> None:
        to_count = self.day.state().to_count
        ballots = sum(to_count.expected.values()) if fitting and to_count is not None else for_d
        self.day.hand_count({"D": min(for_d, ballots), "no_vote": ballots - min(for_d, ballots)})

    def withdraw(self) -> None:
        self.day.act("run_ended", run="101-1", device=self.day.device().id)
        self.day.act("device_withdrawn", BOTH, device=self.day.device().id, reason="dead")

    def order_hand_count(self) -> None:
        self.day.act("hand_count_ordered", BOTH, reason="dead")

    def paper(self) -> None:
        how: dict[str, Any] = {"seal": "1", "seal_was": "intact", "stated": [], "from": "the clerk"}
        self.day.act("container_received", BOTH, container="p-1", holds="paper", **how)
        self.day.act("container_opened", BOTH, container="p-1")
        self.day.lock(d=1)

    def segregate(self, pile: str, counted_as: str) -> None:
        tag = f"T-{len(self.day.acts)}"
        body: dict[str, Any] = {"tag": tag, "envelope": "E", "pile": pile, "counted_as": counted_as}
        body |= {"device": "", "batch": 0, "sheet": 0}
        self.day.act("ballot_segregated", (ANN,), **body, question="a slash")

    def challenge(self, person: Person) -> None:
        tags = [ballot.tag for ballot in self.day.state().segregated] or ["T-0"]
        self.day.act("challenge_stated", (person,), tag=tags[-1], ground="mark", text="a slash")

    def answer(self, person: Person, done: bool) -> None:
        said = "no_further_question" if done else "has_question"
        self.day.act("call_answered", (person,), answer=said)

    def print(self) -> None:
        facts = bytes.fromhex(statement(self.day.facts(), "101").facts_sha256)
        self.day.act("statement_printed", (CLERK,), sha256=bytes(32), facts_sha256=facts)

    def conclude(self) -> None:
        state = self.day.state()
        printed = state.statements[-1].body if state.statements else {"sha256": NONE, "facts_sha256": NONE}
        body = {name: printed[name] for name in ("sha256", "facts_sha256")}
        self.day.act("precinct_concluded", state.team or BOTH, **body)

    def gap(self, there: bool) -> None:
        self.day.gaps[:] = [Gap(self.day.device().id, 900, 901)] if there else []


def votes_that_scanners_took(day: Day) -> Counter[str]:
    """Return the votes on counted sheets in batches that stand, folded from records and not by the law."""
    finished = next(act for act in day.acts if act.kind == "scanning_finished")
    void = {(a.body["device"], a.body["batch"]) for a in day.acts if a.kind == "batch_void_ordered"}
    withdrawn = {act.body["device"] for act in day.acts if act.kind == "device_withdrawn"}
    votes: Counter[str] = Counter()
    for device in day.devices.values():
        sheets: dict[int, list[str]] = {}
        for record in device.records[: finished.body["heads"].get(device.id, 0)]:
            if record.kind == "sheet_judged" and (device.id, record.batch) not in void:
                sheets[record.body["sheet"]] = record.body["choices"]
        if device.id not in withdrawn:
            votes.update(key for choices in sheets.values() for key in choices)
    return votes


@settings(max_examples=30, deadline=None)
@given(DAYS)
def test_on_a_wild_day_nothing_is_shown_early_and_nothing_is_printed_while_an_identity_is_open(
    steps: list[tuple[Any, ...]],
) -> None:
    wild = WildDay()
    shown_figures: object = None
    signed: Statement | None = None
    wild.play(("assign",))
    for step in steps:
        wild.play(step)
        state = wild.day.state()
        event(f"state {state.state.value}")
        seen = view(state)
        json.dumps(seen.to_json())
        assert (seen.figures is None) is (state.shown is None)
        if state.shown is None:
            assert all(count.values is None for count in seen.counts)
            assert seen.notices_open is (state.step is Step.LOOK_FOR_SHEET)
        else:
            assert not [verdict for verdict in state.verdicts if verdict.act_n > state.shown.n]
            shown_figures = shown_figures or seen.figures
            # What was shown stays as it was, whatever devices write afterwards.
            assert seen.figures == shown_figures
        if state.state in (State.CHALLENGE_CALL, State.CONCLUDED):
            said = statement(wild.day.facts(), "101")
            if signed is not None:
                assert said == signed, "a concluded precinct was changed"
            if state.state is State.CONCLUDED:
                signed = said
                assert not said.not_asked
                # Every hand-counted ballot is valid, gives no vote, or lies in an envelope.
                valid = sum(row.by_hand + row.paper for row in (*said.parties, *said.others))
                valid += sum(line.value for line in said.not_votes)
                apart = sum(not line.in_totals for line in said.challenged)
                assert valid + apart == said.ballots[-1].value
                if state.shown is not None and not said.whole_precinct:
                    accepted = votes_that_scanners_took(wild.day)
                    assert {
                        row.key: row.accepted for row in (*said.parties, *said.others) if row.accepted
                    } == (accepted)
            must_hold = [line for line in said.identities if line.name not in ("I1", "I2", "I3", "I4", "I8")]
            assert all(line.holds for line in must_hold)
            assert said.whole_precinct or all(line.holds for line in said.identities if line.name != "I8")
        else:
            with suppress(NotAllowed):
                statement(wild.day.facts(), "101")
                raise AssertionError("a statement was written before the hand count agreed and added up")


@settings(max_examples=15, deadline=None)
@given(DAYS)
def test_whatever_records_come_later_the_acts_stay_lawful(steps: list[tuple[Any, ...]]) -> None:
    wild = WildDay()
    wild.play(("assign",))
    for step in steps:
        wild.play(step)
    facts = wild.day.facts()
    for n in range(len(facts.acts) + 1):
        so_far = Facts(facts.order, facts.acts[:n], facts.devices, facts.gaps, facts.names)
        remembered = fold(so_far, "101")
        with folding_plainly():
            assert fold(so_far, "101") == remembered
