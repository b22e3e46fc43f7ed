"""What acts and records of a bundle give, folded afresh, held against what was told and printed."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256

from recount_host.act import Act
from recount_host.commands.desk import facts_from
from recount_host.errors import RecountError
from recount_host.exports import layout
from recount_host.exports.bundle import Progress, signed_path, statement_path, versions
from recount_host.exports.gathered import Evidence
from recount_host.exports.layout import Manifest
from recount_host.exports.modes import read_in_another_mode
from recount_host.exports.printed import PRINTED, print_again
from recount_host.exports.report import PrecinctReport, Report
from recount_host.law.acts import KINDS, check_stored
from recount_host.law.contest import contest_of
from recount_host.law.court import fold_court
from recount_host.law.obstacles import obstacles
from recount_host.law.persons import check_both_sides, check_sides_known, letters_of
from recount_host.law.precinct import COURT_WIDE, Facts, PrecinctState, fold
from recount_host.law.roster import SWORN, check_may_act
from recount_host.law.signed_papers import KEPT
from recount_host.ledger.rows import Gap
from recount_host.order import order_text_of
from recount_host.signatures import SignatureError, Signed, check_signature, signatures_in
from recount_protocol.records import NO_HASH


def fold_all_again(manifest: Manifest, evidence: Evidence, report: Report, progress: Progress) -> None:
    """Fold the counts afresh, hold what was said against them, and print the forms again.

    Acts that do not have the form of their kind are told, and nothing is folded of them.
    """
    for device, records in evidence.records.items():
        for n, complaint in read_in_another_mode(records):
            report.fails(f"records/{device}.chain", f"record {n}: {complaint}")
    if not _check_acts(evidence, report):
        return
    try:
        facts = _facts(evidence)
    except RecountError as error:
        report.fails(layout.ACTS, str(error))
        return
    if order_text_of(facts.acts) != evidence.order:
        report.fails(layout.ORDER, "it is not the order under which the host worked")
    if (facts.order.locality, facts.order.contest) != (manifest.locality, manifest.contest):
        report.fails(layout.MANIFEST, "it names another locality or contest than the order")
    _check_persons(facts, report)
    for precinct in facts.order.precincts:
        _check_precinct(facts, precinct.id, report)
    _check_court(facts, report)
    _check_forms(manifest, facts, evidence, report, progress)
    _check_scans(facts, evidence, report)


def _facts(evidence: Evidence) -> Facts:
    records = [record for own in evidence.records.values() for record in own]
    gaps = [
        Gap(device, evidence.names[device], len(evidence.records.get(device, ())) + 1, first - 1)
        for device, first in evidence.early.items()
    ]
    return facts_from(tuple(evidence.acts), records, gaps, evidence.names)


def _check_acts(evidence: Evidence, report: Report) -> bool:
    """Look at each act by itself; return whether all have the form of their kind."""
    formed = True
    for act in evidence.acts:
        where = f"{layout.ACTS}, act {act.n} ({act.kind})"
        try:
            check_stored(act)
            complaints = list(_ACT_CHECKS.get(act.kind, _nothing)(act, evidence))
        except RecountError as error:
            report.fails(where, str(error))
            formed = False
            continue
        for complaint in complaints:
            report.fails(where, complaint)
    return formed


def _nothing(_act: Act, _evidence: Evidence) -> Iterable[str]:
    return ()


def _check_program_act(act: Act, evidence: Evidence) -> Iterable[str]:
    program = evidence.programs.get(act.body["program"])
    if program is None:
        yield f"the program {act.body['program'].hex()} is not in the bundle"
        return
    contest = contest_of(act)
    options = tuple((option.key, option.name, option.write_in) for option in program.options)
    told = tuple((option.key, option.name, option.write_in) for option in contest.options)
    if (contest.key, contest.title, contest.vote_for, told) != (
        program.key,
        program.title,
        program.vote_for,
        options,
    ):
        yield "it tells of another contest, N or options than the program holds"
    yield from _check_signatures(act, Signed("program", program.to_bytes()))


def _check_heads_act(act: Act, evidence: Evidence) -> Iterable[str]:
    """Hold the chain heads that were fixed (and stand on the signed statement) against the records."""
    for device, n in act.body["heads"].items():
        hashes = evidence.hashes.get(device, [])
        wanted = act.body["head_sha256"].get(device)
        found = NO_HASH if n == 0 else hashes[n - 1] if n <= len(hashes) else None
        name = evidence.names.get(device, device)
        if found is None:
            yield f"record {n} of {name} was here then, and is not in the bundle"
        elif found != wanted:
            yield f"record {n} of {name} is not the one that was here then"


def _check_order_act(act: Act, _evidence: Evidence) -> Iterable[str]:
    """Hold the court's signatures against the order that they are said to be over."""
    yield from _check_signatures(act, Signed("order", act.body["toml"]))


def _check_signatures(act: Act, signed: Signed) -> Iterable[str]:
    for entry in act.body["signatures"]:
        try:
            (signature,) = signatures_in([entry])
            check_signature(signature, signed)
        except SignatureError as error:
            yield str(error)


def _check_revocation(act: Act, evidence: Evidence) -> Iterable[str]:
    if act.body["device"] not in evidence.keys:
        yield f"device {act.body['device']} is revoked and was never enrolled"


