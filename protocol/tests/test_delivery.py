"""Delivery over a virtual wire and clock: exactly once, in order, bounded, or lost and said so."""

from struct import pack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.tests.faulty_link import Faults, Pair, a_pair, an_end, numbered, numbers
from recount_protocol.delivery import Delivery
from recount_protocol.errors import NotConnected, PayloadTooLong, QueueFull
from recount_protocol.frames import FrameReader, encode_frame

WORD = 0x10000


def words(events: list[tuple[str, int]] | list[tuple[str, str]] | object) -> list[object]:
    return [event[0] if event[0] == "payload" else event for event in events]  # type: ignore[attr-defined]


def frames_of(data: bytes) -> list[bytes]:
    return [item for item in FrameReader(70_000).feed(data) if isinstance(item, bytes)]


def send_all(pair: Pair, sender: Delivery, count: int, length: int = 8) -> None:
    """Offer `count` numbered payloads as fast as the queue takes them, until all are acknowledged."""
    offered = 0
    while offered < count or sender.unacknowledged:
        while offered < count and sender.can_send:
            sender.send(numbered(offered, length))
            offered += 1
        pair.step()


def skip(pair: Pair, count: int) -> None:
    """Let it be as though the left end had sent, and the right one acknowledged, `count` payloads more."""
    left, right = pair.left, pair.right
    left._base = left._next = left._sent_end = left._base + count
    right._expected += count


# --- connecting ---


def test_two_ends_that_hear_each_other_are_connected_and_know_the_others_boot_id():
    pair = a_pair()
    pair.connect()
    assert pair.left_events == [("connected", 2)]
    assert pair.right_events == [("connected", 1)]


def test_hello_is_repeated_until_it_is_answered():
    end = an_end(1, resend_ms=30)
    sent = [now_ms for now_ms in range(100) if end.output(now_ms)]
    assert sent == [0, 30, 60, 90]
    assert end.next_deadline_ms(100) == 120
    assert not end.connected


def test_an_end_that_was_never_asked_is_due_at_once():
    assert an_end(1).next_deadline_ms(77) <= 77


def test_a_connected_pair_says_no_more_hellos():
    pair = a_pair()
    pair.connect()
    pair.run(5000)
    assert pair.left.stats["hellos"] <= 3
    assert pair.left.connected
    assert pair.right.connected


def test_one_sided_hearing_is_no_connection():
    left, right = an_end(1), an_end(2)
    for now_ms in range(0, 1000, 10):
        assert right.receive(left.output(now_ms), now_ms) == []
        right.output(now_ms)
    assert not right.connected


def test_an_answer_that_got_lost_is_given_again():
    left, right = an_end(1), an_end(2)
    right.receive(left.output(0), 0)
    assert left.receive(right.output(0), 0) == [("connected", 2)]
    left.output(0)  # the answer: lost
    right.output(50)
    assert not right.connected
    left.receive(right.output(100), 100)
    assert right.receive(left.output(100), 100) == [("connected", 1)]


def test_a_first_payload_proves_the_connection_where_the_answer_was_lost():
    left, right = an_end(1), an_end(2)
    right.receive(left.output(0), 0)
    left.receive(right.output(0), 0)
    left.output(0)  # the answer: lost
    left.send(b"go")
    assert right.receive(left.output(1), 1) == [("connected", 1), ("payload", b"go")]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"version": 2}, "the other end speaks protocol version 2, this end 1: update the older one"),
        (
            {"table_hash": 0x1234},
            (
                "the other end's message table is 00001234, this end's 0000abcd: "
                "install the same release at both ends"
            ),
        ),
    ],
)
def test_another_protocol_is_refused_once_in_one_sentence_and_never_connected(
    changed: dict[str, int], sentence: str
):
    left, right = an_end(1), an_end(2, **changed)
    events: list[object] = []
    for now_ms in range(0, 1000, 10):
        events += left.receive(right.output(now_ms), now_ms)
        right.receive(left.output(now_ms), now_ms)
    assert events == [("refused", sentence)]
    assert not left.connected
    assert not right.connected
    assert left.stats["refused"] > 1


def test_a_peer_that_comes_back_with_another_protocol_is_lost_and_refused():
    pair = a_pair()
    pair.connect()
    other = an_end(2, version=9)
    events = pair.left.receive(other.output(pair.now_ms), pair.now_ms)
    assert [event[0] for event in events] == ["lost", "refused"]
    assert not pair.left.connected


