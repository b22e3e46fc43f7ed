"""What is published: NIST's formats, every table, nothing before its time, nothing that tells an order."""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest

from host.tests.exports.localities import UTC, a_finished_day, fill
from host.tests.rehearsal import BOTH, Day, a_counted_day, a_hand_count_day, count_twelve_sheets
from host.tests.sound_device import TWELVE_SHEETS, Sheet
from recount_host.cli import main
from recount_host.exports.cvr import cvr_report
from recount_host.exports.errors import ExportRefused
from recount_host.exports.public import Public, public_export
from recount_host.exports.tables import (
    COURT_FORMS_PUBLISHED,
    PRECINCT_FORMS_PUBLISHED,
    Table,
    csv_bytes,
)
from recount_host.law import tally as law_tally
from recount_host.law.court import fold_court
from recount_host.law.court_words import COURT_FORMS, PRECINCT_FORMS
from recount_host.law.precinct import PrecinctState
from recount_host.ledger.ledger import open_ledger
from recount_protocol.fates import COUNTED, SET_ASIDE

ELECTION_DAY = "2026-11-03"
CVR_SCHEMA = "NIST_V0_cast_vote_records.json"
ERR_SCHEMA = "NIST_V2_election_results_reporting.json"


def exported(day: Day, seed: int = 1, crop: bytes = bytes(32)) -> Public:
    crops = {
        (device.id, record.n): crop
        for device in day.devices.values()
        for record in device.records
        if record.kind == "sheet_judged"
    }
    return public_export(day.facts(), crops, UTC, ELECTION_DAY, Random(seed))


def read(made: Public, name: str) -> Any:
    return json.loads(made.files[name])


@cache
def a_plain_day() -> Day:
    """Return a day of one precinct, certified; of three hand-counted ballots one lay in an envelope."""
    day = a_counted_day()
    day.segregate(counted_as="D")
    day.conclude()
    day.open_docket()
    day.hear()
    day.rule("R")
    day.certify()
    return day


@cache
def a_day_by_hand() -> Day:
    """Return a concluded day whose ballots were all counted by hand."""
    day = a_hand_count_day()
    day.lock(p=0, o=0)
    day.hand_count({"D": 6, "R": 4, "T": 1, "overvote": 1, "no_vote": 1})
    day.conclude()
    return day


@cache
def a_question() -> Day:
    """Return a concluded day about a question."""
    day = Day(order='office_class = "question"\n', options=(("D", "Yes", False), ("R", "No", False)))
    day.scan([*[Sheet(COUNTED, ("D",))] * 2, Sheet(COUNTED, ("R",)), Sheet(SET_ASIDE, (), ("overvote",))])
    day.finish()
    day.reconcile_with(H=4, c=3, s=1, x=0)
    day.lock(p=0)
    day.hand_count({"overvote": 1})
    day.conclude()
    return day


@cache
def a_contest_for_three() -> Day:
    """Return a concluded day of a contest in which three are elected."""
    day = Day(vote_for=3)
    day.scan([*[Sheet(COUNTED, ("D", "R", "T"))] * 2, *[Sheet(SET_ASIDE, (), ("undervote",))] * 4])
    day.finish()
    day.reconcile_with(H=6, c=2, s=4, x=0)
    day.lock(p=0)
    day.hand_count({"D+R": 1, "D": 1, "no_vote": 1, "overvote": 1})
    day.conclude()
    return day


@cache
def a_day_without_its_ballots() -> Day:
    """Return a concluded day for whose ballots the statement of results stands in."""
    day = Day()
    for person in BOTH:
        day.act("results_keyed", (person,), figures={"ballots": 9, "votes:D": 5, "votes:R": 4})
    day.act("ballots_not_found", BOTH, stream="scanned", reason="the vault was searched")
    day.lock(p=1)
    day.count_pile("not_programmable", {"D": 1})
    day.conclude()
    return day


