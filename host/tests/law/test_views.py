"""D 2 s. 3: what a precinct's view holds, number by number, before and after the figures are shown."""

from typing import Any

import pytest

from host.tests.law.test_b_custody import open_, receive
from host.tests.law.test_d3_challenges import challenge, segregate
from host.tests.rehearsal import (
    ANN,
    BOB,
    BOTH,
    Day,
    a_counted_day,
    a_hand_count_day,
    a_reconciled_day,
    a_scanned_day,
)
from host.tests.sound_device import TWELVE_SHEETS, Sheet
from recount_host.law.disclosure import CountView, FiguresView, log
from recount_host.law.identities import MEANINGS

FOR_D = Sheet("counted", ("D",))


def counts(day: Day) -> dict[str, tuple[int, str, object]]:
    return {count.letter: (count.attempt, count.standing, count.values) for count in day.view().counts}


def both(attempt: int, value: int) -> tuple[tuple[int, int, str], ...]:
    return ((attempt, value, "Ann Lee"), (attempt, value, "Bob Ray"))


def test_before_the_figures_are_shown_every_count_tells_how_far_it_is_and_no_number() -> None:
    day = a_scanned_day()
    day.lock(H=12)
    day.enter("c", 9, ANN)
    day.enter("s", 2, ANN)
    day.enter("s", 3, BOB)
    day.lock(p=1)
    assert counts(day) == {
        "H": (1, "locked", None),
        "c": (1, "one person has counted", None),
        "s": (1, "the two counts differ: both count again", None),
        "x": (1, "not counted", None),
        "p": (1, "locked", None),
        "o": (1, "not counted", None),
        "d": (1, "none known of", None),
    }


def test_after_the_figures_are_shown_each_count_tells_its_numbers_but_for_one_that_is_still_blind() -> None:
    day = a_reconciled_day()
    assert counts(day) == {
        "H": (1, "locked", both(1, 12)),
        "c": (1, "locked", both(1, 9)),
        "s": (1, "locked", both(1, 2)),
        "x": (1, "locked", both(1, 1)),
        "p": (1, "not counted", ()),
        "o": (1, "not counted", ()),
        "d": (1, "none known of", ()),
    }
    day.enter("p", 1, ANN)
    day.lock(o=1)
    assert counts(day)["p"] == (1, "one person has counted", None)
    assert counts(day)["o"] == (1, "locked", both(1, 1))
    day.enter("p", 1, BOB)
    assert counts(day)["p"] == (1, "locked", both(1, 1))
    day.enter("p", 0, ANN)
    assert counts(day)["p"] == (2, "one person has counted", None)
    day.enter("p", 0, BOB)
    assert counts(day)["p"] == (2, "locked", (*both(1, 1), *both(2, 0)))


def test_numbers_that_were_verified_again_are_told_with_both_attempts() -> None:
    day = a_hand_count_day()
    assert counts(day)["H"] == (2, "locked", (*both(1, 13), *both(2, 13)))


def test_where_no_sheet_was_not_accepted_o_is_none_once_that_may_be_known() -> None:
    day = a_scanned_day([FOR_D])
    day.lock(H=1, c=1, s=0, x=0)
    assert counts(day)["o"] == (1, "not counted", None)
    day.reconcile()
    day.show_figures()
    assert counts(day)["o"] == (1, "none: no sheet was not accepted", ())
    day.lock(o=0)
    assert counts(day)["o"] == (1, "locked", both(1, 0))


def test_paper_that_is_known_of_is_a_number_to_be_counted() -> None:
    day = Day()
    receive(day, "paper-1", "paper")
    assert counts(day)["d"] == (1, "not counted", None)
    open_(day, "paper-1")
    day.lock(d=0)
    assert counts(day)["d"] == (1, "locked", None)


def test_a_count_says_what_it_is_of() -> None:
    views = {count.letter: count for count in Day().view().counts}
    assert list(views) == ["H", "c", "s", "x", "p", "o", "d"]
    assert views["c"] == CountView("c", "the counted pile", 1, "not counted", None)