def test_a_refusal_is_told_again_after_a_connection():
    left = an_end(1)
    foreign = an_end(3, version=9)
    assert left.receive(foreign.output(0), 0)[0][0] == "refused"
    pair = Pair(left, an_end(2), a_pair().there, a_pair().back)
    pair.connect()
    assert [event[0] for event in left.receive(foreign.output(9000), 9000)] == ["lost", "refused"]


def test_an_end_that_hears_itself_does_not_connect():
    end = an_end(1)
    for now_ms in range(0, 1000, 10):
        assert end.receive(end.output(now_ms), now_ms) == []
    assert end.stats["echoes"] > 1


def test_a_connected_end_does_not_take_the_echo_of_its_own_payloads():
    pair = a_pair()
    pair.connect()
    pair.run(10)
    pair.left.send(b"echo")
    events = pair.left.receive(pair.left.output(pair.now_ms), pair.now_ms)
    assert events == []
    assert pair.left.stats["stale"] == 1


# --- payloads ---


def test_payloads_arrive_in_order_both_ways():
    pair = a_pair()
    pair.connect()
    for number in range(20):
        pair.left.send(numbered(number))
        pair.right.send(numbered(100 + number))
    pair.run(200)
    assert numbers(pair.right_events) == list(range(20))
    assert numbers(pair.left_events) == list(range(100, 120))
    assert pair.left.unacknowledged == 0


def test_an_empty_payload_and_the_longest_arrive_unchanged():
    pair = a_pair()
    pair.connect()
    pair.left.send(b"")
    pair.left.send(bytes(240))
    pair.run(50)
    assert pair.right_events[1:] == [("payload", b""), ("payload", bytes(240))]


def test_no_more_than_the_window_is_under_way():
    pair = a_pair(window=4)
    pair.connect()
    for number in range(10):
        pair.left.send(numbered(number))
    assert len(frames_of(pair.left.output(pair.now_ms))) <= 5  # four payloads, maybe the last hello
    assert pair.left.stats["payloads_out"] == 4


def test_the_smaller_window_and_the_smaller_longest_payload_rule():
    left, right = an_end(1, window=8), an_end(2, window=2, max_payload_bytes=50)
    pair = Pair(left, right, a_pair().there, a_pair().back)
    pair.connect()
    with pytest.raises(PayloadTooLong, match="51 bytes; the link takes 50"):
        left.send(bytes(51))
    for number in range(6):
        left.send(numbered(number))
    left.output(pair.now_ms)
    assert left.stats["payloads_out"] == 2


def test_a_queue_that_is_full_says_so_and_frees_itself_by_acknowledgement():
    pair = a_pair(queue_payloads=3)
    pair.connect()
    for number in range(3):
        pair.left.send(numbered(number))
    assert not pair.left.can_send
    with pytest.raises(QueueFull):
        pair.left.send(b"one too many")
    pair.run(50)
    assert pair.left.can_send


def test_nothing_can_be_sent_before_the_other_end_has_answered():
    end = an_end(1)
    assert not end.can_send
    with pytest.raises(NotConnected):
        end.send(b"x")


@pytest.mark.parametrize("window", [0, 256])
def test_a_window_out_of_bounds_is_refused(window: int):
    with pytest.raises(ValueError, match="1 to 255"):
        an_end(1, window=window)


@pytest.mark.parametrize("boot_id", [-1, 1 << 32])
def test_a_boot_id_out_of_bounds_is_refused(boot_id: int):
    with pytest.raises(ValueError, match="32 bits"):
        an_end(boot_id)


def test_sequence_numbers_pass_their_sixteen_bits():
    pair = a_pair(Faults(lost=2, repeated=5), window=200, queue_payloads=400)
    pair.connect()
    skip(pair, WORD - 1000)
    send_all(pair, pair.left, 2000)
    assert numbers(pair.right_events) == list(range(2000))
    assert pair.left._base == WORD + 1000


def test_a_frame_from_65536_payloads_ago_is_not_taken_for_a_new_one():
    pair = a_pair(window=200, queue_payloads=400)
    pair.connect()
    pair.run(10)
    pair.left.send(numbered(0))
    old = pair.left.output(pair.now_ms)
    pair.there.write(old, pair.now_ms)
    pair.run(20)
    skip(pair, WORD - 1)
    assert pair.right._expected == WORD
    assert pair.right.receive(old, pair.now_ms) == []
    assert pair.right.stats["stale"] == 1


# --- loss ---


