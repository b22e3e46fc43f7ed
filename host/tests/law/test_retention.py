"""How long things are kept: periods before the court has certified, dates afterwards (§§ 24.2-669, -814)."""

import pytest

from recount_host.law.retention import dates, periods
from recount_host.order import Retention

USUAL = Retention()


def test_before_the_court_has_certified_it_is_told_how_long_and_not_until_when() -> None:
    assert periods(USUAL) == (
        "ballots 12 months, statements 24 months, and nothing is given away before the 10 days in which the "
        "election can be contested are over"
    )


def test_once_the_court_has_certified_it_is_told_until_when_and_by_which_clause() -> None:
    assert dates(USUAL, "2026-12-23T21:04:05Z") == (
        "the court certified on 2026-12-23 (the date at Greenwich)",
        "within 10 days of that the election can be contested: all is kept until 2027-01-02 (§ 24.2-814)",
        "ballots are kept until 2027-12-23 (12 months, § 24.2-669)",
        "statements are kept until 2028-12-23 (24 months, § 24.2-669)",
        "all is counted from the certification, which was after the election",
    )


def test_where_it_is_the_next_day_at_greenwich_no_last_day_to_contest_is_told_that_is_a_day_late() -> None:
    said = dates(USUAL, "2026-12-24T02:30:00Z")  # in Virginia the 23rd, half past nine in the evening
    assert "until 2027-01-03 the election can be contested" not in said[1]
    assert "all is kept until 2027-01-03" in said[1]
    assert said[0].endswith("(the date at Greenwich)")


@pytest.mark.parametrize(
    ("certified", "months", "until"),
    [
        ("2027-02-28", 12, "2028-02-28"),
        ("2028-02-29", 12, "2029-02-28"),
        ("2028-02-29", 48, "2032-02-29"),
        ("2026-12-31", 2, "2027-02-28"),
        ("2026-12-31", 1, "2027-01-31"),
        ("2026-11-30", 1, "2026-12-30"),
    ],
)
def test_months_end_on_the_same_day_or_on_the_last_of_a_month_that_has_no_such_day(
    certified: str, months: int, until: str
) -> None:
    said = dates(Retention(ballots_months=months), f"{certified}T12:00:00Z")[2]
    assert said.startswith(f"ballots are kept until {until} ({months} months,")
