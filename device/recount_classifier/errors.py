"""What can go wrong in the classifier, apart from a sheet's fate (which is an answer, not an error).

* ClassifierError
  - ProgramError: the bytes are no contest program, or no longer the one that was built
  - PictureError: what should be read is no grey picture of a sheet
  - LensError: numbers that are no lens (in lens.py)
  - BlankError: no program can be built from this blank and these numbers; the sentence says which and why
"""


class ClassifierError(Exception):
    """Any error of this package."""


class ProgramError(ClassifierError):
    """A contest program that is damaged, edited, or of another format: get the file again."""


class BlankError(ClassifierError):
    """A blank ballot or its numbers from which no safe program can be built: correct the spec."""


class PictureError(ClassifierError):
    """An array that is no grey picture of a sheet: the caller's mistake, not the sheet's."""
