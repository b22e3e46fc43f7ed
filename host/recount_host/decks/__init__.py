"""Logic-and-accuracy decks: composed from a contest program, drawn, printed, and compared."""
