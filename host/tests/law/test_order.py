"""The order profile: what the court's order says, and what is refused."""

from pathlib import Path

import pytest

from host.tests.rehearsal import Day, order_text
from recount_host.law import DEFAULT_SECTION
from recount_host.order import (
    OFFICE_CLASSES,
    OrderError,
    order_hash,
    order_of,
    order_text_of,
    parse_order,
    read_order,
)


def test_the_citation_comes_from_the_order_and_has_one_default() -> None:
    assert parse_order(order_text()).citation == DEFAULT_SECTION == "§ 24.2-802.2"
    assert parse_order('citation = "§ 24.2-802.9"\n' + order_text()).citation == "§ 24.2-802.9"


def test_the_order_names_contest_sides_and_precincts() -> None:
    order = parse_order(order_text(("101", "204")))
    assert order.side_keys == ("D", "R")
    assert order.precinct("204").name == "Precinct 204"


def test_what_the_order_leaves_out_is_the_most_defensible_reading() -> None:
    order = parse_order(order_text(stack_counted="before_feeding"))
    assert (order.rerun_is, order.run_again, order.pollbook) == ("H - x", "before_identities", "ballots")
    assert parse_order(order_text().replace('stack_counted = "before_reconciling"', "")).stack_counted == (
        "before_feeding"
    )
    assert (order.office_class, order.court, order.teams) == ("", None, 0)
    assert order.precincts[0].kind == "election_day"
    kept = order.retention
    assert (kept.contest_days, kept.ballots_months, kept.statements_months) == (10, 12, 24)


def test_the_order_names_court_office_standards_teams_and_groups_of_ballots() -> None:
    text = (
        'court = "Circuit Court"\noffice_class = "governor"\nstandards = "2020"\nteams = 4\n' + order_text()
    )
    order = parse_order(text + 'kind = "absentee"\n[retention]\nballots_months = 24\n')
    assert (order.court, order.office_class, order.standards, order.teams) == (
        "Circuit Court", "governor", "2020", 4,
    )  # fmt: skip
    assert order.precincts[0].kind == "absentee"
    assert order.retention.ballots_months == 24
    assert "" not in OFFICE_CLASSES


def test_an_unknown_precinct_is_named_with_those_there_are() -> None:
    order = parse_order(order_text([str(n) for n in range(101, 111)]))
    with pytest.raises(OrderError, match=r'no precinct "999".*101, 102, .*, \.\.\.'):
        order.precinct("999")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", 'the entry ".*" is missing'),
        ("contest = ", "does not fit"),
        (order_text() + "\nurl = 1\n", 'no entry "url"'),
        ("margin = 3\n" + order_text(), 'no entry "margin" here'),
        ('office_class = "mayor"\n' + order_text(), "'mayor' is none of the words"),
        ('rerun_is = "C + S"\n' + order_text(), "'C \\+ S' is none of the words"),
        ('standards = "\\u001b"\n' + order_text(), "does not print"),
        (order_text() + 'kind = "overseas"\n', "precinct 1, kind: 'overseas' is none of the words"),
        (order_text() + "[retention]\nballots_months = 0\n", "retention, ballots_months: it is at least 1"),
        (order_text(vote_for=0), "vote_for: it is at least 1"),
        (order_text(("101", "101")), 'precinct "101" twice'),
        (order_text(("101", "logic-accuracy")), 'precinct "logic-accuracy": .* give the precinct another'),
        (order_text().replace('key = "R"', 'key = "D"'), 'side "D" twice'),
        (order_text().replace("Fairview County", "\\u001b[2J"), "U\\+001B, which does not print"),
        (order_text().replace("Arnold Vinick", "\\u202eArnold"), "U\\+202E, which does not print"),
        (order_text() + "x = " + "[" * 5000, "does not fit"),
        (order_text().replace('key = "R"', 'key = "R and more"'), "does not fit"),
        (order_text(("101\\n",)), "does not fit"),
        (
            order_text().replace('[[side]]\nkey = "R"\nname = "Arnold Vinick"\n', ""),
            "side: at least 2 entries belong there",
        ),
    ],
)
def test_an_order_that_does_not_fit_is_refused_with_the_place(text: str, why: str) -> None:
    with pytest.raises(OrderError, match=why):
        parse_order(text)


def test_an_order_file_is_read_and_faults_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "order.toml"
    path.write_text(order_text(), encoding="utf-8")
    assert read_order(path).title == "Governor"
    path.write_text("nonsense", encoding="utf-8")
    with pytest.raises(OrderError, match=r"order\.toml: the order profile does not fit"):
        read_order(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(OrderError, match="not a text file"):
        read_order(path)
    path.write_bytes(b"#" * 200_001)
    with pytest.raises(OrderError, match="name the right file"):
        read_order(path)
    with pytest.raises(OrderError, match="cannot be read"):
        read_order(tmp_path / "absent.toml")


def test_a_ledger_without_an_order_says_how_to_give_it_one() -> None:
    assert order_text_of(()) is None
    with pytest.raises(OrderError, match="order set"):
        order_of(())


def test_the_order_in_force_is_the_one_in_the_ledger() -> None:
    day = Day()
    assert order_of(day.acts) == day.order
    assert order_hash(order_text()) == day.acts[0].body["sha256"]
