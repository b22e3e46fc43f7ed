"""The zero report says that a device stands at zero, and nothing from which a stack could be reckoned."""

from typing import Any

from host.tests.law.test_d2_logic_accuracy import armed
from host.tests.rehearsal import CLERK, Day
from host.tests.sound_device import PROGRAM
from recount_host.forms.logic_accuracy import print_zero_report


def test_the_zero_report_is_the_same_however_many_records_a_device_has() -> None:
    day = Day()
    body: dict[str, Any] = {"device": armed(day).id, "program": PROGRAM}
    one, other = (print_zero_report(day.facts(), {**body, "head_n": n}, (CLERK,)) for n in (9, 2009))
    assert one.startswith(b"%PDF")
    assert one == other
