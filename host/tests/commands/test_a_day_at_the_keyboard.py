"""The commands at a real ledger: a whole day, and what each says to people and to programs."""

import json
from pathlib import Path

import pypdfium2
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from device.tests.least_program import least_program
from host.tests.enrolling import enrol
from host.tests.rehearsal import OPTIONS, order_text
from host.tests.sound_device import TWELVE_SHEETS, Device, Sheet
from recount_classifier.program import Option, read_program
from recount_host.act import Person
from recount_host.cli import COMMANDS, Command, main
from recount_host.law.identities import MEANINGS
from recount_host.ledger.ledger import open_ledger
from recount_host.signatures import Signed, add_signature

ANN = ("--by", "Ann Lee, official, D")
BOB = ("--by", "Bob Ray, official, R")
CLERK = ("--by", "Cleo May, coordinator")
BOTH = (*ANN, *BOB)


class Keyboard:
    """A host's keyboard: gives commands and keeps what they answered."""

    def __init__(
        self, folder: Path, capsys: pytest.CaptureFixture[str], precincts: tuple[str, ...] = ("101",)
    ) -> None:
        self.data = folder / "data"
        self.folder = folder
        self.capsys = capsys
        self.order = folder / "order.toml"
        self.order.write_text(order_text(precincts), encoding="utf-8")
        self.program = folder / "governor.program"
        options = [Option(*option) for option in OPTIONS]
        self.program.write_bytes(least_program("governor", "Governor", options).to_bytes())
        self.device = Device()

    def give(self, *words: str) -> tuple[int, str, str]:
        code = main([*words, "--data", str(self.data)])
        answered = self.capsys.readouterr()
        return code, answered.out, answered.err

    def do(self, *words: str) -> str:
        code, out, err = self.give(*words)
        assert (code, err) == (0, ""), err
        return out

    def ask(self, *words: str) -> dict[str, object]:
        answer: dict[str, object] = json.loads(self.do(*words, "--json"))
        return answer

    def refused(self, *words: str) -> str:
        code, out, err = self.give(*words)
        assert (code, out) == (2, "")
        assert err.startswith("recount-host: ")
        assert err.count("\n") == 1
        return err

    def start(self) -> None:
        self.do("order", "set", str(self.order), *CLERK)
        with open_ledger(self.data) as ledger:
            enrol(ledger, self.device.name, self.device.public_key)

    def sign(self) -> None:
        signed = Signed("program", self.program.read_bytes())
        for name in ("Ann Lee, official, D", "Bob Ray, official, R"):
            add_signature(self.program, signed, name, Ed25519PrivateKey.generate())

    def assign(self) -> None:
        words = ("run", "assign", "101", "--device", "alpha", "--program", str(self.program))
        run = str(self.ask(*words, "--mode", "training", *CLERK)["run"])
        self.device.open_run(run, "101", read_program(self.program.read_bytes()).program_hash)

    def send(self) -> None:
        with open_ledger(self.data) as ledger:
            ledger.add_records(self.device.signed())

    def scan(self, sheets: tuple[Sheet, ...] = TWELVE_SHEETS) -> None:
        self.device.open_batch()
        for sheet in sheets:
            self.device.scan(sheet)
        self.device.close_batch()
        self.send()

    def lock(self, **values: int) -> None:
        for letter, value in values.items():
            assert "one person" in self.do("count", "enter", "101", letter, str(value), *ANN)
            assert "locked" in self.do("count", "enter", "101", letter, str(value), *BOB)

    def up_to_scanned(self) -> None:
        self.start()
        self.assign()
        self.scan()
        self.do("finish-scanning", "101", *CLERK)

    def up_to_counted(self) -> None:
        self.up_to_scanned()
        self.lock(H=12, c=9, s=2, x=1)
        self.do("reconcile", "101", *CLERK)
        self.do("figures", "101", *CLERK)
        self.lock(p=0, o=0)
        for _ in range(2):
            self.do("hand-count", "enter", "101", "set_aside", "D=1", "R=1", *BOTH)
            self.do("hand-count", "enter", "101", "not_accepted", "no_vote=1", *BOTH)


