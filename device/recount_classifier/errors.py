"""What can go wrong in the classifier, apart from a sheet's fate (which is an answer, not an error).

* ClassifierError
  - ProgramError: the bytes are no contest program, or no longer the one that was built
  - BlankError: no program can be built from this blank and these numbers; the sentence says which and why
"""


class ClassifierError(Exception):
    """Any error of this package."""


class ProgramError(ClassifierError):
    """A contest program that is damaged, edited, or of another format: get the file again."""


class BlankError(ClassifierError):
    """A blank ballot or its numbers from which no safe program can be built: correct the spec."""
