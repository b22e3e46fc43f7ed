"""What the host writes into acts from what it knows: no more, and not before its time."""

import pytest

from host.tests.rehearsal import Day, a_day_told_twice, a_scanned_day
from host.tests.sound_device import TWELVE_SHEETS
from recount_host.law import drafts
from recount_host.law.errors import NotAllowed


def test_what_is_told_of_the_identities_names_them_and_holds_no_figure() -> None:
    day = a_scanned_day()
    day.lock(H=12, c=9, s=2, x=1)
    assert drafts.identities_told(day.state()) == {
        "precinct": "101",
        "attempt": 1,
        "held": ["I1", "I2", "I3", "I4"],
        "failed": [],
        "disarmed": [],
    }


def test_no_identity_is_told_before_scanning_is_finished_and_all_is_counted() -> None:
    with pytest.raises(NotAllowed, match="not possible to reconcile now"):
        drafts.identities_told(Day().state())
    day = a_scanned_day()
    day.lock(H=12, s=2)
    with pytest.raises(NotAllowed, match="count and enter c, x first"):
        drafts.identities_told(day.state())
    day.lock(c=8, x=1)
    day.reconcile()
    with pytest.raises(NotAllowed, match="count once more and enter H, c, s, x first"):
        drafts.identities_told(day.state())


def test_every_run_that_is_open_is_to_be_ended() -> None:
    day = Day()
    day.scan(TWELVE_SHEETS)
    device = day.device()
    assert drafts.runs_to_end(day.state()) == ({"precinct": "101", "run": "101-1", "device": device.id},)
    day.act("run_ended", run="101-1", device=device.id)
    assert drafts.runs_to_end(day.state()) == ()


def test_scanning_ends_with_nothing_fed_only_where_the_officials_say_so() -> None:
    drafts.check_anything_was_fed(Day().state(), nothing_fed=True)
    with pytest.raises(NotAllowed, match="no sheet of precinct 101 has been fed"):
        drafts.check_anything_was_fed(Day().state(), nothing_fed=False)
    drafts.check_anything_was_fed(a_scanned_day().state(), nothing_fed=False)


def test_the_figures_stay_closed_until_told_and_until_the_search_has_ended() -> None:
    day = a_scanned_day()
    with pytest.raises(NotAllowed, match="the identities are told first"):
        drafts.figures_shown(day.state(), search_ended=True)
    day.lock(H=13, c=9, s=2, x=1)
    day.reconcile()
    with pytest.raises(NotAllowed, match="the figures stay closed: count H, c, s and x once more"):
        drafts.figures_shown(day.state(), search_ended=True)
    misplaced = a_day_told_twice(H=12, c=10, s=1, x=1)
    with pytest.raises(NotAllowed, match="I3 still fails"):
        drafts.figures_shown(misplaced.state(), search_ended=False)
    shown = drafts.figures_shown(misplaced.state(), search_ended=True)
    assert shown == {
        "precinct": "101",
        "outcome": "hand_count",
        "counted": 9,
        "set_aside": 2,
        "not_accepted": 1,
        "votes": {"D": 5, "R": 3, "T": 1},
    }
    with pytest.raises(NotAllowed, match="not possible to show the figures"):
        drafts.figures_shown(Day().state(), search_ended=True)
