"""Names of what a device runs and is set to: what differs is told in words, and nothing else is."""

import pytest

from recount_protocol.software_names import LENS, OPTICS, PATH, software_name, what_changed

SETTINGS = {OPTICS: "0a" * 32, PATH: "0b" * 32, LENS: "0c" * 32}
PROVED = software_name("f0" * 32, SETTINGS)


def test_a_name_begins_with_the_program_and_has_a_short_hash_of_each_setting() -> None:
    assert (
        software_name("f0" * 32, SETTINGS) == f"{'f0' * 32} optics {'0a' * 8} path {'0b' * 8} lens {'0c' * 8}"
    )


def test_the_same_name_has_changed_in_nothing() -> None:
    assert what_changed(PROVED, PROVED) == ""


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({**SETTINGS, OPTICS: "0d" * 32}, "its focus, exposure or picture size was changed"),
        ({**SETTINGS, PATH: "0d" * 32}, "its paper path's numbers were changed"),
        ({**SETTINGS, LENS: "0d" * 32}, "its lens was measured anew, or its calibration was taken away"),
        (
            {OPTICS: "0a" * 32, PATH: "0b" * 32},
            "its lens was measured anew, or its calibration was taken away",
        ),
    ],
)
def test_another_setting_is_told_by_its_word(settings: dict[str, str], said: str) -> None:
    assert what_changed(PROVED, software_name("f0" * 32, settings)) == said
    assert what_changed(software_name("f0" * 32, settings), PROVED) == said


def test_several_changes_are_all_told() -> None:
    now = software_name("f1" * 32, {**SETTINGS, OPTICS: "0d" * 32})
    told = "its software was changed and its focus, exposure or picture size was changed"
    assert what_changed(PROVED, now) == told


@pytest.mark.parametrize("other", ["", "1.0", "f0" * 32 + " lens", PROVED + " more words", " "])
def test_a_name_that_cannot_be_understood_is_another_one(other: str) -> None:
    assert what_changed(PROVED, other)
    assert what_changed(other, PROVED)