# Figures and identities


def test_the_figures_are_those_of_scanners_and_of_people_each_in_its_place() -> None:
    assert a_scanned_day().view().figures is None
    votes, set_aside, not_accepted = (
        {"D": 5, "R": 3, "T": 1},
        {"overvote": 1, "undervote": 1},
        {"wrong_style": 1},
    )
    assert a_reconciled_day().view().figures == FiguresView(
        12, 11, 9, 2, 1, 9, 2, 1, votes, set_aside, not_accepted, superseded=False
    )
    assert a_hand_count_day().view().figures == FiguresView(
        13, 12, 9, 2, 1, 9, 2, 1, votes, set_aside, not_accepted, superseded=True
    )


def test_an_empty_pile_is_a_figure_too() -> None:
    day = a_scanned_day([FOR_D])
    day.reconcile_with(H=1, c=1, s=0, x=0)
    assert day.view().figures == FiguresView(1, 1, 1, 0, 0, 1, 0, 0, {"D": 1}, {}, {}, superseded=False)


def identities(day: Day) -> list[tuple[str, bool, bool]]:
    return [(one.name, one.holds, one.figures is not None) for one in day.view().identities]


def test_identities_are_told_as_they_were_told_last_and_with_figures_once_those_are_shown() -> None:
    day = a_scanned_day()
    day.lock(H=13, c=9, s=2, x=1)
    assert identities(day) == []
    day.reconcile()
    told = [("I1", True, False), ("I2", False, False), ("I3", True, False), ("I4", True, False)]
    assert identities(day) == told
    day.lock(H=12, c=9, s=2, x=1)
    assert identities(day) == told, "of the second counting nothing was told yet"
    day.reconcile()
    assert identities(day) == [(name, True, False) for name in ("I1", "I2", "I3", "I4")]
    day.show_figures()
    assert identities(day) == [(name, True, True) for name in ("I1", "I2", "I3", "I4")]
    assert [one.meaning for one in day.view().identities] == [MEANINGS[f"I{n}"] for n in (1, 2, 3, 4)]


def test_the_identity_of_the_hand_count_is_told_when_two_passes_of_each_pile_agree() -> None:
    view = a_counted_day().view()
    assert [(one.name, one.holds) for one in view.identities][-1] == ("I5", True)
    figures = view.identities[-1].figures
    assert figures is not None
    assert figures[0] == "outcomes = 3, s + (x - o) + p = 3"


# Batches, containers, questioned ballots


def test_batches_are_open_closed_void_late_or_cannot_stand() -> None:
    day = Day()
    device = day.assign()
    device.open_batch()
    device.close_batch()
    device.open_batch()
    device.close_batch(counted=5)
    device.open_batch()
    device.land(77, "counted")
    device.open_batch()
    device.open_batch()
    device.close_batch()
    day.act("batch_void_ordered", BOTH, run="101-1", device=device.id, batch=5, reason="a slip")
    assert [(one.batch, one.standing) for one in day.view().batches] == [
        (1, "closed"),
        (2, "cannot_stand"),
        (3, "cannot_stand"),
        (4, "open"),
        (5, "void"),
    ]


def test_a_batch_with_a_sheet_on_its_way_is_open_and_nothing_is_wrong_with_it() -> None:
    day = Day()
    device = day.assign()
    device.open_batch()
    device.judge(FOR_D)
    assert [one.standing for one in day.view().batches] == ["open"]


def test_while_the_numbers_are_verified_again_none_of_the_second_attempt_is_counted_yet() -> None:
    day = a_scanned_day()
    day.lock(H=12, c=10, s=1, x=1)
    day.reconcile()
    assert counts(day)["H"] == (2, "not counted", None)


def test_where_no_sheet_was_not_accepted_p_is_to_be_counted_all_the_same() -> None:
    day = a_scanned_day([FOR_D])
    day.reconcile_with(H=1, c=1, s=0, x=0)
    assert counts(day)["p"][1] == "not counted"


