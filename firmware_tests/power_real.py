"""Runs of `make soak-power` on the commands themselves, with the classifier and drawn ballots."""

import random
import time
from dataclasses import replace
from pathlib import Path

from firmware_tests.day import a_day
from firmware_tests.killed_day import KILLS, check_figures, scan_and_kill
from firmware_tests.power_disk import Loss
from firmware_tests.power_runs import BOARD, DEVICE, HOST, KEPT, LANDED, STATION, Cut, Plan, Result
from firmware_tests.stacks import Stack, drawn_stack

SHEETS = 8
KILL_OF = {STATION: "device", HOST: "host", BOARD: "board", DEVICE: "device_and_board"}
AT_A_TIME = 2
"""They compute: more at a time take longer each."""


def real_plans(seed: int, number: int) -> list[Plan]:
    """Return the plans: each victim in turn, after a random number of sheets."""
    chance = random.Random(seed)
    victims = list(KILL_OF)
    return [
        Plan(
            n,
            seed * 1_000_003 + n,
            (Cut(victims[n % len(victims)], KEPT, Loss.NONE, LANDED, (), chance.randrange(1, SHEETS - 1)),),
        )
        for n in range(1, number + 1)
    ]


def few_sheets(folder: Path) -> Stack:
    """Return a small stack of drawn ballots; program and pictures lie in the folder."""
    stack = drawn_stack(folder)
    sheets = stack.sheets[:SHEETS]
    ids = [str(sheet["id"]) for sheet in sheets]
    return replace(stack, sheets=sheets, readings={name: stack.readings[name] for name in ids})


def run_real(plan: Plan, folder: Path, stack: Stack) -> Result:
    """Do one run."""
    folder.mkdir()
    (cut,) = plan.cuts
    began, result = time.monotonic(), Result()
    try:
        with a_day(folder, stack.order, stack.program) as day:
            result.doubtful = scan_and_kill(day, stack, KILLS[KILL_OF[cut.victim]], cut.at)
            result.happened = 1
            check_figures(day, stack)
        if result.doubtful > 1:
            result.wrong.append(f"{result.doubtful} doubtful sheets of one cut")
    except Exception as error:  # noqa: BLE001  it is the run's result
        result.wrong.append(f"{type(error).__name__}: {error}")
    result.seconds = time.monotonic() - began
    return result
