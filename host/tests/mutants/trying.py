"""Trying mutants on the tests of the law: each in a process forked from one that has all tests collected.

A mutant within a function is the function with other code: whoever holds the function has the mutant. A
mutant of a table is the table made anew, put in the place of the old one wherever a module holds it; what
was made from the old one at import is not, so a table is tried once more where the law is imported anew
(`fresh.py`). Of the tests only those run that reach the lines of the mutant, the quick ones first, until one
fails.
"""

import ast
import inspect
import itertools
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import coverage
import pytest
from _pytest.runner import runtestprotocol

from host.tests.mutants.changes import Mutant
from host.tests.mutants.fresh import ENDLESS, ENDLESS_S, KILLED, SURVIVED, Fresh
from host.tests.mutants.processes import ended, silence

REPOSITORY = Path(__file__).parents[3]
TESTS = REPOSITORY / "host" / "tests" / "law"
LAW = REPOSITORY / "host" / "recount_host" / "law"
SLOW_S = 3.0
"""Tests that take longer are left to `make test`: they are plays of whole random days."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Where the lines of a module stand after it was changed."""

    kept: Mapping[int, int]
    """Each line that is the same, by where it stood."""
    other: Collection[int]
    """The lines that are other ones now."""

    @classmethod
    def between(cls, before: str, now: str) -> "Moved":
        """Return how the lines of one text stand in another."""
        kept: dict[int, int] = {}
        other: list[int] = []
        match = SequenceMatcher(None, before.splitlines(), now.splitlines(), autojunk=False)
        for tag, start, end, start_now, end_now in match.get_opcodes():
            if tag == "equal":
                kept |= zip(range(start + 1, end + 1), range(start_now + 1, end_now + 1), strict=True)
            else:
                other += range(start_now + 1, end_now + 1)
        return cls(kept, other)


@dataclass(slots=True)
class Reach:
    """What one test reaches of the law."""

    seconds: float
    """Of the processor, with the lines watched."""
    lines: dict[str, list[int]]
    """By module."""

    def after(self, moved: Mapping[str, Moved]) -> "Reach":
        """Return what the test reaches after these modules were changed.

        It may reach any line that is another one in a module that it reached: more tests are tried then than
        need be. Should it reach a module that it did not, a mutant there lives longer than it must.
        """
        lines = dict(self.lines)
        for name in lines.keys() & moved.keys():
            same = {moved[name].kept[line] for line in lines[name] if line in moved[name].kept}
            lines[name] = sorted(same.union(moved[name].other))
        return Reach(self.seconds, lines)


@dataclass(slots=True)
class Reached:
    """Which tests reach which lines, and how long each takes."""

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    lines: dict[str, dict[int, list[str]]] = field(default_factory=dict[str, dict[int, list[str]]])
    """Module -> line -> ids of tests."""

    def add(self, test: str, reach: Reach) -> None:
        """Add what one test reaches."""
        self.seconds[test] = reach.seconds
        for module, lines in reach.lines.items():
            by_line = self.lines.setdefault(module, {})
            for line in lines:
                by_line.setdefault(line, []).append(test)


def always_the_same_examples() -> None:
    """Let hypothesis try the same examples for every mutant, and remember none."""
    from hypothesis import settings  # pytest wants to load it itself

    settings.register_profile("mutants", database=None, derandomize=True)
    settings.load_profile("mutants")


class Collected:
    """The tests of the law, collected once; run only in forked processes."""

    def __init__(self, session: pytest.Session) -> None:
        self.items = {item.nodeid: item for item in session.items}

    def first_to_fail(self, names: Sequence[str]) -> str:
        """Return the first of these tests that fails, "" when none does; the rest is not run then."""
        items = [self.items[name] for name in names]
        for item, following in zip(items, [*items[1:], None], strict=True):
            reports = runtestprotocol(item, log=False, nextitem=following)
            if any(report.failed for report in reports):
                return item.nodeid
        return ""

    def reached(self, names: Collection[str]) -> dict[str, Reach]:
        """Return what each of these tests reaches. Runs them: only in a forked process."""
        found: dict[str, Reach] = {}
        cover = coverage.Coverage(source=[str(LAW)], data_file=None, config_file=False)
        cover.start()
        for name in names:
            cover.switch_context(name)
            began = time.process_time()
            reports = runtestprotocol(self.items[name], log=False, nextitem=None)
            found[name] = Reach(time.process_time() - began, {})
            for report in reports:
                if report.failed:
                    raise RuntimeError(f"{name} fails without any mutant: {report.longreprtext[-2000:]}")
        cover.stop()
        data = cover.get_data()
        for file in data.measured_files():
            for line, reaching in data.contexts_by_lineno(file).items():
                for name in filter(None, reaching):
                    found[name].lines.setdefault(Path(file).stem, []).append(line)
        return found


class _InsteadOfTheRun:
    """A plugin of pytest: when all tests are collected, `work` is done and none is run."""

    def __init__(self, work: Callable[[Collected], int]) -> None:
        self.work, self.code = work, 1

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            print("make mutants: there are tests that cannot be collected: see above", file=sys.stderr)
            return True
        always_the_same_examples()
        try:
            self.code = self.work(Collected(session))
        except RuntimeError as error:
            print(f"make mutants: {error}", file=sys.stderr)
        return True


def with_collected(work: Callable[[Collected], int]) -> int:
    """Return what `work` returns for the tests of the law."""
    plugin = _InsteadOfTheRun(work)
    map_of_the_law = f"{TESTS.relative_to(REPOSITORY)}/test_statute_map.py"
    arguments = [str(TESTS), "--ignore", map_of_the_law, "-p", "no:cacheprovider", "-p", "no:xdist"]
    pytest.main(
        [*arguments, "--no-header", "--no-summary", "--capture=no", "-o", "timeout=0"], plugins=[plugin]
    )
    return plugin.code


