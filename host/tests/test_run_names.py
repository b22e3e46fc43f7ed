"""Names of runs: a journal that holds another recount counts nothing in this one."""

import pytest

from host.tests.rehearsal import Day
from host.tests.sound_device import PROGRAM, Sheet
from recount_host.law.errors import NotAllowed
from recount_host.law.obstacles import obstacles
from recount_host.run_names import run_name


def test_no_two_ledgers_give_a_run_one_name() -> None:
    names = {run_name("101", 0) for _ in range(50)}
    assert len(names) == 50
    assert all(name.startswith("101-1-") and len(name) == len("101-1-9f3a1c") for name in names)


def test_a_run_of_an_earlier_recount_in_a_devices_journal_stands_for_nothing() -> None:
    """The same device, precinct and program, in a ledger that was begun anew."""
    day = Day()
    device = day.device()
    device.open_run(run_name("101", 0), "101", PROGRAM)
    device.open_batch()
    device.scan(Sheet("counted", ("D",)))
    device.close_batch()
    given = run_name("101", 0)
    day.act("run_assigned", run=given, device=device.id, program=PROGRAM, contest="governor", mode="training")
    assert [obstacle.word for obstacle in obstacles(day.state())] == ["stray_run"]
    with pytest.raises(NotAllowed, match="otherwise than assigned"):
        day.finish()
