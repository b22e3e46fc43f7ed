"""Builders of the law's facts: a recount day with its order, its people, and devices that write records."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from recount_host.act import NO_ACT, Act, Person, act_hash, encode_act
from recount_host.law import drafts
from recount_host.law.acts import check_act
from recount_host.law.disclosure import PrecinctView, view
from recount_host.law.precinct import Facts, PrecinctState, admit, attempt_due, fold
from recount_host.law.tally import Gap, read_device
from recount_host.order import Order, Precinct, Side
from recount_protocol.records import NO_HASH, Record, encode_record, record_hash

ANN = Person("Ann Lee", "official", "D")
BOB = Person("Bob Ray", "official", "R")
CLERK = Person("Cleo May", "coordinator", "")
BOTH = (ANN, BOB)

PROGRAM = bytes(range(32))
BINS = ("counted", "set_aside", "not_accepted")


def an_order(precincts: Sequence[str] = ("101",), vote_for: int = 1) -> Order:
    return Order(
        contest="governor",
        title="Governor",
        locality="Fairview County",
        vote_for=vote_for,
        sides=(Side("D", "Josiah Bartlett"), Side("R", "Arnold Vinick")),
        precincts=tuple(Precinct(precinct, f"Precinct {precinct}") for precinct in precincts),
    )


def a_device_id(name: str) -> str:
    return name.encode().hex().ljust(16, "0")[:16]


class Device:
    """A device that writes records as a sound one does, and lies only where a test makes it."""

    def __init__(self, name: str = "alpha") -> None:
        self.name = name
        self.id = a_device_id(name)
        self.records: list[Record] = []
        self.hash = NO_HASH
        self.run = ""
        self.number = 0
        self.sheet = 0
        self.boot = 7
        self.counters = [0, 0, 0, 0, 0]
        self.places: Counter[str] = Counter()
        self.tally: dict[str, Any] = {}
        self.start = [0, 0, 0, 0, 0]

    def write(
        self, kind: str, body: Mapping[str, Any], *, run: str | None = None, batch: int | None = None
    ) -> Record:
        record = Record(
            self.id,
            len(self.records) + 1,
            self.hash,
            kind,
            self.run if run is None else run,
            self.number if batch is None else batch,
            dict(body),
        )
        self.hash = record_hash(encode_record(record))
        self.records.append(record)
        return record

    @property
    def feeder(self) -> list[int]:
        return [self.boot, *self.counters]

    def open_run(self, run: str, precinct: str, program: bytes = PROGRAM, mode: str = "training") -> None:
        self.run = run
        body = {"precinct": precinct, "contest": "governor", "program": program, "mode": mode}
        self.write("run_opened", {**body, "software": "1", "firmware": "1"}, batch=0)

    def close_run(self) -> None:
        self.write("run_closed", {}, batch=0)
        self.run = ""

    def open_batch(self) -> int:
        self.number += 1
        self.start = list(self.counters)
        self.tally = {
            "counted": 0, "set_aside": Counter[str](), "set_aside_sheets": 0, "not_accepted": Counter[str](),
            "not_accepted_sheets": 0, "returned": 0, "votes": Counter[str](), "by_hand": 0,
        }  # fmt: skip
        self.write("batch_opened", {"feeder": self.feeder})
        return self.number

    def judge(self, fate: str, choices: Sequence[str] = (), reasons: Sequence[str] = ()) -> int:
        self.sheet += 1
        self.counters[0] += 1
        self.places[fate] += 1
        place = 0 if fate == "counted" else self.places[fate]
        self.write(
            "sheet_judged",
            {
                "sheet": self.sheet, "fate": fate, "choices": list(choices), "reasons": list(reasons),
                "style": "s", "length_mm": 279, "evidence": {}, "crop_sha256": b"", "crop_bytes": 0,
                "place": place, "feeder": self.feeder,
            },
        )  # fmt: skip
        return self.sheet

    def land(self, sheet: int, fate: str, by: str = "feeder") -> None:
        if by == "feeder":
            self.counters[1 + BINS.index(fate)] += 1
        else:
            self.tally["by_hand"] += 1
        self.write("sheet_landed", {"sheet": sheet, "bin": fate, "by": by, "feeder": self.feeder})

    def tell(self, fate: str, choices: Sequence[str] = (), reasons: Sequence[str] = ()) -> None:
        """Put one sheet into the device's own tally."""
        if fate == "counted":
            self.tally["counted"] += 1
            self.tally["votes"].update(choices)
        else:
            self.tally[f"{fate}_sheets"] += 1
            self.tally[fate].update(reasons)

    def scan(self, fate: str, choices: Sequence[str] = (), reasons: Sequence[str] = ()) -> int:
        sheet = self.judge(fate, choices, reasons)
        self.land(sheet, fate)
        self.tell(fate, choices, reasons)
        return sheet

    def give_back(self, out: str = "entry", reasons: Sequence[str] = ("jam",)) -> None:
        self.sheet += 1
        self.counters[0] += 1
        if out == "entry":
            self.counters[4] += 1
        else:
            self.tally["by_hand"] += 1
        self.tally["returned"] += 1
        self.write(
            "sheet_returned",
            {"sheet": self.sheet, "reasons": list(reasons), "out": out, "feeder": self.feeder},
        )

    def doubt(self, sheet: int) -> None:
        self.write("sheet_in_doubt", {"sheet": sheet, "why": "power cut", "feeder": self.feeder})

    def settle(self, sheet: int, fate: str) -> None:
        self.tally["by_hand"] += 1
        self.tally["returned"] += fate == "returned"
        self.write(
            "doubt_settled",
            {
                "sheet": sheet,
                "fate": fate,
                "by": ["Ann Lee, official, D", "Bob Ray, official, R"],
                "feeder": self.feeder,
            },
        )

    def close_batch(self, **changed: Any) -> None:
        delta = [now - then for now, then in zip(self.counters, self.start, strict=True)]
        body = {
            name: dict(value) if isinstance(value, Counter) else value for name, value in self.tally.items()
        }
        body |= {
            "entries": delta[0],
            "exits": dict(zip((*BINS, "back"), delta[1:], strict=True)),
            "feeder": self.feeder,
        }
        self.write("batch_closed", {**body, **changed})


