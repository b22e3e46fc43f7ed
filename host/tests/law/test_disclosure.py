"""What may be shown when: states at any time, a figure only after `figures_shown`."""

import json
from collections.abc import Callable, Iterator

import pytest

from host.tests.rehearsal import (
    ANN,
    BOB,
    BOTH,
    CLERK,
    Day,
    a_counted_day,
    a_day_told_twice,
    a_hand_count_day,
    a_reconciled_day,
    a_scanned_day,
)
from host.tests.sound_device import PROGRAM, TWELVE_SHEETS, Sheet
from recount_host.law.disclosure import LogLine, asked_now, log, notices, view
from recount_host.law.errors import NotAllowed
from recount_host.law.precinct import PrecinctState, fold_all

OTHER_TWELVE = (
    *(Sheet("counted", ("R",)) for _ in range(6)),
    *(Sheet("set_aside", (), ("write_in",)) for _ in range(4)),
    *(Sheet("not_accepted", (), ("torn",)) for _ in range(2)),
)
"""As many sheets with other figures."""


def shown(state: PrecinctState) -> str:
    return json.dumps(view(state).to_json(), sort_keys=True)


def steps_of(sheets: tuple[Sheet, ...], c: int, s: int, x: int) -> Iterator[PrecinctState]:
    """A day's states up to the telling of the identities."""
    day = Day()
    yield day.state()
    device = day.assign()
    yield day.state()
    device.open_batch()
    for sheet in sheets:
        device.scan(sheet)
        yield day.state()
    device.close_batch()
    yield day.state()
    day.finish()
    yield day.state()
    for letter, value in {"H": 12, "c": c, "s": s, "x": x}.items():
        day.lock(**{letter: value})
        yield day.state()
    day.reconcile()
    yield day.state()


def test_before_the_figures_are_shown_two_precincts_with_other_figures_look_the_same() -> None:
    pairs = zip(steps_of(TWELVE_SHEETS, 9, 2, 1), steps_of(OTHER_TWELVE, 6, 4, 2), strict=True)
    assert all(shown(one) == shown(other) for one, other in pairs)


def test_before_the_figures_are_shown_there_is_no_figure_in_the_view() -> None:
    for state in steps_of(TWELVE_SHEETS, 9, 2, 1):
        seen = view(state)
        assert seen.figures is None
        assert seen.outcomes is None
        assert all(count.values is None for count in seen.counts)
        assert all(identity.figures is None for identity in seen.identities)
        assert not seen.notices_open


def test_the_bare_number_of_sheets_fed_may_be_shown_once_h_is_locked() -> None:
    day = a_scanned_day()
    assert day.view().sheets_fed is None
    day.enter("H", 12, ANN)
    assert day.view().sheets_fed is None
    day.lock(c=9)
    day = a_scanned_day()
    day.lock(H=12)
    assert day.view().sheets_fed == 12


def test_while_h_is_verified_again_the_number_of_sheets_fed_is_hidden_again() -> None:
    day = a_scanned_day()
    day.lock(H=13, c=9, s=2, x=1)
    day.reconcile()
    assert day.view().sheets_fed is None


def test_the_verdict_is_told_without_figures() -> None:
    day = a_scanned_day()
    day.lock(H=13, c=9, s=2, x=1)
    day.reconcile()
    told = {identity.name: identity.holds for identity in day.view().identities}
    assert told == {"I1": True, "I2": False, "I3": True, "I4": True}
    assert "once more" in day.view().next


@pytest.mark.parametrize("make", [a_reconciled_day, a_hand_count_day, a_counted_day])
def test_after_the_act_figures_shown_everything_is_open(make: Callable[[], Day]) -> None:
    seen = make().view()
    assert seen.figures is not None
    assert (seen.figures.counted, seen.figures.set_aside, seen.figures.not_accepted) == (9, 2, 1)
    assert seen.notices_open
    assert all(identity.figures for identity in seen.identities)
    assert seen.figures.superseded is (make is a_hand_count_day)


def test_the_values_of_both_attempts_are_shown_after_the_figures() -> None:
    (count, *_) = a_hand_count_day().view().counts
    assert count.values == ((1, 13, "Ann Lee"), (1, 13, "Bob Ray"), (2, 13, "Ann Lee"), (2, 13, "Bob Ray"))


def test_the_notices_are_closed_until_i3_alone_fails_after_the_reverification() -> None:
    day = a_scanned_day()
    with pytest.raises(NotAllowed, match="the notices are closed"):
        notices(day.state())
    day.lock(H=12, c=10, s=1, x=1)
    day.reconcile()
    with pytest.raises(NotAllowed, match="the notices are closed"):
        notices(day.state())
    day.lock(H=12, c=10, s=1, x=1)
    day.reconcile()
    assert [(notice.pile, notice.reasons, notice.place) for notice in notices(day.state())] == [
        ("set_aside", ("overvote",), 1),
        ("set_aside", ("undervote",), 2),
        ("not_accepted", ("wrong_style",), 1),
    ]
    assert day.view().figures is None


