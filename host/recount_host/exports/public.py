"""What everybody may have of a recount: results and cast vote records in the common formats, and tables.

A precinct is in it once it is concluded: then nothing of it is blind any more. Cast vote records come in
random order, under random names, without device, batch, sequence, place or time, and no table has a row about
one sheet, one device or one batch: nobody can tell in which order ballots lay in a container, let alone were
cast. Those numbers are in the sealed bundle alone.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from recount_host.exports.cvr import cvr_report
from recount_host.exports.err import err_report
from recount_host.exports.errors import ExportRefused
from recount_host.exports.public_guide import guide
from recount_host.exports.tables import csv_bytes, tables_of
from recount_host.law.court import Court, fold_court
from recount_host.law.precinct import Facts

CropHashes = Mapping[tuple[str, int], bytes]
"""(device, number of the sheet's `sheet_judged`) -> SHA-256 of its crop."""


@dataclass(frozen=True, slots=True)
class Public:
    """The files of a public export, and which precincts are not in it yet."""

    files: Mapping[str, bytes]
    left_out: tuple[str, ...]


def public_export(facts: Facts, crops: CropHashes, utc: str, election_date: str, order: Random) -> Public:
    """Return the files for publication.

    `order` shuffles the cast vote records: SystemRandom, but in tests. Raises ExportRefused before one
    precinct is concluded.
    """
    court = fold_court(facts)
    concluded = tuple(state for state in court.precincts.values() if state.concluded is not None)
    if not concluded:
        why, instead = court.situation
        raise ExportRefused(
            f"no precinct is concluded yet, so nothing of the recount is public: {why}; {instead}"
        )
    tables, left_out = tables_of(facts, court, concluded), _left_out(court)
    here = tuple(state.precinct.id for state in concluded)
    files = {
        "README.txt": guide(facts, court, here, left_out, tables).encode("utf-8"),
        "cvr.json": _json(cvr_report(facts, concluded, crops, utc, order)),
        "err.json": _json(err_report(facts, court, concluded, utc, election_date)),
        "tables.json": _json([table.to_fields() for table in tables]),
        **{f"tables/{table.name}.csv": csv_bytes(table) for table in tables},
    }
    return Public(files, left_out)


def _left_out(court: Court) -> tuple[str, ...]:
    return tuple(state.precinct.id for state in court.precincts.values() if state.concluded is None)


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8") + b"\n"
