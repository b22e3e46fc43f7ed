"""What is read of a bundle: each file decoded, its chain and signatures checked, and kept to be folded."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from recount_classifier.errors import ClassifierError
from recount_classifier.program import Program, read_program
from recount_host.act import NO_ACT, Act, ActError, act_hash, check_follows, decode_act
from recount_host.errors import RecountError
from recount_host.exports.judging import Case, Judges
from recount_host.exports.layout import ACTS_FORM, RECORDS_FORM, ChainBroken, Place, chain_items
from recount_host.exports.report import Report
from recount_host.law.acts import check_stored
from recount_host.law.enrolment import ENROLLED, enrolment_body
from recount_host.ledger.contents import crop_sha256
from recount_host.ledger.rows import Gap
from recount_protocol.errors import RecordError
from recount_protocol.fates import NOT_ACCEPTED
from recount_protocol.records import (
    NO_HASH,
    Record,
    check_next,
    decode_record,
    record_hash,
    verify,
)


@dataclass(slots=True)
class Evidence:
    """What was read of the bundle so far."""

    judges: Judges
    order: str = ""
    acts: list[Act] = field(default_factory=list[Act])
    act_hashes: list[bytes] = field(default_factory=list[bytes])
    keys: dict[str, bytes] = field(default_factory=dict[str, bytes])
    names: dict[str, str] = field(default_factory=dict[str, str])
    records: dict[str, list[Record]] = field(default_factory=dict[str, list[Record]])
    hashes: dict[str, list[bytes]] = field(default_factory=dict[str, list[bytes]])
    early: dict[str, int] = field(default_factory=dict[str, int])
    """Device -> its lowest record whose predecessors are missing."""
    programs: dict[bytes, Program] = field(default_factory=dict[bytes, Program])
    statements: dict[str, str] = field(default_factory=dict[str, str])
    """Path -> SHA-256 of a printed form in the bundle."""
    signed: dict[str, str] = field(default_factory=dict[str, str])
    """Path -> SHA-256 of a scan of a signed paper."""
    run_programs: dict[tuple[str, str], bytes] = field(default_factory=dict[tuple[str, str], bytes])
    crops_due: dict[tuple[str, int], Record] = field(default_factory=dict[tuple[str, int], Record])


@dataclass(frozen=True, slots=True)
class Input:
    """One file of the bundle, as it is read."""

    place: Place
    path: str
    chunks: Iterator[bytes]

    def whole(self) -> bytes:
        """Return its bytes; the manifest's bounds keep them within memory."""
        return b"".join(self.chunks)

    def sha256(self) -> str:
        """Return the SHA-256 of its bytes, holding one chunk at a time."""
        digest = sha256()
        for chunk in self.chunks:
            digest.update(chunk)
        return digest.hexdigest()


# What is read of each kind of file


def _read_order(source: Input, evidence: Evidence, _report: Report) -> None:
    evidence.order = source.whole().decode("utf-8", "replace")


def _read_acts(source: Input, evidence: Evidence, report: Report) -> None:
    head = NO_ACT
    try:
        for data, _ in chain_items(source.chunks, ACTS_FORM):
            act = decode_act(data)
            check_follows(act, len(evidence.acts) + 1, head)
            head = act_hash(data)
            evidence.acts.append(act)
            evidence.act_hashes.append(head)
            report.did("acts")
    except (ActError, ChainBroken) as error:
        report.fails(f"{source.path}, behind act {len(evidence.acts)}", str(error))
    if evidence.acts:
        report.heads["acts"] = (len(evidence.acts), head.hex())
    for act in evidence.acts:
        if act.kind == ENROLLED:
            _take_key(act, f"{source.path}, act {act.n} ({act.kind})", evidence, report)


def _take_key(act: Act, where: str, evidence: Evidence, report: Report) -> None:
    """Take a device's key from the act by which both sides enrolled it."""
    try:
        check_stored(act)
    except RecountError:
        return  # told when the acts are looked at one by one
    device, name, public_key = (act.body[word] for word in ("device", "name", "public_key"))
    if enrolment_body(name, public_key) != act.body:
        report.fails(where, f"id or words of {name} are not those of its key")
        return
    evidence.keys[device], evidence.names[device] = public_key, name


