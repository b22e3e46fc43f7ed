"""docs/protocol.md tells the code's tables as they are."""

import pytest

from protocol.tests.page import PAGE, made_anew


def test_the_page_is_made_from_the_tables_as_they_are():
    page = PAGE.read_text(encoding="utf-8")
    assert made_anew(page) == page, "docs/protocol.md is out of date: run python -m protocol.tests.page"


def test_a_page_without_a_place_for_a_table_is_refused():
    with pytest.raises(ValueError, match="0 places for feeder_messages"):
        made_anew("# The protocol")
