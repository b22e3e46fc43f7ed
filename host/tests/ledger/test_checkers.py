"""Signatures are checked by processes when many wait, and whatever befalls those, none is taken unchecked."""

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Pipe
from typing import cast

import msgpack
import pytest

from host.tests.links.table import a_device
from recount_host.checking_process import GOOD, NOT_GOOD, Claim, check_until_done
from recount_host.ledger import checkers as checkers_module
from recount_host.ledger.arrivals import Arrival, arrived
from recount_host.ledger.checkers import MANY, SHARE, Checkers

DEVICE = a_device("device-1", 1)
for _ in range(MANY + SHARE // 2):
    DEVICE.write_fault("jam")
FORGED = (3, MANY - 1)
"""Places of records whose signature is another one's."""


def key_of(device: str) -> bytes:
    return DEVICE.public_key if device == DEVICE.device else b""


def some_arrivals() -> list[Arrival]:
    """Return a backlog in which two signatures are forged and one entry is no record."""
    items = list(DEVICE.journal)
    for at in FORGED:
        items[at] = (items[at][0], items[at + 1][1])
    items.append((b"no record", bytes(64)))
    return arrived(items)


def as_question(claims: Sequence[Claim]) -> bytes:
    return cast("bytes", msgpack.packb(claims))


def who_signed(arrivals: list[Arrival]) -> list[bytes]:
    return [arrival.signed_by for arrival in arrivals]


WHO_SIGNED = [
    b"" if at in FORGED or at == len(DEVICE.journal) else DEVICE.public_key
    for at in range(len(DEVICE.journal) + 1)
]


@pytest.fixture
def checkers() -> Iterator[Checkers]:
    made = Checkers(most=2)
    yield made
    made.close()


def processes(checkers: Checkers) -> list["subprocess.Popen[bytes]"]:
    return [one.process for one in checkers._checkers]


def test_many_signatures_are_checked_by_processes_and_forged_ones_are_not_good(checkers: Checkers) -> None:
    arrivals = some_arrivals()
    shares = checkers.begin(arrivals, key_of)
    assert not shares[0].is_done
    checkers.finish(shares)
    assert who_signed(arrivals) == WHO_SIGNED
    assert len(processes(checkers)) == 2


def test_few_signatures_and_a_host_of_one_core_cost_no_process(checkers: Checkers) -> None:
    few = some_arrivals()[: MANY - 1]
    checkers.finish(checkers.begin(few, key_of))
    assert who_signed(few) == WHO_SIGNED[: MANY - 1]
    assert not processes(checkers)
    alone = Checkers(most=0)
    arrivals = some_arrivals()
    alone.finish(alone.begin(arrivals, key_of))
    assert who_signed(arrivals) == WHO_SIGNED
    assert not processes(alone)


def test_a_device_without_a_key_here_has_nothing_checked(checkers: Checkers) -> None:
    arrivals = some_arrivals()
    checkers.finish(checkers.begin(arrivals, lambda _device: b""))
    assert not any(who_signed(arrivals))


def test_later_shares_may_be_finished_before_earlier_ones(checkers: Checkers) -> None:
    first, second = some_arrivals(), some_arrivals()
    first_shares, second_shares = checkers.begin(first, key_of), checkers.begin(second, key_of)
    checkers.finish(second_shares)
    assert who_signed(second) == WHO_SIGNED
    checkers.finish(first_shares)
    assert who_signed(first) == WHO_SIGNED


def test_what_a_process_had_when_it_was_killed_is_checked_here_and_another_is_started(
    checkers: Checkers,
) -> None:
    checkers.finish(checkers.begin(some_arrivals(), key_of))
    dying, before = processes(checkers)
    os.kill(dying.pid, signal.SIGSTOP)  # so that it dies with what it was given
    arrivals = some_arrivals()
    shares = checkers.begin(arrivals, key_of)
    dying.kill()
    checkers.finish(shares)
    assert who_signed(arrivals) == WHO_SIGNED
    checkers.finish(checkers.begin(some_arrivals(), key_of))
    assert len(processes(checkers)) == 2
    assert before in processes(checkers)


def test_a_process_that_has_ended_is_replaced(checkers: Checkers) -> None:
    checkers.finish(checkers.begin(some_arrivals(), key_of))
    for process in processes(checkers):
        process.kill()
        process.wait()
    arrivals = some_arrivals()
    shares = checkers.begin(arrivals, key_of)
    assert not shares[0].is_done
    checkers.finish(shares)
    assert who_signed(arrivals) == WHO_SIGNED


def test_a_process_that_does_not_answer_is_ended_and_its_share_checked_here(
    checkers: Checkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkers.finish(checkers.begin(some_arrivals(), key_of))
    monkeypatch.setattr(checkers_module, "PATIENCE_S", 0.0)
    stopped = processes(checkers)
    for process in stopped:
        os.kill(process.pid, signal.SIGSTOP)
    arrivals = some_arrivals()
    checkers.finish(checkers.begin(arrivals, key_of))
    assert who_signed(arrivals) == WHO_SIGNED
    assert not processes(checkers)
    assert all(process.poll() is not None for process in stopped)


@pytest.mark.parametrize("answer", [b"", bytes([GOOD]), bytes([GOOD, 2]), bytes([GOOD] * 3)])
def test_an_answer_that_is_none_makes_no_signature_good(answer: bytes) -> None:
    share = checkers_module.Share([(arrival, DEVICE.public_key) for arrival in some_arrivals()[:2]])
    with pytest.raises(ValueError, match="no answer"):
        share.take(answer)
    assert not any(arrival.signed_by for arrival, _ in share.claims)
    assert not share.is_done


def test_no_room_for_a_process_is_no_obstacle(checkers: Checkers, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no memory")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    arrivals = some_arrivals()
    checkers.finish(checkers.begin(arrivals, key_of))
    assert who_signed(arrivals) == WHO_SIGNED


def test_the_process_answers_in_order_and_ends_when_it_has_nothing_to_do() -> None:
    ours, theirs = Pipe()
    claims = [(DEVICE.public_key, data, signature) for data, signature in DEVICE.journal[:3]]
    ours.send_bytes(as_question(claims))
    claims[1] = (DEVICE.public_key, claims[1][1], claims[0][2])
    ours.send_bytes(as_question(claims))
    check_until_done(theirs, idle_s=0.0)
    assert ours.recv_bytes() == bytes([GOOD, GOOD, GOOD])
    assert ours.recv_bytes() == bytes([GOOD, NOT_GOOD, GOOD])
    ours.send_bytes(as_question(claims))
    ours.close()
    check_until_done(theirs)  # the host has ended: so does the process
    theirs.close()
