"""Recount days that never were: an order and people, and devices that write sound records, built in memory.

Every act is admitted by the law itself, and every record is signed and chained as a device does it, so a
rehearsed day can be written into a real ledger.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from host.tests.sound_device import PROGRAM, TWELVE_SHEETS, Device, Sheet
from recount_host.act import NO_ACT, Act, Person, act_hash, encode_act
from recount_host.law import drafts
from recount_host.law.acts import check_act
from recount_host.law.certification import Certification, certification
from recount_host.law.challenges import CHALLENGED, find_tag
from recount_host.law.court import Court, admit_court, docket_of, fold_court
from recount_host.law.disclosure import PrecinctView, view
from recount_host.law.hand_count import of_pile
from recount_host.law.obstacles import check_scanning_done
from recount_host.law.persons import in_words
from recount_host.law.precinct import Facts, PrecinctState, admit, attempt_due, fold
from recount_host.law.statement import statement
from recount_host.law.statement_lines import Statement
from recount_host.law.tally import DeviceFacts, Gap, read_device
from recount_host.order import Order, order_hash, parse_order
from recount_host.signatures import Signed

ANN = Person("Ann Lee", "official", "D")
BOB = Person("Bob Ray", "official", "R")
CLERK = Person("Cleo May", "coordinator", "")
CLERK_OF_COURT = Person("Dora Poe", "clerk", "")
BOTH = (ANN, BOB)
OPTIONS = (
    ("D", "Josiah Bartlett", False),
    ("R", "Arnold Vinick", False),
    ("T", "Howard Stackhouse", False),
    ("W", "Write-in", True),
)
"""The key and name of each option, and whether it is a write-in. The first two are the parties."""


def order_text(
    precincts: Sequence[str] = ("101",),
    vote_for: int = 1,
    stack_counted: str = "before_reconciling",
    options: Sequence[tuple[str, str, bool]] = OPTIONS,
    title: str = "Governor",
) -> str:
    """Return an order profile for these precincts."""
    lines = [
        'contest = "governor"',
        f'title = "{title}"',
        'locality = "Fairview County"',
        f"vote_for = {vote_for}",
        f'stack_counted = "{stack_counted}"',
    ]
    for key, name, _ in options[:2]:
        lines += ["[[side]]", f'key = "{key}"', f'name = "{name}"']
    for precinct in precincts:
        lines += ["[[precinct]]", f'id = "{precinct}"', f'name = "Precinct {precinct}"']
    return "\n".join(lines) + "\n"


class Day:
    """A recount day: acts admitted by the law one after the other, devices writing beside them."""

    def __init__(
        self,
        precincts: Sequence[str] = ("101",),
        vote_for: int = 1,
        *,
        program: bool = True,
        order: str = "",
        stack_counted: str = "before_reconciling",
        options: Sequence[tuple[str, str, bool]] = OPTIONS,
        title: str = "Governor",
    ) -> None:
        text = order + order_text(precincts, vote_for, stack_counted, options, title)
        self.order: Order = parse_order(text)
        self.acts: list[Act] = []
        self.devices: dict[str, Device] = {}
        self.gaps: list[Gap] = []
        self._folded: dict[str, tuple[int, DeviceFacts]] = {}
        self._seen: tuple[tuple[object, ...], PrecinctState] | None = None
        self.append("order_set", (CLERK,), order_body(text))
        if program:
            self.append("program_added", (CLERK,), program_body(PROGRAM, vote_for, options, title))

    def append(self, kind: str, by: Sequence[Person], body: Mapping[str, Any]) -> Act:
        """Append an act without asking the law whether it is allowed now."""
        check_act(kind, by, body)
        n = len(self.acts) + 1
        prev = act_hash(encode_act(self.acts[-1])) if self.acts else NO_ACT
        act = Act(
            n, prev, kind, f"2026-12-01T{9 + n // 3600:02}:{n // 60 % 60:02}:{n % 60:02}Z", tuple(by), body
        )
        self.acts.append(act)
        return act

    def facts(self) -> Facts:
        """Return all facts of the day."""
        return Facts(
            self.order,
            tuple(self.acts),
            {device.id: self._read(device) for device in self.devices.values()},
            tuple(self.gaps),
            {device.id: device.name for device in self.devices.values()},
        )

    def _read(self, device: Device) -> DeviceFacts:
        known = self._folded.get(device.id)
        if known is None or known[0] != len(device.records):
            known = len(device.records), read_device(device.id, device.records)
            self._folded[device.id] = known
        return known[1]

    def state(self, precinct: str = "101") -> PrecinctState:
        """Return a precinct as it is now; folded anew only when something was done."""
        written = tuple(len(device.records) for device in self.devices.values())
        mark = (len(self.acts), self.acts[-1], written, tuple(self.gaps), precinct)
        if self._seen is None or self._seen[0] != mark:
            self._seen = mark, fold(self.facts(), precinct)
        return self._seen[1]

    def view(self, precinct: str = "101") -> PrecinctView:
        """Return a precinct as it may be shown now."""
        return view(self.state(precinct))

    def act(
        self, kind: str, by: Sequence[Person] = (CLERK,), precinct: str = "101", /, **fields: Any
    ) -> PrecinctState:
        """Append an act if the law admits it. Raises what the law says otherwise."""
        body = {**fields, "precinct": precinct}
        state = admit(self.facts(), kind, by, body)
        self.append(kind, by, body)
        return state

    def court(self) -> Court:
        """Return the court's part as it is now."""
        return fold_court(self.facts())

    def court_act(self, kind: str, by: Sequence[Person] = (CLERK_OF_COURT,), /, **fields: Any) -> Court:
        """Append an act that is about the whole locality if the law admits it."""
        court = admit_court(self.facts(), kind, by, fields)
        self.append(kind, by, fields)
        return court

    def segregate(self, tag: str = "T-1", precinct: str = "101", by: Person = ANN, **changed: Any) -> None:
        """Let an official lay a questioned ballot into an envelope."""
        body: dict[str, Any] = {
            "tag": tag, "envelope": f"E-{tag}", "pile": "set_aside", "counted_as": CHALLENGED,
            "question": "a slash through one oval", "device": "", "batch": 0, "sheet": 0, **changed,
        }  # fmt: skip
        self.act("ballot_segregated", (by,), precinct, **body)

    def conclude(self, precinct: str = "101", team: Sequence[Person] = BOTH) -> Statement:
        """Let every official answer the call and sign the statement; return it."""
        for person in team:
            self.act("call_answered", (person,), precinct, answer="no_further_question")
        written = statement(self.facts(), precinct)
        hashes = {"sha256": bytes(32), "facts_sha256": bytes.fromhex(written.facts_sha256)}
        self.act("statement_printed", (CLERK,), precinct, **hashes)
        self.act("precinct_concluded", tuple(team), precinct, **hashes)
        return written

    def open_docket(self) -> Court:
        """Let the clerk open the docket."""
        return self.court_act("court_opened", ballots=docket_of(self.court()))

    def hear(self, tag: str = "T-1", precinct: str = "101") -> None:
        """Let every party inspect a questioned ballot and be heard."""
        for side in self.order.side_keys:
            said: dict[str, Any] = {"tag": tag, "side": side, "inspected": "inspected", "argument": ""}
            self.act("ballot_heard", (CLERK_OF_COURT,), precinct, **said)

    def rule(
        self,
        outcome: str,
        tag: str = "T-1",
        precinct: str = "101",
        instead_of: int = 0,
        counted_as: str = "",
        finding: str = "",
    ) -> int:
        """Let the clerk enter a ruling, by default confirming what was entered; return its number."""
        ballot = find_tag(self.state(precinct).questioned, tag)
        body: dict[str, Any] = {
            "tag": tag,
            "outcome": outcome,
            "counted_as": counted_as or (ballot.counted_as if ballot else CHALLENGED),
            "finding": finding,
            "reason": "as argued",
        }
        self.act("ballot_ruled", (CLERK_OF_COURT,), precinct, **body, instead_of=instead_of)
        return self.acts[-1].n

    def certify(self) -> Certification:
        """Print the draft of the certification and let the court sign it."""
        draft = certification(self.facts())
        hashes = {"sha256": bytes(32), "facts_sha256": bytes.fromhex(draft.facts_sha256)}
        self.court_act("court_form_printed", form="certification", **hashes)
        self.court_act("certified", version=draft.version, **hashes)
        return draft

    def device(self, name: str = "alpha") -> Device:
        """Return the device with this name."""
        return self.devices.setdefault(name, Device(name))

    def assign(
        self, name: str = "alpha", precinct: str = "101", mode: str = "training", program: bytes = PROGRAM
    ) -> Device:
        """Assign a device to a precinct, and let it open the run."""
        device = self.device(name)
        run = f"{precinct}-{sum(act.kind == 'run_assigned' for act in self.acts) + 1}"
        given: dict[str, Any] = {
            "run": run,
            "device": device.id,
            "program": program,
            "contest": "governor",
            "mode": mode,
        }
        self.act("run_assigned", (CLERK,), precinct, **given)
        device.open_run(run, precinct, mode=mode)
        return device

    def scan(
        self, sheets: Sequence[Sheet], name: str = "alpha", precinct: str = "101", **tally_changed: Any
    ) -> Device:
        """Assign a device, let it scan these sheets in one batch and close the batch."""
        device = self.assign(name, precinct)
        device.open_batch()
        for sheet in sheets:
            device.scan(sheet)
        device.close_batch(**tally_changed)
        return device

    def enter(self, letter: str, value: int, by: Person, precinct: str = "101") -> PrecinctState:
        """Let one person enter a count."""
        due = attempt_due(self.state(precinct), letter)
        return self.act("count_entered", (by,), precinct, letter=letter, value=value, attempt=due)

    def lock(self, precinct: str = "101", /, **values: int) -> PrecinctState:
        """Let both persons enter these counts."""
        for letter, value in values.items():
            self.enter(letter, value, ANN, precinct)
            self.enter(letter, value, BOB, precinct)
        return self.state(precinct)

    def finish(self, precinct: str = "101") -> PrecinctState:
        """End the precinct's runs and finish scanning."""
        for body in drafts.runs_to_end(self.state(precinct)):
            self.act("run_ended", (CLERK,), precinct, **body)
        return self.act(
            "scanning_finished", (CLERK,), precinct, **drafts.scanning_finished(self.state(precinct))
        )

    def finish_checked(self, precinct: str = "101") -> PrecinctState:
        """Finish scanning as the command does: nothing is ended while something is open."""
        check_scanning_done(self.state(precinct))
        return self.finish(precinct)

    def reconcile(self, precinct: str = "101") -> PrecinctState:
        """Tell which identities hold."""
        return self.act("identities_told", (CLERK,), precinct, **drafts.identities_told(self.state(precinct)))

    def show_figures(self, precinct: str = "101", *, search_ended: bool = False) -> PrecinctState:
        """Show the figures."""
        body = drafts.figures_shown(self.state(precinct), search_ended=search_ended)
        return self.act("figures_shown", (CLERK,), precinct, **body)

    def reconcile_with(self, precinct: str = "101", /, **counts: int) -> PrecinctState:
        """Let both persons enter these counts, tell which identities hold, and show the figures."""
        self.lock(precinct, **counts)
        self.reconcile(precinct)
        return self.show_figures(precinct)

    def count_pile(
        self, pile: str, outcomes: Mapping[str, int], precinct: str = "101", passes: int = 2
    ) -> PrecinctState:
        """Let a team of both sides enter the same hand count of one pile so many times."""
        for _ in range(passes):
            number = len(of_pile(self.state(precinct).passes, pile)) + 1
            entered: dict[str, Any] = {"pile": pile, "pass": number, "outcomes": dict(outcomes)}
            self.act("hand_count_entered", BOTH, precinct, **entered, standards="Ballot Examples, 2020")
        return self.state(precinct)

    def hand_count(
        self, outcomes: Mapping[str, int], precinct: str = "101", passes: int = 2
    ) -> PrecinctState:
        """Hand count all piles, filled in the order of `outcomes`; the last one takes what is left."""
        for pile, found in self._dealt(outcomes, precinct).items():
            self.count_pile(pile, found, precinct, passes)
        return self.state(precinct)

    def _dealt(self, outcomes: Mapping[str, int], precinct: str) -> dict[str, dict[str, int]]:
        to_count = self.state(precinct).to_count
        piles = {} if to_count is None else {pile: n for pile, n in to_count.expected.items() if n}
        room = piles or {"set_aside": 0}
        ballots = [outcome for outcome, number in outcomes.items() for _ in range(number)]
        dealt: dict[str, dict[str, int]] = {}
        for pile, size in room.items():
            own = ballots if pile == list(room)[-1] else ballots[:size]
            ballots = ballots[len(own) :]
            dealt[pile] = dict(Counter(own))
        return dealt


