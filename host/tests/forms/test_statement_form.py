"""The statement as a PDF: what stands on each page, tagged, embedded, the same bytes for the same facts."""

from dataclasses import replace
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium
import pytest

from host.tests.rehearsal import BOTH, Day, a_counted_day, a_day_told_twice, a_hand_count_day
from host.tests.sound_device import TWELVE_SHEETS
from recount_host.forms.statement import print_statement
from recount_host.law.statement import statement
from recount_host.law.statement_lines import Statement


def a_wholly_hand_counted_day() -> Day:
    day = a_hand_count_day()
    day.lock(p=0, o=1)
    day.hand_count({"D": 6, "R": 4, "T": 1, "no_vote": 1})
    return day


def a_day_with_everything() -> Day:
    """A batch voided, piles counted twice over, a sheet moved, ballots that give no vote."""
    day = Day()
    device = day.scan(TWELVE_SHEETS)
    day.finish()
    day.lock(c=9)
    where: dict[str, Any] = {"run": device.run, "device": device.id, "batch": 1}
    day.act("batch_void_ordered", BOTH, **where, reason="a sheet slipped past the camera")
    day.scan(TWELVE_SHEETS)
    day.finish()
    for _ in range(2):
        day.lock(H=12, c=8, s=3, x=1)
        day.reconcile()
    nowhere: dict[str, Any] = {"device": "", "batch": 0, "sheet": 0}
    day.act("sheet_moved", BOTH, **nowhere, from_pile="set_aside", to_pile="counted")
    day.reconcile()
    day.show_figures()
    day.lock(p=0, o=0)
    day.hand_count({"D": 1, "overvote": 2})
    return day


def written(day: Day) -> Statement:
    return statement(day.facts(), "101")


def pages_of(pdf: bytes) -> list[str]:
    document = pypdfium2.PdfDocument(pdf)
    try:
        return [" ".join(page.get_textpage().get_text_range().split()) for page in document]
    finally:
        document.close()


DAYS = [a_counted_day, a_wholly_hand_counted_day, a_day_with_everything]


@pytest.mark.parametrize("make", DAYS)
def test_every_page_has_the_mode_the_precinct_the_code_the_check_total_and_its_number(make: Any) -> None:
    said = written(make())
    pages = pages_of(print_statement(said))
    for number, text in enumerate(pages, 1):
        assert "MODE TRAINING: not a result of the recount." in text
        assert "precinct 101" in text
        assert f"Record {said.short_code}" in text
        assert f"check total of all votes {said.check_total}" in text
        assert f"page {number} of {len(pages)}" in text


@pytest.mark.parametrize("make", DAYS)
def test_every_figure_of_the_statement_is_printed_as_the_ledger_yields_it(make: Any) -> None:
    said = written(make())
    text = " ".join(pages_of(print_statement(said)))
    for row in (*said.parties, *said.others):
        assert f"{row.name} {row.accepted} {row.by_hand} {row.total}" in text
    for line in (*said.not_votes, *said.ballots):
        assert f"{' '.join(line.name.split())} {line.value}" in text
    for identity in said.identities:
        assert all(figures in text for figures in identity.figures)
    for full in (said.order_sha256, said.program_sha256, said.last_act_sha256, said.facts_sha256):
        assert full in text
    for run in said.runs:
        assert run.last_record_sha256 in text


def test_every_signer_has_a_line_with_name_role_and_side() -> None:
    first = pages_of(print_statement(written(a_counted_day())))[0]
    assert "Ann Lee, official, for Josiah Bartlett" in first
    assert "Bob Ray, official, for Arnold Vinick" in first


def test_the_figures_that_are_signed_for_stand_beside_the_signatures() -> None:
    said = written(a_day_with_everything())
    totals = ", ".join(f"{row.name} {row.total}" for row in said.parties)
    (page,) = [page for page in pages_of(print_statement(said)) if "Signatures" in page]
    assert f"at the conclusion of the recount of this precinct: {totals}." in page


