"""The table of acts: what each holds, and that nothing else gets in."""

from dataclasses import replace
from typing import Any

import pytest

from host.tests.rehearsal import ANN, BOB, CLERK, Day, a_counted_day, a_day_told_twice, order_text
from host.tests.sound_device import PROGRAM
from recount_host.law.acts import KINDS, check_act
from recount_host.law.contest import Contest, Option, check_fits_order
from recount_host.law.errors import BadEntry, LedgerContradiction, NotAllowed
from recount_host.law.persons import check_both_sides, check_one, in_words, parse_person, same_person
from recount_host.order import order_of, parse_order

COUNT: dict[str, Any] = {"precinct": "101", "letter": "H", "value": 3, "attempt": 1}


def test_every_kind_has_a_sentence_for_auditors() -> None:
    assert all(kind.says.endswith(".") and len(kind.says) > 30 for kind in KINDS.values())


def test_every_act_of_a_day_is_of_the_table() -> None:
    kinds = {
        act.kind for day in (a_counted_day(), a_day_told_twice(H=12, c=10, s=1, x=1)) for act in day.acts
    }
    assert kinds <= set(KINDS)


@pytest.mark.parametrize(
    "changed",
    [
        {"value": True},
        {"value": -1},
        {"value": 10_000_001},
        {"value": 3.0},
        {"letter": "C"},
        {"precinct": ""},
        {"attempt": 0},
        {"surplus": 1},
    ],
)
def test_a_field_out_of_bounds_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(BadEntry, match="count_entered"):
        check_act("count_entered", (ANN,), {**COUNT, **changed})


def test_a_missing_field_is_refused() -> None:
    with pytest.raises(BadEntry, match="attempt is missing"):
        check_act("count_entered", (ANN,), {name: COUNT[name] for name in ("precinct", "letter", "value")})


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(BadEntry, match='no act of kind "total_typed"'):
        check_act("total_typed", (ANN,), {})


def test_an_act_that_nobody_does_is_refused() -> None:
    with pytest.raises(BadEntry, match="say who does this"):
        check_act("count_entered", (), COUNT)


def test_a_side_that_is_no_party_to_the_recount_is_refused() -> None:
    stranger = parse_person("Eve Day, official, Z")
    with pytest.raises(BadEntry, match='side "Z", but the sides of this recount are D or R'):
        Day().act("count_entered", (stranger,), letter="H", value=3, attempt=1)


def test_a_person_is_named_by_name_role_and_side() -> None:
    assert parse_person("  Ann   Lee, official , D") == ANN
    assert parse_person("Cleo May, coordinator") == CLERK
    assert in_words(ANN) == "Ann Lee, official, D"
    assert in_words(CLERK) == "Cleo May, coordinator"


@pytest.mark.parametrize(
    "text", ["", "Ann Lee", "Ann Lee,,D", "a, b, c, d", "x" * 81 + ", official", "A\nB, official\x00"]
)
def test_anything_else_names_nobody(text: str) -> None:
    with pytest.raises(BadEntry):
        parse_person(text)


def test_one_person_is_one_person_in_any_spelling() -> None:
    assert same_person(ANN, parse_person("ANN LEE, coordinator, R"))
    with pytest.raises(NotAllowed):
        check_both_sides((ANN, parse_person("ann lee, official, R")), "this")


def test_both_sides_are_two_persons_of_two_sides() -> None:
    check_both_sides((ANN, BOB), "this")
    assert check_one((ANN,)) is ANN


def test_what_each_person_does_alone_is_not_done_by_two() -> None:
    with pytest.raises(NotAllowed, match="alone"):
        check_one((ANN, BOB))


def test_a_stored_act_of_another_shape_is_a_contradiction_and_not_a_crash() -> None:
    day = Day()
    for n, read in ((2, day.state), (1, lambda: order_of(day.acts))):
        act = day.acts[n - 1]
        day.acts[n - 1] = replace(act, body={**act.body, "toml": "text"})
        with pytest.raises(LedgerContradiction, match=f"act {n} is none that this program writes"):
            read()


def test_a_name_is_the_same_whatever_its_points_and_accents() -> None:
    jose = parse_person("Jos\u00e9 Ruiz-Vega, official, D")
    assert same_person(jose, parse_person("Jose\u0301 Ruiz Vega., official, R"))
    assert not same_person(jose, ANN)
    with pytest.raises(BadEntry, match="has no letter"):
        parse_person("..., official, D")


def test_letters_that_only_look_different_or_alike_make_no_second_person() -> None:
    for bold_or_wide in ("\U0001d400nn Lee", "\u1d2cnn Lee", "\uff21nn Lee"):
        assert same_person(ANN, parse_person(f"{bold_or_wide}, official, R"))
    other_alphabets = ("\u0548nn Lee", "\u13aann Lee", "\u2c80nn Lee", "\ua4eenn Lee")  # Armenian to Lisu
    for look_alike in ("\u0410nn Lee", "Ann L\u0435e", "\u0391nn Lee", *other_alphabets):
        with pytest.raises(BadEntry, match="mixes alphabets"):
            parse_person(f"{look_alike}, official, R")
    for whole in ("\u041e\u043b\u044c\u0433\u0430", "Ka\u02bbahumanu", "\u5f20 Wei", "Nu\u00f1ez"):
        assert parse_person(f"{whole}, official, R").name == whole


