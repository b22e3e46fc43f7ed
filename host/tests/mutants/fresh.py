"""One mutant of one module in a new process: the module is loaded as the mutant, then the tests run."""

import importlib.abc
import importlib.machinery
import importlib.util
import json
import sys
from collections.abc import Sequence
from types import ModuleType

import pytest


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


def main(module: str) -> int:
    """Run the tests that stand on the input on the module's source that stands there; 0: not noticed."""
    asked = json.load(sys.stdin)
    sys.meta_path.insert(0, _Mutated(f"recount_host.law.{module}", asked["source"]))
    arguments = [*asked["tests"], "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    return int(pytest.main([*arguments, "--hypothesis-seed=0"]))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
