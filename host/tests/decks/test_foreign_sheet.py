"""The ballot of another style in a deck: tried as it lies there before a deck is made of it."""

import numpy as np
import pytest

from host.tests.decks.fairview_deck import FAIRVIEW, fairview_source
from recount_classifier.raster import Grey
from recount_classifier.reading import Reading
from recount_host.decks import making
from recount_host.decks.drawing import draw_sheet
from recount_host.errors import OperatorError
from recount_protocol.fates import RETURNED


def test_the_first_scan_that_is_tried_is_the_decks_own(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Grey] = []

    def returned(sides: list[Grey], *_: object, **__: object) -> Reading:
        tried.extend(sides)
        return Reading(RETURNED, (), ("blurred",), None, None)

    source = fairview_source()
    deck, plans = making.plan_deck(source)
    sheet, plan = next(both for both in zip(deck.sheets, plans, strict=True) if both[1].foreign)
    monkeypatch.setattr(making, "read_sheet", returned)
    with pytest.raises(OperatorError, match="not surely told"):
        making.read_source(source.program, FAIRVIEW / "spec.toml", FAIRVIEW / "blank-204-front.png")
    assert len(tried) == 1, "one failure is enough"
    assert np.array_equal(tried[0], draw_sheet(plan, sheet.code, source.blanks[plan.style], source.foreign))
