"""`recount-device show DEVICE.toml`: a device's states from its journal, also while it runs. No figures.

Checks the journal as a start would, without changing it.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from recount_device.config import read_config
from recount_device.errors import JournalDamaged, OperatorError
from recount_device.history import History
from recount_device.host_pin import HostPin
from recount_device.identity import KEY_FILE, Identity, open_identity
from recount_device.journal import JOURNAL_FILE, JournalReader
from recount_device.salvage import SPOILED
from recount_protocol.errors import RecordError
from recount_protocol.records import NO_HASH, check_next, decode_record, record_hash, verify


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("config", type=Path, metavar="DEVICE.toml")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def fold_journal(path: Path, public_key: bytes) -> History:
    """Return the fold of a journal that another process may be writing; raises JournalDamaged."""
    history, head, n = History(), NO_HASH, 1
    try:
        reader = JournalReader(path)
        while stored := reader.records_from(n, 1000):
            for item in stored:
                record = decode_record(item.record)
                check_next(head, n, record)
                verify(public_key, item.record, item.signature)
                history.take(record)
                head, n = record_hash(item.record), n + 1
        reader.close()
    except (RecordError, *SPOILED) as error:
        raise JournalDamaged(f"the journal {path} is damaged: {error}") from None
    return history


def states_of(name: str, identity: Identity, host_words: str, history: History) -> dict[str, Any]:
    """Return what may be told of a device at any time."""
    run, batch, armed = history.run, history.batch, history.arming.armed
    doubts = [] if batch is None else [sheet.sheet for sheet in batch.unresolved()]
    return {
        "name": name,
        "device": identity.device,
        "words": identity.words,
        "host_words": host_words,
        "software": history.software,
        "firmware": history.firmware,
        "armed_for": armed.program.hex() if armed is not None else "",
        "why_not_armed": "" if armed is not None else history.arming.why_disarmed,
        "run": None
        if run is None
        else {
            "run": run.run,
            "precinct": run.precinct,
            "contest": run.contest,
            "mode": run.mode,
            "software": run.software,
            "firmware": run.firmware,
        },
        "batch": None if batch is None else batch.number,
        "batches_voided": sorted(history.batches_voided),
        "sheets_whose_place_is_not_known": doubts,
    }


def run(args: argparse.Namespace) -> int:
    """Print the states; return 0."""
    config = read_config(args.config)
    if not (config.folder / KEY_FILE).exists() or not (config.folder / JOURNAL_FILE).exists():
        raise OperatorError(f"{config.folder} holds no device yet: start it once with recount-device run")
    identity = open_identity(config.folder)
    history = fold_journal(config.folder / JOURNAL_FILE, identity.public_key)
    states = states_of(config.name, identity, HostPin(config.folder).words, history)
    if args.json:
        print(json.dumps(states))
        return 0
    run_state = states["run"]
    print(f"device     {config.name} ({identity.device})")
    print(f"words      {states['words']}")
    print(f"host       {states['host_words'] or 'none is pinned'}")
    print(f"software   {states['software']}")
    print(f"firmware   {states['firmware']}")
    why_not = f" ({states['why_not_armed']})" if states["why_not_armed"] else ""
    print(f"armed      {'program ' + states['armed_for'] if states['armed_for'] else 'no' + why_not}")
    print(f"run        {run_state['run'] + ' for ' + run_state['precinct'] if run_state else 'none'}")
    print(f"mode       {run_state['mode'] if run_state else '-'}")
    print(f"batch      {'open: ' + str(states['batch']) if states['batch'] else 'none is open'}")
    print(f"voided     {', '.join(map(str, states['batches_voided'])) or 'none'}")
    print(
        f"in doubt   {', '.join(f'sheet {n}' for n in states['sheets_whose_place_is_not_known']) or 'none'}"
    )
    return 0