def test_what_people_found_is_told_once_the_passes_agree_and_add_up() -> None:
    day = a_reconciled_day()
    day.lock(p=0, o=0)
    day.count_pile("set_aside", {"D": 1})
    day.count_pile("not_accepted", {"R": 1})
    assert (day.view().outcomes, day.view().notes) == (None, ())
    day.count_pile("set_aside", {"D": 1, "no_vote": 1})
    assert day.view().outcomes == {"D": 1, "no_vote": 1, "R": 1}
    assert day.view().notes != ()


def test_each_container_says_where_it_stands_by_its_own_last_seal() -> None:
    day = Day()
    for name in ("box-1", "box-2"):
        receive(day, name)
    open_(day, "box-2")
    for name, seal in (("box-1", "1"), ("box-2", "2"), ("box-2", "3")):
        sealed: dict[str, Any] = {"container": name, "holds": "counted", "seal": seal, "to": "the clerk"}
        day.act("container_resealed", BOTH, **sealed)
    receive(day, "box-3")
    assert [(one.name, one.standing) for one in day.view().containers] == [
        ("box-1", "sealed again, seal 1"),
        ("box-2", "sealed again, seal 3"),
        ("box-3", "seal intact, not opened"),
    ]


def test_each_questioned_ballot_has_its_own_statements() -> None:
    day = a_reconciled_day()
    segregate(day, "T-1")
    segregate(day, "T-2")
    first, second = challenge(day, tag="T-1"), challenge(day, ANN, tag="T-2")
    assert [(one.tag, [number for number, *_ in one.statements]) for one in day.view().challenged] == [
        ("T-1", [first]),
        ("T-2", [second]),
    ]


@pytest.mark.parametrize(("challenged", "said"), [(0, "1 envelopes lie"), (1, "agreed"), (2, "agreed")])
def test_a_pile_is_counted_again_where_an_envelope_was_counted_as_something_else(
    challenged: int, said: str
) -> None:
    day = a_reconciled_day()
    segregate(day)
    day.lock(p=0, o=0)
    day.count_pile("set_aside", {"challenged": challenged, "no_vote": 2 - challenged})
    (standing,) = (pile.standing for pile in day.view().piles if pile.pile == "set_aside")
    assert standing.startswith(said)


# The log


def test_the_log_tells_an_act_without_its_precinct_its_order_text_and_hidden_figures() -> None:
    day = a_scanned_day()
    day.enter("H", 12, ANN)
    lines = log(day.acts, {"101": day.state()})
    order, counted = lines[0], lines[-1]
    assert "toml" not in order.fields
    assert order.fields["sha256"] == day.acts[0].body["sha256"].hex()
    assert (order.precinct, counted.precinct) == ("", "101")
    assert (dict(counted.fields), counted.hidden) == ({"letter": "H", "attempt": 1}, ("value",))
    assert counted.by == ("Ann Lee, official, D",)
    day = a_counted_day()
    counted = next(line for line in log(day.acts, {"101": day.state()}) if line.kind == "count_entered")
    assert (dict(counted.fields), counted.hidden) == ({"letter": "H", "value": 12, "attempt": 1}, ())


def test_the_log_shows_the_figures_shown_from_that_act_on_and_hides_counts_until_all_is_counted() -> None:
    day = a_reconciled_day()
    lines = {line.kind: line for line in log(day.acts, {"101": day.state()})}
    assert lines["figures_shown"].fields["counted"] == 9
    assert lines["figures_shown"].hidden == ()
    assert "value" not in lines["count_entered"].fields
    assert "heads" not in lines["scanning_finished"].fields
    assert lines["scanning_finished"].fields["head_sha256"] == {
        day.device().id: day.state().head_sha256[day.device().id].hex()
    }


def test_sheets_fed_are_told_once_the_stack_is_locked() -> None:
    day = Day()
    day.scan(TWELVE_SHEETS)
    assert day.view().sheets_fed is None
    day.lock(H=12)
    assert day.view().sheets_fed == 12
