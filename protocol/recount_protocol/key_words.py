"""A key's fingerprint in words, for people who compare it on two screens.

Eight of 2048 words are the first 88 bits of the key's SHA-256. To be taken for a given key, somebody must
find another one with the same words: 2^87 tries on average, each a new key, which nobody can make. (Two keys
with the same words, both one's own, cost 2^44 and gain nothing.) CPython only.
"""

import hashlib
import re

from recount_protocol.errors import WordsError
from recount_protocol.word_list import WORDS

WORDS_PER_KEY = 8
BITS_PER_WORD = 11

_KNOWN = frozenset(WORDS)


def key_words(public_key: bytes) -> str:
    """Return the words of a raw public key, in one line."""
    digest = hashlib.sha256(public_key).digest()
    number = int.from_bytes(digest, "big") >> (8 * len(digest) - WORDS_PER_KEY * BITS_PER_WORD)
    places = [(number >> (BITS_PER_WORD * n)) % len(WORDS) for n in reversed(range(WORDS_PER_KEY))]
    return " ".join(WORDS[place] for place in places)


def read_words(text: str) -> str:
    """Return the words that somebody typed as `key_words` writes them, whatever stands between them.

    Raises WordsError for a word that no key has, or for more or fewer than eight.
    """
    words = re.findall(r"[^\W\d_]+", text.lower())
    for word in words:
        if word not in _KNOWN:
            raise WordsError(f'"{word[:40]}" is none of the words that keys have: look at it again')
    if len(words) != WORDS_PER_KEY:
        raise WordsError(f"a key has {WORDS_PER_KEY} words, and these are {len(words)}: type all of them")
    return " ".join(words)