def test_a_precinct_in_hand_count_says_so_and_cites_the_clause() -> None:
    text = " ".join(pages_of(print_statement(written(a_wholly_hand_counted_day()))))
    assert "Under D 2 all ballots of this precinct cast on scanners were counted by hand" in text
    assert "Code of Virginia § 24.2-802.2" in text


def test_voided_attempts_dropped_counts_and_moved_sheets_are_printed() -> None:
    text = " ".join(pages_of(print_statement(written(a_day_with_everything()))))
    assert (
        "Batch 1 of alpha was voided by Ann Lee, official, D and Bob Ray, official, R: a sheet slipped past"
        in text
    )
    assert "Counts of piles whose sheets were scanned again; kept and not used" in text
    assert "a counted sheet moved from the set_aside pile to the counted pile" in text


def test_without_voids_and_moves_the_statement_says_there_were_none() -> None:
    text = " ".join(pages_of(print_statement(written(a_counted_day()))))
    assert "No batch was voided." in text
    assert "No sheet was moved." in text
    assert "None was segregated." in text


def test_both_values_of_a_number_verified_again_are_printed() -> None:
    day = a_day_told_twice(H=13, c=9, s=2, x=1)
    day.show_figures()
    day.lock(p=0, o=0)
    day.hand_count({"D": 13})
    text = " ".join(pages_of(print_statement(written(day))))
    assert "1 13 Ann Lee, official, D 13 Bob Ray, official, R" in text
    assert "2 13 Ann Lee, official, D 13 Bob Ray, official, R" in text


def test_the_same_facts_print_the_same_bytes_and_other_facts_other_bytes() -> None:
    said = written(a_counted_day())
    assert print_statement(said) == print_statement(said)
    assert print_statement(said) != print_statement(written(a_wholly_hand_counted_day()))


def test_the_pdf_is_tagged_titled_and_in_english() -> None:
    pdf = print_statement(written(a_counted_day()))
    document = pypdfium2.PdfDocument(pdf)
    assert pdfium.FPDFCatalog_IsTagged(document.raw)
    assert document.get_metadata_value("Title") == "Statement of the recount, precinct 101 Precinct 101"
    assert b"/Lang" in pdf
    document.close()


def test_every_font_is_in_the_file() -> None:
    document = pypdfium2.PdfDocument(print_statement(written(a_counted_day())))
    fonts = [
        pdfium.FPDFTextObj_GetFont(thing.raw)
        for page in document
        for thing in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_TEXT])
    ]
    assert len(fonts) > 50
    assert all(pdfium.FPDFFont_GetIsEmbedded(font) == 1 for font in fonts)
    document.close()


def test_the_page_is_black_on_white() -> None:
    document = pypdfium2.PdfDocument(print_statement(written(a_counted_day())))
    picture = document[0].render(scale=1).to_numpy()
    assert (picture.max(axis=2).astype(int) - picture.min(axis=2) < 3).all()
    document.close()


def test_names_with_any_letter_and_sign_are_printed_as_they_are() -> None:
    day = a_counted_day()
    odd = replace(written(day), title='Coroner #1 $x$ [*a*] "é" _b_ @c')
    assert odd.title in pages_of(print_statement(odd))[0]


def test_a_letter_that_no_font_has_is_spelled_and_keeps_no_statement_from_being_printed() -> None:
    said = replace(
        written(a_counted_day()), locality="Fairview \u674e County \U0001f389", title="Gouverneur \u00e9lu"
    )
    text = " ".join(pages_of(print_statement(said)))
    assert "Fairview [U+674E] County [U+1F389]" in text
    assert "Gouverneur \u00e9lu" in text


def test_names_are_printed_as_they_are_and_never_run_as_typst() -> None:
    name = '#panic("x") *a* _b_ $c$ <d> @e \\\\ // f [g] "h"'
    said = replace(written(a_counted_day()), locality=name)
    assert name.replace("  ", " ") in " ".join(pages_of(print_statement(said)))
