"""How the keys of fates, reasons and outcomes are written for people."""

_HYPHENATED = {"write in": "write-in"}
"""Words that a key cannot spell as the law does."""


def plain_words(key: str) -> str:
    """Return a key, or keys joined, in words: "set aside", "other write-in"."""
    words = key.replace("_", " ")
    for bare, spelt in _HYPHENATED.items():
        words = words.replace(bare, spelt)
    return words