class Day:
    """A recount day of one locality: acts admitted by the law one after the other, devices "
    "writing beside them."""

    def __init__(
        self, precincts: Sequence[str] = ("101",), vote_for: int = 1, *, program: bool = True
    ) -> None:
        self.order = an_order(precincts, vote_for)
        self.acts: list[Act] = []
        self.hash = NO_ACT
        self.devices: dict[str, Device] = {}
        self.gaps: list[Gap] = []
        if program:
            options = [
                ("D", "Josiah Bartlett", False),
                ("R", "Arnold Vinick", False),
                ("T", "Third One", False),
                ("W", "", True),
            ]
            self.append(
                "program_added",
                (CLERK,),
                {
                    "program": PROGRAM, "contest": "governor", "title": "Governor", "vote_for": vote_for,
                    "options": [{"key": key, "name": name, "write_in": write_in} for key, name, write_in in
                    options] },
            )  # fmt: skip

    def append(self, kind: str, by: Sequence[Person], body: Mapping[str, Any]) -> Act:
        check_act(kind, by, body)
        n = len(self.acts) + 1
        act = Act(n, self.hash, kind, f"2026-12-01T09:00:{n % 60:02}Z", tuple(by), body)
        self.hash = act_hash(encode_act(act))
        self.acts.append(act)
        return act

    def facts(self) -> Facts:
        return Facts(
            self.order,
            tuple(self.acts),
            {device.id: read_device(device.id, device.records) for device in self.devices.values()},
            tuple(self.gaps),
            {device.id: device.name for device in self.devices.values()},
        )

    def state(self, precinct: str = "101") -> PrecinctState:
        return fold(self.facts(), precinct)

    def view(self, precinct: str = "101") -> PrecinctView:
        return view(self.state(precinct))

    def act(
        self, kind: str, by: Sequence[Person] = (CLERK,), precinct: str = "101", **fields: Any
    ) -> PrecinctState:
        body = {"precinct": precinct, **fields}
        state = admit(self.facts(), kind, by, body)
        self.append(kind, by, body)
        return state

    def device(self, name: str = "alpha") -> Device:
        return self.devices.setdefault(name, Device(name))

    def assign(
        self, name: str = "alpha", precinct: str = "101", mode: str = "training", program: bytes = PROGRAM
    ) -> Device:
        device = self.device(name)
        run = f"{precinct}-{sum(act.kind == 'run_assigned' for act in self.acts) + 1}"
        self.act(
            "run_assigned", (CLERK,), precinct,
            run=run, device=device.id, program=program, contest="governor", mode=mode,
        )  # fmt: skip
        device.open_run(run, precinct)
        return device

    def enter(self, letter: str, value: int, by: Person, precinct: str = "101") -> PrecinctState:
        due = attempt_due(self.state(precinct), letter)
        return self.act("count_entered", (by,), precinct, letter=letter, value=value, attempt=due)

    def lock(self, precinct: str = "101", **values: int) -> PrecinctState:
        state = self.state(precinct)
        for letter, value in values.items():
            self.enter(letter, value, ANN, precinct)
            state = self.enter(letter, value, BOB, precinct)
        return state

    def finish(self, precinct: str = "101") -> PrecinctState:
        for body in drafts.runs_to_end(self.state(precinct)):
            self.act("run_ended", **body)
        return self.act("scanning_finished", **drafts.scanning_finished(self.state(precinct)))

    def reconcile(self, precinct: str = "101") -> PrecinctState:
        return self.act("identities_told", **drafts.identities_told(self.state(precinct)))

    def show_figures(self, precinct: str = "101", *, search_ended: bool = False) -> PrecinctState:
        body = drafts.figures_shown(self.state(precinct), search_ended=search_ended)
        return self.act("figures_shown", **body)

    def hand_count(
        self, precinct: str = "101", by: Sequence[Person] = BOTH, **outcomes: int
    ) -> PrecinctState:
        number = len(self.state(precinct).passes) + 1
        return self.act("hand_count_entered", by, precinct, **{"pass": number, "outcomes": outcomes})


