"""The pages: where every precinct and device stands, in words. They compute nothing: the law folds."""
