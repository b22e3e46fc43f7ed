"""What leaves the host for courts: the evidence bundle, how it is sealed, opened and verified."""
