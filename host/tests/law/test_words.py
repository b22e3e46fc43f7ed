"""The words of each table of the law: the acts of every ledger are made of them, so none goes missing."""

import msgspec
import pytest

from recount_host.law.challenges import GROUNDS, QUESTIONED_PILES
from recount_host.law.conclusion import ANSWERS, TEAM_KINDS
from recount_host.law.contest import NO_OPTION
from recount_host.law.counts import LETTERS, STACK_AND_PILES
from recount_host.law.court import CHANGES_DRAFT, READY, WIDE
from recount_host.law.court_words import COURT_FORMS, INSPECTED, PARTS, PRECINCT_FORMS
from recount_host.law.custody import (
    CONTENTS,
    COUNTED_CONTENTS,
    EXCLUDED,
    NUMBER_OF,
    SEALED_AGAIN,
    SEALS,
    STREAMS,
)
from recount_host.law.deck import OTHER_BALLOT, DeckError, DeckSheet, parse_deck
from recount_host.law.hand_count import NOT_VOTES
from recount_host.law.identities import MEANINGS, NAMES
from recount_host.law.piles import PILES
from recount_host.law.precinct import COURT_WIDE
from recount_host.law.precinct_state import LETTER_OF_PILE, PILE_OF_LETTER
from recount_host.law.results import VOTES_OF_STREAM, WORDS
from recount_host.law.signed_papers import KEPT, SCAN_TYPES
from recount_host.law.steps import NOT_ON_STATEMENT
from recount_host.law.ties import TIE_BRANCHES
from recount_host.order import OFFICE_CLASSES, PRECINCT_KINDS
from recount_protocol.fates import COUNTED


def test_what_an_official_says_of_a_ballot_and_at_the_call() -> None:
    assert set(GROUNDS) == {"mark", "overvote", "write_in", "ballot", "other"}
    assert ANSWERS == ("no_further_question", "has_question")
    assert set(QUESTIONED_PILES) == {"counted", *PILES}


def test_who_does_one_of_these_is_of_the_team() -> None:
    counting = {"count_entered", "hand_count_entered", "container_opened"}
    deciding = {"batch_void_ordered", "doubt_settled_ordered", "device_withdrawn", "hand_count_ordered"}
    assert {*counting, *deciding, "sheet_moved", "ballot_segregated", "call_answered"} == TEAM_KINDS


def test_piles_and_their_counts() -> None:
    assert set(PILES) == {"set_aside", "not_accepted", "not_programmable", "all_scanned", "paper"}
    assert list(LETTERS) == ["H", "c", "s", "x", "p", "o", "d"]
    assert STACK_AND_PILES == ("H", "c", "s", "x")
    assert PILE_OF_LETTER == {"c": "counted", "s": "set_aside", "x": "not_accepted"}
    assert LETTER_OF_PILE == {"counted": "c", "set_aside": "s", "not_accepted": "x"}


def test_outcomes_that_are_no_vote_are_no_option_of_a_contest_either() -> None:
    assert set(NOT_VOTES) == {"no_vote", "overvote", "excluded", "challenged"}
    assert {*NOT_VOTES, "other_write_in"} == NO_OPTION


def test_what_containers_hold_and_how_they_are_sealed() -> None:
    assert set(EXCLUDED) == {"invalid_absentee", "invalid_provisional", "void_or_test", "spoiled"}
    assert list(COUNTED_CONTENTS) == ["scanned", "not_programmable", "paper"]
    assert dict(CONTENTS) == {**COUNTED_CONTENTS, **EXCLUDED}
    assert NUMBER_OF == {"scanned": "H", "not_programmable": "p", "paper": "d"}
    assert STREAMS == ("scanned", "paper")
    assert SEALS == ("intact", "broken", "missing")
    piles = {"counted", "set_aside", "not_accepted", "all_scanned", "challenged"}
    assert set(SEALED_AGAIN) == {*piles, *CONTENTS}


def test_what_is_keyed_in_of_a_statement_of_results() -> None:
    single = {"ballots", "paper_ballots", "pollbook"}
    assert set(WORDS) == {*single, "counter:NAME", "votes:KEY", "paper_votes:KEY"}
    assert VOTES_OF_STREAM == {"scanned": "votes:", "paper": "paper_votes:"}


def test_what_the_court_does_and_what_makes_another_draft() -> None:
    assert set(PARTS) == {"accepted", "other"}
    assert INSPECTED == ("inspected", "waived")
    assert {"court_opened", "certified", "amendment_ordered"} == COURT_WIDE
    assert set(WIDE) == {*COURT_WIDE, "court_form_printed", "signed_certification_kept"}
    rulings = {"ballot_ruled", "result_ruled"}
    assert {"court_opened", *rulings, "amendment_ordered", "ballot_proffered"} == CHANGES_DRAFT
    assert set(TIE_BRANCHES) == {"", *OFFICE_CLASSES}


def test_forms_of_a_precinct_and_of_the_locality() -> None:
    before = {"custody", "counts", "runs", "set-aside", "mismatch", "tally"}
    after = {"challenges", "labels", "call", "reseal", "submission"}
    assert set(PRECINCT_FORMS) == before | after
    wide = {"transmittal", "docket", "rulings", "certification", "tie", "changes"}
    assert set(COURT_FORMS) == set(READY) == wide
    stand = {"statement_printed", "form_printed", "container_resealed", "precinct_concluded"}
    assert stand == NOT_ON_STATEMENT


def test_identities_papers_and_groups_of_ballots() -> None:
    assert NAMES == ("I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9")
    assert set(MEANINGS) == set(NAMES)
    assert SCAN_TYPES == ("pdf", "png", "jpg")
    assert KEPT == ("signed_statement_kept", "signed_certification_kept")
    assert PRECINCT_KINDS == ("election_day", "early", "absentee", "post_election", "provisional")


def test_a_sheet_of_a_deck_is_fed_upright_face_up_and_bears_test_unless_it_says_otherwise() -> None:
    sheet = DeckSheet("t-1", "card-1", "D", COUNTED)
    assert (sheet.turned, sheet.face_down, sheet.test_mark) == (False, False, True)
    assert msgspec.to_builtins(sheet) == {"code": "t-1", "style": "card-1", "what": "D", "fate": "counted"}
    assert {"wrong_style", "other_contest", "names_exchanged", "name_changed"} == OTHER_BALLOT


def test_a_deck_with_a_key_that_decks_do_not_have_is_refused() -> None:
    head = f'title = "T"\ncontest = "c"\nprogram = "{"0" * 64}"\noptions = ["D"]\n'
    row = '[[sheet]]\ncode = "t-1"\nstyle = "1"\nwhat = "D"\nfate = "counted"\nchoices = ["D"]\n'
    assert parse_deck(f"{head}{row}".encode()).sheets[0].code == "t-1"
    for text in (f"surplus = 1\n{head}{row}", f"{head}{row}surplus = 1\n"):
        with pytest.raises(DeckError, match="surplus"):
            parse_deck(text.encode())
