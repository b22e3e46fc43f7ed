"""Image files become grey pictures: what is transparent in them is white paper."""

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from recount_classifier.decoding import decode_image

PRINT = np.pad(np.full((80, 120), 20, np.uint8), 100, constant_values=255)


def black_on_nothing(bits: type[np.unsignedinteger]) -> NDArray[np.unsignedinteger]:
    """Return the print as black of some opacity, on a ground that is not there at all."""
    scale = np.iinfo(bits).max // 255
    nothing = np.zeros_like(PRINT)
    return cv2.merge([nothing, nothing, nothing, 255 - PRINT]).astype(bits) * bits(scale)


@pytest.mark.parametrize(
    ("kind", "bits"),
    [(".png", np.uint8), (".png", np.uint16), (".tif", np.uint8), (".tif", np.uint16), (".webp", np.uint8)],
)
@pytest.mark.parametrize("as_shown", [False, True])
def test_transparent_ground_is_white_paper(
    kind: str, bits: type[np.unsignedinteger], *, as_shown: bool
) -> None:
    quality = [cv2.IMWRITE_WEBP_QUALITY, 101] if kind == ".webp" else []
    data = cv2.imencode(kind, black_on_nothing(bits), quality)[1].tobytes()
    assert np.abs(decode_image(data, as_shown=as_shown).astype(int) - PRINT).max() <= 1


def test_a_picture_without_opacity_is_taken_as_it_is() -> None:
    for kind in (".png", ".tif"):
        assert np.array_equal(decode_image(cv2.imencode(kind, PRINT)[1].tobytes()), PRINT)