SHEETS = (
    *(("counted", ("D",), ()) for _ in range(5)),
    *(("counted", ("R",), ()) for _ in range(3)),
    ("counted", ("T",), ()),
    ("set_aside", (), ("overvote",)),
    ("set_aside", (), ("undervote",)),
    ("not_accepted", (), ("wrong_style",)),
)
"""Twelve sheets: C = 9 (5 D, 3 R, 1 T), S = 2, X = 1."""


def a_scanned_day(sheets: Sequence[tuple[str, Sequence[str], Sequence[str]]] = SHEETS, **kwargs: Any) -> Day:
    """A day whose one batch is closed and whose scanning is finished."""
    day = Day(**kwargs)
    device = day.assign()
    device.open_batch()
    for fate, choices, reasons in sheets:
        device.scan(fate, choices, reasons)
    device.close_batch()
    day.finish()
    return day


def a_reconciled_day() -> Day:
    """A day whose numbers add up and whose figures are shown."""
    day = a_scanned_day()
    day.lock(H=12, c=9, s=2, x=1)
    day.reconcile()
    day.show_figures()
    return day


def a_counted_day() -> Day:
    """A day whose hand count agrees and adds up: the set-aside two are a vote for D and no "
    "vote; the last for R."""
    day = a_reconciled_day()
    day.lock(p=0, o=0)
    day.hand_count(D=1, R=1, no_vote=1)
    day.hand_count(D=1, R=1, no_vote=1)
    return day
