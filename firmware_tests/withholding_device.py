"""A device that withholds one of its records: all else of it is as it is.

Nobody on the line can do this: the line is sealed. So the device itself is the one that lies here.
`python -m firmware_tests.withholding_device N FLAG DEVICE.toml` runs `recount-device run DEVICE.toml`, which
does not send record N as long as the file FLAG is there.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from recount_device import cli
from recount_device.journal import JournalReader, Stored


def main(withheld_n: str, flag: str, device: str) -> int:
    """Run the device."""
    honest = JournalReader.records_from

    def withholding(self: JournalReader, n: int, limit: int) -> Sequence[Stored]:
        stored = honest(self, n, limit)
        return [item for item in stored if item.n != int(withheld_n) or not Path(flag).exists()]

    JournalReader.records_from = withholding
    return cli.main(["run", device])


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