def test_a_lost_payload_is_sent_again_after_the_resend_time():
    pair = a_pair(resend_ms=40)
    pair.connect()
    pair.run(10)
    pair.left.send(numbered(7))
    start_ms = pair.now_ms
    pair.left.output(start_ms)  # lost
    assert pair.left.next_deadline_ms(start_ms) == start_ms + 40
    pair.run(60)
    assert numbers(pair.right_events) == [7]
    assert pair.left.stats["resent"] == 1


def test_each_vain_try_waits_twice_as_long():
    pair = a_pair(resend_ms=10, dead_ms=10_000, keepalive_ms=100_000)
    pair.connect()
    pair.run(10)
    pair.left.send(b"x")
    start_ms = pair.now_ms
    sent = [moment for moment in range(600) if pair.left.output(start_ms + moment)]
    assert sent == [0, 10, 30, 70, 150, 310]


def test_a_gap_is_reported_once_and_filled_at_once():
    pair = a_pair(resend_ms=400, dead_ms=5000)
    pair.connect()
    pair.run(10)
    for number in range(3):
        pair.left.send(numbered(number))
    first, second, third = (encode_frame(packet) for packet in frames_of(pair.left.output(pair.now_ms)))
    assert pair.right.receive(second + third, pair.now_ms) == []
    assert pair.right.stats["gaps"] == 2
    gap = pair.right.output(pair.now_ms)
    pair.left.receive(gap, pair.now_ms)
    again = pair.left.output(pair.now_ms)
    assert frames_of(again)[0] == frames_of(first)[0]
    pair.left.receive(gap, pair.now_ms)
    assert pair.left.output(pair.now_ms) == b""
    assert numbers(pair.right.receive(again, pair.now_ms)) == [0, 1, 2]


def test_a_repeated_payload_is_taken_once_and_acknowledged_again():
    pair = a_pair()
    pair.connect()
    pair.run(10)
    pair.left.send(b"once")
    written = pair.left.output(pair.now_ms)
    assert pair.right.receive(written + written, pair.now_ms) == [("payload", b"once")]
    assert pair.right.stats["duplicates"] == 1
    assert pair.right.next_deadline_ms(pair.now_ms) == pair.now_ms
    assert len(frames_of(pair.right.output(pair.now_ms))) == 1


def test_the_resend_time_follows_a_slow_wire():
    pair = a_pair(resend_ms=10, dead_ms=5000)
    pair.there.delay_ms = pair.back.delay_ms = 100
    pair.connect()
    send_all(pair, pair.left, 200)
    assert numbers(pair.right_events) == list(range(200))
    assert pair.left.stats["resent"] <= 8 * 6


@settings(max_examples=40, deadline=None)
@given(
    faults=st.builds(
        Faults,
        lost=st.integers(0, 300),
        repeated=st.integers(0, 300),
        late=st.integers(0, 300),
        damaged=st.integers(0, 200),
        truncated=st.integers(0, 200),
    ),
    seed=st.integers(0, 2**32),
    window=st.integers(1, 20),
)
def test_whatever_the_wire_does_payloads_arrive_once_and_in_order(faults: Faults, seed: int, window: int):
    pair = a_pair(faults, seed, dead_ms=60_000, window=window)
    pair.connect()
    send_all(pair, pair.left, 40, length=30)
    assert numbers(pair.right_events) == list(range(40))
    assert [event[0] for event in pair.right_events if event[0] != "payload"] == ["connected"]


# --- the end of a connection ---


def test_silence_loses_the_connection_and_both_ends_find_each_other_again():
    pair = a_pair(dead_ms=500)
    pair.connect()
    pair.left_events.clear()
    pair.there.faults = Faults(lost=1000)
    pair.run(1500)
    assert ("lost", "silent") in pair.right_events
    assert pair.left_events == [("lost", "dropped")]  # it still heard the hellos of the other
    pair.there.faults = Faults()
    pair.run(200)
    assert pair.left.connected
    assert pair.right.connected
    assert pair.left_events[-1] == ("connected", 2)


def test_silence_is_noticed_by_output_too_and_told_by_the_next_receive():
    pair = a_pair(dead_ms=500)
    pair.connect()
    late_ms = pair.now_ms + 500
    assert frames_of(pair.left.output(late_ms))[0][0] == 1  # a hello
    assert pair.left.next_deadline_ms(late_ms) == late_ms
    assert pair.left.receive(b"", late_ms) == [("lost", "silent")]


def test_keepalive_keeps_an_idle_connection():
    pair = a_pair(keepalive_ms=150, dead_ms=500)
    pair.connect()
    pair.run(60_000)
    assert pair.left_events == [("connected", 2)]
    assert 390 <= pair.right.stats["payloads_in"] + 400 <= 410  # keepalives are no payloads