_ACT_CHECKS: Mapping[str, Callable[[Act, Evidence], Iterable[str]]] = {
    "device_revoked": _check_revocation,
    "order_set": _check_order_act,
    "program_added": _check_program_act,
    "scanning_finished": _check_heads_act,
}


def _check_precinct(facts: Facts, precinct_id: str, report: Report) -> None:
    where = f"precinct {precinct_id}"
    try:
        state = fold(facts, precinct_id)
    except RecountError as error:
        report.fails(where, str(error))
        return
    report.did("precincts")
    # Before the figures were shown an open batch or doubt is the day's ordinary course; afterwards it is not.
    if state.shown is not None:
        for sentence in dict.fromkeys([*(o.sentence for o in obstacles(state)), *_of_batches(state)]):
            report.fails(where, sentence)
    report.precincts.append(_precinct_report(state))


def _check_persons(facts: Facts, report: Report) -> None:
    """Ask of who did each act what the host asked: two where two must, of parties, sworn, for one side."""
    sides: dict[str, str] = {}
    sworn: list[Act] = []
    for act in facts.acts:
        if act.kind == SWORN:
            sworn.append(act)
        if act.kind in _BY_ANYBODY:
            continue
        where = f"{layout.ACTS}, act {act.n} ({act.kind})"
        try:
            check_sides_known(act.by, facts.order.side_keys)
            check_may_act(act.by, sworn)
            if KINDS[act.kind].two_persons:
                check_both_sides(act.by, "this")
        except RecountError as error:
            report.fails(where, str(error))
        for person in act.by:
            if person.side and person.side != sides.setdefault(letters_of(person.name), person.side):
                report.fails(where, f"{person.name} acts for another side than before: nobody acts for two")


_BY_ANYBODY = frozenset({"order_set", "program_added", SWORN})
"""Acts of which the host asks no side: what they hold is signed, or tells who took the oath."""


def _check_court(facts: Facts, report: Report) -> None:
    """Fold the court's acts: the docket, and what it certified."""
    if not any(act.kind in COURT_WIDE for act in facts.acts):
        return
    try:
        fold_court(facts)
    except RecountError as error:
        report.fails("the court", str(error))


def _of_batches(state: PrecinctState) -> Iterator[str]:
    for batch in state.standing_batches:
        name = f"batch {batch.batch} of {state.name_of(batch.device)}"
        if not batch.i9.holds:
            yield f"I9 fails in {name}: the feeder's count, the device's tally and the sheet records differ"
        for contradiction in batch.contradictions:
            yield f"{name}: {contradiction}"


def _precinct_report(state: PrecinctState) -> PrecinctReport:
    identities = {finding.name: finding.holds for finding in state.findings}
    if state.hand_finding is not None:
        identities[state.hand_finding.name] = state.hand_finding.holds
    figures: dict[str, int] = {}
    if state.shown is not None:
        told = state.figures
        figures = {"C": told.counted, "S": told.set_aside, "X": told.not_accepted}
        figures |= {f"votes {key}": votes for key, votes in sorted(told.votes.items())}
    codes = tuple(act.body["facts_sha256"].hex()[:8] for act in state.statements)
    return PrecinctReport(
        state.precinct.id,
        state.state.value,
        identities if state.shown or state.verdicts else {},
        figures,
        codes,
    )


def _check_forms(
    manifest: Manifest, facts: Facts, evidence: Evidence, report: Report, progress: Progress
) -> None:
    """Print every form again that an act says was printed, and compare it byte for byte."""
    acts = [act for act in facts.acts if act.kind in PRINTED]
    for done, act in enumerate(acts, 1):
        path = statement_path(act)
        told = act.body["sha256"].hex()
        found = evidence.statements.pop(path, "")
        if not found:
            report.fails(path, f"the form that act {act.n} printed is not in the bundle")
        elif found != told:
            report.fails(path, f"it is not the form that act {act.n} printed")
        try:
            again = sha256(print_again(facts, act)).hexdigest()
        except RecountError as error:
            report.fails(path, f"the form of act {act.n} cannot be made again: {error}")
        else:
            if again != told:
                report.fails(
                    path, f"made again from the evidence it differs byte for byte{_because(manifest)}"
                )
        report.did("statements")
        progress("statements", done, len(acts))
    for path in evidence.statements:
        report.fails(path, "no act says that this form was printed")


def _check_scans(facts: Facts, evidence: Evidence, report: Report) -> None:
    """Hold every scan of a signed paper against the act that kept it."""
    for act in facts.acts:
        if act.kind not in KEPT:
            continue
        path = signed_path(act)
        found = evidence.signed.pop(path, "")
        if not found:
            report.fails(path, f"the scan that act {act.n} kept is not in the bundle")
        elif found != act.body["sha256"].hex():
            report.fails(path, f"it is not the scan that act {act.n} kept")
        report.did("scans")
    for path in evidence.signed:
        report.fails(path, "no act says that this scan was kept")


def _because(manifest: Manifest) -> str:
    """Return which program of another version may be the cause."""
    here, then = versions(), manifest.made_with
    other = [
        f"{name} {then.get(name, 'unknown')} then, {here[name]} here"
        for name in here
        if here[name] != then.get(name)
    ]
    return f" (other programs: {', '.join(other)})" if other else ""
