"""A short run of `make soak-link`: every record arrives once, in order, in bounded memory."""

from random import Random

import pytest

from protocol.tests.soak_link import (
    QUEUE,
    Figures,
    Receiver,
    SoakFailed,
    in_memory,
    main,
    over_a_pty,
    payload_of,
    struck,
)


def test_records_arrive_once_and_in_order_over_a_wire_that_does_everything() -> None:
    figures = in_memory(10_000, seed=1)
    assert figures.records == 10_000
    assert figures.resent > 100
    assert figures.damaged > 50
    assert figures.restarts > 0
    assert figures.most_waiting < 10 * QUEUE


@pytest.mark.parametrize(("records", "rate"), [(1_500, 1e-4), (100, 1e-3)])
def test_micropython_delivers_over_a_pty_that_drops_and_flips(records: int, rate: float) -> None:
    figures = over_a_pty(records, rate, seed=1)
    assert figures.records == records
    assert figures.damaged > 10


@pytest.mark.parametrize("piece_bytes", [20, 4000])
def test_the_wire_drops_and_flips_as_many_bytes_as_it_says(piece_bytes: int) -> None:
    random = Random(3)
    pieces = [struck(bytes(piece_bytes), 1e-3, random) for _ in range(400_000 // piece_bytes)]
    dropped = 400_000 - sum(map(len, pieces))
    flipped = sum(len(piece) - piece.count(0) for piece in pieces)
    assert 320 < dropped < 480
    assert 320 < flipped < 480


@pytest.mark.parametrize(
    ("payload", "why"),
    [(payload_of(3), "where 2 is next"), (payload_of(2)[:-1] + b"x", "not the one that was sent")],
)
def test_the_soak_would_notice(payload: bytes, why: str) -> None:
    receiver = Receiver(Figures("test"), last=1)
    with pytest.raises(SoakFailed, match=why):
        receiver.take(payload)


@pytest.mark.parametrize("share", ["0", "-1", "0.0001", "nan"])
def test_a_soak_of_no_records_is_refused(share: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--share", share])
    assert "--share must be from 0.001 to 100" in capsys.readouterr().err