def order_body(text: str) -> dict[str, Any]:
    """Return the body of `order_set` for an order that the clerk of the court signed."""
    toml = text.encode("utf-8")
    key = Device(CLERK_OF_COURT.name)
    name = in_words(CLERK_OF_COURT)
    signature = key.key.sign(Signed("order", toml).message(name)).hex()
    signed = {"name": name, "public_key": key.public_key.hex(), "signature": signature}
    return {"toml": toml, "sha256": order_hash(text), "signatures": [signed]}


def program_body(
    program: bytes,
    vote_for: int = 1,
    options: Sequence[tuple[str, str, bool]] = OPTIONS,
    title: str = "Governor",
) -> dict[str, Any]:
    """Return the body of `program_added` for a program of this contest."""
    return {
        "program": program,
        "contest": "governor",
        "title": title,
        "vote_for": vote_for,
        "options": [{"key": key, "name": name, "write_in": write_in} for key, name, write_in in options],
        "signatures": [
            {"name": in_words(person), "public_key": f"{n:064x}", "signature": "00" * 64}
            for n, person in enumerate(BOTH)
        ],
    }


def a_scanned_day(sheets: Sequence[Sheet] = TWELVE_SHEETS) -> Day:
    """Return a day whose one batch is closed and whose scanning is finished."""
    day = Day()
    day.scan(sheets)
    day.finish()
    return day


def a_day_told_twice(**values: int) -> Day:
    """Return a day whose counts were entered, told, re-verified with the same numbers, and told again."""
    day = a_scanned_day()
    for _ in range(2):
        day.lock(**values)
        day.reconcile()
    return day


def a_reconciled_day() -> Day:
    """Return a day whose numbers add up and whose figures are shown."""
    day = a_scanned_day()
    day.reconcile_with(H=12, c=9, s=2, x=1)
    return day


def a_hand_count_day() -> Day:
    """Return a day whose C + S is one less than R, so that D 2 sends all ballots to hand count."""
    day = a_day_told_twice(H=13, c=9, s=2, x=1)
    day.show_figures()
    return day


def a_counted_day() -> Day:
    """Return a day whose hand count agrees: of the three ballots one is for D, one for R, one has no vote."""
    day = a_scanned_day()
    count_twelve_sheets(day)
    return day


def count_twelve_sheets(day: Day) -> None:
    """Reconcile the twelve scanned sheets; of the three ballots counted by hand one is for D, one for R."""
    day.reconcile_with(H=12, c=9, s=2, x=1)
    day.lock(p=0, o=0)
    day.hand_count({"D": 1, "R": 1, "no_vote": 1})