DAYS: Sequence[Callable[[], Day]] = (
    a_plain_day, a_day_by_hand, a_question, a_contest_for_three, a_day_without_its_ballots,
)  # fmt: skip


@cache
def schema(folder: Path, name: str) -> Any:
    return json.loads((folder / "schemas" / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("make_day", DAYS)
@pytest.mark.parametrize(("name", "schema_name"), [("cvr.json", CVR_SCHEMA), ("err.json", ERR_SCHEMA)])
def test_every_file_fits_the_schema_of_its_format(
    make_day: Callable[[], Day], name: str, schema_name: str, shared_folder: Path
) -> None:
    document = read(exported(make_day()), name)
    checker = jsonschema.Draft4Validator(
        schema(shared_folder, schema_name), format_checker=jsonschema.FormatChecker()
    )
    assert [f"{list(error.path)}: {error.message}" for error in checker.iter_errors(document)] == []
    # The schema asks something: without its first thing asked for it does not fit.
    assert not checker.is_valid({key: value for key, value in document.items() if key != "GeneratedDate"})


def everything(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every object within a document."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from everything(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from everything(inner)


@pytest.mark.parametrize("make_day", DAYS)
@pytest.mark.parametrize("name", ["cvr.json", "err.json"])
def test_whatever_is_pointed_at_is_there(make_day: Callable[[], Day], name: str) -> None:
    document = read(exported(make_day()), name)
    named = [entry["@id"] for entry in everything(document) if "@id" in entry]
    ids = set(named)
    assert len(named) == len(ids)
    pointed = [
        (key, target)
        for entry in everything(document)
        for key, value in entry.items()
        if key.endswith(("Id", "Ids")) and key not in ("UniqueId", "VendorApplicationId")
        for target in (value if isinstance(value, list) else [value])
    ]
    assert pointed
    assert [entry for entry in pointed if entry[1] not in ids] == []
    assert all(entry["@type"] for entry in everything(document))


# Cast vote records


def test_a_record_is_a_sheet_that_was_read_with_the_hash_of_its_picture() -> None:
    records = read(exported(a_plain_day(), crop=b"\x17" * 32), "cvr.json")["CVR"]
    assert len(records) == sum(sheet.fate in (COUNTED, SET_ASIDE) for sheet in TWELVE_SHEETS) == 11
    snapshots = [record["CVRSnapshot"][0] for record in records]
    votes = Counter(
        chosen["ContestSelectionId"]
        for snapshot in snapshots
        for chosen in snapshot["CVRContest"][0].get("CVRContestSelection", [])
    )
    assert votes == {"selection-D": 5, "selection-R": 3, "selection-T": 1}
    aside = [s["CVRContest"][0]["Status"] for s in snapshots if s.get("Status") == ["needs-adjudication"]]
    assert sorted(aside) == [["overvoted"], ["undervoted"]]
    assert {record["BallotImage"][0]["Hash"]["Value"] for record in records} == {"17" * 32}


def test_a_record_without_a_picture_names_none() -> None:
    records = read(exported(a_plain_day(), crop=b""), "cvr.json")["CVR"]
    assert not [record for record in records if "BallotImage" in record]


def test_a_sheet_may_stand_anywhere_in_the_export_whenever_it_was_fed() -> None:
    facts = a_plain_day().facts()
    states = tuple(fold_court(facts).precincts.values())
    first = {sheet.judged_n: b"%032d" % (sheet is fed(states)[0]) for sheet in fed(states)}
    crops = {(device.id, n): crop for device in a_plain_day().devices.values() for n, crop in first.items()}
    places: set[int] = set()
    for seed in range(150):
        records = cvr_report(facts, states, crops, UTC, Random(seed))["CVR"]
        hashes = [record["BallotImage"][0]["Hash"]["Value"] for record in records]
        places.add(hashes.index((b"%032d" % 1).hex()))
    assert places == set(range(11))


def fed(states: Sequence[PrecinctState]) -> list[law_tally.Sheet]:
    """Return the sheets that have a record, as they were fed."""
    batches = [batch for state in states for batch in state.standing_batches]
    return [sheet for batch in batches for sheet in batch.sheets if sheet.fate in (COUNTED, SET_ASIDE)]


def test_records_are_in_random_order_and_nothing_in_them_tells_another() -> None:
    one, other = (read(exported(a_plain_day(), seed), "cvr.json")["CVR"] for seed in (1, 2))
    assert len({record["UniqueId"] for record in (*one, *other)}) == 22
    kinds = [[json.dumps(r["CVRSnapshot"][0]["CVRContest"]) for r in records] for records in (one, other)]
    assert kinds[0] != kinds[1]
    assert Counter(kinds[0]) == Counter(kinds[1])
    for record in one:
        assert set(record) == {
            "@type", "ElectionId", "BallotStyleUnitId", "CVRSnapshot", "CurrentSnapshotId", "UniqueId",
            "BallotImage",
        }  # fmt: skip


def test_the_one_reporting_device_is_the_host_for_all() -> None:
    report = read(exported(a_plain_day()), "cvr.json")
    assert report["ReportingDevice"] == [
        {"@id": "host", "@type": "CVR.ReportingDevice", "Application": "recount-host"}
    ]
    assert report["ReportGeneratingDeviceIds"] == ["host"]


def bring_to_conclusion(day: Day) -> None:
    """Reconcile and conclude a day on which the twelve sheets were scanned."""
    day.finish()
    count_twelve_sheets(day)
    day.conclude()


@cache
def a_day_of_two_scanners() -> Day:
    """Return a concluded day whose last three sheets another scanner took than the first nine."""
    day = Day()
    day.scan(TWELVE_SHEETS[:9], "scanner-blue")
    day.scan(TWELVE_SHEETS[9:], "scanner-green")
    bring_to_conclusion(day)
    return day


def test_no_file_names_a_device_or_its_run() -> None:
    day = a_day_of_two_scanners()
    said = b"\n".join(exported(day).files.values()).decode()
    assert len(day.devices) == 2
    for device in day.devices.values():
        for name in (device.name, device.id, device.public_key.hex(), device.run):
            assert name not in said, name


def test_no_table_tells_the_number_of_a_sheet_or_its_place_in_the_tray() -> None:
    words = {"device", "batch", "run", "sheet", "place", "tray", "tag", "envelope"}
    for make_day in (*DAYS, a_day_of_two_scanners):
        tables = read(exported(make_day()), "tables.json")
        columns = {column.lower() for table in tables for column in table["columns"]}
        assert columns
        assert not {word for column in columns for word in column.split()} & words


def test_no_table_is_about_one_device_one_sheet_or_one_ballot() -> None:
    names = {table["name"] for table in read(exported(a_plain_day()), "tables.json")}
    kinds = {name.partition("-")[2].rpartition("-")[0] for name in names}
    assert not kinds & {"runs", "set-aside", "challenges", "labels", "submission", "docket", "rulings"}
    every_form = {*PRECINCT_FORMS, *COURT_FORMS}
    assert every_form >= PRECINCT_FORMS_PUBLISHED | COURT_FORMS_PUBLISHED


def test_which_scanner_took_a_sheet_changes_no_figure_that_is_published() -> None:
    day = Day()
    day.scan(TWELVE_SHEETS, "scanner-blue")
    bring_to_conclusion(day)
    one, two = exported(day), exported(a_day_of_two_scanners())
    assert set(one.files) == set(two.files)
    differ = {name for name in one.files if one.files[name] != two.files[name] and name.endswith(".csv")}
    # The record code is a hash of everything behind the statement; all else is the same.
    assert differ == {"tables/court-transmittal-1.csv"}
    assert one.files["cvr.json"] == two.files["cvr.json"]


def test_a_precinct_counted_by_hand_has_no_records_and_is_named() -> None:
    report = read(exported(a_day_by_hand()), "cvr.json")
    assert report["CVR"] == []
    assert report["Notes"].endswith("Counted by hand as a whole, so without records: precinct 101.")


# Results


def counts(day: Day, key: str) -> dict[tuple[str, str], int]:
    """Return the votes of an option by (type, device class or other type)."""
    (contest,) = read(exported(day), "err.json")["Election"][0]["Contest"]
    (own,) = [s for s in contest["ContestSelection"] if s["@id"] == f"selection-{key}"]
    return {
        (c["Type"], c.get("OtherType") or c.get("DeviceClass", {}).get("Type", "")): c["Count"]
        for c in own["VoteCounts"]
    }


def test_each_option_has_its_votes_by_source_the_rulings_and_the_total() -> None:
    assert counts(a_plain_day(), "R") == {
        ("election-day", "opscan-central"): 3,
        ("election-day", "manual-count"): 1,
        ("other", "ruling of the court"): 1,
        ("total", ""): 5,
    }
    assert counts(a_plain_day(), "D") == {
        ("election-day", "opscan-central"): 5,
        ("election-day", "manual-count"): 0,
        ("total", ""): 5,
    }
    assert counts(a_day_by_hand(), "D")["election-day", "opscan-central"] == 0
    assert counts(a_day_without_its_ballots(), "D")["other", "statement of results"] == 5
    assert counts(a_day_without_its_ballots(), "D")["total", ""] == 6


def test_the_report_says_that_it_is_a_recount_and_whether_the_court_certified_it() -> None:
    report = read(exported(a_plain_day()), "err.json")
    assert (report["Status"], report["Format"], report["IsTest"]) == ("recount", "precinct-level", True)
    assert report["Notes"].endswith("Certified by the court, version 1.")
    assert "Certified" not in read(exported(a_question()), "err.json")["Notes"]
    election = report["Election"][0]
    assert (election["StartDate"], election["EndDate"]) == (ELECTION_DAY, ELECTION_DAY)


def test_undervotes_are_told_both_ways() -> None:
    made = exported(a_contest_for_three())
    (other,) = read(made, "err.json")["Election"][0]["Contest"][0]["OtherCounts"]
    # D+R lost one vote, D alone two, an empty ballot three; the overvoted one lost its three.
    assert (other["Undervotes"], other["Overvotes"], other["WriteIns"]) == (6, 3, 0)
    (row,) = csv.DictReader(io.StringIO(made.files["tables/undervotes.csv"].decode("utf-8-sig")))
    assert row["undervoted ballots"] == "3"
    assert row["votes lost by undervotes"] == "6"
    assert (row["overvoted ballots"], row["votes lost by overvotes"]) == ("1", "3")


# Tables


def test_the_tables_of_the_precincts_are_there_as_csv_and_in_one_json() -> None:
    made = exported(a_plain_day())
    tables = read(made, "tables.json")
    assert {f"tables/{table['name']}.csv" for table in tables} == {n for n in made.files if "/" in n}
    for table in tables:
        rows = list(csv.reader(io.StringIO(made.files[f"tables/{table['name']}.csv"].decode("utf-8-sig"))))
        assert rows[0] == table["columns"]
        assert len(rows) == len(table["rows"]) + 1
    names = {table["name"] for table in tables}
    assert {
        "101-statement-votes", "101-statement-identities", "101-counts-1", "101-tally-1", "court-changes-1",
        "court-certification-1", "undervotes",
    } <= names  # fmt: skip
    (votes,) = [table["rows"] for table in tables if table["name"] == "101-statement-votes"]
    assert ["D", "Josiah Bartlett", "5", "0", "0", "0", "5"] in votes


def test_no_cell_is_a_formula_to_a_spreadsheet() -> None:
    rows = (("=1+1", "+2", "-3", "@x", "-a", "plain"),)
    written = csv_bytes(Table("t", "T", ("a", "b", "c", "d", "e", "f"), rows)).decode("utf-8-sig")
    assert written.splitlines()[1] == "'=1+1,+2,-3,'@x,'-a,plain"


@pytest.mark.parametrize(
    "word", ["12345e67", "00123456", "007", "1-2", "1.10", "3/4", "10:30", "1,2", "2026-12-01"]
)
def test_no_record_code_or_precinct_is_a_number_or_a_date_to_a_spreadsheet(word: str) -> None:
    (row,) = csv.reader(csv_bytes(Table("t", "T", ("a",), ((word,),))).decode("utf-8-sig").splitlines()[1:])
    assert row == [f"'{word}"]


@pytest.mark.parametrize("word", ["0", "12", "-1", "9fd2f7da", "101-A", "12, Ann Lee, official, D", ""])
def test_what_no_spreadsheet_mistakes_stays_as_it_is(word: str) -> None:
    written = csv_bytes(Table("t", "T", ("a", "b"), ((word, "x"),))).decode("utf-8-sig")
    assert next(csv.reader(written.splitlines()[1:])) == [word, "x"]


def test_names_keep_their_accents_in_a_spreadsheet() -> None:
    assert csv_bytes(Table("t", "T", ("a",), (("José Ibáñez",),))).startswith(b"\xef\xbb\xbfa")


def test_the_readme_tells_every_file_letter_and_table_and_that_a_training_is_no_result() -> None:
    made = exported(a_plain_day())
    said = made.files["README.txt"].decode()
    assert "MODE TRAINING: not a result of the recount." in said
    assert "Precincts in these files: 101." in said
    for name in made.files:
        assert name == "README.txt" or name in said
    for letter in "HRCSXcsxpodN":
        assert f"\n  {letter}  " in said
    assert "_" not in said.replace("not_accepted", "")
    assert all(ord(letter) < 128 or letter == "§" for letter in said)


def test_the_readme_names_the_precincts_that_are_not_in_the_files() -> None:
    day = Day(("101", "102"))
    day.scan(TWELVE_SHEETS)
    bring_to_conclusion(day)
    assert "Not concluded yet, so not in them: 102." in exported(day).files["README.txt"].decode()


# What may not be published


def test_nothing_is_published_before_a_precinct_is_concluded() -> None:
    with pytest.raises(ExportRefused, match="no precinct is concluded yet"):
        exported(a_counted_day())


def test_a_precinct_that_is_not_concluded_is_left_out_and_named() -> None:
    day = Day(("101", "102"))
    day.scan(TWELVE_SHEETS)
    bring_to_conclusion(day)
    made = exported(day)
    assert made.left_out == ("102",)
    assert read(made, "err.json")["Notes"].endswith("not in here: precinct 102.")
    assert not [name for name in made.files if "102" in name]


def test_the_command_writes_a_new_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    day = a_finished_day()
    with open_ledger(tmp_path / "data", create=True) as ledger:
        fill(ledger, day)
    words = ["export", "public", str(tmp_path / "out"), "--data", str(tmp_path / "data")]
    assert main([*words, "--election-date", "3 November"]) == 2
    assert "is no date: write the day" in capsys.readouterr().err
    assert main([*words, "--election-date", ELECTION_DAY]) == 2
    assert "precinct 101 is not concluded" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    day.conclude()
    with open_ledger(tmp_path / "data") as ledger:
        for act in day.acts[len(ledger.acts()) :]:
            ledger.append_act(act.kind, act.by, act.body)
    assert main([*words, "--election-date", ELECTION_DAY, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["left_out"] == []
    assert {"cvr.json", "err.json", "tables.json"} <= set(told["files"])
    records = json.loads((tmp_path / "out" / "cvr.json").read_text(encoding="utf-8"))["CVR"]
    pictures = Counter(record["BallotImage"][0]["Hash"]["Value"] for record in records)
    assert sorted(pictures.values()) == [1, 1, 1, 2]  # the two sheets for D were drawn alike
    assert main([*words, "--election-date", ELECTION_DAY]) == 2
    assert "is there already" in capsys.readouterr().err