def test_the_notices_stay_closed_when_i2_fails() -> None:
    day = a_day_told_twice(H=13, c=9, s=2, x=1)
    with pytest.raises(NotAllowed, match="the notices are closed"):
        notices(day.state())
    day.show_figures()
    assert len(notices(day.state())) == 3


def test_d2_a_notice_says_why_a_sheet_was_put_aside_and_never_for_whom_it_counts() -> None:
    where = {"device", "device_name", "run", "batch", "sheet", "record_n", "pile", "place"}
    told = [notice.to_json() for notice in notices(a_reconciled_day().state())]
    assert [set(notice) for notice in told] == [{*where, "reasons"}] * 3
    assert [notice["reasons"] for notice in told] == [("overvote",), ("undervote",), ("wrong_style",)]


def test_a_notice_names_the_record_that_holds_its_picture() -> None:
    day = a_reconciled_day()
    notice = notices(day.state())[0]
    record = day.device().records[notice.record_n - 1]
    assert (record.kind, record.body["sheet"]) == ("sheet_judged", notice.sheet)
    assert notice.to_json()["device_name"] == "alpha"


def test_of_a_sheet_in_doubt_neither_place_nor_verdict_is_shown() -> None:
    day = Day()
    device = day.assign()
    device.open_batch()
    number = device.judge(Sheet("set_aside", (), ("overvote",)))
    device.doubt(number)
    (doubt,) = asked_now(day.state())
    assert doubt.to_json() == {
        "device": device.id,
        "device_name": "alpha",
        "run": "101-1",
        "batch": 1,
        "sheet": number,
        "record_n": 3,
        "why": "power cut",
        "like": 0,
        "like_record_n": 0,
    }
    where = {"run": "101-1", "device": device.id, "batch": 1}
    day.act("batch_void_ordered", BOTH, **where, reason="run again")  # type: ignore[arg-type]
    assert asked_now(day.state()) == ()


def test_a_sheet_that_looks_like_another_is_shown_beside_it() -> None:
    day = Day()
    device = day.assign()
    device.open_batch()
    first = device.scan(Sheet("set_aside", (), ("overvote",)))
    again = device.judge(Sheet("set_aside", (), ("overvote",)))
    device.doubt(again, like=first)
    (doubt,) = asked_now(day.state())
    assert (doubt.sheet, doubt.like) == (again, first)
    assert 0 < doubt.like_record_n < doubt.record_n


def test_every_batch_says_how_it_stands() -> None:
    day = Day()
    device = day.assign()
    for _ in range(4):
        device.open_batch()
        device.scan(Sheet("counted", ("D",)))
        device.close_batch()
    device.open_batch()
    device.scan(Sheet("counted", ("D",)))
    device.close_batch(counted=7)
    device.open_batch()
    where = {"run": "101-1", "device": device.id, "batch": 1}
    day.act("batch_void_ordered", BOTH, **where, reason="run again")  # type: ignore[arg-type]
    standing = [batch.standing for batch in day.view().batches]
    assert standing == ["void", "closed", "closed", "closed", "cannot_stand", "open"]


def test_a_batch_that_came_too_late_says_so() -> None:
    day = a_scanned_day()
    day.device().open_batch()
    assert [batch.standing for batch in day.view().batches] == ["closed", "late"]
    assert "was not closed when scanning was finished" in day.view().obstacles[0]


def test_without_a_sheet_not_accepted_o_needs_no_count() -> None:
    day = a_scanned_day((Sheet("counted", ("D",)),))
    day.reconcile_with(H=1, c=1, s=0, x=0)
    standing = {count.letter: count.standing for count in day.view().counts}
    assert standing["o"] == "none: no sheet was not accepted"


def test_how_the_hand_count_stands_is_told_in_words() -> None:
    day = a_reconciled_day()
    assert day.view().hand_count == "p, o to be counted first"
    assert day.view().piles == ()
    day.lock(p=0, o=0)
    assert [(pile.pile, pile.ballots, pile.standing) for pile in day.view().piles] == [
        ("set_aside", 2, "to be counted, twice through"),
        ("not_accepted", 1, "to be counted, twice through"),
        ("not_programmable", 0, "none"),
        ("paper", 0, "none"),
    ]
    day.count_pile("set_aside", {"D": 2}, passes=1)
    assert "set_aside: one pass entered" in day.view().hand_count
    day.count_pile("set_aside", {"D": 1}, passes=1)
    assert "set_aside: the last two passes differ: count again" in day.view().hand_count
    day.count_pile("set_aside", {"D": 1}, passes=1)
    assert "two passes agree, but not with the ballots of the pile" in day.view().hand_count
    day.enter("p", 0, ANN)
    assert day.view().hand_count == "p to be counted first"
    assert day.view().outcomes is None
    day = a_counted_day()
    assert day.view().hand_count == "agreed"
    assert day.view().outcomes == {"D": 1, "R": 1, "no_vote": 1}