@pytest.fixture
def keyboard(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Keyboard:
    return Keyboard(tmp_path, capsys)


def test_a_whole_day_ends_with_the_statement(keyboard: Keyboard) -> None:
    keyboard.up_to_counted()
    pdf = keyboard.folder / "statement.pdf"
    answer = keyboard.ask("statement", "101", "-o", str(pdf), *CLERK)
    assert [(row["key"], row["total"]) for row in answer["parties"]] == [("D", 6), ("R", 4)]  # type: ignore[index, attr-defined]
    text = "".join(page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(pdf))
    assert "MODE TRAINING" in text
    assert keyboard.ask("show", "101")["precincts"][0]["statements_printed"] == 1  # type: ignore[index]


def test_the_statement_printed_twice_is_the_same_file(keyboard: Keyboard) -> None:
    keyboard.up_to_counted()
    first, second = keyboard.folder / "1.pdf", keyboard.folder / "2.pdf"
    keyboard.do("statement", "101", "-o", str(first), *CLERK)
    keyboard.do("statement", "101", "-o", str(second), *CLERK)
    assert first.read_bytes() == second.read_bytes()


def test_no_statement_before_the_hand_count_agrees(keyboard: Keyboard) -> None:
    keyboard.up_to_scanned()
    assert "print the statement" in keyboard.refused("statement", "101", "-o", "x.pdf", *CLERK)


def test_a_statement_that_cannot_be_written_leaves_no_act(keyboard: Keyboard) -> None:
    keyboard.up_to_counted()
    assert "cannot be written" in keyboard.refused("statement", "101", "-o", str(keyboard.folder), *CLERK)
    assert keyboard.ask("show", "101")["precincts"][0]["statements_printed"] == 0  # type: ignore[index]


def test_before_the_figures_are_shown_no_command_tells_one(keyboard: Keyboard) -> None:
    keyboard.up_to_scanned()
    keyboard.lock(H=12, c=9, s=2, x=1)
    shown = [
        keyboard.do("show"),
        keyboard.do("show", "101", "--json"),
        keyboard.do("doubt", "list", "--json"),
    ]
    shown += [keyboard.do("reconcile", "101", *CLERK), keyboard.do("reconcile", "101", *CLERK, "--json")]
    json_of = keyboard.ask("show", "101")["precincts"][0]  # type: ignore[index]
    assert json_of["figures"] is None
    assert all(count["values"] is None for count in json_of["counts"])
    assert json_of["sheets_fed"] == 12
    for words in shown:
        assert "counted 9" not in words
        assert "votes" not in words.replace(MEANINGS["I4"], "")
    assert "notices are closed" in keyboard.refused("notices", "101")


def test_reconcile_says_only_which_identities_hold(keyboard: Keyboard) -> None:
    keyboard.up_to_scanned()
    keyboard.lock(H=13, c=9, s=2, x=1)
    words = keyboard.do("reconcile", "101", *CLERK)
    assert "I2 FAILS" in words
    assert "I3 holds" in words
    assert not any(digits in words for digits in ("13", "12", "11", "9"))
    assert "once more" in words


def test_reconcile_given_again_tells_the_same_and_writes_nothing(keyboard: Keyboard) -> None:
    keyboard.up_to_scanned()
    keyboard.lock(H=12, c=9, s=2, x=1)
    first = keyboard.do("reconcile", "101", *CLERK)
    assert keyboard.do("reconcile", "101", *CLERK) == first
    with open_ledger(keyboard.data) as ledger:
        assert sum(act.kind == "identities_told" for act in ledger.acts()) == 1


def test_the_figures_are_shown_in_words_with_the_clause_where_the_law_is_the_reason(
    keyboard: Keyboard,
) -> None:
    keyboard.up_to_scanned()
    for _ in range(2):
        keyboard.lock(H=13, c=9, s=2, x=1)
        keyboard.do("reconcile", "101", *CLERK)
    words = keyboard.do("figures", "101", *CLERK)
    assert "§ 24.2-802.2 D 2" in words
    assert "I2 FAILS: C + S = 11, R = 12" in words
    assert keyboard.do("figures", "101") == words


def test_figures_need_a_person_the_first_time(keyboard: Keyboard) -> None:
    keyboard.up_to_scanned()
    keyboard.lock(H=12, c=9, s=2, x=1)
    keyboard.do("reconcile", "101", *CLERK)
    assert "say who does this" in keyboard.refused("figures", "101")


def test_a_misplaced_sheet_is_moved_by_its_notice(keyboard: Keyboard) -> None:
    keyboard.up_to_scanned()
    for _ in range(2):
        keyboard.lock(H=12, c=10, s=1, x=1)
        keyboard.do("reconcile", "101", *CLERK)
    assert "overvote" in keyboard.do("notices", "101")
    sheet = str(keyboard.ask("notices", "101")["notices"][0]["sheet"])  # type: ignore[index]
    move = ("move-sheet", "101", "counted", "set_aside", *BOTH)
    assert "name the notice" in keyboard.refused(*move)
    keyboard.do(*move, "--device", "alpha", "--batch", "1", "--sheet", sheet)
    assert keyboard.ask("reconcile", "101", *CLERK)["step"] == "show_reconciled"
    assert keyboard.ask("figures", "101", *CLERK)["state"] == "reconciled"


def test_the_search_for_a_misplaced_sheet_can_be_ended(keyboard: Keyboard) -> None:
    keyboard.up_to_scanned()
    for _ in range(2):
        keyboard.lock(H=12, c=10, s=2, x=1)
        keyboard.do("reconcile", "101", *CLERK)
    assert "--search-ended" in keyboard.refused("figures", "101", *CLERK)
    assert keyboard.ask("figures", "101", *CLERK, "--search-ended")["state"] == "hand_count"


def test_finish_scanning_is_refused_while_a_batch_is_open_and_the_run_goes_on(keyboard: Keyboard) -> None:
    keyboard.start()
    keyboard.assign()
    keyboard.device.open_batch()
    keyboard.send()
    assert "batch 1 of alpha is still open" in keyboard.refused("finish-scanning", "101", *CLERK)
    with open_ledger(keyboard.data) as ledger:
        assert not [act for act in ledger.acts() if act.kind == "run_ended"]


class Terminal:
    """A terminal at which these lines are typed, unseen."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
        self.lines = list(lines)
        monkeypatch.setattr("sys.stdin", self)
        monkeypatch.setattr("getpass.getpass", self.typed)

    def isatty(self) -> bool:
        return True

    def typed(self, _prompt: str) -> str:
        if not self.lines:
            raise EOFError
        return self.lines.pop(0)


def test_a_count_left_out_is_typed_unseen_and_twice(
    keyboard: Keyboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyboard.start()
    Terminal(monkeypatch, "12", "12")
    assert "one person" in keyboard.do("count", "enter", "101", "H", *ANN)
    assert "locked" in keyboard.do("count", "enter", "101", "H", "12", *BOB)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (("12", "13"), "two different numbers"),
        (("twelve",), "digits only"),
        (("12",), "no number was typed"),
    ],
)
def test_a_count_typed_unseen_and_wrong_is_not_entered(
    keyboard: Keyboard, monkeypatch: pytest.MonkeyPatch, lines: tuple[str, ...], says: str
) -> None:
    keyboard.start()
    Terminal(monkeypatch, *lines)
    assert says in keyboard.refused("count", "enter", "101", "H", *ANN)
    with open_ledger(keyboard.data) as ledger:
        assert not [act for act in ledger.acts() if act.kind == "count_entered"]


def test_a_count_left_out_where_nobody_can_type_is_asked_for(keyboard: Keyboard) -> None:
    keyboard.start()
    assert "say the number" in keyboard.refused("count", "enter", "101", "H", *ANN)


def test_a_wrong_order_file_leaves_no_ledger_behind(keyboard: Keyboard) -> None:
    assert "cannot be read" in keyboard.refused("order", "set", "absent.toml", *CLERK)
    assert not keyboard.data.exists()


def test_a_precinct_of_which_nothing_was_fed_is_finished_only_on_purpose(keyboard: Keyboard) -> None:
    keyboard.start()
    keyboard.assign()
    keyboard.send()
    assert "no sheet of precinct 101 has been fed" in keyboard.refused("finish-scanning", "101", *CLERK)
    with open_ledger(keyboard.data) as ledger:
        assert not [act for act in ledger.acts() if act.kind == "run_ended"]
    assert keyboard.ask("finish-scanning", "101", "--nothing-fed", *CLERK)["state"] == "scanned"


def test_a_withheld_record_is_named_and_no_figure_is_shown(keyboard: Keyboard) -> None:
    keyboard.start()
    keyboard.assign()
    keyboard.device.open_batch()
    for sheet in TWELVE_SHEETS:
        keyboard.device.scan(sheet)
    keyboard.device.close_batch()
    with open_ledger(keyboard.data) as ledger:
        ledger.add_records([item for n, item in enumerate(keyboard.device.signed(), 1) if n != 6])
    assert "records of alpha did not arrive" in keyboard.refused("finish-scanning", "101", *CLERK)
    assert "records of alpha did not arrive" in keyboard.do("show")


def test_a_run_is_ended_and_the_precinct_given_anew(keyboard: Keyboard) -> None:
    keyboard.start()
    keyboard.assign()
    keyboard.scan()
    assert "no more" in keyboard.do("run", "end", "101", "--device", "alpha", *CLERK)
    assert "no open run" in keyboard.refused("run", "end", "101", "--device", "alpha", *CLERK)
    words = ("run", "assign", "101", "--device", "alpha", "--program", str(keyboard.program))
    given = keyboard.ask(*words, "--mode", "training", *CLERK)
    assert str(given["run"]).startswith("101-2-")
    assert "batch 1 of alpha: closed" in keyboard.do("show", "101")


def test_a_batch_is_voided_by_both_sides_and_run_again(keyboard: Keyboard) -> None:
    keyboard.start()
    keyboard.assign()
    keyboard.scan()
    void = ("batch", "void", "101", "1", "--device", "alpha", "--reason", "a sheet slipped past")
    assert "two persons of different sides" in keyboard.refused(*void, *ANN)
    assert "say why" in keyboard.refused(*void[:-1], " ", *BOTH)
    assert "is void" in keyboard.do(*void, *BOTH)
    keyboard.scan()
    keyboard.do("finish-scanning", "101", *CLERK)
    assert "batch 1 of alpha: void" in keyboard.do("show")
    assert "batch 2 of alpha: closed" in keyboard.do("show")
    assert "has no batch 7" in keyboard.refused(*void[:3], "7", *void[4:], *BOTH)


def test_a_sheet_in_doubt_is_listed_without_its_place_and_settled_by_both_sides(keyboard: Keyboard) -> None:
    keyboard.start()
    keyboard.assign()
    keyboard.device.open_batch()
    number = keyboard.device.judge(Sheet("set_aside", (), ("overvote",)))
    keyboard.device.doubt(number)
    keyboard.send()
    listed = keyboard.do("doubt", "list")
    assert "sheet 1 in batch 1 of alpha: power cut" in listed
    assert "overvote" not in listed
    settle = ("doubt", "settle", "101", "1", "set_aside", "--device", "alpha", "--batch", "1")
    assert "two persons of different sides" in keyboard.refused(*settle, *ANN)
    assert "is told" in keyboard.do(*settle, *BOTH)


def test_no_doubt_is_listed_as_such(keyboard: Keyboard) -> None:
    keyboard.start()
    assert keyboard.do("doubt", "list") == "no sheet is in doubt\n"


def test_notices_of_a_precinct_without_any_are_listed_as_none(keyboard: Keyboard) -> None:
    keyboard.start()
    keyboard.assign()
    keyboard.scan((Sheet("counted", ("D",)),))
    keyboard.do("finish-scanning", "101", *CLERK)
    keyboard.lock(H=1, c=1, s=0, x=0)
    keyboard.do("reconcile", "101", *CLERK)
    keyboard.do("figures", "101", *CLERK)
    assert keyboard.do("notices", "101") == "no sheet was set aside or not accepted\n"


def test_the_order_is_set_once_and_the_same_again_changes_nothing(keyboard: Keyboard) -> None:
    keyboard.start()
    keyboard.do("order", "set", str(keyboard.order), *CLERK)
    keyboard.order.write_text(order_text(("102",)), encoding="utf-8")
    assert "works under another order" in keyboard.refused("order", "set", str(keyboard.order), *CLERK)
    with open_ledger(keyboard.data) as ledger:
        assert sum(act.kind == "order_set" for act in ledger.acts()) == 1


def test_a_live_run_on_a_device_that_is_not_armed_is_refused(keyboard: Keyboard) -> None:
    keyboard.start()
    keyboard.sign()
    words = ("run", "assign", "101", "--device", "alpha", "--program", str(keyboard.program), *CLERK)
    assert "nobody has signed the order" in keyboard.refused(*words, "--mode", "live")
    key = str(keyboard.data / "clerk.key")
    assert main(["order", "sign", str(keyboard.order), "--key", key, "--name", "Cleo May, clerk"]) == 0
    keyboard.do("order", "set", str(keyboard.order), *CLERK)
    assert "not passed logic and accuracy" in keyboard.refused(*words, "--mode", "live")
    assert "invalid choice: 'test'" in keyboard.refused(*words, "--mode", "test")
    kinds = ["order_set", "device_enrolled", "program_added", "order_set"]
    with open_ledger(keyboard.data) as ledger:
        assert [act.kind for act in ledger.acts()] == kinds


def test_a_program_for_another_contest_is_refused_and_not_stored(keyboard: Keyboard) -> None:
    keyboard.start()
    other = least_program("senate", "Senate", [Option("A", "A", write_in=False)])
    keyboard.program.write_bytes(other.to_bytes())
    keyboard.sign()
    assert 'counts the contest "senate"' in keyboard.refused("program", "add", str(keyboard.program), *CLERK)
    with open_ledger(keyboard.data) as ledger:
        assert ledger.program_hashes() == ()


def test_d2_a_program_is_added_when_one_person_of_each_side_has_signed_it(keyboard: Keyboard) -> None:
    keyboard.start()
    add = ("program", "add", str(keyboard.program), *CLERK)
    assert "signed by nobody: one person of each side" in keyboard.refused(*add)
    for name, refused in (
        ("Ann Lee, official, D", "signed by Ann Lee, official, D: one person of each side"),
        ("Amy Fox, official, D", "one person of each side"),
        ("Cleo May, clerk", "one person of each side"),
        ("ann lee, official, R", "one person of each side"),
        ("Bob Ray, official, R", ""),
    ):
        key = str(keyboard.folder / f"{name}.key")
        assert main(["program", "sign", str(keyboard.program), "--key", key, "--name", name]) == 0
        keyboard.capsys.readouterr()
        if refused:
            assert refused in keyboard.refused(*add)
    assert "Bob Ray, official, R (key " in keyboard.do(*add)
    with open_ledger(keyboard.data) as ledger:
        acts = [act for act in ledger.acts() if act.kind == "program_added"]
    assert len(acts) == 1
    assert len(acts[0].body["signatures"]) == 5


def test_a_program_that_served_for_training_is_added_again_with_its_signatures(keyboard: Keyboard) -> None:
    keyboard.start()
    keyboard.assign()
    keyboard.sign()
    for _ in range(2):
        keyboard.do("program", "add", str(keyboard.program), *CLERK)
    with open_ledger(keyboard.data) as ledger:
        acts = [act for act in ledger.acts() if act.kind == "program_added"]
    assert [len(act.body["signatures"]) for act in acts] == [0, 2]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("show", "999"), 'no precinct "999"'),
        (("program", "add", "absent.program", *CLERK), "cannot be read"),
        (("program", "add", __file__, *CLERK), "no contest program"),
        (
            ("run", "assign", "101", "--device", "nobody", "--program", "P", "--mode", "training", *CLERK),
            "no device",
        ),
        (
            ("run", "assign", "101", "--device", "alpha", "--program", "P", "--mode", "fast", *CLERK),
            "invalid choice",
        ),
        (("count", "enter", "101", "q", "3", *ANN), "invalid choice"),
        (("count", "enter", "101", "H", "many", *ANN), "write digits only"),
        (("count", "enter", "101", "H", "-3", *ANN), "write digits only"),
        (("count", "enter", "101", "H", "1_2", *ANN), "write digits only"),
        (("count", "enter", "101", "H", "9" * 5000, *ANN), "write digits only"),
        (("count", "enter", "101", "H", "99999999", *ANN), "value must be int 0 to"),
        (("count", "enter", "101", "H", "3", "--by", "Ann Lee"), "does not name a person"),
        (("count", "enter", "101", "H", "3", "--by", "Ann Lee, official, Z"), 'side "Z"'),
        (("count", "enter", "101", "H", "3", *CLERK), "an official of a side"),
        (("count", "enter", "101", "H", "3", *BOTH), "exactly once"),
        (("count", "enter", "101", "H", "3"), "say who does this"),
        (("hand-count", "enter", "101", "set_aside", "D", *BOTH), "write KEY=NUMBER"),
        (("hand-count", "enter", "101", "set_aside", "D=x", *BOTH), "write KEY=NUMBER"),
        (("hand-count", "enter", "101", "set_aside", "D=" + "9" * 5000, *BOTH), "write KEY=NUMBER"),
        (("hand-count", "enter", "101", "set_aside", "D=1", "D=2", *BOTH), "given twice"),
        (("order", "set", "absent.toml", *CLERK), "cannot be read"),
        (("order", "set", __file__, *CLERK), "does not fit"),
        (("count",), "count alone is no command: write count enter"),
        (("dance",), 'no command "dance"'),
    ],
)
def test_wrong_input_gets_one_line_and_exit_code_2(
    keyboard: Keyboard, words: tuple[str, ...], says: str
) -> None:
    keyboard.start()
    words = tuple(str(keyboard.program) if word == "P" else word for word in words)
    assert says in keyboard.refused(*words)


def test_a_command_without_a_ledger_says_where_it_looked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", "--data", str(tmp_path / "nowhere")]) == 2
    assert "there is no ledger at" in capsys.readouterr().err


def test_no_words_at_all_point_to_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "name a command" in capsys.readouterr().err


def test_the_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    listed = capsys.readouterr().out
    assert all(command.words in listed and command.purpose in listed for command in COMMANDS)


def test_a_ledger_that_contradicts_itself_stops_every_command_with_code_3(keyboard: Keyboard) -> None:
    keyboard.start()
    with open_ledger(keyboard.data) as ledger:
        body = {"precinct": "101", "attempt": 1, "held": [], "failed": [], "disarmed": []}
        ledger.append_act("identities_told", (Person("X", "y", ""),), body)
    code, out, err = keyboard.give("show")
    assert (code, out) == (3, "")
    assert "keep everything as it is: act 3 (identities_told)" in err


def test_the_log_tells_who_did_what_and_hides_what_is_still_counted_blind(keyboard: Keyboard) -> None:
    keyboard.up_to_scanned()
    keyboard.do("count", "enter", "101", "H", "12", *ANN)
    words = keyboard.do("log", "101")
    assert "count_entered precinct 101 by Ann Lee, official, D" in words
    assert "value=(not shown yet)" in words
    assert "order_set" not in words
    assert "order_set" in keyboard.do("log")
    assert 'no precinct "999"' in keyboard.refused("log", "999")
    assert len(keyboard.ask("log")["acts"]) == 7  # type: ignore[arg-type]


def test_a_precinct_of_which_nothing_is_known_has_an_empty_log(keyboard: Keyboard) -> None:
    keyboard.start()
    assert keyboard.do("log", "101") == "nothing was done yet\n"


@pytest.mark.parametrize("command", COMMANDS, ids=[command.words for command in COMMANDS])
def test_every_command_has_a_help_that_says_what_it_takes(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main([*command.words.split(), "--help"])
    assert end.value.code == 0
    assert f"usage: recount-host {command.words}" in capsys.readouterr().out


def test_ctrl_c_ends_a_command_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def interrupt(_args: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("recount_host.commands.show.run", interrupt)
    assert main(["show", "--data", str(tmp_path)]) == 130
    assert capsys.readouterr().err == ""
