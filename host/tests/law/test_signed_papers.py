"""E s. 1, F s. 3: what was signed in ink is scanned, and the scan is kept with the evidence."""

from typing import Any

import pytest

from host.tests.law.test_d3_challenges import a_concluded_day
from host.tests.law.test_f_court import in_court
from host.tests.rehearsal import ANN, CLERK, CLERK_OF_COURT, Day, a_counted_day
from recount_host.law.certification import certification
from recount_host.law.errors import BadEntry, LedgerContradiction, NotAllowed
from recount_host.law.states import State

SCAN: dict[str, Any] = {"sha256": b"\1" * 32, "type": "pdf", "pages": 2}
BETTER: dict[str, Any] = {"sha256": b"\2" * 32, "type": "jpg", "pages": 1}


def a_certified_day() -> Day:
    day = in_court()
    day.hear()
    day.rule("D")
    day.certify()
    return day


def test_e_the_signed_statement_is_scanned_once_the_precinct_is_concluded() -> None:
    day = a_counted_day()
    with pytest.raises(NotAllowed, match="not possible to keep a scan of the signed statement"):
        day.act("signed_statement_kept", (CLERK,), **SCAN)
    day = a_concluded_day()
    state = day.act("signed_statement_kept", (CLERK,), **SCAN)
    assert state.state is State.CONCLUDED
    assert [act.body["sha256"] for act in state.scans] == [SCAN["sha256"]]


def test_a_better_scan_is_kept_beside_the_first_and_the_same_file_is_refused() -> None:
    day = a_concluded_day()
    day.act("signed_statement_kept", (CLERK,), **SCAN)
    with pytest.raises(NotAllowed, match=rf"this very file is kept already \(act {day.acts[-1].n}\)"):
        day.act("signed_statement_kept", (ANN,), **SCAN)
    assert len(day.act("signed_statement_kept", (ANN,), **BETTER).scans) == 2


def test_a_scan_changes_nothing_of_what_was_signed() -> None:
    day = a_concluded_day()
    before = day.state()
    after = day.act("signed_statement_kept", (CLERK,), **SCAN)
    assert (after.team, after.last_act_n, after.concluded) == (
        before.team,
        before.last_act_n,
        before.concluded,
    )


def test_a_statement_may_be_scanned_before_the_court_and_after_it_certified() -> None:
    day = in_court()
    assert day.act("signed_statement_kept", (CLERK,), **SCAN).state is State.IN_COURT
    day = a_certified_day()
    assert day.act("signed_statement_kept", (CLERK,), **SCAN).state is State.CERTIFIED


def test_only_files_of_paper_are_taken_as_a_scan() -> None:
    day = a_concluded_day()
    with pytest.raises(BadEntry, match="type"):
        day.act("signed_statement_kept", (CLERK,), **{**SCAN, "type": "exe"})
    with pytest.raises(BadEntry, match="pages"):
        day.act("signed_statement_kept", (CLERK,), **{**SCAN, "pages": 0})


def test_f_the_signed_certification_is_scanned_by_the_clerk_once_it_is_certified() -> None:
    day = in_court()
    day.hear()
    day.rule("D")
    with pytest.raises(NotAllowed, match="version 1 is not certified"):
        day.court_act("signed_certification_kept", version=1, **SCAN)
    day.certify()
    with pytest.raises(NotAllowed, match="the clerk of the court enters this"):
        day.court_act("signed_certification_kept", (ANN,), version=1, **SCAN)
    with pytest.raises(NotAllowed, match="version 2 is not certified"):
        day.court_act("signed_certification_kept", version=2, **SCAN)
    court = day.court_act("signed_certification_kept", version=1, **SCAN)
    assert [act.body["version"] for act in court.scans] == [1]
    assert court.is_sealed
    with pytest.raises(NotAllowed, match="this very file is kept already"):
        day.court_act("signed_certification_kept", version=1, **SCAN)


def test_g_a_scan_of_the_certification_changes_no_draft_and_each_version_has_its_own() -> None:
    day = a_certified_day()
    before = certification(day.facts()).facts_sha256
    day.court_act("signed_certification_kept", version=1, **SCAN)
    assert certification(day.facts()).facts_sha256 == before
    day.court_act("amendment_ordered", version=2, order="of 3 January", reason="a wrong digit")
    day.certify()
    assert len(day.court_act("signed_certification_kept", version=2, **SCAN).scans) == 2


def test_a_ledger_with_a_scan_of_nothing_signed_contradicts_itself() -> None:
    day = a_counted_day()
    day.append("signed_statement_kept", (CLERK_OF_COURT,), {"precinct": "101", **SCAN})
    with pytest.raises(LedgerContradiction, match="signed_statement_kept"):
        day.state()
