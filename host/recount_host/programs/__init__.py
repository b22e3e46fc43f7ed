"""Contest programs: from a spec in TOML and blank ballots in any usual file to one program file."""
