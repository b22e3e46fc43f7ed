"""What can go wrong when ballots are drawn or a deck is rendered.

* BallotError
  - DesignError: a ballot's contests do not fit on its page
  - DeckError: a deck's file does not say what it must
  - FontsMissing: drawing a blank needs typst, which is not installed
"""


class BallotError(Exception):
    """Any error of this package: one sentence that says what is wrong."""


class DesignError(BallotError):
    """A ballot that cannot be laid out as asked."""


class DeckError(BallotError):
    """A deck that is missing, damaged, or names what does not exist."""


class FontsMissing(BallotError):
    """The typesetter is not installed; blanks that are already drawn need none."""