def test_nobody_acts_for_two_sides() -> None:
    day = Day()
    day.enter("H", 12, ANN)
    day.enter("H", 12, BOB)
    with pytest.raises(NotAllowed, match="Ann Lee has acted for side D before"):
        day.enter("p", 0, parse_person("Ann Lee, official, R"))
    day.enter("p", 0, ANN)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ((("D", "Arnold  Vinick"), ("R", "Josiah Bartlett")), "the votes would be exchanged"),
        ((("D", "Josiah Bartlett"), ("R", "Arnold Vinick"), ("no_vote", "Nota")), 'key "no_vote"'),
        ((("D", "Josiah Bartlett"), ("R", "Arnold Vinick"), ("D+R", "Both")), r'key "D\+R"'),
        ((("D", "Josiah Bartlett"), ("R", "Arnold Vinick"), ("R", "Arnold Vinick")), 'key "R"'),
    ],
)
def test_a_program_whose_options_would_mislead_the_count_is_refused(
    options: tuple[tuple[str, str], ...], why: str
) -> None:
    printed = tuple(Option(key, name, write_in=False) for key, name in options)
    with pytest.raises(BadEntry, match=why):
        check_fits_order(Contest(PROGRAM, "governor", "Governor", 1, printed), parse_order(order_text()))


FIELDS = {
    "order_set": "toml sha256 signatures",
    "official_sworn": "person before",
    "program_added": "program contest title vote_for options signatures",
    "device_enrolled": "device name public_key words",
    "device_revoked": "device name reason",
    "test_assigned": "run device program contest deck",
    "test_doubt_settled": "run device batch sheet fate",
    "test_ended": "run device",
    "device_armed": "run device program thresholds thresholds_told software firmware deck_sha256 sha256",
    "zero_report_printed": "device program head_n sha256",
    "run_assigned": "run precinct device program contest mode",
    "run_ended": "precinct run device",
    "batch_void_ordered": "precinct run device batch reason",
    "doubt_settled_ordered": "precinct run device batch sheet fate",
    "scanning_finished": "precinct heads head_sha256",
    "count_entered": "precinct letter value attempt",
    "identities_told": "precinct attempt held failed disarmed",
    "sheet_moved": "precinct device batch sheet from_pile to_pile",
    "figures_shown": "precinct outcome counted set_aside not_accepted votes",
    "hand_count_entered": "precinct pile pass outcomes standards",
    "device_withdrawn": "precinct device reason",
    "hand_count_ordered": "precinct reason",
    "container_received": "precinct container holds seal seal_was stated from",
    "container_opened": "precinct container",
    "container_not_found": "precinct container holds stated reason",
    "ballots_not_found": "precinct stream reason",
    "container_sorted": "precinct container out_of_scope",
    "excluded_recorded": "precinct kind ballots where",
    "container_resealed": "precinct container holds seal to",
    "results_keyed": "precinct figures",
    "official_substituted": "precinct leaves comes reason",
    "ballot_segregated": "precinct tag envelope pile counted_as question device batch sheet",
    "tag_corrected": "precinct tag right_tag right_envelope reason",
    "challenge_stated": "precinct tag ground text",
    "challenge_withdrawn": "precinct statement reason",
    "call_answered": "precinct answer",
    "precinct_concluded": "precinct sha256 facts_sha256",
    "signed_statement_kept": "precinct sha256 type pages",
    "ballot_proffered": "precinct text",
    "court_opened": "ballots",
    "ballot_heard": "precinct tag side inspected argument",
    "ballot_ruled": "precinct tag outcome counted_as finding reason instead_of",
    "result_ruled": "precinct part votes reason ruling",
    "certified": "version sha256 facts_sha256",
    "signed_certification_kept": "version sha256 type pages",
    "amendment_ordered": "version order reason",
    "form_printed": "precinct form sha256 facts_sha256",
    "court_form_printed": "form sha256 facts_sha256",
    "statement_printed": "precinct sha256 facts_sha256",
}
"""What each act holds. Ledgers that were written stay readable as long as this stands."""


def test_each_act_holds_what_it_always_held() -> None:
    assert {kind: " ".join(KINDS[kind].fields) for kind in KINDS} == FIELDS


def test_both_sides_do_these_together() -> None:
    assert {kind for kind in KINDS if KINDS[kind].two_persons} == {
        "ballots_not_found",
        "batch_void_ordered",
        "container_not_found",
        "container_opened",
        "container_received",
        "container_resealed",
        "container_sorted",
        "device_armed",
        "device_enrolled",
        "device_revoked",
        "device_withdrawn",
        "doubt_settled_ordered",
        "excluded_recorded",
        "hand_count_entered",
        "hand_count_ordered",
        "sheet_moved",
        "test_doubt_settled",
    }


def test_these_fields_are_figures_that_no_log_shows_early() -> None:
    assert {kind: KINDS[kind].figures for kind in KINDS if KINDS[kind].figures} == {
        "scanning_finished": ("heads",),
        "count_entered": ("value",),
        "figures_shown": ("counted", "set_aside", "not_accepted", "votes"),
        "hand_count_entered": ("outcomes",),
        "container_received": ("stated",),
        "container_not_found": ("stated",),
        "results_keyed": ("figures",),
    }
