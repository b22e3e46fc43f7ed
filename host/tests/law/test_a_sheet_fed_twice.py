"""A deck proves that a device knows a sheet again: jammed ballots that were fed twice were counted twice."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from host.tests.law.test_d2_logic_accuracy import CERTIFICATE, DECK, certificate, compared, do, given
from host.tests.rehearsal import ANN, BOTH, CLERK, Day
from host.tests.sound_device import PROGRAM, Device, Sheet
from recount_host.act import Person
from recount_host.law.acts import KINDS
from recount_host.law.deck import DeckError, DeckSheet, deck_text, expected_totals, parse_deck, totals_of
from recount_host.law.duties import Duty, duties
from recount_host.law.errors import BadEntry, NotAllowed
from recount_host.law.live import ARMED, ASSIGNED, ENDED, SETTLED, assigned_tests
from recount_host.law.logic_accuracy import Question, admit_logic_accuracy, compare
from recount_protocol.fates import BINS, COUNTED, NOT_ACCEPTED, RETURNED, SET_ASIDE

SHEETS = (
    DeckSheet("t-1", "card-1", "D", COUNTED, ("D",)),
    DeckSheet("t-2", "card-1", "R, words beside it", COUNTED, ("R",)),
    DeckSheet("t-2-again", "card-1", "R, fed a second time", RETURNED, (), ("read_before",), again="t-2"),
    DeckSheet("t-3", "card-1", "blank", SET_ASIDE, (), ("undervote",)),
)
REST = (
    DeckSheet("t-4", "card-1", "T", COUNTED, ("T",)),
    DeckSheet("t-5", "card-1", "without TEST", NOT_ACCEPTED, (), ("live_ballot",)),
)
"""What a whole deck holds besides."""
TWICE = msgspec.structs.replace(DECK, sheets=SHEETS)
FOR_D, FOR_R, BLANK = Sheet(COUNTED, ("D",)), Sheet(COUNTED, ("R",)), Sheet(SET_ASIDE, (), ("undervote",))


def begun(day: Day, sheets: tuple[DeckSheet, ...] = SHEETS) -> Device:
    """Return a device that has read the first two sheets of the deck, as its sheets 1 and 2."""
    device = given(day, msgspec.structs.replace(TWICE, sheets=sheets))
    device.open_run("test-1", "logic-accuracy", mode="test")
    device.open_batch()
    for sheet in (FOR_D, FOR_R):
        device.scan(sheet)
    return device


def asks(device: Device, like: int = 2) -> int:
    """Let the device ask about the sheet that is fed now; return its number."""
    number = device.judge(FOR_R)
    device.doubt(number, like)
    return number


def answer(device: Device, number: int, **changed: Any) -> dict[str, Any]:
    return {"run": "test-1", "device": device.id, "batch": 1, "sheet": number, "fate": RETURNED, **changed}


def through(day: Day, like: int = 2, rest: tuple[DeckSheet, ...] = ()) -> Device:
    """Return a device that took the third for one it had read, was told so, and read the others."""
    device = begun(day, (*SHEETS, *rest))
    number = asks(device, like)
    do(day, SETTLED, BOTH, **answer(device, number))
    device.settle(number, RETURNED)
    for sheet in (BLANK, *(Sheet(one.fate, one.choices, one.reasons) for one in rest)):
        device.scan(sheet)
    device.close_batch()
    return device


def differing(day: Day, device: Device) -> list[tuple[str, str, str]]:
    return [(d.code, d.expected, d.actual) for d in compared(day, device).differences]


def test_d2_a_device_that_knows_a_sheet_again_passes_and_counts_it_once() -> None:
    day = Day()
    device = through(day, rest=REST)
    found = compared(day, device)
    assert found.passed
    assert found.expected == found.actual
    assert (found.actual.counted, found.actual.read_before, dict(found.actual.votes)) == (
        3, 1, {"D": 1, "R": 1, "T": 1},
    )  # fmt: skip
    do(day, ENDED, run="test-1", device=device.id)
    device.close_run()
    do(day, ARMED, BOTH, **certificate(device))
    assert day.acts[-1].body["sha256"] == CERTIFICATE


def test_d2_a_device_that_counts_a_sheet_again_does_not_pass_and_the_sheet_is_named() -> None:
    day = Day()
    device = begun(day)
    for sheet in (FOR_R, BLANK):
        device.scan(sheet)
    device.close_batch()
    assert differing(day, device) == [("t-2-again", "returned (read before)", "counted for R")]
    found = compared(day, device)
    assert (found.expected.read_before, found.actual.read_before, found.actual.votes["R"]) == (1, 0, 2)
    do(day, ENDED, run="test-1", device=device.id)
    with pytest.raises(NotAllowed, match="the first is t-2-again"):
        do(day, ARMED, BOTH, **certificate(device))


def test_a_device_that_takes_the_sheet_for_another_one_does_not_pass() -> None:
    day = Day()
    assert differing(day, through(day, like=1)) == [
        (
            "t-2-again",
            "returned (read before): it is sheet t-2",
            "returned (read before): taken for sheet t-1",
        )
    ]


def test_a_sheet_taken_for_one_that_is_none_of_the_deck_is_told_by_its_number() -> None:
    day = Day()
    ((_, _, actual),) = differing(day, through(day, like=77))
    assert actual == "returned (read before): taken for sheet 77"


def test_a_device_that_asks_about_a_sheet_that_is_fed_once_does_not_pass() -> None:
    day = Day()
    device = begun(day)
    for _ in range(2):
        number = asks(device)
        device.settle(number, RETURNED)
    device.scan(BLANK)
    device.close_batch()
    assert differing(day, device) == [("sheet number 4", "nothing", "returned (read before)")]


def test_a_sheet_that_came_back_for_another_reason_was_not_known_again() -> None:
    day = Day()
    device = begun(day)
    device.give_back(reasons=("jam",))
    device.scan(BLANK)
    device.close_batch()
    assert differing(day, device) == [("t-2-again", "returned (read before)", "not fed, or lost")]


def test_a_sheet_that_was_called_another_one_after_all_was_not_known_again() -> None:
    day = Day()
    device = begun(day)
    number = asks(device)
    device.settle(number, COUNTED)
    device.tell(FOR_R)
    device.scan(BLANK)
    device.close_batch()
    assert differing(day, device) == [("t-2-again", "returned (read before)", "counted for R")]


def test_reasons_for_which_the_sheet_came_back_before_it_was_known_again_are_not_those_of_the_next() -> None:
    stuck = msgspec.structs.replace(SHEETS[3], comes_back="double_feed")
    day = Day()
    device = begun(day, (*SHEETS[:3], stuck))
    device.give_back(reasons=("double_feed",))
    number = asks(device)
    do(day, SETTLED, BOTH, **answer(device, number))
    device.settle(number, RETURNED)
    device.scan(BLANK)
    device.close_batch()
    ((code, _, actual),) = differing(day, device)
    assert (code, actual) == ("t-3", "did not come back for it; set aside (undervote)")


def test_a_device_that_takes_a_sheet_of_its_own_for_another_does_not_pass_wherever_that_other_lies() -> None:
    for like in (2, 77):
        day = Day()
        device = through(day)
        told = day.facts().devices[device.id]
        (batch,) = told.batches
        sheets = tuple(replace(sheet, like=like) if sheet.sheet == 1 else sheet for sheet in batch.sheets)
        heard = replace(told, batches=(replace(batch, sheets=sheets),))
        facts = replace(day.facts(), devices={device.id: heard})
        (found,) = compare(facts, assigned_tests(day.acts, device.id)[-1]).differences
        assert found.code == "t-1"
        assert found.actual == f"counted for D: taken for sheet {'t-2' if like == 2 else 77}"
        assert found.expected == "counted for D"


# The question, and its answer


def test_a_test_waits_for_what_both_sides_say_of_the_sheet_and_the_device_is_told_it_once() -> None:
    day = Day()
    device = begun(day)
    assert compared(day, device).question is None
    number = asks(device)
    found = compared(day, device)
    assert found.question == Question(batch=1, sheet=number, like=2)
    (hindrance,) = found.hindrances
    assert hindrance == (
        "batch 1 is still open: the device asks both sides whether sheet 3 is sheet 2 once more; where it "
        "is, answer so (logic-accuracy settle)"
    )
    assert duties(day.facts(), device.id) == ()
    do(day, SETTLED, BOTH, **answer(device, number))
    words = {"run": "test-1", "batch": 1, "sheet": number, "fate": RETURNED}
    by = ["Ann Lee, official, D", "Bob Ray, official, R"]
    assert duties(day.facts(), device.id) == (Duty("settle_doubt", {**words, "by": by}),)
    found = compared(day, device)
    assert found.question is None
    assert found.hindrances == ("batch 1 is still open: the device is told that sheet 3 is sheet 2: wait",)
    device.settle(number, RETURNED)
    assert duties(day.facts(), device.id) == ()
    found = compared(day, device)
    assert found.hindrances == ("batch 1 is still open: feed the whole deck, then press End batch",)


def test_only_returned_is_an_answer_in_a_test() -> None:
    assert KINDS[SETTLED].fields["fate"].choices == (RETURNED,)
    day = Day()
    device = begun(day)
    number = asks(device)
    for tray in BINS:
        with pytest.raises(BadEntry, match="fate"):
            do(day, SETTLED, BOTH, **answer(device, number, fate=tray))


def refused(day: Day, body: dict[str, Any], why: str, by: Sequence[Person] = BOTH) -> None:
    with pytest.raises(NotAllowed, match=why):
        admit_logic_accuracy(day.facts(), SETTLED, by, body)


ASKS_NOT = "asks nothing about sheet"


def test_both_sides_answer_together() -> None:
    day = Day()
    device = begun(day)
    number = asks(device)
    refused(day, answer(device, number), "two persons of different sides", (ANN,))
    refused(day, answer(device, number), "two persons of different sides", (ANN, CLERK))


@pytest.mark.parametrize("changed", [{"sheet": 2}, {"batch": 2}, {"run": "test-9"}])
def test_what_the_device_does_not_ask_is_not_answered(changed: dict[str, Any]) -> None:
    day = Day()
    device = begun(day)
    refused(day, answer(device, 3), f"alpha {ASKS_NOT} 3 in this test")
    number = asks(device)
    refused(day, answer(device, number, **changed), ASKS_NOT)


def test_a_sheet_that_nobody_saw_land_is_not_explained_away() -> None:
    day = Day()
    device = begun(day)
    number = device.judge(FOR_R)
    device.doubt(number)
    found = compared(day, device)
    assert found.question is None
    (hindrance,) = found.hindrances
    assert hindrance == (
        "batch 1 is still open: where sheet 3 lies is unknown (power cut): such a device does not pass, end "
        "the test"
    )
    refused(day, answer(device, number), ASKS_NOT)


@pytest.mark.parametrize(
    ("like", "settled_as"), [(2, RETURNED), (2, COUNTED), (77, COUNTED), (0, COUNTED), (0, RETURNED)]
)
def test_a_device_that_does_not_wait_for_what_both_sides_say_of_a_sheet_does_not_pass(
    like: int, settled_as: str
) -> None:
    day = Day()
    device = through(day)
    device.open_batch()
    number = device.judge(FOR_D)
    device.doubt(number, like)
    device.settle(number, settled_as)
    if settled_as == COUNTED:
        device.tell(FOR_D)
    device.close_batch()
    hindrance, *_ = compared(day, device).hindrances
    assert hindrance == (
        f"batch 2: sheet {number} was in doubt, and the device went on otherwise than both sides said: such "
        "a device does not pass, end the test"
    )


def test_a_device_that_counts_the_sheet_of_which_both_sides_said_that_it_was_read_before_does_not_pass() -> (
    None
):
    day = Day()
    device = begun(day)
    number = asks(device)
    do(day, SETTLED, BOTH, **answer(device, number))
    device.settle(number, COUNTED)
    device.tell(FOR_R)
    device.close_batch()
    (hindrance,) = compared(day, device).hindrances
    assert f"sheet {number} was in doubt, and the device went on otherwise" in hindrance


def test_a_question_is_answered_once() -> None:
    day = Day()
    device = begun(day)
    number = asks(device)
    do(day, SETTLED, BOTH, **answer(device, number))
    refused(day, answer(device, number), "or is told already")
    device.settle(number, RETURNED)
    second = asks(device)
    do(day, SETTLED, BOTH, **answer(device, second))


def test_what_was_asked_in_a_batch_that_is_void_or_closed_is_asked_no_more() -> None:
    for end in ("batch_voided", "batch_closed"):
        day = Day()
        device = begun(day)
        number = asks(device)
        if end == "batch_voided":
            device.write(end, {"reason": "again", "by": ["Ann Lee, official, D", "Bob Ray, official, R"]})
        else:
            device.close_batch()
        assert compared(day, device).question is None
        refused(day, answer(device, number), ASKS_NOT)


def test_a_question_of_an_earlier_batch_does_not_hide_that_of_the_open_one() -> None:
    day = Day()
    device = begun(day)
    asks(device)
    device.write("batch_voided", {"reason": "again", "by": ["Ann Lee, official, D", "Bob Ray, official, R"]})
    device.open_batch()
    device.scan(FOR_R)
    number = asks(device, like=4)
    found = compared(day, device).question
    assert found is not None
    assert (found.batch, found.sheet, found.like) == (2, number, 4)


def test_what_a_test_before_asked_is_not_asked_in_this_one() -> None:
    day = Day()
    device = begun(day)
    asks(device)
    do(day, ENDED, BOTH, run="test-1", device=device.id)
    words = {"device": device.id, "program": PROGRAM, "contest": "governor"}
    do(day, ASSIGNED, run="test-2", deck=deck_text(TWICE).encode(), **words)
    assert compared(day, device).question is None


def test_what_another_device_was_told_is_no_answer_for_this_one() -> None:
    day = Day()
    device = begun(day)
    number = asks(device)
    elsewhere = {**answer(device, number), "run": "test-0", "device": day.device("beta").id}
    day.append(SETTLED, BOTH, elsewhere)
    assert compared(day, device).question == Question(1, number, 2)


def test_a_question_is_not_answered_when_the_test_is_over_or_nothing_is_known_of_the_device() -> None:
    day = Day()
    device = begun(day)
    number = asks(device)
    with pytest.raises(NotAllowed, match=ASKS_NOT):
        admit_logic_accuracy(replace(day.facts(), devices={}), SETTLED, BOTH, answer(device, number))
    do(day, ENDED, BOTH, run="test-1", device=device.id)
    refused(day, answer(device, number), ASKS_NOT)


# The deck


def test_a_deck_with_a_sheet_fed_twice_is_written_and_read_again() -> None:
    assert parse_deck(deck_text(TWICE).encode()) == TWICE
    totals = expected_totals(TWICE)
    assert (totals.counted, totals.set_aside, totals.not_accepted, totals.read_before) == (2, 1, 0, 1)
    assert [sheet.code for sheet in TWICE.papers] == ["t-1", "t-2", "t-3"]


@pytest.mark.parametrize(
    ("line", "changed", "why"),
    [
        (2, {"again": ""}, "returned exactly when it is fed a second time"),
        (1, {"again": "t-1"}, "returned exactly when it is fed a second time"),
        (2, {"again": "t-3"}, "no sheet t-3 goes before it"),
        (2, {"again": "t-2-again"}, "no sheet t-2-again goes before it"),
        (2, {"reasons": ()}, "reasons exactly when it is not counted"),
    ],
)
def test_a_deck_that_feeds_twice_what_was_not_fed_is_none(
    line: int, changed: dict[str, Any], why: str
) -> None:
    sheets = list(SHEETS)
    sheets[line] = msgspec.structs.replace(sheets[line], **changed)
    text = deck_text(msgspec.structs.replace(TWICE, sheets=tuple(sheets)))
    with pytest.raises(DeckError, match=why):
        parse_deck(text.encode())


FATES = st.sampled_from((*BINS, RETURNED))


@for_all(st.lists(FATES, max_size=30))
def test_every_sheet_is_in_exactly_one_total(fates: list[str]) -> None:
    totals = totals_of([(fate, ("D",) if fate == COUNTED else (), ()) for fate in fates])
    assert totals.counted + totals.set_aside + totals.not_accepted + totals.read_before == len(fates)
    assert sum(totals.votes.values()) == totals.counted


@for_all(st.permutations(range(1, 7)), st.integers(1, 6), st.integers(1, 6))
def test_only_the_very_sheet_that_the_deck_feeds_twice_passes(
    order: list[int], twice: int, taken_for: int
) -> None:
    """Whatever the order of the sheets: the device passes exactly when it names the right one of them."""
    keys = ("D", "R", "T")
    sheets = [DeckSheet(f"s-{n}", "card-1", "x", COUNTED, (keys[n % 3],)) for n in order]
    again = DeckSheet("again", "card-1", "x", RETURNED, (), ("read_before",), again=f"s-{order[twice - 1]}")
    day = Day()
    device = given(day, msgspec.structs.replace(DECK, sheets=(*sheets, again)))
    device.open_run("test-1", "logic-accuracy", mode="test")
    device.open_batch()
    for n in order:
        device.scan(Sheet(COUNTED, (keys[n % 3],)))
    number = device.judge(Sheet(COUNTED, (keys[order[twice - 1] % 3],)))
    device.doubt(number, taken_for)
    device.settle(number, RETURNED)
    device.close_batch()
    found = compared(day, device)
    assert found.expected == found.actual
    assert [d.code for d in found.differences] == ([] if twice == taken_for else ["again"])
