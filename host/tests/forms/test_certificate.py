"""The certificate of logic and accuracy tells whoever signs it how often the device was tried."""

from host.tests.forms.test_statement_form import pages_of
from host.tests.law.test_d2_logic_accuracy import (
    CERTIFICATE,
    DECK,
    RIGHT,
    certificate,
    certified,
    do,
    feed,
    given,
)
from host.tests.rehearsal import BOTH, Day
from host.tests.sound_device import PROGRAM, Device
from recount_host.forms.logic_accuracy import print_certificate
from recount_host.law.deck import deck_text
from recount_host.law.live import ASSIGNED, ENDED

EARLIER = "Earlier tests of it with this program"


def printed(day: Day, device: Device, run: str) -> str:
    return " ".join(pages_of(print_certificate(day.facts(), certificate(device, run=run), BOTH)))


def passes(day: Day, device: Device, run: str) -> None:
    words = {"program": PROGRAM, "contest": "governor", "deck": deck_text(DECK).encode()}
    do(day, ASSIGNED, run=run, device=device.id, **words)
    device.open_run(run, "logic-accuracy", mode="test")
    device.open_batch()
    feed(day, device)
    device.close_batch()
    do(day, ENDED, run=run, device=device.id)
    device.close_run()


def test_a_device_that_passed_at_once_had_no_earlier_test() -> None:
    day = Day()
    device = certified(day)
    assert f"{EARLIER} none" in printed(day, device, "test-1")


def test_a_device_that_passed_at_the_third_attempt_is_told_to_have_been_tried_before() -> None:
    day = Day()
    device = given(day)
    device.open_run("test-1", "logic-accuracy", mode="test")
    device.open_batch()
    feed(day, device, RIGHT[:-1])
    device.close_batch()
    do(day, ENDED, run="test-1", device=device.id)
    device.close_run()
    for run in ("test-2", "test-3"):
        passes(day, device, run)
        if run == "test-2":
            do(day, "device_armed", BOTH, **certificate(device, run=run, sha256=CERTIFICATE))
    assert f"{EARLIER} test-1 (not certified), test-2 (certified)" in printed(day, device, "test-3")
