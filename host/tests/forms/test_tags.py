"""Set-aside tags: for each sheet put aside its place, why, and its contest; not before their time."""

import pypdfium2
import pypdfium2.raw as pdfium
import pytest

from host.tests.exports.localities import a_finished_day, a_scanned_day
from host.tests.forms.test_statement_form import pages_of
from host.tests.rehearsal import Day, a_reconciled_day
from recount_host.forms.tags import print_tags
from recount_host.law.disclosure import Notice
from recount_host.law.errors import NotAllowed


def pictures_of(day: Day) -> dict[tuple[str, int], bytes]:
    return {
        (device.id, n): png
        for device in day.devices.values()
        for n, png in getattr(device, "crops", {}).items()
    }


def tags(day: Day) -> bytes:
    pictures = pictures_of(day)
    return print_tags(day.facts(), "101", lambda notice: pictures.get((notice.device, notice.record_n)))


def images_on(pdf: bytes) -> int:
    """Return how many pictures are on the first page."""
    page = pypdfium2.PdfDocument(pdf)[0]
    return len(list(page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=9)))


def test_every_sheet_put_aside_has_a_tag_with_its_place_why_and_its_contest() -> None:
    day = a_finished_day()
    made = tags(day)
    text = "\n".join(pages_of(made))
    assert "Set aside: alpha, batch 1, sheet 4" in text
    assert "Set aside: alpha, batch 1, sheet 5" in text
    assert "Place 1 from the bottom of its tray. More choices are marked than may be." in text
    assert "Place 2 from the bottom of its tray. Fewer choices are marked than may be." in text
    assert "sheet 1" not in text
    assert images_on(made) == 2
    assert tags(day) == made


def test_a_sheet_whose_picture_has_not_come_says_so() -> None:
    def none(_notice: Notice) -> None:
        return None

    text = "\n".join(pages_of(print_tags(a_reconciled_day().facts(), "101", none)))
    assert text.count("No picture of it has come.") == 3
    assert "Not accepted: alpha, batch 1, sheet 12" in text
    assert "page 1 of 1" in " ".join(text.split())


def test_no_tag_is_printed_before_the_notices_are_open() -> None:
    with pytest.raises(NotAllowed, match="the notices are closed"):
        tags(a_scanned_day())
