"""What the ledger takes from devices, what it refuses, and what it says about it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from host.tests.enrolling import enrol, revoke
from host.tests.links.stand_in import StandIn
from recount_host.ledger import Ledger, Verdict, intake
from recount_protocol.records import NO_HASH, Record, encode_record, record_hash, sign

NewDevice = Callable[[str, int], StandIn]


def make_device(name: str = "device-1", seed: int = 1) -> StandIn:
    return StandIn(name, Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32))


def introduce(ledger: Ledger, device: StandIn, *, enrolled: bool = True) -> Verdict:
    if enrolled:
        enrol(ledger, device.name, device.public_key)
    n = len(device.journal) + 1
    return ledger.introduce(device.device, device.name, device.public_key, n, device.head).verdict


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


@pytest.fixture
def device(ledger: Ledger) -> StandIn:
    """A device that is known to the ledger and has written five records, none of them sent."""
    device = make_device()
    introduce(ledger, device)
    for number in range(5):
        device.write_fault(f"fault-{number}")
    return device


def test_a_record_is_kept_byte_for_byte_as_it_came(ledger: Ledger, device: StandIn, tmp_path: Path) -> None:
    assert ledger.add_record(*device.journal[0]).verdict is Verdict.STORED
    ledger.close()
    with Ledger(tmp_path / "ledger.sqlite", create=False) as again:
        (kept,) = again.stored_records()
        assert (kept.data, kept.signature) == device.journal[0]


def test_a_record_sent_again_is_kept_once(ledger: Ledger, device: StandIn) -> None:
    ledger.add_record(*device.journal[0])
    outcome = ledger.add_record(*device.journal[0])
    assert (outcome.verdict, outcome.next_n) == (Verdict.ALREADY, 2)
    assert len(ledger.records()) == 1


def test_a_record_twice_in_one_batch_is_kept_once(ledger: Ledger, device: StandIn) -> None:
    first, second = device.journal[0], device.journal[1]
    verdicts = [outcome.verdict for outcome in ledger.add_records([first, first, second, first])]
    assert verdicts == [Verdict.STORED, Verdict.ALREADY, Verdict.STORED, Verdict.ALREADY]
    assert [record.n for record in ledger.records()] == [1, 2]


def test_a_withheld_record_is_named_as_missing(ledger: Ledger, device: StandIn) -> None:
    ledger.add_record(*device.journal[0])
    outcome = ledger.add_record(*device.journal[4])
    assert (outcome.verdict, outcome.next_n) == (Verdict.GAP, 2)
    assert outcome.sentence == "records of device-1 are missing"
    assert [gap.sentence for gap in ledger.gaps()] == ["records 2 to 4 of device-1 are missing"]


def test_a_gap_is_still_named_after_a_restart(ledger: Ledger, device: StandIn, tmp_path: Path) -> None:
    ledger.add_record(*device.journal[1])
    ledger.close()
    with Ledger(tmp_path / "ledger.sqlite") as again:
        assert [gap.sentence for gap in again.gaps()] == ["record 1 of device-1 is missing"]


def test_a_gap_closes_when_the_missing_records_come(ledger: Ledger, device: StandIn) -> None:
    ledger.add_record(*device.journal[4])
    ledger.add_records(device.journal[:3])
    assert [gap.sentence for gap in ledger.gaps()] == ["record 4 of device-1 is missing"]
    ledger.add_records(device.journal[3:])
    assert ledger.gaps() == ()
    assert [record.n for record in ledger.records()] == [1, 2, 3, 4, 5]


def test_a_record_with_a_forged_signature_is_refused_and_the_refusal_kept(
    ledger: Ledger, device: StandIn
) -> None:
    data, _ = device.journal[0]
    forged = sign(Ed25519PrivateKey.from_private_bytes(bytes(32)), data)
    outcome = ledger.add_record(data, forged)
    assert outcome.verdict is Verdict.REFUSED
    assert ledger.records() == ()
    (refusal,) = ledger.refusals()
    assert (refusal.why, refusal.record_n) == ("a record does not bear the signature of device-1", 1)


def test_one_changed_byte_makes_a_record_refused(ledger: Ledger, device: StandIn) -> None:
    data, signature = device.journal[0]
    changed = data.replace(b"fault-0", b"fault-1")
    assert ledger.add_record(changed, signature).verdict is Verdict.REFUSED


def test_a_second_history_under_the_same_key_is_refused_and_shown(ledger: Ledger, device: StandIn) -> None:
    twin = make_device()
    twin.write_fault("another history")
    ledger.add_records(device.journal[:2])
    outcome = ledger.add_record(*twin.journal[0])
    assert outcome.verdict is Verdict.REFUSED
    assert "does not fit the records that it sent before" in ledger.refusals()[0].why
    assert [record.body["word"] for record in ledger.records()] == ["fault-0", "fault-1"]


def test_a_record_that_follows_another_history_is_refused(ledger: Ledger, device: StandIn) -> None:
    ledger.add_record(*device.journal[0])
    record = Record(device.device, 2, NO_HASH, "fault", "", 0, {"word": "jam", "detail": ""})
    data = encode_record(record)
    assert ledger.add_record(data, sign(device.key, data)).verdict is Verdict.REFUSED


def test_a_device_that_counts_its_records_down_fills_no_table(ledger: Ledger) -> None:
    device = make_device()
    introduce(ledger, device)
    for _ in range(intake.MAX_EARLY + 20):
        device.write_fault("jam")
    outcomes = ledger.add_records(device.journal[:0:-1])
    assert {outcome.verdict for outcome in outcomes} == {Verdict.GAP}
    assert outcomes[-1].sentence == "records of device-1 are missing"
    assert len(ledger.early_records()) == intake.MAX_EARLY
    assert {outcome.verdict for outcome in ledger.add_records(device.journal)} == {Verdict.STORED}


def test_a_record_that_came_early_binds_what_comes_later(ledger: Ledger, device: StandIn) -> None:
    """A device that lets record 2 be seen cannot write another record 2 once record 1 is asked for."""
    ledger.add_record(*device.journal[1])
    ledger.add_record(*device.journal[0])
    other = Record(device.device, 2, record_hash(device.journal[0][0]), "run_closed", "run-1", 0, {})
    data = encode_record(other)
    assert ledger.add_record(data, sign(device.key, data)).verdict is Verdict.REFUSED
    assert ledger.twins() == {device.device}


def test_no_refusal_tells_a_records_number_and_each_is_kept_with_it(ledger: Ledger) -> None:
    """A sheet is two records: a number told while people count blind would tell how many went through."""
    device, stranger = make_device("alpha"), make_device("beta", 9)
    introduce(ledger, device)
    for _ in range(30):
        device.write_set_aside(1, b"a picture", run="run", batch=1)
        stranger.write_fault("jam")
    ledger.add_records(device.journal[:20])
    other = Record(device.device, 21, NO_HASH, "fault", "", 0, {"word": "jam", "detail": ""})
    data = encode_record(other)
    told = [
        ledger.add_crop(device.device, 19, b"another picture").sentence,
        ledger.add_crop(device.device, 25, b"a picture").sentence,
        ledger.add_record(device.journal[24][0], bytes(64)).sentence,
        ledger.add_record(*device.journal[26]).sentence,
        ledger.add_record(*stranger.journal[28]).sentence,
        ledger.introduce(device.device, "alpha", device.public_key, 7, NO_HASH).sentence,
        ledger.introduce(device.device, "alpha", device.public_key, 21, NO_HASH).sentence,
        ledger.add_record(data, sign(device.key, data)).sentence,
        ledger.add_record(*device.journal[20]).sentence,
    ]
    assert all(told)
    assert [sentence for sentence in told if any(letter.isdigit() for letter in sentence)] == []
    assert [refusal.record_n for refusal in ledger.refusals()] == [19, 25, 29, 0, 0, 21]


def test_a_record_of_a_device_that_never_introduced_itself_is_refused(ledger: Ledger) -> None:
    stranger = make_device("stranger", 9)
    stranger.write_fault("jam")
    assert ledger.add_record(*stranger.journal[0]).verdict is Verdict.REFUSED


@pytest.mark.parametrize("data", [b"", b"\xc0", b"\x81\xa1n\x01", b"x" * 100_000])
def test_bytes_that_are_no_record_are_refused_with_a_sentence(ledger: Ledger, data: bytes) -> None:
    outcome = ledger.add_record(data, bytes(64))
    assert outcome.verdict is Verdict.REFUSED
    assert "record" in outcome.sentence


def test_refusals_of_one_device_are_bounded(ledger: Ledger, device: StandIn) -> None:
    for number in range(150):
        record = Record(device.device, number + 1, NO_HASH, "fault", "", 0, {"word": "jam", "detail": ""})
        ledger.add_record(encode_record(record), bytes(64))
    assert len(ledger.refusals()) == 100


def test_records_of_many_devices_are_kept_apart(ledger: Ledger) -> None:
    devices = [make_device(f"device-{seed}", seed) for seed in range(1, 5)]
    for device in devices:
        introduce(ledger, device)
        device.write_fault(device.name)
        device.write_fault("jam")
    woven = [device.journal[n] for n in (0, 1) for device in devices]
    assert {outcome.verdict for outcome in ledger.add_records(woven)} == {Verdict.STORED}
    for device in devices:
        assert [record.n for record in ledger.records(device.device)] == [1, 2]
        assert ledger.head(device.device) == (2, device.head)


# Who a device is


def test_a_device_is_known_by_the_act_of_both_sides_alone(ledger: Ledger) -> None:
    device = make_device()
    assert introduce(ledger, device, enrolled=False) is Verdict.NOT_ENROLLED
    assert (ledger.devices(), ledger.newcomers()[0].public_key) == ((), device.public_key)
    assert introduce(ledger, device) is Verdict.ALREADY
    (known,) = ledger.devices()
    assert (known.name, known.public_key) == ("device-1", device.public_key)
    assert ledger.newcomers() == ()


def test_no_record_of_a_device_that_is_not_enrolled_is_taken(ledger: Ledger) -> None:
    device = make_device()
    introduce(ledger, device, enrolled=False)
    device.write_fault("jam")
    assert ledger.add_record(*device.journal[0]).verdict is Verdict.REFUSED
    assert "not enrolled" in ledger.refusals()[0].why


def test_newcomers_are_bounded_and_a_new_start_of_the_host_has_room_again(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Strangers that show key after key keep a new device out while they do it, and not for good."""
    monkeypatch.setattr(intake, "MAX_INTRODUCED", 3)
    verdicts = [introduce(ledger, make_device(f"device-{n}", n), enrolled=False) for n in range(1, 6)]
    assert verdicts == [Verdict.NOT_ENROLLED] * 3 + [Verdict.REFUSED] * 2
    assert introduce(ledger, make_device("device-1", 1), enrolled=False) is Verdict.NOT_ENROLLED
    assert len(ledger.newcomers()) == 3
    ledger.close()
    with Ledger(tmp_path / "ledger.sqlite") as again:
        assert introduce(again, make_device("device-5", 5), enrolled=False) is Verdict.NOT_ENROLLED
        assert len(again.newcomers()) == 4


