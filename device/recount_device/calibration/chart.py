"""`recount-device chart OUT`: the lens chart that `recount-device calibrate` is fed with.

OUT.pdf is for a printer. OUT.png is the chart as a camera without a lens's bend shows it, to simulate.
"""

import argparse
from pathlib import Path

from recount_device.calibration.chart_sheet import LENGTHS_IN, ChartSheet, chart_pdf, chart_picture
from recount_device.errors import OperatorError
from recount_device.pictures import encode_png


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("out", type=Path, metavar="OUT", help="OUT.pdf to print, or OUT.png to simulate")
    parser.add_argument(
        "--length-in", type=int, default=11, choices=LENGTHS_IN, help="length of the sheet in inches (11)"
    )


def run(args: argparse.Namespace) -> int:
    """Write the chart; return 0."""
    sheet = ChartSheet(args.length_in)
    made = {".pdf": lambda: chart_pdf(sheet), ".png": lambda: encode_png(chart_picture(sheet))}
    make = made.get(args.out.suffix.lower())
    if make is None:
        raise OperatorError(
            f"{args.out}: the chart is written as OUT.pdf (to print) or OUT.png (to simulate)"
        )
    try:
        args.out.write_bytes(make())
    except OSError as error:
        raise OperatorError(f"{args.out} cannot be written: {error.strerror}") from error
    print(f"{args.out}: print it at 100 %, then recount-device calibrate DEVICE.toml")
    return 0
