"""`recount-device firmware install|verify|info [PORT]`: the program on a feeder board, at its USB port."""

import argparse

from recount_device.firmware_board import FirmwareBoard, OnBoard, find_board
from recount_device.firmware_release import firmware_files, firmware_hash, sha256_of

ACTS = {
    "install": "put this release's firmware on a board, and verify it",
    "verify": "compare what lies on a board with this release's firmware",
    "info": "tell what lies on a board",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    acts = parser.add_subparsers(title="acts", metavar="ACT", required=True)
    for act, purpose in ACTS.items():
        one = acts.add_parser(act, help=purpose, description=purpose)
        one.set_defaults(act=act)
        one.add_argument(
            "port",
            nargs="?",
            metavar="PORT",
            help="the board's USB port: a path, or usb:NUMBER (left out: the only board that is plugged in)",
        )


def run(args: argparse.Namespace) -> int:
    """Do it; return 1 where the board has another firmware than it should have, 0 otherwise."""
    released = sha256_of(firmware_files())
    board = FirmwareBoard(find_board(args.port))
    if args.act == "info":
        _tell(board.path, board.look(), released)
        return 0
    if args.act == "install":
        print(f"installing {len(released)} files on the board at {board.path} ...", flush=True)
        on_board = board.install(firmware_files())
    else:
        on_board = board.look()
    wrong = differences(released, on_board.files)
    for line in wrong:
        print(line)
    if wrong:
        print(f"the board at {board.path} does not have this release's firmware")
        return 1
    print(f"the board at {board.path} has this release's firmware: {firmware_hash(released)}")
    return 0


def differences(released: dict[str, str], on_board: dict[str, str]) -> list[str]:
    """Return in which files a board's firmware is not the released one, a line each."""
    lines = [f"missing: {name}" for name in sorted(released.keys() - on_board.keys())]
    lines += [f"not of this release: {name}" for name in sorted(on_board.keys() - released.keys())]
    both = sorted(released.keys() & on_board.keys())
    return lines + [f"other content: {name}" for name in both if released[name] != on_board[name]]


def _tell(path: str, on_board: OnBoard, released: dict[str, str]) -> None:
    print(f"port         {path}")
    print(f"board        {on_board.machine}")
    print(f"MicroPython  {on_board.version}")
    print(f"number       {on_board.number or 'none'}")
    print(f"programs     {len(on_board.files)}")
    print(f"firmware     {on_board.firmware_hash}")
    same = on_board.firmware_hash == firmware_hash(released)
    print(f"release      {'the same' if same else firmware_hash(released)}")