def tests_for(mutant: Mutant, reached: Reached, noticed_before: Counter[str]) -> list[str]:
    """Return the tests that can notice this mutant, the likeliest first.

    Those that noticed most of its module, then those of files named after the module, then the quick.
    """
    lines = reached.lines.get(mutant.module, {})
    names = set(reached.seconds)  # a table is read when its module is
    if mutant.function:
        first = mutant.line
        while first > 1 and not any(line in lines for line in range(first, mutant.last_line + 1)):
            first -= 1  # a constant within a longer statement has no line of its own
        names = {name for line in range(first, mutant.last_line + 1) for name in lines.get(line, ())}
    quick = [name for name in names if reached.seconds[name] <= SLOW_S]
    return sorted(
        quick,
        key=lambda name: (
            -noticed_before[name],
            mutant.module not in name.partition("::")[0],
            reached.seconds[name],
            name,
        ),
    )


def so_many(names: Sequence[str], reached: Reached, at_most_s: float) -> list[str]:
    """Return as many of these tests, from the first on, as take no longer than that together."""
    ends = itertools.accumulate(reached.seconds[name] for name in names)
    return [name for name, end in zip(names, ends, strict=True) if end <= at_most_s]


def verdict_on(
    mutant: Mutant, collected: Collected, fresh: Fresh, names: Sequence[str], first: Sequence[str]
) -> tuple[str, str]:
    """Return whether the tests notice the mutant, and which one did first.

    A mutant of a table is tried here on `first` alone, the beginning of `names`: what counts is what all make
    of it where the law is loaded anew.
    """
    if _is_of_a_class(mutant):
        return fresh.verdict_on(mutant, names)
    verdict, noticed = _verdict_in_a_fork(mutant, collected, names if mutant.function else first)
    if mutant.function or verdict == ENDLESS:
        return verdict, noticed
    if verdict == SURVIVED:
        return fresh.verdict_on(mutant, names)
    if "[" in noticed:
        # A test for each entry of a table does not fail where the entry was left out: there is none for it.
        return fresh.verdict_on(mutant, [noticed, *names])
    return verdict, noticed


def _verdict_in_a_fork(mutant: Mutant, collected: Collected, names: Sequence[str]) -> tuple[str, str]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        silence()
        code = NOT_TRIED
        try:
            put_in_place(mutant)
            noticed = collected.first_to_fail(names)
            os.write(writing, noticed.encode())
            code = int(bool(noticed))
        finally:
            os._exit(code)
    os.close(writing)
    status = ended(child, ENDLESS_S)
    with os.fdopen(reading, "rb") as pipe:
        noticed = pipe.read().decode()
    if status == NOT_TRIED and mutant.function:
        raise RuntimeError(f"{mutant.name} could not be put in place")
    return (ENDLESS if status is None else KILLED if status else SURVIVED), noticed


NOT_TRIED = 3
"""Exit code of a process in which the mutant could not be put in place; a table of it does not load."""


def _is_of_a_class(mutant: Mutant) -> bool:
    return not mutant.function and any(
        isinstance(node, ast.ClassDef) and node.lineno <= mutant.line <= (node.end_lineno or 0)
        for node in ast.parse(mutant.source).body
    )


def put_in_place(mutant: Mutant) -> None:
    """Make the loaded module the mutant."""
    module = sys.modules[f"recount_host.law.{mutant.module}"]
    code = compile(mutant.source, str(module.__file__), "exec")
    if mutant.function:
        function = _function(module, mutant.function)
        function.__code__ = _code(code, mutant.function)
        _renew_defaults(module, function, mutant)
    else:
        _renew_tables(module, mutant)


def _function(module: ModuleType, name: str) -> FunctionType:
    thing: Any = module
    for part in name.split("."):
        thing = vars(thing)[part]
        thing = inspect.unwrap(getattr(thing, "fget", None) or getattr(thing, "__func__", None) or thing)
    assert isinstance(thing, FunctionType), name
    return thing


def _code(code: CodeType, name: str) -> CodeType:
    for part in name.split("."):
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == part)
    return code


def _renew_defaults(module: ModuleType, function: FunctionType, mutant: Mutant) -> None:
    """Give the function the defaults of the mutant; those of most functions are none."""
    tree: ast.AST = ast.parse(mutant.source)
    for part in mutant.function.split("."):
        tree = next(
            node
            for node in getattr(tree, "body", ())
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == part
        )
    assert isinstance(tree, ast.FunctionDef)
    if tree.args.defaults:
        values = [eval(ast.unparse(node), vars(module)) for node in tree.args.defaults]
        function.__defaults__ = tuple(values)


def _renew_tables(module: ModuleType, mutant: Mutant) -> None:
    """Make every table of the module anew from the first one that is changed, wherever it is held."""
    filename = str(module.__file__)
    for node in ast.parse(mutant.source).body:
        if (node.end_lineno or node.lineno) < mutant.line:
            continue
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        names = [target.id for target in _targets(node) if isinstance(target, ast.Name)]
        before = {name: vars(module).get(name) for name in names}
        exec(compile(ast.Module([node], []), filename, "exec"), vars(module))
        for name, old in before.items():
            _hold_instead(old, vars(module)[name])


def _targets(node: ast.Assign | ast.AnnAssign) -> Iterator[ast.expr]:
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        yield from target.elts if isinstance(target, ast.Tuple) else [target]


def _hold_instead(old: object, new: object) -> None:
    if old is None or isinstance(old, int | str):
        return
    for module in list(sys.modules.values()):
        for name, value in list(vars(module).items()):
            if value is old:
                setattr(module, name, new)
