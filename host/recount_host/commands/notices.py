"""`recount-host notices`: the set-aside and not-accepted sheets, once they may be shown."""

import argparse
from pathlib import Path

from recount_host.commands.desk import Desk, add_data, add_json, answer, open_desk
from recount_host.errors import OperatorError
from recount_host.forms.tags import print_tags
from recount_host.law.disclosure import Notice, notices
from recount_host.sheet_pictures import SheetPictures
from recount_protocol.records import Record


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("precinct", metavar="PRECINCT", help="the precinct's id in the order")
    parser.add_argument(
        "--pictures",
        metavar="FOLDER",
        help="also write each sheet's explained picture there: what was measured and why (PNG)",
    )
    parser.add_argument(
        "--tags", metavar="FILE.pdf", help="also print a tag for each sheet: its place, why, and its contest"
    )
    add_data(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """List the notices, or refuse while they are closed."""
    with open_desk(args) as desk:
        listed = notices(desk.precinct(args.precinct))
        pictures = write_pictures(desk, listed, Path(args.pictures)) if args.pictures else {}
        if args.tags:
            write_tags(desk, args.precinct, listed, Path(args.tags))
    lines = [
        f"{notice.device_name} batch {notice.batch} sheet {notice.sheet}: {notice.pile}, place "
        f"{notice.place} from below, "
        f"{', '.join(notice.reasons) or 'no reason recorded'}"
        + (f" ({pictures[notice]})" if notice in pictures else "")
        for notice in listed
    ]
    fields = [
        {**notice.to_json(), **({"picture": str(pictures[notice])} if notice in pictures else {})}
        for notice in listed
    ]
    answer(args, "\n".join(lines) or "no sheet was set aside or not accepted", {"notices": fields})
    return 0


def write_pictures(desk: Desk, listed: tuple[Notice, ...], folder: Path) -> dict[Notice, Path]:
    """Write the picture of every notice whose crop has come; return where each lies.

    Raises OperatorError when the folder cannot be written.
    """
    pictures = SheetPictures(desk.ledger.crop, desk.ledger.program)
    records = _records_of(desk, listed)
    devices = desk.facts().devices
    written: dict[Notice, Path] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for notice in listed:
            program = devices[notice.device].runs[notice.run].program
            png = pictures.explained(records[notice.device, notice.record_n], program)
            if png is not None:
                path = folder / f"{notice.device_name}-batch-{notice.batch}-sheet-{notice.sheet}.png"
                path.write_bytes(png)
                written[notice] = path
    except OSError as error:
        raise OperatorError(f"the pictures cannot be written to {folder}: {error.strerror}") from error
    return written


def write_tags(desk: Desk, precinct: str, listed: tuple[Notice, ...], path: Path) -> None:
    """Write the tags of these notices as a PDF. Raises OperatorError when it cannot be written."""
    pictures, facts = SheetPictures(desk.ledger.crop, desk.ledger.program), desk.facts()
    records = _records_of(desk, listed)

    def picture(notice: Notice) -> bytes | None:
        program = facts.devices[notice.device].runs[notice.run].program
        return pictures.plain(records[notice.device, notice.record_n], program)

    try:
        path.write_bytes(print_tags(facts, precinct, picture))
    except OSError as error:
        raise OperatorError(f"the tags cannot be written to {path}: {error.strerror}") from error


def _records_of(desk: Desk, listed: tuple[Notice, ...]) -> dict[tuple[str, int], Record]:
    wanted = {(notice.device, notice.record_n) for notice in listed}
    return {
        (record.device, record.n): record
        for record in desk.ledger.records()
        if (record.device, record.n) in wanted
    }
