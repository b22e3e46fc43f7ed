"""Draws blank ballots and marks, and degrades pages like scans and camera pictures, from a seed."""
