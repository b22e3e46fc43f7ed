"""Mutants tried where no law is loaded yet: the module is loaded as the mutant, then the tests run.

`Fresh` starts a process that has loaded all but our own host package, and forks in it for each mutant.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Self

import pytest

from host.tests.mutants.changes import Mutant
from host.tests.mutants.processes import ended, silence

REPOSITORY = Path(__file__).parents[3]
ENDLESS_S = 90.0
"""A mutant that is still running then runs for ever: noticed."""
KILLED, SURVIVED, ENDLESS = "killed", "survived", "endless"


class Fresh:
    """The other end of a process of this module, started when the first mutant is asked about."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.communicate()

    def verdict_on(self, mutant: Mutant, names: Sequence[str]) -> tuple[str, str]:
        """Return whether these tests notice the mutant, and which one did first, "" where it does not load.

        A test that runs once for each entry of a table runs for the entries that the mutant has.
        """
        if self._process is None:
            code_of_tests = str(REPOSITORY / ".cache" / "mutants" / "code")
            kept = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": code_of_tests}
            self._process = subprocess.Popen(
                [sys.executable, "-m", "host.tests.mutants.fresh"],
                cwd=REPOSITORY,
                env=os.environ | kept,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        wanted = list(dict.fromkeys(name.partition("[")[0] for name in names))
        asking, answering = self._process.stdin, self._process.stdout
        assert asking is not None
        assert answering is not None
        asking.write(json.dumps([mutant.module, mutant.source, wanted]) + "\n")
        asking.flush()
        verdict, noticed = json.loads(answering.readline())
        return verdict, noticed


class _Mutated(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds one module and gives it another source."""

    def __init__(self, name: str, source: str) -> None:
        self.name, self.source = name, source

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        return importlib.util.spec_from_loader(fullname, self) if fullname == self.name else None

    def get_source(self, fullname: str) -> str:  # noqa: ARG002
        return self.source


class _FirstToFail:
    """A plugin of pytest that remembers which test failed first."""

    name = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.name:
            self.name = report.nodeid


def _run(module: str, source: str, tests: Sequence[str], told: int) -> int:
    sys.meta_path.insert(0, _Mutated(f"recount_host.law.{module}", source))
    arguments = [*tests, "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-o", "timeout=0"]
    # Hypothesis and the rest are loaded already; their asserts need no better words.
    arguments += ["--hypothesis-seed=0", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
    first = _FirstToFail()
    code = int(pytest.main(arguments, plugins=[first]))
    os.write(told, first.name.encode())
    return code


def _try(module: str, source: str, tests: Sequence[str]) -> tuple[str, str]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        silence()
        try:
            code = _run(module, source, tests, writing)
        finally:
            os._exit(code)
    os.close(writing)
    status = ended(child, ENDLESS_S)
    with os.fdopen(reading, "rb") as pipe:
        noticed = pipe.read().decode()
    return (ENDLESS if status is None else KILLED if status else SURVIVED), noticed


def _load_the_rest() -> None:
    """Load what the tests of the law need beside the host package itself."""
    for name in ("conftest", "hypothesis", "msgpack", "recount_protocol.records", "cryptography"):
        importlib.import_module(name)
    assert not any(name.partition(".")[0] == "recount_host" for name in sys.modules)


def main() -> int:
    """Answer each line of the input, a mutant with its tests, by a line that says what they make of it."""
    sys.path.insert(0, str(REPOSITORY))
    _load_the_rest()
    for line in sys.stdin:
        module, source, tests = json.loads(line)
        print(json.dumps(_try(module, source, tests)), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
