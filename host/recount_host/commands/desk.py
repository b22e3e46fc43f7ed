"""The operator's desk: opening the ledger, folding its facts, and appending an act that the law admits.

Every command that does something goes through `Desk.act`: the ledger is read, the law asked and the act
appended in one turn that no other program can write into.
"""

import argparse
import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from recount_host.act import Act, Person
from recount_host.law.court import Court, admit_court
from recount_host.law.disclosure import PrecinctView, view
from recount_host.law.errors import BadEntry
from recount_host.law.logic_accuracy import admit_logic_accuracy
from recount_host.law.persons import parse_person
from recount_host.law.precinct import Facts, PrecinctState, admit, fold
from recount_host.law.tally import Gap, read_device
from recount_host.ledger import Gap as LedgerGap
from recount_host.ledger import Ledger
from recount_host.ledger.ledger import open_ledger
from recount_host.order import OrderError, order_hash, order_of, order_text_of, parse_order, read_order_text
from recount_host.signatures import Signed, read_signatures
from recount_protocol.records import Record

Reached = TypeVar("Reached")
"""What an act leads to: a precinct, or the court's part."""


def facts_from(
    acts: Sequence[Act], records: Sequence[Record], gaps: Sequence[LedgerGap], names: Mapping[str, str]
) -> Facts:
    """Return the facts that these acts and records are. Raises OrderError before the ledger has an order."""
    by_device: dict[str, list[Record]] = {device: [] for device in names}
    for record in records:
        by_device.setdefault(record.device, []).append(record)
    return Facts(
        order=order_of(acts),
        acts=acts,
        devices={device: read_device(device, own) for device, own in by_device.items()},
        gaps=tuple(Gap(gap.device, gap.first_n, gap.last_n) for gap in gaps),
        names=names,
    )


def facts_of(ledger: Ledger) -> Facts:
    """Return all facts that the ledger holds now."""
    names = {device.device: device.name for device in ledger.devices()}
    return facts_from(ledger.acts(), ledger.records(), ledger.gaps(), names)


def adopt_order(ledger: Ledger, path: Path, by: Sequence[Person] = (Person("host", "host", ""),)) -> None:
    """Let the ledger work under the order in the file at `path`; the same order again changes nothing.

    The signatures beside the file, each verified, go into the ledger with it. Raises OrderError when the file
    does not fit, or when the ledger works under another order; SignatureError.
    """
    text = read_order_text(path)
    try:
        parse_order(text)
    except OrderError as error:
        raise OrderError(f"{path}: {error}") from error
    signatures = read_signatures(path, Signed("order", text.encode("utf-8")))
    with ledger.deciding() as turn:
        known = order_text_of(turn.acts())
        have = [entry for act in turn.acts() if act.kind == "order_set" for entry in act.body["signatures"]]
        signed = [entry for entry in map(msgspec.to_builtins, signatures) if entry not in have]
        # An order that was not signed when the ledger was made gets its signatures when they are there.
        if known is None or (known == text and signed):
            body = {"toml": text.encode("utf-8"), "sha256": order_hash(text), "signatures": signed}
            turn.append("order_set", by, body)
        elif known != text:
            raise OrderError(
                f"this ledger works under another order than {path}: start with the same file, or "
                "another --data folder"
            )


class Desk:
    """The open ledger of a locality with the law beside it."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def facts(self) -> Facts:
        """Return all facts as they are now."""
        return facts_of(self.ledger)

    def precinct(self, precinct_id: str) -> PrecinctState:
        """Return one precinct as it is now. Raises OrderError when the order does not name it."""
        return fold(self.facts(), precinct_id)

    def act(
        self, kind: str, by: Sequence[Person], make_body: Callable[[Facts], Mapping[str, Any]]
    ) -> PrecinctState:
        """Append one act of a precinct if the law admits it and return the precinct as it is then.

        Raises NotAllowed or BadEntry.
        """
        return self._append(admit, kind, by, make_body)

    def court_act(
        self, kind: str, by: Sequence[Person], make_body: Callable[[Facts], Mapping[str, Any]]
    ) -> Court:
        """Append one act about all precincts at once if the law admits it and return the court's part then.

        Raises NotAllowed or BadEntry.
        """
        return self._append(admit_court, kind, by, make_body)

    def test_act(
        self, kind: str, by: Sequence[Person], make_body: Callable[[Facts], Mapping[str, Any]]
    ) -> None:
        """Append one act of a logic-and-accuracy test if the law admits it. Raises NotAllowed or BadEntry."""
        self._append(admit_logic_accuracy, kind, by, make_body)

    def _append(
        self,
        admitted: Callable[[Facts, str, Sequence[Person], Mapping[str, Any]], Reached],
        kind: str,
        by: Sequence[Person],
        make_body: Callable[[Facts], Mapping[str, Any]],
    ) -> Reached:
        gaps, devices = self.ledger.gaps(), self.ledger.devices()
        names = {device.device: device.name for device in devices}
        with self.ledger.deciding() as turn:
            facts = facts_from(turn.acts(), turn.records(), gaps, names)
            body = make_body(facts)
            reached = admitted(facts, kind, by, body)
            turn.append(kind, by, body)
        return reached


@contextmanager
def open_desk(args: argparse.Namespace) -> Generator[Desk]:
    """Yield the desk of the ledger in --data. Raises LedgerMissing and the like as OperatorError."""
    with open_ledger(Path(args.data)) as ledger:
        yield Desk(ledger)


def add_data(parser: argparse.ArgumentParser) -> None:
    """Add --data, the folder of the locality's ledger."""
    parser.add_argument("--data", required=True, metavar="DIR", help="the folder that holds the ledger")


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add --json for programs that read the answer."""
    parser.add_argument("--json", action="store_true", help="answer with one JSON object instead of words")


def add_by(parser: argparse.ArgumentParser, how_many: str = "once") -> None:
    """Add --by, who does this; `how_many` tells people how often to give it."""
    parser.add_argument(
        "--by",
        action="append",
        default=[],
        metavar='"NAME, ROLE, SIDE"',
        help=f"who does this, {how_many}; the side is the option key of the party to the recount",
    )


def persons(args: argparse.Namespace) -> tuple[Person, ...]:
    """Return the persons of --by. Raises BadEntry when there is none or one is not named right."""
    if not args.by:
        raise BadEntry('say who does this: --by "name, role, side", for example --by "Ann Lee, official, D"')
    return tuple(parse_person(text) for text in args.by)


def find_device(facts: Facts, name_or_id: str) -> str:
    """Return the id of the device with this name or id. Raises BadEntry that names the devices known."""
    return device_named(facts.names, name_or_id)


def device_named(names: Mapping[str, str], name_or_id: str) -> str:
    """Return the id of the device with this name or id among `names`, by id. Raises BadEntry."""
    # A name may come again after the device that had it was revoked: the latest has it now.
    for device, name in reversed(list(names.items())):
        if name_or_id in (device, name):
            return device
    known = ", ".join(sorted(names.values())) or "none is yet"
    raise BadEntry(f'no device "{name_or_id}" is enrolled here (enrolled: {known}): device enrol does it')


def answer(args: argparse.Namespace, sentence: str, fields: Mapping[str, Any]) -> None:
    """Print the answer: one sentence for people, or one JSON object for programs."""
    print(json.dumps(fields, ensure_ascii=False, sort_keys=True) if args.json else sentence)


def view_fields(state: PrecinctState) -> dict[str, Any]:
    """Return the precinct as it may be shown now, as plain values."""
    shown: PrecinctView = view(state)
    return shown.to_json()
