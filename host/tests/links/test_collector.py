"""What the collector makes of wants that come in one breath, without links."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from host.tests.links.stand_in import StandIn
from host.tests.links.table import a_device, enrolled
from recount_host.ledger import Ledger, Verdict
from recount_host.ledger.checkers import MANY
from recount_host.links.collector import MAX_BATCH, Collector
from recount_host.links.wants import CropKept, KeepCrop, KeepRecords, RecordsKept, Reply, Want


class Seat:
    """Keeps what it was answered, and how many records were on disk then."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.heard: list[tuple[Reply, int]] = []

    def answer(self, reply: Reply) -> None:
        self.heard.append((reply, len(self._ledger.records())))

    def replace(self) -> None:
        raise AssertionError("nobody else connects here")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


def with_crops(count: int) -> StandIn:
    device = a_device()
    for sheet in range(1, count + 1):
        device.write_set_aside(sheet, f"picture {sheet}".encode(), run="run-1", batch=1)
    return device


def answers(ledger: Ledger, wants: list[Want]) -> list[tuple[Reply, int]]:
    """Return the answers to wants that all wait when the collector begins."""
    seat, collector = Seat(ledger), Collector(ledger, lambda _device: (), _unexpected)
    collector.ask(seat, wants)
    collector.start()
    collector.stop()
    assert collector.failure is None
    return seat.heard


def _unexpected() -> None:
    raise AssertionError("the collector failed")


def one_by_one(device: StandIn) -> list[Want]:
    """Each record, and at once behind it its crop."""
    wants: list[Want] = []
    for n, signed in enumerate(device.journal, 1):
        wants += [KeepRecords((signed,)), KeepCrop(device.device, n, device.crops[n])]
    return wants


def all_at_once(device: StandIn) -> list[Want]:
    """All records in one message, and behind it the crops."""
    crops = [KeepCrop(device.device, n, crop) for n, crop in device.crops.items()]
    return [KeepRecords(tuple(device.journal)), *crops]


@pytest.mark.parametrize("in_which_order", [one_by_one, all_at_once])
@pytest.mark.parametrize("count", [3, MAX_BATCH + MANY])
def test_a_crop_that_comes_at_once_behind_its_record_finds_it_on_disk(
    ledger: Ledger, count: int, in_which_order: Callable[[StandIn], list[Want]]
) -> None:
    device = enrolled(ledger, with_crops(count))
    heard = [reply for reply, _ in answers(ledger, in_which_order(device))]
    crops = {reply.n: reply.outcome.verdict for reply in heard if isinstance(reply, CropKept)}
    assert crops == dict.fromkeys(range(1, count + 1), Verdict.STORED)
    assert len(ledger.records()) == count


def test_records_are_answered_in_their_order_when_they_are_on_disk_and_not_before(ledger: Ledger) -> None:
    device = enrolled(ledger, a_device())
    for _ in range(2 * MAX_BATCH + MANY):
        device.write_fault("jam")
    messages = [KeepRecords(tuple(device.journal[at : at + 50])) for at in range(0, len(device.journal), 50)]
    acknowledged = 0
    for reply, on_disk in answers(ledger, list(messages)):
        assert isinstance(reply, RecordsKept)
        assert {outcome.verdict for outcome in reply.outcomes} == {Verdict.STORED}
        acknowledged += len(reply.outcomes)
        assert acknowledged <= on_disk
    assert acknowledged == len(device.journal)