def test_what_to_do_next_follows_the_verdict() -> None:
    day = a_scanned_day()
    day.lock(H=12, c=9, s=2, x=1)
    assert "reconcile" in day.view().next
    day.reconcile()
    assert day.view().next.startswith("all hold: show the figures")


def test_a_precinct_shows_which_devices_scan_it_and_in_which_mode() -> None:
    day = Day()
    day.assign("beta")
    day.assign("alpha")
    assert (day.view().devices, day.view().mode) == (("alpha", "beta"), "training")
    assert CLERK.side == ""


def test_p_and_o_are_counted_as_blind_as_all_others_although_the_figures_are_shown() -> None:
    day = a_reconciled_day()
    day.enter("o", 1, ANN)
    assert {count.letter: count.values for count in day.view().counts}["o"] is None
    day.enter("o", 0, BOB)
    assert {count.letter: count.values for count in day.view().counts}["o"] is None
    day.lock(o=1)
    assert {count.letter: count.values for count in day.view().counts}["o"] == (
        (1, 1, "Ann Lee"),
        (1, 0, "Bob Ray"),
        (1, 1, "Ann Lee"),
        (1, 1, "Bob Ray"),
    )


def lines_of(day: Day) -> dict[str, LogLine]:
    return {line.kind: line for line in log(day.acts, fold_all(day.facts()))}


def test_the_log_tells_every_act_with_its_meaning_and_who_did_it() -> None:
    day = a_counted_day()
    lines = log(day.acts, fold_all(day.facts()))
    assert [line.n for line in lines] == list(range(1, len(day.acts) + 1))
    told = lines_of(day)["count_entered"]
    assert told.by == ("Bob Ray, official, R",)
    assert told.precinct == "101"
    assert told.says.startswith("One person, alone")


def test_the_log_shows_no_figure_that_somebody_still_has_to_find_blind() -> None:
    day = a_reconciled_day()
    assert lines_of(day)["count_entered"].hidden == ("value",)
    assert "value" not in lines_of(day)["count_entered"].fields
    assert lines_of(day)["figures_shown"].fields["counted"] == 9
    day.lock(p=0, o=0)
    day.hand_count({"D": 3}, passes=1)
    assert lines_of(day)["hand_count_entered"].hidden == ("outcomes",)
    day.hand_count({"D": 3}, passes=1)
    assert lines_of(day)["hand_count_entered"].fields["outcomes"] == {"D": 1}
    assert lines_of(day)["count_entered"].fields["value"] == 0


def test_before_the_figures_are_shown_the_log_of_two_precincts_with_other_figures_is_the_same() -> None:
    logs: list[str] = []
    for sheets, counts in (
        (TWELVE_SHEETS, {"c": 9, "s": 2, "x": 1}),
        (OTHER_TWELVE, {"c": 6, "s": 4, "x": 2}),
    ):
        day = a_scanned_day(sheets)
        day.lock(H=12, **counts)
        day.reconcile()
        lines = [line.to_json() for line in log(day.acts, fold_all(day.facts()))]
        for line in lines:
            line["fields"].pop("head_sha256", None)
        logs.append(json.dumps(lines, sort_keys=True))
    assert logs[0] == logs[1]


def test_the_log_does_not_tell_the_number_of_records_from_which_the_stack_could_be_reckoned() -> None:
    day = a_scanned_day()
    assert lines_of(day)["scanning_finished"].hidden == ("heads",)
    assert "heads" not in lines_of(day)["scanning_finished"].fields
    assert lines_of(a_counted_day())["scanning_finished"].fields["heads"]


def zero_reports(day: Day) -> list[LogLine]:
    return [line for line in log(day.acts, fold_all(day.facts())) if line.kind == "zero_report_printed"]


def print_zero(day: Day) -> None:
    device = day.device()
    body = {"device": device.id, "program": PROGRAM, "head_n": len(device.records) + 1, "sha256": bytes(32)}
    day.append("zero_report_printed", (CLERK,), body)


def test_a_zero_report_does_not_tell_in_the_log_how_many_sheets_a_device_took_that_are_counted_blind() -> (
    None
):
    day = Day()
    print_zero(day)
    (before,) = zero_reports(day)
    assert before.fields["head_n"] == 1  # it was given no precinct yet
    day.scan(TWELVE_SHEETS)
    print_zero(day)
    day.finish()
    for line in zero_reports(day):
        assert line.hidden == ("head_n",)
        assert "head_n" not in line.to_json()["fields"]
        assert line.fields["device"] == day.device().id


def test_a_zero_report_tells_its_number_once_all_its_devices_precincts_are_counted() -> None:
    day = a_reconciled_day()
    print_zero(day)
    (line,) = zero_reports(day)
    assert line.hidden == ("head_n",)
    day.lock(p=0, o=0)
    day.hand_count({"D": 3})
    (line,) = zero_reports(day)
    assert line.fields["head_n"] == len(day.device().records) + 1


def test_hashes_stand_in_the_log_as_digits() -> None:
    line = lines_of(Day())["program_added"]
    assert line.fields["program"] == PROGRAM.hex()
    assert line.precinct == ""