def _read_records(source: Input, evidence: Evidence, report: Report) -> None:
    device = source.place.words["device"]
    key = evidence.keys.get(device)
    if key is None:
        report.fails(source.path, "these are records of a device that no act enrols")
        return
    records = evidence.records.setdefault(device, [])
    hashes = evidence.hashes.setdefault(device, [])
    try:
        for record, digest in _signed(source, device, key):
            check_next(hashes[-1] if hashes else NO_HASH, len(records) + 1, record)
            records.append(record)
            hashes.append(digest)
            report.did("records")
            _note(record, evidence, report)
    except (RecordError, ChainBroken) as error:
        report.fails(f"{source.path}, behind record {len(records)}", str(error))
    if records:
        report.heads[evidence.names[device]] = (len(records), hashes[-1].hex())


def _signed(source: Input, device: str, key: bytes) -> Iterator[tuple[Record, bytes]]:
    """Yield each record with its hash. Raises RecordError for one that is not this device's."""
    for data, signature in chain_items(source.chunks, RECORDS_FORM):
        record = decode_record(data)
        if record.device != device:
            raise RecordError(f"record {record.n} is one of device {record.device}")
        verify(key, data, signature)
        yield record, record_hash(data)


def _note(record: Record, evidence: Evidence, report: Report) -> None:
    """Remember what the crops will be held against."""
    if record.kind == "run_opened":
        evidence.run_programs[record.device, record.run] = record.body["program"]
    elif record.kind == "sheet_judged":
        if crop_sha256(record):
            evidence.crops_due[record.device, record.n] = record
        elif record.body["fate"] != NOT_ACCEPTED:
            verdict = f"sheet {record.body['sheet']} is judged {record.body['fate']} without a picture"
            report.fails(f"records/{record.device}.chain", f"record {record.n}: {verdict}")


def _read_early(source: Input, evidence: Evidence, report: Report) -> None:
    device = source.place.words["device"]
    key = evidence.keys.get(device)
    if key is None:
        report.fails(source.path, "these are records of a device that no act enrols")
        return
    try:
        numbers = [record.n for record, _ in _signed(source, device, key)]
    except (RecordError, ChainBroken) as error:
        report.fails(source.path, str(error))
        return
    head = len(evidence.records.get(device, ()))
    waiting = [n for n in numbers if n > head + 1]
    if waiting:
        evidence.early[device] = min(waiting)
        report.fails(source.path, Gap(device, evidence.names[device], head + 1, min(waiting) - 1).sentence)


def _read_program(source: Input, evidence: Evidence, report: Report) -> None:
    try:
        program = read_program(source.whole())
    except ClassifierError as error:
        report.fails(source.path, str(error))
        return
    if program.program_hash.hex() != source.place.words["hash"]:
        report.fails(source.path, f"it is the program {program.program_hash.hex()}")
        return
    evidence.programs[program.program_hash] = program
    report.did("programs")


def _read_statement(source: Input, evidence: Evidence, _report: Report) -> None:
    evidence.statements[source.path] = source.sha256()


def _read_signed(source: Input, evidence: Evidence, _report: Report) -> None:
    evidence.signed[source.path] = source.sha256()


def _read_crop(source: Input, evidence: Evidence, report: Report) -> None:
    device, n = source.place.words["device"], int(source.place.words["n"])
    record = evidence.crops_due.pop((device, n), None)
    if record is None:
        report.fails(source.path, "no record names this picture")
        return
    png = source.whole()
    if sha256(png).digest() != crop_sha256(record):
        report.fails(source.path, f"it is not the picture that record {n} names")
        return
    program = evidence.run_programs.get((device, record.run), b"")
    if program not in evidence.programs:
        report.fails(source.path, "the contest program by which it was judged is not in the bundle")
        return
    evidence.judges.judge(Case(source.path, record, png, program))


def _pass_over(_source: Input, _evidence: Evidence, _report: Report) -> None:
    """Read nothing of it: it is for people, and only its hash counts."""


READERS: Mapping[str, Callable[[Input, Evidence, Report], None]] = {
    "readme": _pass_over,
    "order": _read_order,
    "refusals": _pass_over,
    "refused": _pass_over,
    "acts": _read_acts,
    "records": _read_records,
    "early": _read_early,
    "program": _read_program,
    "statement": _read_statement,
    "signed": _read_signed,
    "crop": _read_crop,
}
