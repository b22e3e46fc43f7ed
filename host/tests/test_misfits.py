"""What does not fit in a file that people wrote is told in their words."""

import pytest

from host.tests.rehearsal import order_text
from recount_host.errors import OperatorError
from recount_host.order import parse_order
from recount_host.programs.spec import parse_spec

SPEC = (
    'key = "g"\ntitle = "G"\nvote_for = 1\ndpi = 200\n[[option]]\nkey = "D"\nname = "A"\n[[option]]\n'
    'key = "R"\nname = "B"\n[[style]]\nid = "c"\nside = "front"\nblank = "c.png"\n'
    "contest_box = [1, 2, 30, 40]\ntargets = { D = [[1, 2, 3, 4]], R = [[5, 6, 7, 8]] }\n"
)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('key = "R"', "key = 7", "side 2, key: a text in quotation marks belongs there"),
        ("vote_for = 1", 'vote_for = "one"', "vote_for: a whole number belongs there"),
        ("vote_for = 1", "vote_for = 0", "vote_for: it is at least 1"),
        ('key = "R"', 'key = "R and more"', "side 2, key: only letters, digits, dots, dashes"),
        ('key = "R"', f'key = "{"R" * 33}"', "side 2, key: at most 32 characters belong there"),
        ('key = "R"\n', "", 'side 2: the entry "key" is missing'),
        ("vote_for = 1", "vote_for = 1\nmargin = 3", 'there is no entry "margin" here'),
        ("vote_for = 1", 'vote_for = 1\nrerun_is = "x"', "rerun_is: 'x' is none of the words that may stand"),
    ],
)
def test_an_order_that_does_not_fit_is_told_with_its_entry_and_what_belongs_there(
    old: str, new: str, said: str
) -> None:
    text = order_text()
    assert old in text
    with pytest.raises(OperatorError) as refused:
        parse_order(text.replace(old, new, 1))
    assert f"the order profile does not fit: {said}" in str(refused.value)
    assert "`" not in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[1, 2, 30, 40]", "[1, 2, 30]", "style 1, contest_box: 4 entries belong there"),
        ("[1, 2, 30, 40]", '[1, 2, 30, "x"]', "style 1, contest_box 4: a number belongs there"),
        ('"front"', '"top"', "style 1, side: 'top' is none of the words that may stand there"),
        ("dpi = 200", "dpi = 200\nwith = 1", 'there is no entry "with" here'),
    ],
)
def test_so_is_a_spec(old: str, new: str, said: str) -> None:
    with pytest.raises(OperatorError) as refused:
        parse_spec(SPEC.replace(old, new, 1).encode())
    assert str(refused.value) == said


def test_bytes_that_are_no_text_are_said_to_be_none() -> None:
    with pytest.raises(OperatorError, match="it is no text in UTF-8"):
        parse_spec(b"\xff\xfe")
