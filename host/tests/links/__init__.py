"""Tests of the links between host and devices."""
