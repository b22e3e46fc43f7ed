"""A contest program file: read as it was built; damaged, edited or contradictory, it is refused in words."""

import hashlib
from collections.abc import Callable
from typing import Any

import msgpack
import pytest

from device.tests.classifier.drawn_pages import program
from recount_classifier.errors import ProgramError
from recount_classifier.program import MAGIC, read_program
from recount_classifier.thresholds import Thresholds, differing_thresholds, thresholds_sentence

Fields = dict[str, Any]


def rewritten(change: Callable[[Fields], None]) -> bytes:
    """Return the program's file with other content under a fitting hash, as other hands might make it."""
    fields: Fields = msgpack.unpackb(program().content)
    change(fields)
    content = msgpack.packb(fields)
    assert content is not None
    return MAGIC + hashlib.sha256(content).digest() + content


def test_a_program_is_read_as_it_was_built() -> None:
    again = read_program(program().to_bytes())
    assert again == program()
    assert again.thresholds == program().thresholds
    assert again.printed_options == program().printed_options


@pytest.mark.parametrize("place", [len(MAGIC), len(MAGIC) + 40, -1])
def test_one_flipped_bit_is_seen(place: int) -> None:
    data = bytearray(program().to_bytes())
    data[place] ^= 1
    with pytest.raises(ProgramError, match="damaged or was edited"):
        read_program(bytes(data))


def test_half_a_program_is_seen() -> None:
    data = program().to_bytes()
    with pytest.raises(ProgramError, match="damaged or was edited"):
        read_program(data[: len(data) // 2])


def test_another_file_is_no_program() -> None:
    with pytest.raises(ProgramError, match="no contest program"):
        read_program(b"%PDF-1.7")


def test_a_program_of_another_format_is_said_to_be_one() -> None:
    with pytest.raises(ProgramError, match="another format"):
        read_program(MAGIC.replace(b"1", b"2") + bytes(64))


def unfinished(threshold: float) -> Callable[[Fields], None]:
    def change(fields: Fields) -> None:
        fields["thresholds"]["marked_cover"] = threshold

    return change


def two_seats_too_many(fields: Fields) -> None:
    fields["vote_for"] = 9


def no_style(fields: Fields) -> None:
    fields["styles"] = []


def a_label_that_is_not_there(fields: Fields) -> None:
    fields["styles"][0]["targets"][0][5] = 999


def a_target_off_the_page(fields: Fields) -> None:
    fields["styles"][0]["targets"][0][1] = 99_999.0


def an_option_without_a_target(fields: Fields) -> None:
    fields["styles"][0]["targets"].pop()


def a_smaller_ground(fields: Fields) -> None:
    fields["styles"][0]["reference_box"][3] -= 1


@pytest.mark.parametrize(
    "change",
    [
        unfinished(float("nan")),
        unfinished(float("inf")),
        unfinished(-0.1),
        two_seats_too_many,
        no_style,
        a_label_that_is_not_there,
        a_target_off_the_page,
        an_option_without_a_target,
        a_smaller_ground,
    ],
)
def test_a_program_that_contradicts_itself_is_refused_though_its_hash_fits(
    change: Callable[[Fields], None],
) -> None:
    with pytest.raises(ProgramError, match="contradicts itself"):
        read_program(rewritten(change))


@pytest.mark.parametrize("key", ["styles", "options", "thresholds", "vote_for", "dpi"])
def test_a_program_that_lacks_something_is_refused(key: str) -> None:
    def change(fields: Fields) -> None:
        fields[key] = None

    with pytest.raises(ProgramError):
        read_program(rewritten(change))


def a_number_for_a_name(fields: Fields) -> None:
    fields["title"] = 52


def a_text_for_a_number(fields: Fields) -> None:
    fields["vote_for"] = "1"


def a_fraction_for_a_whole_number(fields: Fields) -> None:
    fields["styles"][0]["width"] += 0.5


def yes_for_a_threshold(fields: Fields) -> None:
    fields["thresholds"]["marked_cover"] = True


@pytest.mark.parametrize(
    "change", [a_number_for_a_name, a_text_for_a_number, a_fraction_for_a_whole_number, yes_for_a_threshold]
)
def test_a_value_of_another_type_is_refused_and_never_turned_into_the_right_one(
    change: Callable[[Fields], None],
) -> None:
    with pytest.raises(ProgramError, match="does not hold what it should"):
        read_program(rewritten(change))


def test_maps_within_maps_before_the_end_are_refused_in_one_line() -> None:
    """The decoder's own error holds them, and to print it would recurse."""
    content = b"\x81\xa1a" * 1000 + b"\xc0" + b"\xc0"
    with pytest.raises(ProgramError, match="does not hold what it should") as caught:
        read_program(MAGIC + hashlib.sha256(content).digest() + content)
    assert len(str(caught.value)) < 300


def test_thresholds_that_are_not_the_defaults_are_told() -> None:
    assert thresholds_sentence(Thresholds()) == "all thresholds are the defaults"
    own = Thresholds(marked_cover=0.3, outline_ink=0.5)
    assert differing_thresholds(own) == {"marked_cover": (0.3, 0.25), "outline_ink": (0.5, 0.65)}
    assert thresholds_sentence(own) == (
        "thresholds that are not the defaults: "
        "marked_cover 0.3 (default 0.25), outline_ink 0.5 (default 0.65)"
    )
