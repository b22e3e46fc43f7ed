"""Each sheet was read in the mode of its run: no reading of a test stands in a live count, nor the other way.

The device writes into a sheet's evidence what it expected of it: in a test the TEST mark, else none. Who
opened a run as live and had its sheets read as a test's, or moved their records into it, is found by that.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recount_classifier.deck_mark import EXPECTED_GATE
from recount_protocol.records import TEST, Record

READ_AS = {True: "one of a test", False: "one of an election"}


def read_in_another_mode(records: Iterable[Record]) -> Iterator[tuple[int, str]]:
    """Yield (record number, complaint) for the sheets of one device that do not have their run's mode."""
    modes: dict[str, str] = {}
    for record in records:
        if record.kind == "run_opened":
            modes[record.run] = record.body["mode"]
        elif record.kind == "sheet_judged":
            mode, sheet = modes.get(record.run), record.body["sheet"]
            if mode is None:
                yield (
                    record.n,
                    f"sheet {sheet} was read in the run {record.run!r}, which was not opened before",
                )
            elif record.body["evidence"] and _as_test(record.body["evidence"]) != (mode == TEST):
                as_what = READ_AS[mode != TEST]
                yield record.n, f"sheet {sheet} was read as {as_what}, in the {mode} run {record.run!r}"


def _as_test(evidence: Mapping[str, Any]) -> bool:
    """Return whether the sheet had to bear the TEST mark; evidence that is none is told of elsewhere."""
    gates = evidence.get("gates")
    return isinstance(gates, Mapping) and bool(gates.get(EXPECTED_GATE))
