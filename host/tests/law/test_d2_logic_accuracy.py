"""D 2 s. 4: each scanner passes logic and accuracy after it is programmed and before it counts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from host.tests.rehearsal import ANN, BOB, BOTH, CLERK, Day, program_body
from host.tests.sound_device import PROGRAM, Device, Sheet
from recount_host.law.arming import Arming, read_arming
from recount_host.law.contest import check_signed
from recount_host.law.deck import (
    MAX_DECK_BYTES,
    Deck,
    DeckError,
    DeckSheet,
    classes_of,
    deck_text,
    expected_totals,
    parse_deck,
    totals_of,
)
from recount_host.law.duties import duties
from recount_host.law.enrolment import enrolment_body
from recount_host.law.errors import NotAllowed
from recount_host.law.live import ARMED, ASSIGNED, ENDED, SETTLED, ZERO, assigned_tests, why_not_live
from recount_host.law.logic_accuracy import (
    Comparison,
    admit_logic_accuracy,
    check_passed,
    compare,
    outcome_in_words,
)
from recount_protocol.fates import COUNTED, NOT_ACCEPTED, RETURNED, SET_ASIDE

SHEETS = (
    DeckSheet("t-1", "card-1", "D", COUNTED, ("D",)),
    DeckSheet("t-2", "card-1", "R", COUNTED, ("R",)),
    DeckSheet("t-3", "card-1", "T", COUNTED, ("T",), comes_back="double_feed"),
    DeckSheet("t-4", "card-1", "blank", SET_ASIDE, (), ("undervote",)),
    DeckSheet("t-5", "card-1", "a dot", SET_ASIDE, (), ("marginal",)),
    DeckSheet("t-6", "card-1", "without TEST", NOT_ACCEPTED, (), ("live_ballot",)),
    DeckSheet("t-1-again", "card-1", "D, fed a second time", RETURNED, (), ("read_before",), again="t-1"),
)
DECK = Deck("Logic and accuracy", "governor", PROGRAM.hex(), ("D", "R", "T"), SHEETS)
RIGHT = (
    Sheet(COUNTED, ("D",)),
    Sheet(COUNTED, ("R",)),
    Sheet(COUNTED, ("T",)),
    Sheet(SET_ASIDE, (), ("undervote",)),
    Sheet(SET_ASIDE, (), ("marginal_mark", "marginal_weak")),
    Sheet(NOT_ACCEPTED, (), ("live_ballot",)),
    Sheet(RETURNED, (), ("read_before",)),
)
CERTIFICATE = bytes(31) + b"c"


def do(day: Day, kind: str, by: Sequence[Any] = (CLERK,), **body: Any) -> None:
    admit_logic_accuracy(day.facts(), kind, by, body)
    day.append(kind, by, body)


def a_device(day: Day) -> Device:
    device = day.device()
    day.append("device_enrolled", BOTH, enrolment_body(device.name, device.public_key))
    started = {"software": "1.0", "firmware": "1.0", "boot": 1, "note": ""}
    device.write("device_started", started, batch=0)
    return device


def given(day: Day, deck: Deck = DECK) -> Device:
    device = a_device(day)
    words = {"run": "test-1", "program": PROGRAM, "contest": "governor"}
    do(day, ASSIGNED, device=device.id, deck=deck_text(deck).encode(), **words)
    return device


def fed(day: Day, sheets: Sequence[Sheet] = RIGHT, *, back: Sequence[str] = ("double_feed",)) -> Device:
    device = given(day)
    device.open_run("test-1", "logic-accuracy", mode="test")
    device.open_batch()
    feed(day, device, sheets, back=back)
    device.close_batch()
    return device


def feed(
    day: Day, device: Device, sheets: Sequence[Sheet] = RIGHT, *, back: Sequence[str] = ("double_feed",)
) -> None:
    """Let the deck go through: before its third sheet sheets come back for these reasons."""
    first = device.sheet + 1
    for n, sheet in enumerate(sheets):
        if n == 2:
            for reason in back:
                device.give_back(reasons=(reason,))
        if sheet.fate == RETURNED:
            knows_again(day, device, first)
        else:
            device.scan(sheet)


def knows_again(day: Day, device: Device, like: int) -> None:
    """Feed the first sheet a second time: the device asks about it, and both sides say that it is so."""
    number = device.judge(RIGHT[0])
    device.doubt(number, like)
    words = {"run": device.run, "device": device.id, "batch": device.number, "sheet": number}
    do(day, SETTLED, BOTH, fate=RETURNED, **words)
    device.settle(number, RETURNED)


def compared(day: Day, device: Device) -> Comparison:
    return compare(day.facts(), assigned_tests(day.acts, device.id)[-1])


def certificate(device: Device, **changed: Any) -> dict[str, Any]:
    return {
        "run": "test-1", "device": device.id, "program": PROGRAM, "thresholds": bytes(32),
        "thresholds_told": "all thresholds are the defaults", "software": "1.0", "firmware": "1.0",
        "deck_sha256": bytes(32), "sha256": CERTIFICATE, **changed,
    }  # fmt: skip


def certified(day: Day) -> Device:
    device = fed(day)
    do(day, ENDED, run="test-1", device=device.id)
    device.close_run()
    do(day, ARMED, BOTH, **certificate(device))
    return device


def armed(day: Day) -> Device:
    device = certified(day)
    told = certificate(device)
    names = ("program", "thresholds", "software", "firmware")
    body = {name: told[name] for name in names}
    by = ["Ann Lee, official, D", "Bob Ray, official, R"]
    device.write(
        "device_armed", {"test_run": "test-1", **body, "certificate": CERTIFICATE, "by": by}, batch=0
    )
    return device


def zero(day: Day, device: Device) -> None:
    do(day, ZERO, device=device.id, program=PROGRAM, head_n=len(device.records), sha256=bytes(32))


def test_d2_a_device_that_passed_is_armed_and_at_zero_may_be_given_a_live_run() -> None:
    day = Day()
    device = armed(day)
    zero(day, device)
    assert why_not_live(day.facts(), device.id, PROGRAM) == ""
    day.assign(mode="live")


def test_d2_a_device_is_not_armed_by_what_another_passed() -> None:
    day = Day()
    zero(day, armed(day))
    other = day.device("beta")
    assert "not armed" in why_not_live(day.facts(), other.id, PROGRAM)
    with pytest.raises(NotAllowed):
        do(day, ARMED, BOTH, **certificate(other))


def test_d2_a_certificate_of_the_host_alone_arms_nothing() -> None:
    day = Day()
    device = certified(day)
    assert "not armed" in why_not_live(day.facts(), device.id, PROGRAM)


def test_d2_an_armed_record_without_a_certificate_in_the_ledger_is_not_enough() -> None:
    day = Day()
    device = armed(day)
    zero(day, device)
    day.acts = [act for act in day.acts if act.kind != ARMED]
    assert "certificate is not in this ledger" in why_not_live(day.facts(), device.id, PROGRAM)


def test_d2_a_zero_report_is_due_after_arming_and_after_every_start() -> None:
    day = Day()
    device = armed(day)
    assert "zero report" in why_not_live(day.facts(), device.id, PROGRAM)
    zero(day, device)
    device.write("device_started", {"software": "1.0", "firmware": "1.0", "boot": 2, "note": ""}, batch=0)
    assert "zero report" in why_not_live(day.facts(), device.id, PROGRAM)
    zero(day, device)
    assert why_not_live(day.facts(), device.id, PROGRAM) == ""


@pytest.mark.parametrize(
    ("software", "firmware", "why"), [("2.0", "1.0", "software was changed"), ("1.0", "2.0", "firmware")]
)
def test_d2_another_software_or_firmware_disarms(software: str, firmware: str, why: str) -> None:
    day = Day()
    device = armed(day)
    started = {"software": software, "firmware": firmware, "boot": 2, "note": ""}
    device.write("device_started", started, batch=0)
    assert why in why_not_live(day.facts(), device.id, PROGRAM)


def test_d2_another_program_disarms() -> None:
    day = Day()
    device = armed(day)
    zero(day, device)
    assert "another contest program" in why_not_live(day.facts(), device.id, bytes(32))
    device.open_run("r", "101", program=bytes(32))
    assert "given another contest program" in why_not_live(day.facts(), device.id, PROGRAM)


def told(device: Device) -> Arming:
    return read_arming(device.records)


def test_what_a_device_told_last_of_software_and_firmware_is_known_and_why_it_is_not_armed() -> None:
    day = Day()
    device = a_device(day)
    assert (told(device).armed, told(device).why) == (None, "it has not passed logic and accuracy")
    assert (told(device).software, told(device).firmware, told(device).started_n) == ("1.0", "1.0", 1)
    opened = {"precinct": "101", "contest": "governor", "program": PROGRAM, "mode": "training"}
    device.run = "r"
    device.write("run_opened", {**opened, "software": "2.0", "firmware": "3.0"}, batch=0)
    assert (told(device).software, told(device).firmware) == ("2.0", "3.0")
    day = Day()
    device = armed(day)
    assert told(device).why == ""
    assert told(device).certificates == {CERTIFICATE}
    device.write("device_disarmed", {"why": "the first reason"}, batch=0)
    device.write("device_disarmed", {"why": "another"}, batch=0)
    assert told(device).why == "the first reason"
    assert told(device).certificates == {CERTIFICATE}


def test_d2_a_device_disarms_itself_and_a_new_test_disarms() -> None:
    for kind, body in (("device_disarmed", {"why": "the program was damaged"}), ("", {})):
        day = Day()
        device = armed(day)
        zero(day, device)
        if kind:
            device.write(kind, body, batch=0)
        else:
            device.open_run("test-2", "logic-accuracy", mode="test")
        assert "not armed" in why_not_live(day.facts(), device.id, PROGRAM)


def test_the_deck_passes_only_when_every_sheet_is_as_it_must_be() -> None:
    day = Day()
    assert compared(day, fed(day)).passed
    for n, sheet in enumerate(RIGHT):
        wrong = Sheet(SET_ASIDE, (), ("overvote",)) if sheet.fate == COUNTED else Sheet(COUNTED, ("T",))
        day = Day()
        found = compared(day, fed(day, (*RIGHT[:n], wrong, *RIGHT[n + 1 :])))
        assert not found.passed
        assert [difference.code for difference in found.differences] == [SHEETS[n].code]


def test_a_count_that_is_right_in_total_and_wrong_by_sheets_does_not_pass() -> None:
    day = Day()
    found = compared(day, fed(day, (RIGHT[1], RIGHT[0], *RIGHT[2:])))
    assert found.expected == found.actual
    assert [difference.code for difference in found.differences] == ["t-1", "t-2"]


def test_a_sheet_that_was_not_fed_and_one_too_many_are_named() -> None:
    day = Day()
    found = compared(day, fed(day, (*RIGHT[:3], *RIGHT[4:])))
    assert [(d.code, d.actual) for d in found.differences] == [("t-4", "not fed, or lost")]
    day = Day()
    found = compared(day, fed(day, (*RIGHT, Sheet(COUNTED, ("T",)))))
    assert [d.what for d in found.differences] == ["no sheet of the deck"]


def test_two_sheets_that_were_taken_for_one_are_named() -> None:
    day = Day()
    found = compared(day, fed(day, back=()))
    assert [difference.code for difference in found.differences] == ["t-3"]
    assert "double feed" in found.differences[0].expected


def test_a_jam_in_between_is_no_difference() -> None:
    day = Day()
    assert compared(day, fed(day, back=("jam", "double_feed"))).passed


def test_d2_a_deck_that_differs_arms_nothing() -> None:
    day = Day()
    device = fed(day, (RIGHT[1], *RIGHT[1:]))
    do(day, ENDED, run="test-1", device=device.id)
    with pytest.raises(
        NotAllowed, match="did not come out as it must: 1 of its sheets differ; the first is t-1"
    ):
        do(day, ARMED, BOTH, **certificate(device))


@pytest.mark.parametrize(
    ("kept", "lacks"),
    [
        ((0, 1, 3, 5, 6), "no sheet that counts for T"),
        ((0, 1, 2, 5, 6), "no sheet that is set aside"),
        ((0, 1, 2, 3, 4, 6), "no sheet that is not accepted"),
        ((0, 1, 2, 3, 4, 5), "no sheet that is fed twice"),
        ((0, 5, 6), "no sheet that counts for R, no sheet that counts for T, no sheet that is set aside"),
    ],
)
def test_d2_a_deck_of_which_sheets_were_taken_away_arms_nothing(kept: tuple[int, ...], lacks: str) -> None:
    day = Day()
    sheets = tuple(msgspec.structs.replace(SHEETS[n], comes_back="") for n in kept)
    device = given(day, msgspec.structs.replace(DECK, sheets=sheets))
    device.open_run("test-1", "logic-accuracy", mode="test")
    device.open_batch()
    feed(day, device, [RIGHT[n] for n in kept], back=())
    device.close_batch()
    found = compared(day, device)
    assert found.differences == ()
    why = f"the deck has {lacks}: end the test, and give the whole deck (deck make)"
    assert found.hindrances == (why,)
    do(day, ENDED, run="test-1", device=device.id)
    with pytest.raises(NotAllowed, match="the deck has no sheet"):
        do(day, ARMED, BOTH, **certificate(device))


def test_d2_a_test_that_is_not_finished_arms_nothing() -> None:
    day = Day()
    device = given(day)
    do(day, ENDED, run="test-1", device=device.id)
    with pytest.raises(NotAllowed, match="has not begun the test"):
        do(day, ARMED, BOTH, **certificate(device))


def test_a_deck_fed_in_another_mode_arms_nothing() -> None:
    day = Day()
    device = given(day)
    device.open_run("test-1", "logic-accuracy", mode="training")
    device.open_batch()
    feed(day, device)
    device.close_batch()
    assert "another mode" in compared(day, device).hindrances[0]


def test_both_sides_arm_together() -> None:
    day = Day()
    device = fed(day)
    do(day, ENDED, run="test-1", device=device.id)
    with pytest.raises(NotAllowed, match="side"):
        do(day, ARMED, (ANN,), **certificate(device))


@pytest.mark.parametrize("changed", [{"program": bytes(32)}, {"software": "2.0"}, {"firmware": "2.0"}])
def test_d2_a_certificate_for_what_was_not_tested_is_refused(changed: dict[str, Any]) -> None:
    day = Day()
    device = fed(day)
    do(day, ENDED, run="test-1", device=device.id)
    with pytest.raises(NotAllowed, match="of another program, software or firmware"):
        do(day, ARMED, BOTH, **certificate(device, **changed))


def test_a_deck_for_another_program_is_refused() -> None:
    with pytest.raises(NotAllowed, match="made for another contest program"):
        given(Day(), msgspec.structs.replace(DECK, program="00" * 32))


@pytest.mark.parametrize(
    "signers", [(), ("Ann Lee, official, D",), ("Ann Lee, official, D", "Amy Fox, official, D")]
)
def test_d2_a_program_that_not_both_sides_signed_arms_nothing(signers: Sequence[str]) -> None:
    day = Day(program=False)
    entries = [
        {"name": name, "public_key": f"{n:064x}", "signature": "00" * 64} for n, name in enumerate(signers)
    ]
    day.append("program_added", (CLERK,), {**program_body(PROGRAM), "signatures": entries})
    with pytest.raises(NotAllowed, match="one person of each side proves and signs it first"):
        given(day)


def test_a_device_that_is_being_tested_is_given_no_precinct_and_the_other_way_round() -> None:
    day = Day()
    given(day)
    with pytest.raises(NotAllowed, match="has the test test-1 still"):
        day.assign()
    day = Day()
    day.assign()
    with pytest.raises(NotAllowed, match="still scans precinct 101"):
        given(day)


def test_nothing_of_a_test_counts_in_a_precinct() -> None:
    day = Day()
    zero(day, armed(day))
    state = day.state()
    assert (state.batches, state.runs, state.figures.counted) == ((), (), 0)


def test_one_precinct_is_scanned_in_one_mode() -> None:
    day = Day()
    zero(day, armed(day))
    day.assign("beta", mode="training")
    with pytest.raises(NotAllowed, match="one precinct, one mode"):
        day.assign(mode="live")


def test_the_device_is_told_to_test_to_end_and_to_be_armed_until_its_records_show_it() -> None:
    day = Day()
    device = given(day)
    assert [duty.kind for duty in duties(day.facts(), device.id)] == ["assign_run"]
    assert duties(day.facts(), device.id)[0].fields["mode"] == "test"
    day = Day()
    device = fed(day)
    do(day, ENDED, run="test-1", device=device.id)
    do(day, ARMED, BOTH, **certificate(device))
    assert [duty.kind for duty in duties(day.facts(), device.id)] == ["close_run", "arm_device"]
    day = Day()
    device = armed(day)
    device.close_run()
    assert duties(day.facts(), device.id) == ()


def test_a_test_ends_though_a_sheet_of_it_is_in_doubt_its_open_batch_is_void_first() -> None:
    day = Day()
    device = given(day)
    device.open_run("test-1", "logic-accuracy", mode="test")
    device.open_batch()
    device.scan(RIGHT[0])
    device.close_batch()
    device.open_batch()
    device.doubt(device.judge(RIGHT[0]))
    refused(day, "two persons of different sides", ENDED, run="test-1", device=device.id)
    do(day, ENDED, BOTH, run="test-1", device=device.id)
    (duty,) = duties(day.facts(), device.id)
    assert duty.kind == "void_batch"
    assert duty.fields == {
        "run": "test-1", "batch": 2, "reason": "the test was ended",
        "by": ["Ann Lee, official, D", "Bob Ray, official, R"],
    }  # fmt: skip
    device.write("batch_voided", {name: duty.fields[name] for name in ("reason", "by")})
    assert [duty.kind for duty in duties(day.facts(), device.id)] == ["close_run"]


def test_one_person_ends_a_test_and_a_batch_that_is_opened_after_that_is_no_persons_to_void() -> None:
    day = Day()
    device = given(day)
    device.open_run("test-1", "logic-accuracy", mode="test")
    do(day, ENDED, run="test-1", device=device.id)
    device.open_batch()
    assert [duty.kind for duty in duties(day.facts(), device.id)] == ["close_run"]


def test_a_deck_is_written_and_read_again() -> None:
    assert parse_deck(deck_text(DECK).encode()) == DECK
    totals = expected_totals(DECK)
    assert (totals.counted, totals.set_aside, totals.not_accepted, totals.read_before) == (3, 2, 1, 1)
    assert (dict(totals.votes), dict(totals.set_aside_reasons)) == (
        {"D": 1, "R": 1, "T": 1},
        {"marginal": 1, "undervote": 1},
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "it is not TOML"),
        ("title = 1", "Expected `str`"),
        (deck_text(DECK).replace("t-2", "t-1"), "sheet t-1 stands there 2 times"),
        (deck_text(DECK).replace('reasons = ["undervote"]', ""), "reasons exactly when it is not counted"),
        ("#" * 5_000_000, "more than 4000000 bytes"),
    ],
)
def test_a_file_that_is_no_deck_is_refused_in_a_sentence(text: str, why: str) -> None:
    with pytest.raises(DeckError, match=why):
        parse_deck(text.encode())


def test_a_file_of_other_letters_than_utf_8_is_no_deck() -> None:
    with pytest.raises(DeckError, match="it is not TOML"):
        parse_deck(b'title = "\xff"\n')


# What keeps a test from being finished


def open_batch_of(day: Day) -> Device:
    device = given(day)
    device.open_run("test-1", "logic-accuracy", mode="test")
    device.open_batch()
    return device


def test_a_test_is_not_finished_before_its_batch_is_closed() -> None:
    day = Day()
    device = open_batch_of(day)
    device.scan(RIGHT[0])
    (hindrance,) = compared(day, device).hindrances
    assert hindrance == "batch 1 is still open: feed the whole deck, then press End batch"
    assert not compared(day, device).passed


def test_a_test_without_a_batch_is_not_finished() -> None:
    day = Day()
    device = given(day)
    device.open_run("test-1", "logic-accuracy", mode="test")
    assert compared(day, device).hindrances == ("no batch was fed",)


def test_a_batch_whose_counts_do_not_fit_finishes_no_test() -> None:
    day = Day()
    device = open_batch_of(day)
    feed(day, device)
    device.close_batch(counted=99)
    found = compared(day, device)
    assert found.hindrances == ("batch 1: the feeder's own counts and the records differ (I9)",)
    assert (found.differences, found.passed) == ((), False)
    with pytest.raises(NotAllowed, match="records differ"):
        check_passed(found)


def test_what_the_records_say_that_cannot_be_finishes_no_test() -> None:
    day = Day()
    device = open_batch_of(day)
    device.write("sheet_landed", {"sheet": 1, "bin": COUNTED, "by": "hand", "feeder": device.feeder})
    device.close_batch()
    assert any("was never judged" in sentence for sentence in compared(day, device).hindrances)


def test_missing_records_finish_no_test() -> None:
    day = Day()
    device = fed(day)
    del device.records[3]
    assert "records of the device are missing: keep it connected" in compared(day, device).hindrances


def test_a_voided_batch_is_no_part_of_the_test() -> None:
    day = Day()
    device = open_batch_of(day)
    device.scan(Sheet(COUNTED, ("T",)))
    device.close_batch()
    device.write("batch_voided", {"reason": "again", "by": ["Ann Lee, official, D", "Bob Ray, official, R"]})
    device.open_batch()
    feed(day, device)
    device.close_batch()
    assert compared(day, device).passed


def test_a_sheet_that_the_feeder_gave_back_twice_and_one_in_doubt_are_no_sheets_of_the_deck() -> None:
    day = Day()
    device = open_batch_of(day)
    number = device.judge(RIGHT[0])
    device.doubt(number)
    (hindrance,) = compared(day, device).hindrances
    assert "still open" in hindrance
    device.close_batch()
    assert [d.actual for d in compared(day, device).differences] == ["not fed, or lost"] * len(SHEETS)


def test_two_sheets_less_and_others_wrong_are_told_one_by_one() -> None:
    day = Day()
    wrong = Sheet(COUNTED, ("D",))
    found = compared(day, fed(day, (RIGHT[0], RIGHT[1], wrong, *RIGHT[5:])))
    assert [(d.code, d.actual) for d in found.differences] == [
        ("t-3", "counted for D"),
        ("t-4", "not fed, or lost"),
        ("t-5", "not fed, or lost"),
    ]
    assert found.differences[0].judged_n


def test_two_sheets_too_many_are_told_with_their_numbers() -> None:
    day = Day()
    found = compared(day, fed(day, (*RIGHT, Sheet(COUNTED, ("T",)), Sheet(COUNTED, ("T",)))))
    assert [d.code for d in found.differences] == ["sheet number 9", "sheet number 10"]
    assert {(d.what, d.expected, d.actual) for d in found.differences} == {
        ("no sheet of the deck", "nothing", "counted for T")
    }


def test_an_outcome_is_said_in_words() -> None:
    assert outcome_in_words((COUNTED, ("D", "R"), ())) == "counted for D, R"
    assert outcome_in_words((COUNTED, (), ())) == "counted"
    assert outcome_in_words((SET_ASIDE, (), ("write_in",))) == "set aside (write-in)"


# What is refused


def refused(day: Day, why: str, kind: str, by: Sequence[Any] = (CLERK,), **body: Any) -> None:
    before = len(day.acts)
    with pytest.raises(NotAllowed, match=why):
        do(day, kind, by, **body)
    assert len(day.acts) == before


def test_a_device_that_is_not_enrolled_or_revoked_is_not_tested() -> None:
    day = Day()
    words = {"run": "t", "program": PROGRAM, "contest": "governor", "deck": deck_text(DECK).encode()}
    refused(day, "is not enrolled", ASSIGNED, device=day.device().id, **words)
    device = a_device(day)
    day.append("device_revoked", BOTH, {"device": device.id, "name": device.name, "reason": "lost"})
    refused(day, "is not enrolled", ASSIGNED, device=device.id, **words)


def test_a_program_that_is_not_in_the_ledger_is_not_tested() -> None:
    with pytest.raises(NotAllowed, match="is not in the ledger"):
        given(Day(program=False))


def test_a_device_has_one_test_at_a_time_and_a_test_is_assigned_once() -> None:
    day = Day()
    device = given(day)
    words = {"device": device.id, "program": PROGRAM, "contest": "governor"}
    words |= {"deck": deck_text(DECK).encode()}
    refused(day, "has the test test-1 still", ASSIGNED, run="test-2", **words)
    do(day, ENDED, run="test-1", device=device.id)
    refused(day, "test test-1 is assigned already", ASSIGNED, run="test-1", **words)
    do(day, ASSIGNED, run="test-2", **words)
    assert [act.body["run"] for act in assigned_tests(day.acts, device.id)] == ["test-1", "test-2"]


def test_a_disarmed_device_is_not_tested_again() -> None:
    day = Day()
    told = {"precinct": "101", "attempt": 1, "held": [], "failed": ["I4"], "disarmed": [day.device().id]}
    day.append("identities_told", (CLERK,), told)
    with pytest.raises(NotAllowed, match=r"is disarmed: .* \(I4\)"):
        given(day)


def test_only_the_open_test_of_a_device_is_ended() -> None:
    day = Day()
    device = given(day)
    refused(day, "has no open test test-9", ENDED, run="test-9", device=device.id)
    do(day, ENDED, run="test-1", device=device.id)
    refused(day, "has no open test test-1", ENDED, run="test-1", device=device.id)


def test_only_the_last_test_arms_and_only_when_it_is_ended() -> None:
    day = Day()
    device = fed(day)
    refused(day, "the test is ended first", ARMED, BOTH, **certificate(device))
    refused(day, "not the last test", ARMED, BOTH, **certificate(device, run="test-9"))
    do(day, ENDED, run="test-1", device=device.id)
    refused(day, "two persons of different sides", ARMED, (ANN, CLERK), **certificate(device))
    do(day, ARMED, (BOB, ANN), **certificate(device))
    assert day.acts[-1].kind == ARMED


def test_a_device_that_was_never_tested_is_not_armed() -> None:
    day = Day()
    device = a_device(day)
    refused(day, "not the last test", ARMED, BOTH, **certificate(device))


def test_a_zero_report_is_of_an_armed_device_without_an_open_live_run() -> None:
    day = Day()
    device = certified(day)
    body: dict[str, Any] = {"program": PROGRAM, "head_n": 1, "sha256": bytes(32)}
    refused(day, "not armed for this program", ZERO, device=device.id, **body)
    day = Day()
    device = armed(day)
    refused(day, "not armed for this program", ZERO, device=device.id, **{**body, "program": bytes(32)})
    device.open_run("r", "101", mode="live")
    refused(day, "a live run is open", ZERO, device=device.id, **body)
    device.close_run()
    do(day, ZERO, device=device.id, **body)
    assert day.acts[-1].kind == ZERO


def test_d2_under_an_order_that_nobody_signed_no_device_counts_live() -> None:
    day = Day()
    device = armed(day)
    zero(day, device)
    unsigned = dict(day.acts[0].body, signatures=[])
    day.acts[0] = replace(day.acts[0], body=unsigned)
    assert "nobody has signed the order" in why_not_live(day.facts(), device.id, PROGRAM)
    with pytest.raises(NotAllowed, match="nobody has signed the order"):
        day.assign(mode="live")
    day.append("order_set", (CLERK,), {**unsigned, "signatures": Day().acts[0].body["signatures"]})
    assert why_not_live(day.facts(), device.id, PROGRAM) == ""


@pytest.mark.parametrize(
    "signers",
    [("Ann Lee, official, D", "Max Roe, official, T"), ("Ann Lee, official, D", "ANN LEE, official, R")],
)
def test_who_signs_for_no_party_or_for_both_is_not_the_other_side(signers: Sequence[str]) -> None:
    day = Day(program=False)
    entries = [
        {"name": name, "public_key": f"{n:064x}", "signature": "00" * 64} for n, name in enumerate(signers)
    ]
    day.append("program_added", (CLERK,), {**program_body(PROGRAM), "signatures": entries})
    with pytest.raises(NotAllowed, match="one person of each side"):
        given(day)


# What the device is told


def test_the_order_to_arm_ends_where_something_else_was_run_or_changed() -> None:
    day = Day()
    device = certified(day)
    (duty,) = duties(day.facts(), device.id)
    assert duty.kind == "arm_device"
    assert duty.fields["certificate"] == CERTIFICATE
    assert duty.fields["by"] == ["Ann Lee, official, D", "Bob Ray, official, R"]
    device.open_run("r", "101")
    device.close_run()
    assert duties(day.facts(), device.id) == ()
    day = Day()
    device = certified(day)
    started = {"software": "2.0", "firmware": "1.0", "boot": 2, "note": ""}
    device.write("device_started", started, batch=0)
    assert duties(day.facts(), device.id) == ()


def test_a_device_that_fails_i4_is_told_to_disarm() -> None:
    day = Day()
    device = armed(day)
    told = {"precinct": "101", "attempt": 1, "held": [], "failed": ["I4"], "disarmed": [device.id]}
    day.append("identities_told", (CLERK,), told)
    (duty,) = duties(day.facts(), device.id)
    assert (duty.kind, list(duty.fields)) == ("disarm_device", ["why"])
    device.write("device_disarmed", {"why": "told"}, batch=0)
    assert duties(day.facts(), device.id) == ()


# Decks


def test_what_the_feeder_does_to_a_sheet_is_written_with_it() -> None:
    sheet = msgspec.structs.replace(SHEETS[0], fault={"kind": "jam", "mm": 120, "again": [True, 1.5]})
    deck = msgspec.structs.replace(DECK, sheets=(sheet,))
    assert parse_deck(deck_text(deck).encode()) == deck


@pytest.mark.parametrize("reason", ["wrong_style", "other_contest", "names_exchanged", "name_changed"])
def test_the_reasons_of_a_ballot_of_another_style_are_one_to_a_deck(reason: str) -> None:
    assert classes_of([reason, "wrong_style"]) == ("wrong_style",)


def test_only_counted_sheets_vote_and_totals_have_one_order() -> None:
    told = totals_of(
        [
            (COUNTED, ("R",), ()),
            (COUNTED, ("D",), ()),
            (SET_ASIDE, ("D",), ("write_in", "overvote")),
            (NOT_ACCEPTED, (), ("wrong_style", "torn")),
        ]
    )
    assert list(told.votes.items()) == [("D", 1), ("R", 1)]
    assert list(told.set_aside_reasons) == ["overvote", "write_in"]
    assert list(told.not_accepted_reasons) == ["torn", "wrong_style"]


def test_who_signed_a_program_is_told_where_it_is_not_enough() -> None:
    order = Day().order
    with pytest.raises(NotAllowed, match=r"signed by Ann Lee, official, D; Amy Fox, official, D: one person"):
        check_signed(("Ann Lee, official, D", "Amy Fox, official, D"), order)
    with pytest.raises(NotAllowed, match="is signed by nobody: one person"):
        check_signed((), order)
    check_signed(("Ann Lee, official, D", "Bob Ray, official, R"), order)


def test_a_deck_that_just_fits_is_read_and_what_is_no_text_is_refused() -> None:
    text = deck_text(DECK).encode()
    assert parse_deck(text + b"#" * (MAX_DECK_BYTES - len(text))) == DECK
    for nonsense in (b"\xff", b"title = " + b"[" * 100_000):
        with pytest.raises(DeckError, match="it is not TOML"):
            parse_deck(nonsense)


def test_a_name_in_other_letters_is_written_as_it_is() -> None:
    sheet = msgspec.structs.replace(SHEETS[0], what="für Özil")
    assert "für Özil" in deck_text(msgspec.structs.replace(DECK, sheets=(sheet,)))


def test_any_marginal_reason_is_marginal_to_a_deck() -> None:
    assert classes_of(["marginal_weak", "overvote", "marginal_mark"]) == ("marginal", "overvote")


def test_d2_software_that_was_changed_and_changed_back_was_not_tested_in_between() -> None:
    day = Day()
    device = armed(day)
    for number, software in enumerate(("2.0", "1.0"), 2):
        started = {"software": software, "firmware": "1.0", "boot": number, "note": ""}
        device.write("device_started", started, batch=0)
    assert (told(device).armed, told(device).why) == (None, "its software was changed")
    zero_report: dict[str, Any] = {
        "device": device.id,
        "program": PROGRAM,
        "head_n": len(device.records),
        "sha256": bytes(32),
    }
    with pytest.raises(NotAllowed):
        do(day, ZERO, **zero_report)
    assert "software was changed" in why_not_live(day.facts(), device.id, PROGRAM)


def test_a_device_that_was_never_armed_says_so_whatever_software_it_starts_with() -> None:
    day = Day()
    device = a_device(day)
    device.write("device_started", {"software": "2.0", "firmware": "1.0", "boot": 2, "note": ""}, batch=0)
    assert told(device).why == "it has not passed logic and accuracy"


def test_totals_of_a_deck_are_told_in_one_order() -> None:
    totals = totals_of(
        [
            (COUNTED, ("T",), ()),
            (COUNTED, ("D",), ()),
            (SET_ASIDE, (), ("write_in",)),
            (SET_ASIDE, (), ("overvote",)),
            (NOT_ACCEPTED, (), ("torn",)),
            (NOT_ACCEPTED, (), ("live_ballot",)),
        ]
    )
    assert list(totals.votes) == ["D", "T"]
    assert list(totals.set_aside_reasons) == ["overvote", "write_in"]
    assert list(totals.not_accepted_reasons) == ["live_ballot", "torn"]
