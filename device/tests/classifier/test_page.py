"""docs/classifier.md tells the code's reasons and thresholds as they are."""

import re

import cv2
import pytest

from device.tests.classifier.page import PAGE, made_anew, threshold_sentences
from recount_classifier.explain import WIDTH_PX
from recount_classifier.thresholds import THRESHOLD_NAMES


def test_the_page_is_made_from_the_tables_as_they_are() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert made_anew(page) == page, "docs/classifier.md is old: run python -m device.tests.classifier.page"


def test_every_threshold_says_what_it_is() -> None:
    told = threshold_sentences()
    assert set(told) == set(THRESHOLD_NAMES)
    assert all(len(sentence) > 20 for sentence in told.values())


def test_a_page_without_a_place_for_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match=r"0 places for reasons\.REASONS"):
        made_anew("# The classifier")


def test_the_pages_pictures_are_there_and_light() -> None:
    names = re.findall(r"!\[[^]]+\]\(([^)]+)\)", PAGE.read_text(encoding="utf-8"))
    assert names
    for name in names:
        path = PAGE.parent / name
        assert path.stat().st_size < 200_000, name
        if path.suffix == ".jpg":
            image = cv2.imread(str(path))
            assert image is not None
            assert image.shape[1] == WIDTH_PX
