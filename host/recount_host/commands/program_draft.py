"""`recount-host program draft`: find the targets of blank ballots and draft the spec of one contest.

Without --contest it lists the contests found, each under a number. With it, it writes the spec of that
contest, which a person completes and gives to `program build`.
"""

import argparse
from pathlib import Path

import cv2

from recount_host.commands.desk import add_json, answer
from recount_host.errors import OperatorError
from recount_host.programs.drafting import Numbered, Said, Side, draft, numbered, suggested
from recount_host.programs.drawing import drawn, encode_png
from recount_host.programs.looking import look_at_blanks
from recount_host.programs.spec import parse_spec

_SAID = Said()


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "blanks",
        metavar="FRONT[,BACK]",
        nargs="+",
        help="the blank of one ballot style: an image, or a page of a PDF as ballots.pdf#page=1",
    )
    parser.add_argument("--dpi", type=float, help="resolution of the blanks; left out: from their width")
    parser.add_argument(
        "--contest",
        type=int,
        action="append",
        default=[],
        metavar="K",
        help="the contest's number; once for each style that bears it",
    )
    parser.add_argument("--key", default=_SAID.key, help="the contest's short name, as in the order")
    parser.add_argument("--title", default=_SAID.title, help="the contest's title")
    parser.add_argument("--vote-for", type=int, default=_SAID.vote_for, metavar="N")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME",
        help='the name at each target, in order; "write-in" for a write-in line; the same name twice is one '
        "option printed twice",
    )
    parser.add_argument("-o", "--output", metavar="SPEC.toml", help="where to write the draft")
    parser.add_argument(
        "--pictures",
        metavar="FOLDER",
        help="also write each page there, with what was found drawn and numbered",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Look at the blanks; list what was found, or write the draft."""
    cv2.setNumThreads(1)
    output = Path(args.output) if args.output else None
    if args.contest and output is None:
        raise OperatorError("say where to write the draft: add -o SPEC.toml")
    folder = output.parent if output else Path()
    dpi, sides = look_at_blanks(args.blanks, args.dpi, folder)
    found = numbered(sides)
    if args.pictures:
        _draw(Path(args.pictures), sides, found)
    if not found:
        pages = ", ".join(side.blank for side in sides)
        raise OperatorError(
            f"no contest was found on {pages}: it takes a whole blank ballot, flat, at 200 dpi or more, with "
            "an oval, circle or box for each choice; the places of others are written down by hand, and "
            "imported (program import)"
        )
    if not args.contest:
        _list(args, sides, found, dpi)
        return 0
    by_number = {one.number: one for one in found}
    for number in args.contest:
        if number not in by_number:
            raise OperatorError(f"there is no contest {number}: {len(found)} were found; leave out --contest")
    said = Said(args.key, args.title, args.vote_for, tuple(args.option))
    text = draft([suggested(by_number[number], dpi) for number in args.contest], said, dpi)
    if args.option:
        parse_spec(text.encode("utf-8"))
    assert output is not None
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OperatorError(f"the draft {output} cannot be written: {error.strerror}") from error
    count = len(by_number[args.contest[0]].contest.targets)
    missing = "" if args.option else "; write its title, vote_for and names, and mark write-ins"
    styles = f"{len(args.contest)} style{'s' if len(args.contest) > 1 else ''}"
    answer(
        args,
        f"{output}: {count} targets on {styles}{missing}; "
        f"then: recount-host program build {output} -o NAME.program",
        {"spec": str(output), "targets": count, "styles": len(args.contest)},
    )
    return 0


def _draw(folder: Path, sides: list[Side], found: tuple[Numbered, ...]) -> None:
    """Write each page with its contests and targets numbered."""
    for side in sides:
        path = folder / f"{side.style}-{side.side}.png"
        picture = drawn(side, [one for one in found if one.on is side])
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(encode_png(picture))
        except OSError as error:
            raise OperatorError(f"the picture {path} cannot be written: {error.strerror}") from error


def _list(args: argparse.Namespace, sides: list[Side], found: tuple[Numbered, ...], dpi: float) -> None:
    lines: list[str] = []
    for side in sides:
        here = [one for one in found if one.on is side]
        lines.append(
            f"{side.blank} ({side.side}, {dpi:g} dpi): {len(side.found.targets)} targets, "
            f"{len(here)} contests"
        )
        for one in here:
            box = one.contest.box
            lines.append(
                f"  contest {one.number}: {len(one.contest.targets)} targets, box "
                f"{box.left / dpi:.1f} to {box.right / dpi:.1f} in across, "
                f"{box.top / dpi:.1f} to {box.bottom / dpi:.1f} in down"
            )
    answer(
        args,
        "\n".join(lines),
        {
            "dpi": dpi,
            "contests": [
                {
                    "number": one.number,
                    "blank": one.on.blank,
                    "side": one.on.side,
                    "box": [
                        one.contest.box.left,
                        one.contest.box.top,
                        one.contest.box.right,
                        one.contest.box.bottom,
                    ],
                    "targets": [[t.left, t.top, t.width, t.height] for t in one.contest.targets],
                }
                for one in found
            ],
        },
    )
