"""How a feed attempt can end: the five words that device, host and forms share.

Each sheet number ends as exactly one of these. What a fate does to the counts is told in `docs/protocol.md`.
"""

COUNTED = "counted"
"""The contest is beyond question; the sheet lies in the counted bin."""

SET_ASIDE = "set_aside"
"""Read, but for people to decide: overvote, undervote, write-in, marginal."""

NOT_ACCEPTED = "not_accepted"
"""Offered, and no reading was possible or allowed; counted by hand from a tray of its own."""

RETURNED = "returned"
"""Given back to the operator without a tally; fed again, the sheet has a new number."""

IN_DOUBT = "in_doubt"
"""Judged, landing unknown, until the officials make it one of the above."""

FATES = (COUNTED, SET_ASIDE, NOT_ACCEPTED, RETURNED, IN_DOUBT)
"""All fates, in the order in which they are reported."""

BINS = (COUNTED, SET_ASIDE, NOT_ACCEPTED)
"""The fates that are also a place where paper lies."""