def test_noise_is_no_sign_of_life():
    pair = a_pair(dead_ms=500)
    pair.connect()
    start_ms = pair.now_ms
    events: list[object] = []
    for moment in range(0, 600, 10):
        events += pair.left.receive(b"\x05noise\0", start_ms + moment)
    assert events == [("lost", "silent")]


def test_another_boot_id_means_the_peer_restarted_and_what_waited_is_dropped():
    pair = a_pair()
    pair.connect()
    pair.run(10)
    pair.there.cut()
    pair.left.send(b"for the one before")
    pair.left_events.clear()
    pair.right = an_end(3)
    pair.right_events.clear()
    pair.connect()
    pair.run(300)
    assert pair.left_events == [("lost", "restarted"), ("connected", 3)]
    assert pair.right_events == [("connected", 1)]
    assert pair.left.unacknowledged == 0


def test_reset_gives_the_connection_up_at_both_ends():
    pair = a_pair()
    pair.connect()
    pair.left_events.clear()
    pair.right_events.clear()
    pair.left.reset()
    pair.connect()
    pair.run(50)
    assert pair.left_events == [("lost", "closed"), ("connected", 2)]
    assert pair.right_events == [("lost", "dropped"), ("connected", 1)]


def test_reset_before_any_connection_loses_nothing():
    end = an_end(1)
    end.reset()
    assert end.receive(b"", 0) == []


def test_a_hello_of_an_earlier_session_is_ignored():
    pair = a_pair()
    old_hello = pair.left.output(0)
    pair.right.receive(old_hello, 0)
    pair.left.reset()
    pair.connect()
    pair.run(20)
    assert pair.right.receive(old_hello, pair.now_ms) == []
    assert pair.right.stats["old_hellos"] == 1
    assert pair.right.connected


def test_a_hello_of_an_earlier_boot_cannot_connect_to_a_ghost():
    left, ghost = an_end(1), an_end(2)
    ghost.receive(left.output(0), 0)
    old_hello = ghost.output(0)  # names the session of `left` that it heard
    left.receive(an_end(3).output(0), 0)
    assert left.receive(old_hello, 0) == []
    assert not left.connected


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        b"\x00",
        b"\x01",
        b"\x01RcSc",
        b"\x01XXXX\x01\x00\xcd\xab\x00\x00" + bytes(30),
        b"\x01RcSc\x01\x00\xcd\xab\x00\x00",
        b"\x02\x00",
        b"\x03" + bytes(9),
        b"\x09" + bytes(20),
    ],
)
def test_a_packet_that_is_none_is_counted_and_dropped(packet: bytes):
    end = an_end(2)
    assert end.receive(encode_frame(packet), 0) == []
    assert end.stats["malformed"] == 1


def test_damage_is_counted_by_its_cause():
    end = an_end(1)
    end.receive(b"\x09abc\0" + b"\x05abcd\0" + b"z" * 400 + b"\0", 0)
    assert (end.stats["garbled"], end.stats["checksum"], end.stats["too_long"]) == (1, 1, 1)


def test_an_acknowledgement_of_what_was_never_sent_is_dropped():
    pair = a_pair()
    pair.connect()
    pair.run(10)
    pair.right._expected = 5
    assert pair.left.receive(pair.right.output(pair.now_ms + 200), pair.now_ms) == []
    assert pair.left.stats["stale"] == 1


def test_remembered_tags_are_few():
    end = an_end(1)
    tags = [end._tag((1, 1), (2, 1), high * WORD, 0) for high in range(100)]
    assert len(set(tags)) == 100
    assert len(end._tags) <= 8


def test_before_anyone_was_heard_even_a_forged_tag_is_stale():
    end = an_end(1)
    forged = pack("<BIHH", 2, end._tag((0, 0), end._me, 0, 0), 0, 0) + b"payload"
    assert end.receive(encode_frame(forged), 0) == []
    assert end.stats["stale"] == 1


def test_the_round_trip_is_never_measured_on_what_was_sent_twice():
    pair = a_pair(resend_ms=40)
    pair.connect()
    pair.run(10)
    pair.left.send(b"twice")
    pair.left.output(pair.now_ms)  # lost
    pair.run(60)
    assert pair.left.unacknowledged == 0
    assert pair.left._round_trip_8ms is None
    pair.left.send(b"once")
    pair.run(60)
    assert pair.left._round_trip_8ms == 8 * 6  # there and back, 3 ms each
