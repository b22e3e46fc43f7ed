"""What host and device say to each other, from the first hello to the last acknowledgement."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgpack import packb

from host.tests.links.stand_in import Connection, StandIn
from recount_host.links.crop_under_way import CropPlace, CropUnderWay
from recount_host.links.wants import Introduce
from recount_protocol.delivery import Delivery
from recount_protocol.key_words import key_words
from recount_protocol.tally_messages import MAX_PAYLOAD_BYTES, TABLE_HASH, VERSION, pack

from .table import Table, a_device


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    table = Table(tmp_path)
    yield table
    table.ledger.close()


def faults(device: StandIn, count: int) -> StandIn:
    for number in range(count):
        device.write_fault(f"fault-{number}")
    return device


def said(device: StandIn, kind: str) -> list[dict[str, object]]:
    return [fields for heard, fields in device.heard if heard == kind]


def test_a_new_device_is_welcomed_and_its_records_are_acknowledged(table: Table) -> None:
    device = faults(a_device(), 20)
    session = table.connect(device)
    assert table.run(lambda: device.acknowledged_n == 20)
    assert device.heard[0] == ("welcome", {"next_n": 1, "crop_n": 0, "crop_offset": 0})
    assert [stored.data for stored in table.ledger.stored_records()] == [data for data, _ in device.journal]
    assert session.condition.connected
    assert session.device == device.device


def test_nothing_is_acknowledged_before_it_is_on_disk(table: Table) -> None:
    device = faults(a_device(), 5)
    table.connect(device)
    assert table.run(lambda: bool(said(device, "welcome")))
    table.ledger_answers = False
    device.write_fault("late")
    table.run(longest_ms=5_000)
    assert device.acknowledged_n < 6
    table.ledger_answers = True
    assert table.run(lambda: device.acknowledged_n == 6)


def test_after_a_restart_a_device_goes_on_where_the_ledger_stands(table: Table) -> None:
    device = faults(a_device(), 5)
    table.connect(device)
    assert table.run(lambda: device.acknowledged_n == 5)
    faults(device, 3)
    table.connect(device)
    assert table.run(lambda: device.acknowledged_n == 8)
    assert said(device, "welcome")[1] == {"next_n": 6, "crop_n": 0, "crop_offset": 0}
    assert [record.n for record in table.ledger.records()] == list(range(1, 9))


def test_a_withheld_record_is_named_and_asked_for_again(table: Table) -> None:
    device = faults(a_device(), 10)
    device.withheld = {4, 5, 6}
    session = table.connect(device)
    assert table.run(lambda: session.condition.gap != "")
    assert session.condition.gap == "records of device-1 are missing"
    device.withheld = set()
    assert table.run(lambda: device.acknowledged_n == 10)
    assert session.condition.gap == ""
    assert table.ledger.gaps() == ()


def test_while_a_record_is_withheld_nothing_after_it_is_acknowledged(table: Table) -> None:
    device = faults(a_device(), 10)
    device.withheld = {4}
    session = table.connect(device)
    table.run(longest_ms=10_000)
    assert device.acknowledged_n == 3
    assert session.condition.gap == "records of device-1 are missing"
    assert 3 <= len(said(device, "welcome")) <= 7, "asked again now and then, not in a storm"


def test_a_crop_comes_in_parts_behind_the_records(table: Table) -> None:
    device = a_device()
    picture = bytes(range(256)) * 400
    device.write_set_aside(1, picture, run="run-1", batch=1)
    faults(device, 10)
    table.connect(device)
    assert table.run(lambda: device.crops_taken == [1])
    assert table.ledger.crop(device.device, 1) == picture
    assert device.acknowledged_n == 11


def test_of_a_crop_cut_off_in_the_middle_only_the_rest_is_sent_after_the_reconnect(table: Table) -> None:
    device = a_device()
    pictures = {n: bytes([n]) * 700_000 for n in (1, 2)}
    for n, picture in pictures.items():
        device.write_set_aside(n, picture, run="run-1", batch=1)
    for cut_at in (60_000, 400_000):
        table.connect(device)
        assert table.run(lambda at=cut_at: table.crop_place.offset_of(1) > at)
        assert device.crops_taken == []
    here, device.crop_bytes_sent = table.crop_place.offset_of(1), 0
    table.connect(device)
    assert table.run(lambda: device.crops_taken == [1, 2])
    assert {n: table.ledger.crop(device.device, n) for n in pictures} == pictures
    assert device.crop_bytes_sent == 1_400_000 - here


def test_a_part_that_does_not_go_on_where_the_crop_ends_has_it_begin_anew(table: Table) -> None:
    device = a_device()
    device.write_set_aside(1, b"z" * 300_000, run="run-1", batch=1)
    table.connect(device)
    assert table.run(lambda: table.crop_place.offset_of(1) > 100_000)
    assert table.crop_place.crop is not None
    del table.crop_place.crop.received[-1:]
    assert table.run(lambda: device.crops_taken == [1])
    assert table.ledger.crop(device.device, 1) == b"z" * 300_000


def test_what_came_over_one_connection_is_not_touched_by_the_one_before() -> None:
    before = CropPlace(CropUnderWay(3, 10, b"s" * 32, bytearray(b"12345")))
    after = before.for_next_connection()
    assert before.crop is not None
    before.crop.received += b"late"
    assert after.offset_of(3) == 5
    assert after.offset_of(4) == 0
    assert CropPlace().for_next_connection().offset_of(3) == 0


def test_a_crop_that_is_not_the_one_of_its_record_is_refused(table: Table) -> None:
    device = a_device()
    device.write_set_aside(1, b"picture", run="run-1", batch=1)
    device.crops[1] = b"another"
    session = table.connect(device)
    assert table.run(lambda: session.finished)
    assert "is not the one that its record names" in device.refused
    assert table.ledger.crop(device.device, 1) is None


def test_a_contest_program_is_sent_part_by_part(table: Table) -> None:
    program, data = bytes([5]) * 32, bytes(range(256)) * 600
    table.ledger.add_program(program, data)
    device = a_device()
    table.connect(device)
    assert table.run(lambda: bool(said(device, "welcome")))
    assert table.connection is not None
    table.connection.ask_for_program(program)
    assert table.run(lambda: bytes(device.programs[program]) == data)
    assert len(said(device, "program_part")) == 5


def test_a_program_that_is_not_here_is_shown_as_the_devices_problem(table: Table) -> None:
    device = a_device()
    session = table.connect(device)
    assert table.run(lambda: bool(said(device, "welcome")))
    assert table.connection is not None
    table.connection.ask_for_program(bytes([6]) * 32)
    assert table.run(lambda: "which is not here" in session.condition.problem)
    assert session.condition.connected


def test_a_duty_is_said_until_it_is_done(table: Table) -> None:
    device = a_device()
    table.connect(device)
    assert table.run(lambda: bool(said(device, "welcome")))
    duty = ("close_run", {"run": "run-1"})
    table.give_duties(duty)
    assert table.run(lambda: len(said(device, "close_run")) == 3, longest_ms=6_000)
    table.give_duties()
    table.run(longest_ms=1_000)
    heard = len(said(device, "close_run"))
    table.run(longest_ms=10_000)
    assert len(said(device, "close_run")) == heard


def test_a_duty_that_was_given_before_the_welcome_is_said_after_it(table: Table) -> None:
    device = a_device()
    table.connect(device)
    table.give_duties(("close_run", {"run": "run-1"}))
    assert table.run(lambda: bool(said(device, "close_run")))
    assert device.heard[0][0] == "welcome"


def test_the_words_of_a_device_reach_the_condition(table: Table) -> None:
    device = a_device()
    session = table.connect(device)
    assert table.run(lambda: bool(said(device, "welcome")))
    assert table.connection is not None
    table.connection.say("feeding", "Feeding batch 3.")
    assert table.run(lambda: session.condition.state == "feeding")
    assert session.condition.note == "Feeding batch 3."


# Who is turned away


def test_another_key_under_a_known_name_is_turned_away_with_the_reason(table: Table) -> None:
    table.connect(a_device("device-1", 1))
    table.run(longest_ms=1_000)
    thief = faults(a_device("device-1", 2), 3)
    session = table.connect(thief, enrolled=False)
    assert table.run(lambda: session.finished)
    assert "another device, with another key" in thief.refused
    assert session.device == ""
    assert table.ledger.records(thief.device) == ()


def test_a_second_device_with_the_same_key_is_turned_away(table: Table) -> None:
    device = faults(a_device(), 5)
    table.connect(device)
    assert table.run(lambda: device.acknowledged_n == 5)
    clone = a_device()
    for _ in range(7):
        clone.write_fault("clone")
    session = table.connect(clone)
    assert table.run(lambda: session.finished)
    assert "does not fit the records that it sent before" in clone.refused
    assert len(table.ledger.refusals()) == 1


def test_a_device_that_is_not_enrolled_is_shown_with_its_words_and_nothing_of_it_is_taken(
    table: Table,
) -> None:
    device = faults(a_device(), 3)
    session = table.connect(device, enrolled=False)
    assert table.run(lambda: session.finished)
    assert key_words(device.public_key) in session.condition.problem
    assert key_words(device.public_key) in device.refused
    assert [newcomer.name for newcomer in table.ledger.newcomers()] == ["device-1"]
    assert table.ledger.records() == ()
    table.connect(device)
    assert table.run(lambda: device.acknowledged_n == 3)


def test_a_device_that_names_a_key_which_it_does_not_have_is_turned_away(table: Table) -> None:
    device, thief = a_device("device-1", 1), a_device("device-1", 2)
    thief.device, thief.public_key = device.device, device.public_key
    session = table.connect(thief)
    assert table.run(lambda: session.finished)
    assert "does not prove that it has the key" in thief.refused
    assert not session.condition.welcomed


def test_a_proof_that_was_overheard_is_worth_nothing_on_another_connection(table: Table) -> None:
    device = a_device()
    table.connect(device)
    assert table.connection is not None
    overheard = table.connection.introduction
    challenges: list[bytes] = []

    def hear(challenge: bytes) -> None:
        challenges.append(challenge)

    table.connection._introduce = hear
    assert table.run(lambda: bool(challenges))
    old = overheard(challenges[0])
    session = table.connect(device)
    connection = table.connection

    def say_the_old(challenge: bytes) -> None:
        connection._introduced = True
        connection._outbox.append(pack("introduce", **old))

    connection._introduce = say_the_old
    assert table.run(lambda: session.finished)
    assert "does not prove" in device.refused


def test_a_man_in_the_middle_who_changes_one_byte_ends_the_connection(table: Table) -> None:
    device = faults(a_device(), 1)
    session = table.connect(device)
    assert table.run(lambda: device.acknowledged_n == 1)
    connection = table.connection
    assert connection is not None
    sealed = bytearray(connection.channel.seal(pack("device_state", state="x", note="")))
    sealed[-1] ^= 1
    connection._delivery.send(bytes(sealed))
    assert table.run(lambda: session.finished)
    assert "was changed" in session.condition.problem


def test_an_order_is_signed_for_the_device_and_this_connection(table: Table) -> None:
    device = a_device()
    table.connect(device)
    assert table.run(lambda: bool(said(device, "welcome")))
    table.give_duties(("close_run", {"run": "run-1"}))
    # The stand-in verifies key, device, session and number before it hears an order.
    assert table.run(lambda: len(said(device, "close_run")) == 2)


def test_a_device_of_another_protocol_version_is_shown_with_the_reason(table: Table) -> None:
    device = a_device()
    session = table.connect(device)
    table.connection = Connection(device, version=VERSION + 1)
    assert table.run(lambda: session.finished)
    assert (
        f"the other end speaks protocol version {VERSION + 1}, this end {VERSION}"
        in session.condition.problem
    )


@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (b"\xc1", "not a message"),
        (pack("records", records=[bytes(65)]), "before it was welcomed"),
        (pack("program_wanted", program=bytes(32), offset=0), "before it was welcomed"),
        (pack("acknowledged", n=1), "which only the host may send"),
        # What it sent is quoted in the refusal, which has to fit into its message.
        (packb({"kind": "device_state", "state": "x", "note": "", "Z" * 30_000: 1}), "there is no field"),
        (packb({"kind": "device_state", "state": {"Z" * 30_000: 1}, "note": ""}), "not a message"),
    ],
)
def test_an_end_that_breaks_the_protocol_is_turned_away(table: Table, payload: bytes, why: str) -> None:
    device = a_device()
    session = table.connect(device)
    connection = table.connection
    assert connection is not None

    def say_that(challenge: bytes) -> None:
        connection._introduced = True
        connection._outbox.append(payload)

    connection._introduce = say_that
    assert table.run(lambda: session.finished)
    assert why in device.refused


def test_a_device_is_given_nothing_while_the_ledger_has_not_said_who_it_is(table: Table) -> None:
    """Everybody can make a key and introduce himself with it: what follows at once is not looked at."""
    stranger = faults(a_device(), 1)
    session = table.connect(stranger, enrolled=False)
    connection = table.connection
    assert connection is not None
    table.ledger_answers = False
    assert table.run(lambda: bool(table.unanswered))
    connection._outbox.append(pack("program_wanted", program=bytes(32), offset=0))
    connection._outbox.append(pack("records", records=[stranger.journal[0][1] + stranger.journal[0][0]]))
    assert table.run(lambda: session.finished)
    assert "program_wanted before it was welcomed" in stranger.refused
    assert [type(want) for want in table.unanswered] == [Introduce]


def test_a_device_that_asks_again_and_again_and_takes_no_answer_is_left(table: Table) -> None:
    """Each wish costs it a hundred bytes and us a part of a program: what waits for it is bounded."""
    program = bytes([5]) * 32
    table.ledger.add_program(program, bytes(1_000_000))
    device = a_device()
    session = table.connect(device)
    assert table.run(lambda: bool(said(device, "welcome")))
    connection = table.connection
    assert connection is not None
    connection.after_welcome += [pack("program_wanted", program=program, offset=0)] * 1_000
    connection._delivery._take_payload = lambda number, packet: None  # noqa: ARG005 - it takes none
    assert table.run(lambda: session.finished)
    assert session.condition.problem == "it asks again and again and takes no answer"


def test_a_device_that_falls_silent_is_shown_as_not_connected(table: Table) -> None:
    device = a_device()
    session = table.connect(device)
    assert table.run(lambda: bool(said(device, "welcome")))
    table.connection = _Silent(device)
    assert table.run(lambda: session.finished, longest_ms=20_000)
    assert not session.condition.connected


def test_a_device_that_outruns_the_disk_is_held_back(table: Table) -> None:
    device = faults(a_device(), 600)
    session = table.connect(device)
    assert table.run(lambda: bool(said(device, "welcome")))
    table.ledger_answers = False
    table.run(lambda: not session.may_read, longest_ms=5_000)
    assert not session.may_read
    table.ledger_answers = True
    table.run(lambda: session.may_read, longest_ms=1_000)
    assert session.may_read


class _Silent(Connection):
    """A device whose cable is cut: it neither hears nor says anything."""

    def receive(self, data: bytes, now_ms: int) -> None:
        pass

    def output(self, now_ms: int) -> bytes:  # noqa: ARG002 - it says nothing at any time
        return b""

    def next_deadline_ms(self, now_ms: int) -> int:
        return now_ms + 1_000


def test_a_link_on_which_nobody_introduces_itself_is_given_up(table: Table) -> None:
    session = table.session
    session.receive(b"", 1_000)
    session.receive(b"", 30_999)
    assert not session.finished
    session.receive(b"", 31_000)
    assert session.finished


def test_garbage_on_the_wire_is_survived(table: Table) -> None:
    device = faults(a_device(), 5)
    session = table.connect(device)
    session.receive(b"\x00AT+GMM\r\n\x00\xff\xff\x00" * 20, table.now_ms)
    assert table.run(lambda: device.acknowledged_n == 5)


def test_an_echoed_line_is_no_device(table: Table) -> None:
    """A cable whose two wires touch gives everything back."""
    delivery = Delivery(VERSION, TABLE_HASH, 1, MAX_PAYLOAD_BYTES)
    session = table.session
    session.receive(session.output(1_000), 1_000)
    session.receive(delivery.output(1_000), 1_000)
    assert not session.condition.connected
