"""The steps of logic and accuracy at an open desk, for the command line and the pages alike (D 2)."""

import hashlib
from collections.abc import Mapping
from typing import Any

from recount_classifier.program import Program, read_program
from recount_classifier.thresholds import thresholds_hash, thresholds_sentence
from recount_host.act import Act, Person
from recount_host.commands.desk import Desk
from recount_host.forms.logic_accuracy import print_certificate, print_zero_report
from recount_host.law.errors import NotAllowed
from recount_host.law.live import ARMED, ASSIGNED, ENDED, SETTLED, ZERO, assigned_tests, open_test
from recount_host.law.logic_accuracy import Question, check_passed, compare
from recount_host.law.precinct import Facts
from recount_host.run_names import run_name
from recount_protocol.fates import RETURNED


def last_test(facts: Facts, device: str) -> Act:
    """Return the test that this device was given last. Raises NotAllowed when it was given none."""
    tests = assigned_tests(facts.acts, device)
    if not tests:
        raise NotAllowed(f"{facts.names[device]} was given no test: logic-accuracy begin")
    return tests[-1]


def begin_test(
    desk: Desk, device: str, program: Program, deck: bytes, by: tuple[Person, ...]
) -> Mapping[str, Any]:
    """Give a device this deck (the bytes of its file) to run; return the act's body.

    The program is in the ledger. Raises NotAllowed and BadEntry.
    """
    given: dict[str, Any] = {"device": device, "program": program.program_hash, "contest": program.key}

    def body(facts: Facts) -> Mapping[str, Any]:
        earlier = sum(act.kind == ASSIGNED for act in facts.acts)
        given.update(run=run_name("test", earlier), deck=deck)
        return given

    desk.test_act(ASSIGNED, by, body)
    return given


def settle(desk: Desk, device: str, by: tuple[Person, ...], seen: int = 0) -> Question:
    """Let both sides say that the sheet which a device asks about was read before; return what it asked.

    `seen`: the sheet that a page showed them, which may be an old one; 0 where they name none. Raises
    NotAllowed, also where it asks nothing.
    """
    asked: list[Question] = []

    def body(facts: Facts) -> Mapping[str, Any]:
        test = last_test(facts, device)
        question = compare(facts, test).question
        if question is None:
            raise NotAllowed(f"{facts.names[device]} asks nothing in its test: see logic-accuracy compare")
        if seen not in (0, question.sheet):
            raise NotAllowed(
                f"{facts.names[device]} asks about sheet {question.sheet} now, not about sheet {seen}: look "
                "at it first"
            )
        asked.append(question)
        where = {"batch": question.batch, "sheet": question.sheet}
        return {"run": test.body["run"], "device": device, **where, "fate": RETURNED}

    desk.test_act(SETTLED, by, body)
    return asked[-1]


def end_open_test(desk: Desk, device: str, by: tuple[Person, ...]) -> str:
    """End the device's open test; return its run, empty where none is open."""
    test = open_test(desk.facts().acts, device)
    if test is None:
        return ""
    body = {"run": test.body["run"], "device": device}
    desk.test_act(ENDED, by, lambda _facts: body)
    return str(test.body["run"])


def certify(desk: Desk, device: str, by: tuple[Person, ...]) -> tuple[bytes, Mapping[str, Any]]:
    """Arm a device whose test came out exactly as it must; return the certificate and the act's body.

    Raises NotAllowed and BadEntry, and then nothing is armed.
    """
    facts = desk.facts()
    test = last_test(facts, device)
    comparison = compare(facts, test)
    check_passed(comparison)
    end_open_test(desk, device, by)
    facts, run = desk.facts(), comparison.run
    data = desk.ledger.program(test.body["program"])
    assert run is not None, "a test that passed was run"
    assert data is not None, "the program of a test is in the ledger"
    limits = read_program(data).thresholds
    body: dict[str, Any] = {
        "run": run.run,
        "device": device,
        "program": run.program,
        "thresholds": thresholds_hash(limits),
        "thresholds_told": thresholds_sentence(limits),
        "software": run.software,
        "firmware": run.firmware,
        "deck_sha256": hashlib.sha256(test.body["deck"]).digest(),
    }
    pdf = print_certificate(facts, body, by)
    body["sha256"] = hashlib.sha256(pdf).digest()
    desk.test_act(ARMED, by, lambda _facts: body)
    return pdf, body


def report_zero(desk: Desk, device: str, by: tuple[Person, ...]) -> bytes:
    """Write down that an armed device stands at zero; return the report. Raises NotAllowed and BadEntry."""
    facts = desk.facts()
    told = facts.devices.get(device)
    armed = told.arming.armed if told is not None else None
    if told is None or armed is None:
        name = facts.names.get(device, device)
        raise NotAllowed(f"{name} is not armed: there is nothing to report yet")
    body: dict[str, Any] = {"device": device, "program": armed.program, "head_n": told.head_n}
    pdf = print_zero_report(facts, body, by)
    body["sha256"] = hashlib.sha256(pdf).digest()
    desk.test_act(ZERO, by, lambda _facts: body)
    return pdf
