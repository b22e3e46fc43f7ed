"""A key's words: the same for the same key, and hard to mistake."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recount_protocol.errors import WordsError
from recount_protocol.key_words import BITS_PER_WORD, WORDS_PER_KEY, key_words, read_words
from recount_protocol.word_list import WORDS


def test_the_words_hold_more_than_80_bits():
    assert len(set(WORDS)) == len(WORDS) == 2**BITS_PER_WORD
    assert WORDS_PER_KEY * BITS_PER_WORD >= 80


def test_no_two_words_begin_with_the_same_four_letters():
    assert len({word[:4] for word in WORDS}) == len(WORDS)


def test_the_words_are_the_first_bits_of_the_keys_hash():
    # SHA-256 of 32 zero bytes begins 66687aadf862bd776c8fc1...
    bits = f"{0x66687AADF862BD776C8FC1:088b}"
    places = [int(bits[n : n + 11], 2) for n in range(0, 88, 11)]
    assert key_words(bytes(32)) == " ".join(WORDS[place] for place in places)


@given(st.binary(min_size=32, max_size=32))
def test_words_are_read_as_people_type_them(key: bytes):
    words = key_words(key)
    assert read_words(words) == words
    assert read_words(f"  {words.upper().replace(' ', ', ')}.\n") == words


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("zoo " * 7, "has 8 words, and these are 7"),
        ("zoo " * 9, "has 8 words, and these are 9"),
        ("", "has 8 words, and these are 0"),
        ("zoo " * 7 + "zooo", '"zooo" is none of the words'),
    ],
)
def test_what_cannot_be_a_keys_words_is_refused(text: str, why: str):
    with pytest.raises(WordsError, match=why):
        read_words(text)
