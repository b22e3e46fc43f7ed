"""A bundle that is what was done verifies; whatever was changed in it is found, whoever changed it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgpack
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from host.tests.exports.localities import (
    HOST_KEY,
    MARKS,
    UTC,
    MixedDevice,
    a_finished_day,
    a_scanned_day,
    export,
    fill,
    no_progress,
    reading_program,
    verified,
)
from host.tests.exports.tampering import (
    files_of,
    path_of,
    signed_anew,
    sound_bundle,
    sound_files,
    tar_of,
    with_change,
)
from host.tests.rehearsal import ANN, BOB, BOTH, Day
from host.tests.sound_device import TWELVE_SHEETS, Device, Sheet
from host.tests.web.read_sheets import evidence_of, png_of, sheet_of
from recount_classifier.deck_mark import EXPECTED_GATE
from recount_host.act import NO_ACT, Person, act_hash, decode_act, encode_act
from recount_host.exports.bundle import check_may_leave, export_bundle
from recount_host.exports.errors import ExportRefused
from recount_host.exports.judging import Case, Judges
from recount_host.exports.layout import ACTS_FORM, RECORDS_FORM, chain_item, chain_items
from recount_host.exports.modes import read_in_another_mode
from recount_host.exports.opened import open_bundle
from recount_host.exports.report import Report
from recount_host.exports.tar import tar_bytes
from recount_host.law.drafts import runs_to_end
from recount_host.ledger import Ledger
from recount_protocol.fates import COUNTED
from recount_protocol.records import decode_record

COURT = X25519PrivateKey.from_private_bytes(b"cour" * 8)


def report_of(folder: Path, bundle: bytes) -> Report:
    path = folder / "bundle.tar"
    path.write_bytes(bundle)
    return verified(path)


def problems(folder: Path, bundle: bytes) -> list[str]:
    return [f"{problem.where}: {problem.what}" for problem in report_of(folder, bundle).problems]


def acts() -> list[bytes]:
    return [item for item, _ in chain_items([sound_files()["acts.chain"]], ACTS_FORM)]


def records() -> list[tuple[bytes, bytes]]:
    return list(chain_items([sound_files()[path_of("records/")]], RECORDS_FORM))


def with_records(changed: Sequence[tuple[bytes, bytes]]) -> bytes:
    return with_change(path_of("records/"), lambda _: b"".join(chain_item(*each) for each in changed))


@pytest.mark.parametrize("target", ["bundle.tar", "bundle"])
def test_the_bundle_of_a_finished_day_holds(target: str, tmp_path: Path) -> None:
    path, made = export(tmp_path, target, a_finished_day())
    report = verified(path)
    assert report.problems == []
    assert made.missing == ()
    assert report.checked == {
        "acts": 21, "records": 13, "programs": 1, "precincts": 1, "statements": 1, "crops": 5
    }  # fmt: skip
    (precinct,) = report.precincts
    assert precinct.figures == {"C": 3, "S": 2, "X": 0, "votes D": 2, "votes R": 1}
    assert all(precinct.identities.values())


def test_the_same_ledger_gives_the_same_bundle(tmp_path: Path) -> None:
    first, _ = export(tmp_path, "first.tar", a_finished_day())
    second, _ = export(tmp_path, "second.tar", a_finished_day())
    assert first.read_bytes() == second.read_bytes()


def test_every_file_that_was_changed_is_named(tmp_path: Path) -> None:
    files = sound_files()
    changed = {path: content[:-1] + bytes([content[-1] ^ 1]) for path, content in files.items()}
    manifest = files_of(sound_bundle())["manifest.json"]
    report = report_of(tmp_path, tar_of(changed, manifest))
    assert {problem.where for problem in report.problems if "SHA-256" in problem.what} == set(files)


def test_every_file_that_is_missing_is_named(tmp_path: Path) -> None:
    manifest = files_of(sound_bundle())["manifest.json"]
    report = report_of(tmp_path, tar_of({}, manifest))
    missing = {problem.where for problem in report.problems if problem.what == "this file is missing"}
    assert missing == set(sound_files())


def test_a_file_that_no_manifest_names_is_told_of(tmp_path: Path) -> None:
    path, _ = export(tmp_path, "bundle", a_finished_day())
    (path / "crops" / "more.png").write_bytes(b"")
    (path / "more").mkdir()
    found = {problem.where for problem in verified(path).problems}
    assert found == {"crops/more.png", "more"}


def test_a_manifest_that_another_key_signed_is_found(tmp_path: Path) -> None:
    files = files_of(sound_bundle())
    forged = {**files, "manifest.signature": bytes(64)}
    bundle = b"".join(tar_bytes((path, len(c), (c,)) for path, c in forged.items()))
    assert problems(tmp_path, bundle) == [
        "manifest.signature: the manifest does not bear the signature of the host's key"
    ]


def test_the_hosts_fingerprint_from_paper_tells_another_host(tmp_path: Path) -> None:
    path = tmp_path / "bundle.tar"
    path.write_bytes(sound_bundle())
    own = verified(path).host_fingerprint
    assert verified(path, host=own[:16]).sound
    assert "another host" in verified(path, host="0" * 16).problems[0].what


# Somebody who has the host's key and signs anew


def test_the_sound_bundle_signed_anew_holds(tmp_path: Path) -> None:
    assert problems(tmp_path, signed_anew(sound_files())) == []


def test_an_edited_record_is_found(tmp_path: Path) -> None:
    changed = [(data.replace(b"counted", b"set_aside"), signature) for data, signature in records()]
    assert any("behind record" in line for line in problems(tmp_path, with_records(changed)))


def test_a_record_left_out_is_found(tmp_path: Path) -> None:
    kept = records()
    del kept[4]
    found = problems(tmp_path, with_records(kept))
    assert any("behind record 4: it has another number" in line for line in found)


def test_records_cut_off_at_their_end_are_found_by_the_heads_that_were_fixed(tmp_path: Path) -> None:
    found = problems(tmp_path, with_records(records()[:-1]))
    assert any("record 13 of alpha was here then, and is not in the bundle" in line for line in found)


def test_a_journal_written_anew_with_the_devices_key_is_found(tmp_path: Path) -> None:
    other = a_scanned_day(("D", "D", "D", "DR", ""))
    device = other.devices["alpha"]
    files = sound_files()
    files[path_of("records/")] = b"".join(chain_item(*each) for each in device.signed())
    found = problems(tmp_path, signed_anew(files))
    assert any("record 13 of alpha is not the one that was here then" in line for line in found)


def test_an_edited_act_is_found(tmp_path: Path) -> None:
    items = acts()
    items[6] = items[6].replace(b"Ann Lee", b"Ann Loe")
    changed = b"".join(map(chain_item, items))
    found = problems(tmp_path, with_change("acts.chain", lambda _: changed))
    assert any("act 8 does not follow the act before it" in line for line in found)


def test_acts_cut_off_at_their_end_leave_a_statement_that_nobody_printed(tmp_path: Path) -> None:
    changed = b"".join(map(chain_item, acts()[:-1]))
    found = problems(tmp_path, with_change("acts.chain", lambda _: changed))
    assert any("no act says that this form was printed" in line for line in found)


def test_another_picture_is_found(tmp_path: Path) -> None:
    found = problems(tmp_path, with_change(path_of("crops/"), lambda _: png_of("R")))
    assert any("not the picture that record" in line for line in found)


def test_a_picture_that_never_came_is_found(tmp_path: Path) -> None:
    files = sound_files()
    del files[path_of("crops/")]
    found = problems(tmp_path, signed_anew(files))
    assert any(line.endswith("its picture is not in the bundle") for line in found)


def test_another_statement_is_found(tmp_path: Path) -> None:
    found = problems(tmp_path, with_change(path_of("statements/"), lambda pdf: pdf + b" "))
    assert any("it is not the form that act 21 printed" in line for line in found)


def test_another_order_is_found(tmp_path: Path) -> None:
    found = problems(tmp_path, with_change("order.toml", lambda text: text + b"\n"))
    assert any("not the order under which the host worked" in line for line in found)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"toml": b"\xff\xfe"}, "not a text in UTF-8"),
        ({"signatures": [{"name": "Cleo May", "public_key": "zz", "signature": b""}]}, "is none"),
    ],
    ids=["no text", "no signature"],
)
def test_an_order_that_no_host_takes_is_told_of(body: dict[str, object], said: str, tmp_path: Path) -> None:
    changed = [with_body(data, **body) if b"order_set" in data else data for data in acts()]
    files = {**sound_files(), "acts.chain": b"".join(map(chain_item, changed))}
    assert any(said in line for line in problems(tmp_path, signed_anew(files)))


@pytest.mark.parametrize(
    "option",
    [
        {"key": "D", "name": "Ann", "write-in": False},
        {"key": "D", "name": "Ann", "write_in": 0},
        {"key": "D", "name": "\x1b[2J", "write_in": False},
        {"key": 1, "name": "Ann", "write_in": False},
    ],
)
def test_a_contest_that_no_program_has_is_told_of(option: dict[str, object], tmp_path: Path) -> None:
    changed = [with_body(data, options=[option]) if b"program_added" in data else data for data in acts()]
    files = {**sound_files(), "acts.chain": b"".join(map(chain_item, changed))}
    assert any("none that this program writes" in line for line in problems(tmp_path, signed_anew(files)))


def test_a_missing_program_is_found(tmp_path: Path) -> None:
    files = sound_files()
    del files[path_of("programs/")]
    found = problems(tmp_path, signed_anew(files))
    assert any("the program" in line and "is not in the bundle" in line for line in found)


@pytest.mark.parametrize(
    ("kind", "by", "said"),
    [
        ("device_enrolled", (ANN,), "two persons of different sides"),
        ("device_enrolled", (ANN, replace(BOB, side="Q")), "the sides of this recount are D or R"),
        ("hand_count_entered", (replace(ANN, side="R"), replace(BOB, side="D")), "Ann Lee acts for another"),
        ("statement_printed", (Person("Olga Day", "observer", ""),), "Olga Day is an observer"),
    ],
)
def test_an_act_of_persons_whom_no_host_lets_do_it_is_found(
    kind: str, by: tuple[Person, ...], said: str, tmp_path: Path
) -> None:
    chain, prev = b"", NO_ACT
    for data in acts():
        act = replace(decode_act(data), prev=prev)
        changed = encode_act(replace(act, by=by) if act.kind == kind else act)
        chain, prev = chain + chain_item(changed), act_hash(changed)
    found = problems(tmp_path, signed_anew({**sound_files(), "acts.chain": chain}))
    assert any(f"({kind})" in line and said in line for line in found)


def test_a_device_whose_enrolment_names_another_key_is_found(tmp_path: Path) -> None:
    changed = [
        with_body(data, public_key=b"\x11" * 32) if b"device_enrolled" in data else data for data in acts()
    ]
    files = {**sound_files(), "acts.chain": b"".join(map(chain_item, changed))}
    found = problems(tmp_path, signed_anew(files))
    assert any("id or words of alpha are not those of its key" in line for line in found)
    assert any("records of a device that no act enrols" in line for line in found)


def with_body(act: bytes, **changed: object) -> bytes:
    """Return the act with other fields in its body."""
    fields = msgpack.unpackb(act)
    return msgpack.packb({**fields, "body": {**fields["body"], **changed}}) or b""


def test_records_of_a_device_that_nobody_enrolled_are_told_of(tmp_path: Path) -> None:
    stranger = MixedDevice("stranger", MARKS)
    stranger.write("device_started", {"software": "s", "firmware": "f", "boot": 1, "note": ""}, batch=0)
    chain = b"".join(chain_item(*each) for each in stranger.signed())
    files = {**sound_files(), f"records/{stranger.id}.chain": chain}
    found = problems(tmp_path, signed_anew(files))
    assert any("records of a device that no act enrols" in line for line in found)


def test_a_signature_that_is_not_over_the_order_is_found(tmp_path: Path) -> None:
    key = HOST_KEY.public_key().public_bytes_raw().hex()
    false = {"name": "Cleo May, clerk", "public_key": key, "signature": "00" * 64}
    changed = [with_body(data, signatures=[false]) if b"order_set" in data else data for data in acts()]
    files = {**sound_files(), "acts.chain": b"".join(map(chain_item, changed))}
    found = problems(tmp_path, signed_anew(files))
    assert any("the signature of 'Cleo May, clerk' is not over this order" in line for line in found)


def test_what_was_refused_is_in_the_bundle_with_its_bytes_and_the_number_of_the_record(
    tmp_path: Path,
) -> None:
    day = a_scanned_day()
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        fill(ledger, day)
        ledger.add_record(b"no record at all", bytes(64))
        ledger.add_record(records()[3][0], bytes(64))
        made = export_bundle(ledger, HOST_KEY, tmp_path / "b.tar", COURT.public_key(), UTC, no_progress)
    with open_bundle(tmp_path / "b.tar", COURT) as opened:
        files = {member.path: b"".join(member.chunks) for member in opened.members}
    assert made.files > 0
    told, unsigned = json.loads(files["refusals.json"])
    assert "not a record" in told["why"]
    assert files[told["file"]] == b"no record at all"
    assert (unsigned["why"], unsigned["record"]) == ("a record does not bear the signature of alpha", 4)
    assert verified(tmp_path / "b.tar", COURT).checked["records"]


def test_many_pictures_are_judged_in_processes_with_the_same_outcome() -> None:
    files = sound_files()
    crops = [path for path in files if path.startswith("crops/")]
    told = {record.n: record for record in map(decode_record, (data for data, _ in records()))}
    program = reading_program()
    cases = [
        Case(path, told[int(path.split("/")[2].removesuffix(".png"))], files[path], program.program_hash)
        for path in crops
    ]
    lie = replace(cases[0].record, body={**cases[0].record.body, "choices": ["R", "D"]})
    report = Report()
    with Judges(report, many=1) as judges:
        judges.begin({program.program_hash: program}, len(cases))
        for case in (*cases, cases[0]._replace(path="a lie", record=lie)):
            judges.judge(case)
        judges.finish()
    assert report.checked == {"crops": len(cases) + 1}
    assert [problem.where for problem in report.problems] == ["a lie"]


class LyingDevice(MixedDevice):
    """A device that records every counted sheet as one for D."""

    def scan(self, sheet: Sheet) -> int:
        """Feed a sheet and lie about it."""
        return super().scan(sheet._replace(choices=("D",)) if sheet.fate == COUNTED else sheet)


def test_a_device_that_lied_about_a_sheet_is_found_by_judging_it_again(tmp_path: Path) -> None:
    day = a_scanned_day(device=LyingDevice("alpha", MARKS))
    path, _ = export(tmp_path, "lie.tar", a_finished_day(day))
    (problem,) = verified(path).problems
    assert "the device recorded counted for D; judged here it is counted for R" in problem.what
    assert problem.where.startswith("crops/")


class BlindDevice(MixedDevice):
    """A device that keeps no picture of what it counts."""

    def write(self, kind: str, body: Mapping[str, Any], *, batch: int | None = None) -> None:
        """Write the record without a picture."""
        Device.write(self, kind, body, batch=batch)


def read_as_a_test() -> dict[str, Any]:
    """Return the gates of a sheet that had to bear the TEST mark."""
    return {"gates": {**evidence_of("D").gates, EXPECTED_GATE: 1.0}}


def with_mode(mode: str) -> str:
    """Return what `verify` says of readings of a test in a run of that mode, and of others."""
    test, live = MixedDevice("alpha", ("D",)), MixedDevice("beta", ("D",))
    test.changed = read_as_a_test()
    for device in (test, live):
        device.open_run("run-1", "101", mode=mode)
        device.open_batch()
        device.scan(sheet_of("D"))
    found = [
        [complaint for _, complaint in read_in_another_mode(map(decode_record, raw(device)))]
        for device in (test, live)
    ]
    return " | ".join("; ".join(each) for each in found)


def raw(device: MixedDevice) -> list[bytes]:
    return [data for data, _ in device.signed()]


def test_a_reading_of_a_test_in_a_live_run_is_named_and_the_other_way_round() -> None:
    assert with_mode("live") == "sheet 1 was read as one of a test, in the live run 'run-1' | "
    assert with_mode("training") == "sheet 1 was read as one of a test, in the training run 'run-1' | "
    assert with_mode("test") == " | sheet 1 was read as one of an election, in the test run 'run-1'"


def test_a_sheet_of_a_run_that_was_not_opened_is_named() -> None:
    device = MixedDevice("alpha", ("D",))
    device.open_run("run-1", "101")
    device.open_batch()
    device.scan(sheet_of("D"))
    told = list(read_in_another_mode(map(decode_record, raw(device)[1:])))
    assert [complaint for _, complaint in told] == [
        "sheet 1 was read in the run 'run-1', which was not opened before"
    ]


def test_test_mode_readings_moved_into_a_precinct_are_named_by_the_verification(tmp_path: Path) -> None:
    device = MixedDevice("alpha", MARKS)
    device.changed = read_as_a_test()
    path, _ = export(tmp_path, "bundle.tar", a_finished_day(a_scanned_day(device=device)))
    whats = [problem.what for problem in verified(path).problems]
    assert any("was read as one of a test, in the training run" in what for what in whats), whats


def test_a_sheet_that_is_counted_without_a_picture_is_told_of(tmp_path: Path) -> None:
    day = a_scanned_day(device=BlindDevice("alpha", MARKS))
    path, _ = export(tmp_path, "blind.tar", a_finished_day(day))
    found = verified(path).problems
    assert len(found) == 5
    assert found[0].what == "record 3: sheet 1 is judged counted without a picture"


def test_a_picture_that_has_not_come_is_told_at_the_export(tmp_path: Path) -> None:
    day = a_finished_day()
    del day.devices["alpha"].crops[5]  # type: ignore[attr-defined]
    path, made = export(tmp_path, "bundle.tar", day)
    assert made.missing == ("the picture of record 5 of alpha has not come",)
    assert [problem.what for problem in verified(path).problems] == [
        "record 5: its picture is not in the bundle"
    ]


def test_records_that_never_came_are_told_of(tmp_path: Path) -> None:
    day = a_scanned_day()
    with Ledger(tmp_path / "ledger.sqlite") as ledger:
        records = day.devices["alpha"].signed()
        fill(ledger, day, records[:9] + records[11:])
        path = tmp_path / "gap.tar"
        court = X25519PrivateKey.generate()
        made = export_bundle(ledger, HOST_KEY, path, court.public_key(), UTC, no_progress)
    assert made.missing[0] == "records 10 to 11 of alpha are missing"
    found = verified(path, court).problems
    assert "records 10 to 11 of alpha are missing" in [problem.what for problem in found]


# Figures that are closed stay closed


def test_no_plain_bundle_leaves_while_figures_are_closed(tmp_path: Path) -> None:
    with pytest.raises(ExportRefused, match="precinct 101 may not be shown yet"):
        export(tmp_path, "early.tar", a_scanned_day())
    assert not (tmp_path / "early.tar").exists()


def test_no_plain_bundle_leaves_while_a_second_person_still_counts_blind() -> None:
    day = Day()
    check_may_leave(day.facts())
    day.enter("H", 12, ANN)
    with pytest.raises(ExportRefused, match="precinct 101 may not be shown yet"):
        check_may_leave(day.facts())


def test_what_both_sides_sent_to_the_hand_count_leaves_once_that_agrees() -> None:
    day = Day()
    day.scan(TWELVE_SHEETS)
    day.lock(H=12)
    for ending in runs_to_end(day.state()):
        day.act("run_ended", **{name: ending[name] for name in ("run", "device")})
    day.act("hand_count_ordered", BOTH, reason="no scanner works any more")
    with pytest.raises(ExportRefused, match="may not be shown yet"):
        check_may_leave(day.facts())
    day.lock(p=0, o=0)
    day.hand_count({"D": 12})
    check_may_leave(day.facts())


def test_the_verification_of_closed_figures_tells_none(tmp_path: Path) -> None:
    court = X25519PrivateKey.generate()
    path, _ = export(tmp_path, "early.tar", a_scanned_day(), court.public_key())
    report = verified(path, court)
    assert report.sound
    assert [(p.figures, p.identities) for p in report.precincts] == [({}, {})]


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "bundle.tar").write_bytes(b"mine")
    with pytest.raises(ExportRefused, match="is there already"):
        export(tmp_path, "bundle.tar", a_finished_day())
    assert (tmp_path / "bundle.tar").read_bytes() == b"mine"
