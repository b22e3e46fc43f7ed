"""What device and host say to each other, on a perfect wire in memory and an artificial clock."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pytest

from device.tests.station.bench import QuickJournal
from device.tests.station.tiny_host import FALSE_SEED, HOST_WORDS, TinyHost
from protocol.tests.host_key import a_key
from recount_device.host_session import HostSession, Introduction, Received
from recount_device.identity import open_identity
from recount_device.journal import Entry, JournalReader
from recount_protocol.orders import Session, sign_order
from recount_protocol.tally_messages import VERSION, Portions, pack

FAULT = Entry("fault", "", 0, {"word": "test", "detail": ""})


def judged(sheet: int, picture: bytes) -> Entry:
    body = {
        "sheet": sheet, "fate": "counted", "choices": ["D"], "reasons": [], "style": "c-1", "length_mm": 279,
        "evidence": {}, "crop_sha256": sha256(picture).digest(), "crop_bytes": len(picture), "place": 0,
        "feeder": [71, sheet, 0, 0, 0, 0],
    }  # fmt: skip
    return Entry("sheet_judged", "r1", 1, body, picture)


class Desk:
    """The station's side, in memory."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.present = False
        self.refusal = ""
        self.state: tuple[str, str] = ("", "")
        self.program_wanted = b""
        self.offered: list[str] = []

    def offer(self, words: str) -> None:
        self.offered.append(words)

    def put(self, received: Received) -> None:
        self.received.append(received)
        if received.kind == "program_arrived":
            self.program_wanted = b""

    def set_present(self, present: bool, refusal: str = "") -> None:
        self.present, self.refusal = present, refusal


@dataclass
class Pin:
    """Which host is pinned."""

    words: str


class Wire:
    """Device and host, joined."""

    def __init__(self, folder: Path) -> None:
        identity = open_identity(folder)
        self.journal = QuickJournal(folder, identity)
        self.reader = JournalReader(self.journal.path)
        self.desk = Desk()
        self.identity = identity
        self.pin = Pin(HOST_WORDS)
        introduction = Introduction("table-1", "software", "firmware")
        self.session = HostSession(
            self.reader, identity, introduction, self.pin, self.desk, 7, Portions(4096, 500)
        )
        self.host = TinyHost()
        self.now_ms = 0

    def run(self, turns: int = 60) -> None:
        for _ in range(turns):
            self.now_ms += 10
            self.host.receive(self.session.output(self.now_ms), self.now_ms)
            self.session.receive(self.host.delivery.output(self.now_ms), self.now_ms)

    def lose(self) -> None:
        """The connection breaks; both ends begin anew."""
        self.session.restart()
        self.host.restart()

    def close(self) -> None:
        self.reader.close()
        self.journal.close()


@pytest.fixture
def wire(tmp_path: Path) -> Iterator[Wire]:
    wire = Wire(tmp_path)
    yield wire
    wire.close()


def test_the_device_introduces_itself_with_its_key_and_where_its_chain_stands(wire: Wire) -> None:
    wire.journal.write(FAULT)
    wire.run()
    assert wire.host.introduced["public_key"] == wire.identity.public_key
    assert (wire.host.introduced["next_n"], wire.host.introduced["head"]) == (2, wire.journal.head)
    assert wire.desk.present


def test_all_records_arrive_in_order_and_new_ones_follow(wire: Wire) -> None:
    wire.journal.write(*[FAULT] * 100)
    wire.run()
    wire.journal.write(FAULT)
    wire.run()
    assert len(wire.host.records) == 101


def test_a_backlog_goes_out_in_few_messages(wire: Wire) -> None:
    wire.journal.write(*[FAULT] * 100)
    wire.run()
    assert wire.host.numbers == list(range(1, 101))
    assert wire.host.heard.count("records") < 20


def test_after_a_loss_the_host_says_where_to_go_on(wire: Wire) -> None:
    wire.journal.write(*[FAULT] * 500)
    wire.run(6)
    before = len(wire.host.records)
    assert 0 < before < 500
    wire.lose()
    assert not wire.desk.present
    wire.run()
    assert len(wire.host.records) == 500
    assert wire.host.connections == 2


