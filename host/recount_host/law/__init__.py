"""The recount's law as functions of facts: records of devices and acts of people in, figures and states out.

Nothing here reads a clock, a file or a database. The section that governs is cited from the order profile
(`Order.citation`); `DEFAULT_SECTION` is its only default.
"""

DEFAULT_SECTION = "§ 24.2-802.2"
"""Code of Virginia, "General recount procedures"."""
