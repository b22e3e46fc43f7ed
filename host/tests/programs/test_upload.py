"""What is looked at before a picture from a browser is decoded."""

import struct

import pytest

from recount_host.programs.upload import UploadError, kind_of


def tiff(*tags: tuple[int, int]) -> bytes:
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries


def test_a_tiff_is_taken_by_the_size_that_it_tells() -> None:
    assert kind_of(tiff((256, 1700), (257, 2200))) == ".tif"
    with pytest.raises(UploadError, match="30000 x 30000 pixels"):
        kind_of(tiff((256, 30000), (257, 30000)))


@pytest.mark.parametrize("tag", [256, 257])
def test_a_tiff_that_tells_its_size_twice_is_refused(tag: int) -> None:
    with pytest.raises(UploadError, match="damaged"):
        kind_of(tiff((256, 1700), (257, 2200), (tag, 30000)))