def test_a_second_welcome_has_the_records_sent_again_from_there(wire: Wire) -> None:
    wire.journal.write(*[FAULT] * 5)
    wire.run()
    wire.host.numbers.clear()
    wire.host.send("welcome", next_n=3, crop_n=0, crop_offset=0)
    wire.run()
    assert wire.host.numbers == [3, 4, 5]


def test_a_host_that_lacks_what_it_had_acknowledged_is_written_down_and_gets_all_again(wire: Wire) -> None:
    """An older copy of its ledger, or a second computer with its key: acts of people may be gone with it."""
    wire.journal.write(*[FAULT] * 5)
    wire.run()
    wire.lose()
    wire.run()
    assert wire.desk.received == []
    wire.session.restart()
    wire.host = TinyHost()
    wire.run()
    assert [fault.fields["word"] for fault in wire.desk.received] == ["host_is_old"]
    assert len(wire.host.records) == 5


def test_crops_follow_in_parts_and_arrive_whole(wire: Wire) -> None:
    pictures = {2: bytes(range(256)) * 10, 3: b"x", 5: b"y" * 1234}
    wire.journal.write(FAULT, judged(1, pictures[2]), judged(2, pictures[3]), FAULT, judged(3, pictures[5]))
    wire.run()
    assert wire.host.crops == pictures


def test_of_a_crop_that_was_cut_off_only_the_rest_is_sent_after_the_loss(wire: Wire) -> None:
    picture = bytes(range(250)) * 80
    wire.journal.write(judged(1, picture), judged(2, b"another"))
    wire.run(8)
    assert wire.host.crops == {}
    assert wire.host.crop_bytes > 0
    wire.lose()
    wire.run(200)
    assert wire.host.crops == {1: picture, 2: b"another"}
    assert wire.host.crop_bytes == len(picture) + len(b"another")


@pytest.mark.parametrize(("crop_n", "crop_offset"), [(1, 2000), (1, 5000), (2, 100), (0, 100)])
def test_a_place_to_go_on_from_that_is_not_in_the_crop_has_it_begin_anew(
    wire: Wire, crop_n: int, crop_offset: int
) -> None:
    wire.journal.write(judged(1, b"z" * 2000))
    wire.run()
    wire.host.crops.clear()
    wire.host.send("welcome", next_n=1, crop_n=crop_n, crop_offset=crop_offset)
    wire.run()
    assert wire.host.crops == ({1: b"z" * 2000} if crop_n < 2 else {})


def test_a_new_record_does_not_wait_for_the_crops(wire: Wire) -> None:
    wire.journal.write(judged(1, b"z" * 100_000))
    wire.run(20)
    wire.host.heard.clear()
    wire.journal.write(FAULT)
    wire.run(5)
    parts_before = wire.host.heard.index("records")
    assert parts_before <= 2
    assert wire.host.crops == {}


def test_the_panels_state_is_told_when_it_changes_and_after_a_loss(wire: Wire) -> None:
    wire.desk.state = ("feeding", "Feeding.")
    wire.run()
    wire.run()
    wire.lose()
    wire.run()
    assert wire.host.states == [("feeding", "Feeding.")] * 2


def test_a_program_comes_in_parts(wire: Wire) -> None:
    content = bytes(range(256)) * 40
    wire.host.programs[b"p" * 32] = content
    wire.run()
    wire.desk.program_wanted = b"p" * 32
    wire.run(100)
    assert wire.desk.received == [
        Received("program_arrived", {"program": b"p" * 32, "content": content}),
    ]


def test_a_program_that_was_cut_off_is_asked_for_again(wire: Wire) -> None:
    wire.host.programs[b"p" * 32] = bytes(50_000)
    wire.run()
    wire.desk.program_wanted = b"p" * 32
    wire.run(10)
    wire.lose()
    wire.run(300)
    assert [received.kind for received in wire.desk.received] == ["program_arrived"]


def test_orders_reach_the_station_as_they_are(wire: Wire) -> None:
    wire.run()
    wire.host.send("close_run", run="r1")
    wire.run()
    assert wire.desk.received == [Received("close_run", {"run": "r1"})]


def test_a_host_that_refuses_is_left_alone_and_its_reason_is_shown(wire: Wire) -> None:
    wire.host.refuses = "this device is not enrolled"
    wire.journal.write(FAULT)
    wire.run()
    assert wire.session.refused
    assert wire.desk.refusal == "this device is not enrolled"
    assert wire.host.records == []


