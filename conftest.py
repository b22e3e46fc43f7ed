"""Fixtures every test folder may use; and with RECOUNT_NO_SKIPS=1 nothing is skipped unnoticed."""

import ctypes
import os
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from playwright.sync_api import Browser, sync_playwright

from recount_world.board_process import interpreter
from recount_world.errors import BoardError

REPOSITORY = Path(__file__).resolve().parent

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """Return the folder of real ballots and law texts that lies beside the checkout, or skip."""
    folder = REPOSITORY.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the folder ../shared with the real ballots is not here")
    return folder


@pytest.fixture(scope="session")
def micropython() -> str:
    """Return the interpreter of the board's firmware, or skip where there is none for this processor."""
    try:
        return interpreter()
    except BoardError as error:
        pytest.skip(str(error))


BROWSER_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Return the machine's Chromium, or skip."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no chromium on this machine: apt-get install chromium, or name one in CHROMIUM")
    try:
        ctypes.CDLL("libatomic.so.1")
    except OSError:
        pytest.skip("the browser's driver needs a library that is missing: apt-get install libatomic1")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=BROWSER_ARGUMENTS)
        yield browser
        browser.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a skipped test where nothing may be skipped, unless it needs real hardware."""
    report = yield
    if item.get_closest_marker("hardware") or hasattr(report, "wasxfail"):
        return report
    return _failed_if_skipped(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fail a module that skips itself where nothing may be skipped."""
    return _failed_if_skipped((yield))


def _failed_if_skipped(report: Report) -> Report:
    if report.skipped and os.environ.get("RECOUNT_NO_SKIPS") == "1":
        report.outcome = "failed"
        report.longrepr = f"skipped, and with RECOUNT_NO_SKIPS=1 nothing may be: {report.longrepr}"
    return report