def test_strangers_that_use_a_devices_id_keep_no_proof_against_its_key_out(
    ledger: Ledger, device: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MAX_REFUSALS", 3)
    stranger = make_device("stranger", 9)
    for number in range(5):
        ledger.introduce(device.device, f"name-{number}", stranger.public_key, 1, NO_HASH)
    assert [refusal.device for refusal in ledger.refusals()] == [""] * 3
    twin = make_device()
    twin.write_fault("twin")
    ledger.add_record(*device.journal[0])
    assert ledger.add_record(*twin.journal[0]).verdict is Verdict.REFUSED
    assert ledger.twins() == {device.device}


def test_nothing_more_is_taken_from_a_revoked_device_and_what_it_delivered_stays(
    ledger: Ledger, device: StandIn
) -> None:
    ledger.add_records(device.journal[:2])
    revoke(ledger, device.name, device.public_key, "its table was left alone")
    assert introduce(ledger, device) is Verdict.REFUSED
    assert ledger.add_record(*device.journal[2]).verdict is Verdict.REFUSED
    assert [record.n for record in ledger.records()] == [1, 2]
    assert "it was revoked here (its table was left alone)" in [refusal.why for refusal in ledger.refusals()]


def test_a_key_that_signed_two_histories_is_taken_from_nobody_any_more(
    ledger: Ledger, device: StandIn, tmp_path: Path
) -> None:
    """Nobody knows which of both is the true device: the true one, too, waits until people have looked."""
    ledger.add_records(device.journal[:2])
    twin = make_device()
    for _ in range(3):
        twin.write_fault("twin")
    assert ledger.add_record(*twin.journal[2]).verdict is Verdict.REFUSED
    assert ledger.twins() == {device.device}
    assert ledger.add_record(*device.journal[2]).verdict is Verdict.REFUSED
    ledger.close()
    with Ledger(tmp_path / "ledger.sqlite") as again:
        assert introduce(again, device) is Verdict.REFUSED
        assert [record.n for record in again.records()] == [1, 2]
        assert len(again.refusals()) == 1


def test_another_key_under_an_enrolled_name_is_refused_and_shown(ledger: Ledger) -> None:
    introduce(ledger, make_device("device-1", 1))
    assert introduce(ledger, make_device("device-1", 2), enrolled=False) is Verdict.REFUSED
    assert "another device, with another key, is enrolled here as device-1" in ledger.refusals()[0].why
    assert len(ledger.devices()) == 1


def test_an_enrolled_key_under_another_name_is_refused(ledger: Ledger) -> None:
    introduce(ledger, make_device("device-1", 1))
    assert introduce(ledger, make_device("device-2", 1)) is Verdict.REFUSED


def test_a_device_that_does_not_show_the_key_of_its_id_is_refused(ledger: Ledger) -> None:
    one, other = make_device("device-1", 1), make_device("device-2", 2)
    outcome = ledger.introduce(one.device, "device-1", other.public_key, 1, NO_HASH)
    assert outcome.verdict is Verdict.REFUSED


def test_an_old_copy_of_a_devices_journal_is_noticed(ledger: Ledger, device: StandIn) -> None:
    ledger.add_records(device.journal)
    old = make_device()
    old.journal, old.head = device.journal[:2], record_hash(device.journal[1][0])
    assert introduce(ledger, old) is Verdict.REFUSED
    assert "its journal ends before records of it that are here" in ledger.refusals()[0].why


def test_a_device_with_another_last_record_is_refused(ledger: Ledger, device: StandIn) -> None:
    ledger.add_records(device.journal)
    outcome = ledger.introduce(device.device, device.name, device.public_key, 6, bytes([7]) * 32)
    assert outcome.verdict is Verdict.REFUSED


def test_a_device_is_told_where_to_go_on(ledger: Ledger, device: StandIn) -> None:
    ledger.add_records(device.journal[:3])
    outcome = ledger.introduce(device.device, device.name, device.public_key, 6, device.head)
    assert (outcome.verdict, outcome.next_n) == (Verdict.ALREADY, 4)


# Crops and programs


def test_a_crop_is_kept_when_it_is_the_one_that_its_record_names(ledger: Ledger, device: StandIn) -> None:
    device.write_set_aside(1, b"a picture", run="run-1", batch=1)
    ledger.add_records(device.journal)
    assert ledger.next_crop_n(device.device) == 6
    assert ledger.add_crop(device.device, 6, b"a picture").verdict is Verdict.STORED
    assert ledger.add_crop(device.device, 6, b"a picture").verdict is Verdict.ALREADY
    assert ledger.next_crop_n(device.device) == 0
    assert ledger.crop(device.device, 6) == b"a picture"


def test_another_picture_than_the_record_names_is_refused(ledger: Ledger, device: StandIn) -> None:
    device.write_set_aside(1, b"a picture", run="run-1", batch=1)
    ledger.add_records(device.journal)
    assert ledger.add_crop(device.device, 6, b"another picture").verdict is Verdict.REFUSED
    assert ledger.crop(device.device, 6) is None


def test_a_crop_for_a_record_without_one_is_refused(ledger: Ledger, device: StandIn) -> None:
    ledger.add_records(device.journal)
    assert ledger.add_crop(device.device, 1, b"").verdict is Verdict.REFUSED


def test_a_crop_that_comes_before_its_record_waits_for_it(ledger: Ledger, device: StandIn) -> None:
    assert ledger.add_crop(device.device, 1, b"a picture").verdict is Verdict.GAP
    assert ledger.refusals() == ()


def test_the_lowest_missing_crop_is_asked_for_first_also_after_a_restart(
    ledger: Ledger, device: StandIn, tmp_path: Path
) -> None:
    for sheet in (1, 2, 3):
        device.write_set_aside(sheet, f"picture {sheet}".encode(), run="run-1", batch=1)
    ledger.add_records(device.journal)
    ledger.add_crop(device.device, 6, b"picture 1")
    ledger.close()
    with Ledger(tmp_path / "ledger.sqlite") as again:
        assert again.next_crop_n(device.device) == 7
        assert again.crops() == {(device.device, 6)}


def test_a_contest_program_is_kept_under_its_hash(ledger: Ledger) -> None:
    assert ledger.add_program(bytes([1]) * 32, b"program")
    assert not ledger.add_program(bytes([1]) * 32, b"program")
    assert ledger.program(bytes([1]) * 32) == b"program"
    assert ledger.program(bytes(32)) is None
    assert ledger.program_hashes() == (bytes([1]) * 32,)
