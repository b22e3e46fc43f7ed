"""The steps of a test at an open desk: people answer what they saw asked, and nothing else."""

from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest

from host.tests.law.test_a_sheet_fed_twice import asks, begun
from host.tests.rehearsal import BOTH, Day
from recount_host.act import Person
from recount_host.commands.desk import Desk
from recount_host.decks.gate import settle
from recount_host.law.errors import NotAllowed
from recount_host.law.live import SETTLED
from recount_host.law.logic_accuracy import admit_logic_accuracy
from recount_host.law.precinct import Facts
from recount_protocol.fates import RETURNED


class RehearsedDesk:
    """A desk over a rehearsed day."""

    def __init__(self, day: Day) -> None:
        self._day = day

    def test_act(self, kind: str, by: tuple[Person, ...], body: Callable[[Facts], Mapping[str, Any]]) -> None:
        """Write an act, if it is admitted."""
        said = body(self._day.facts())
        admit_logic_accuracy(self._day.facts(), kind, by, said)
        self._day.append(kind, by, dict(said))


def test_a_page_that_shows_a_question_answered_before_does_not_answer_the_next_one() -> None:
    day = Day()
    device = begun(day)
    desk = cast("Desk", RehearsedDesk(day))
    first = asks(device)
    assert settle(desk, device.id, BOTH, first).sheet == first
    device.settle(first, RETURNED)
    second = asks(device, like=1)
    with pytest.raises(NotAllowed, match=f"asks about sheet {second} now, not about sheet {first}"):
        settle(desk, device.id, BOTH, first)
    assert [act.body["sheet"] for act in day.acts if act.kind == SETTLED] == [first]


def test_at_the_keyboard_they_answer_what_is_asked() -> None:
    day = Day()
    device = begun(day)
    number = asks(device)
    assert settle(cast("Desk", RehearsedDesk(day)), device.id, BOTH).sheet == number