def test_a_host_of_another_protocol_version_is_told_as_such_and_tried_again(wire: Wire) -> None:
    """Anybody who answers at the host's address can say so: it must not end the device."""
    wire.host = TinyHost(version=VERSION + 1)
    wire.journal.write(FAULT)
    wire.run()
    assert wire.session.refused
    assert f"speaks protocol version {VERSION + 1}, this end {VERSION}" in wire.desk.refusal
    assert wire.host.records == []
    wire.host = TinyHost()
    wire.session.restart()
    wire.run()
    assert wire.desk.present
    assert len(wire.host.records) == 1


def test_a_host_that_knows_later_records_shows_that_the_journal_is_an_old_copy(wire: Wire) -> None:
    wire.journal.write(FAULT)
    wire.host.claims_next_n = 7
    wire.run()
    assert "it is an old copy" in wire.desk.refusal
    assert not wire.desk.present


# Whom the device obeys


def test_a_host_with_another_key_hears_nothing_and_is_written_down(wire: Wire) -> None:
    wire.host = TinyHost(seed=FALSE_SEED)
    wire.journal.write(FAULT)
    wire.run()
    assert wire.host.heard == []
    assert "not the host that this device obeys" in wire.desk.refusal
    assert [fault.fields["word"] for fault in wire.desk.received] == ["another_host"]


def test_where_no_host_is_pinned_people_are_shown_its_words_and_it_hears_nothing(wire: Wire) -> None:
    wire.pin.words = ""
    wire.run()
    assert wire.desk.offered == [HOST_WORDS]
    assert (wire.host.heard, wire.desk.present) == ([], False)


def test_a_host_that_is_pinned_later_is_obeyed_at_the_next_connection(wire: Wire) -> None:
    wire.pin.words = ""
    wire.run()
    wire.pin.words = HOST_WORDS
    wire.lose()
    wire.run()
    assert wire.desk.present


def forge(wire: Wire, order: bytes, signature: bytes) -> None:
    wire.host.delivery.send(wire.host.channel.seal(pack("order", order=order, signature=signature)))
    wire.run()


def a_forgery(wire: Wire, what: str) -> tuple[bytes, bytes]:
    """Return an order that must not be obeyed, and its signature."""
    close = ("close_run", {"run": "r1"})
    key, here = wire.host.key, wire.host.session
    if what == "signed by another key":
        return sign_order(a_key(FALSE_SEED), here, 1, *close)
    if what == "for another device":
        return sign_order(key, Session("f" * 16, here.nonce), 1, *close)
    if what == "of an earlier connection":
        order = sign_order(key, here, 1, *close)
        wire.lose()
        wire.run()
        return order
    wire.host.send(*close[:1], **close[1])
    wire.run()
    assert wire.desk.received.pop() == Received(*close)
    return sign_order(key, here, 1, *close)


@pytest.mark.parametrize(
    "what", ["signed by another key", "for another device", "of an earlier connection", "played again"]
)
def test_a_forged_order_is_not_obeyed_but_shown_and_written_down(wire: Wire, what: str) -> None:
    wire.run()
    forge(wire, *a_forgery(wire, what))
    assert [fault.fields["word"] for fault in wire.desk.received] == ["forged_order"]
    assert "was refused: an order came" in wire.desk.refusal
    assert wire.session.refused


def test_a_man_in_the_middle_who_changes_a_byte_ends_the_connection_and_nothing_more(wire: Wire) -> None:
    wire.run()
    sealed = bytearray(wire.host.channel.seal(pack("refused", why="go away")))
    sealed[-1] ^= 1
    wire.host.delivery.send(bytes(sealed))
    wire.run()
    assert "changed on its way" in wire.desk.refusal
    assert wire.session.refused


def test_a_silent_host_is_not_present(wire: Wire) -> None:
    wire.run()
    wire.now_ms += 9000
    wire.session.receive(b"", wire.now_ms)
    assert not wire.desk.present


def test_memory_is_bounded_while_the_host_takes_nothing(wire: Wire) -> None:
    wire.journal.write(*[FAULT] * 500)
    wire.run(5)
    sent = sum(len(wire.session.output(wire.now_ms)) for _ in range(100))
    assert sent < 64 * 1024
    assert wire.session._delivery.unacknowledged <= 32
