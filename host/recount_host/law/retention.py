"""How long things are kept after the recount: as periods, and as dates once the court has certified.

Nothing is ever deleted by it. The ledger knows one date for sure, that of the certification. It is later than
the election, so who counts from it keeps nothing too short.
"""

from calendar import monthrange
from datetime import date, timedelta

from recount_host.order import Retention


def periods(kept: Retention) -> str:
    """Return how long what is kept, while no date is known to count from."""
    return (
        f"ballots {kept.ballots_months} months, statements {kept.statements_months} months, and nothing is "
        f"given away before the {kept.contest_days} days in which the election can be contested are over"
    )


def dates(kept: Retention, certified_utc: str) -> tuple[str, ...]:
    """Return until when what is kept, in sentences, counted from the certification that stands.

    The date at Greenwich is that of Virginia or the day after, never the day before: nothing is kept too
    short. It may be a day late for whoever would contest, so no last day of that is named.
    """
    certified = date.fromisoformat(certified_utc[:10])
    days = kept.contest_days
    contest = certified + timedelta(days=days)
    ballots = _months_after(certified, kept.ballots_months)
    statements = _months_after(certified, kept.statements_months)
    return (
        f"the court certified on {certified} (the date at Greenwich)",
        f"within {days} days of that the election can be contested: all is kept until {contest} (§ 24.2-814)",
        f"ballots are kept until {ballots} ({kept.ballots_months} months, § 24.2-669)",
        f"statements are kept until {statements} ({kept.statements_months} months, § 24.2-669)",
        "all is counted from the certification, which was after the election",
    )


def _months_after(day: date, months: int) -> date:
    """Return the same day so many months on; the last of the month where it has no such day."""
    years, month = divmod(day.month - 1 + months, 12)
    year, month = day.year + years, month + 1
    return date(year, month, min(day.day, monthrange(year, month)[1]))
