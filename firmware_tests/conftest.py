"""A day of recount on a stack of ballots for the tests of the whole path; the rig for those of the feeder."""

from collections.abc import Callable, Generator, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from firmware_tests.day import Day, a_day
from firmware_tests.demo import REPOSITORY
from firmware_tests.feeder_end import FeederEnd
from firmware_tests.hardware_rigs import bench, pico_pair
from firmware_tests.rig import VIRTUAL, OnlyOnce, Rig, RigError, RigFile, RigMissing, read_rig
from firmware_tests.stacks import Stack, drawn_stack, real_stack
from firmware_tests.virtual_rig import VirtualRig

RIG_FILE = pytest.StashKey[RigFile]()
RIG = pytest.StashKey[OnlyOnce]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --rig."""
    parser.addoption(
        "--rig",
        metavar="FILE",
        help="run the feeder's tests on the rig of this file (default: the virtual one)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Read the rig's file; a mistake in it ends the run with one line."""
    path = config.getoption("--rig")
    try:
        config.stash[RIG_FILE] = VIRTUAL if path is None else read_rig(Path(path))
    except RigError as error:
        raise pytest.UsageError(str(error)) from error


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what needs the rig's hardware."""
    if config.stash[RIG_FILE].kind != VIRTUAL.kind:
        for item in items:
            if "rig" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.hardware)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember the first failure on hardware: what broke once is not put through more."""
    report = yield
    if report.failed and item.get_closest_marker("hardware") and RIG in item.config.stash:
        item.config.stash[RIG].failed(item.name, str(call.excinfo.value) if call.excinfo else "?")
    return report


@pytest.fixture(scope="session")
def _only_once(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnlyOnce]:
    file = pytestconfig.stash[RIG_FILE]
    kinds: dict[str, Callable[[RigFile], Rig]] = {
        "virtual": lambda _: VirtualRig(tmp_path_factory.mktemp("flash")),
        "pico-pair": pico_pair,
        "bench": bench,
    }
    once = OnlyOnce(lambda: kinds[file.kind](file))
    pytestconfig.stash[RIG] = once
    yield once
    once.close()


@pytest.fixture
def rig(_only_once: OnlyOnce, record_testsuite_property: Callable[[str, object], None]) -> Rig:
    """Return the rig, its identity and the date written into the JUnit file; skip where it is not here."""
    try:
        found = _only_once.rig()
    except RigMissing as error:
        pytest.skip(str(error))
    if not _only_once.recorded:
        _only_once.recorded = True
        date = datetime.now(UTC).isoformat(timespec="seconds")
        for name, value in {**found.identity(), "date": date}.items():
            record_testsuite_property(name, value)
    return found


@pytest.fixture
def feeder(rig: Rig) -> FeederEnd:
    """Return the station's end of the link to a feeder that is ready, its path and hopper empty."""
    end = FeederEnd(rig)
    end.begin()
    return end


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """Return the real sheets where the folder ../shared is, else drawn ones; programmed and read."""
    folder = tmp_path_factory.mktemp("stack")
    ballots = REPOSITORY.parent / "shared" / "ballots" / "new-hampshire-letter"
    return real_stack(ballots, folder) if ballots.is_dir() else drawn_stack(folder)


@pytest.fixture
def day(stack: Stack, tmp_path: Path) -> Iterator[Day]:
    """Yield a day with the host open, before any device is there; every process is ended afterwards."""
    with a_day(tmp_path, stack.order, stack.program) as day:
        yield day
