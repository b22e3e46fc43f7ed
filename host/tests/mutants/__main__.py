"""`make mutants`: change the law wrongly in thousands of small ways, and see that a test notices each.

It goes on where it was stopped (.cache/mutants): what was noticed is not tried again as long as its function
or table is the same; what was not is tried again on the tests that are new or were changed. Each is tried on
the likeliest tests first, and only when all were is what is left tried on all other tests. At the end every
mutant that no test notices must stand in docs/mutants.md with the reason why it is not wrong, and none that
one does notice.
"""

import argparse
import gc
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from host.tests.mutants.changes import Mutant, mutants
from host.tests.mutants.fresh import ENDLESS, KILLED, SURVIVED, Fresh
from host.tests.mutants.judged import judged
from host.tests.mutants.processes import in_a_fork
from host.tests.mutants.trying import (
    LAW,
    REPOSITORY,
    SLOW_S,
    Collected,
    Moved,
    Reach,
    Reached,
    so_many,
    tests_for,
    verdict_on,
    with_collected,
)

CACHE = REPOSITORY / ".cache" / "mutants"
NO_TEST, UNTRIED, SO_FAR = "no test", "untried", "not noticed so far"
"""The verdict on a mutant whose lines no quick test reaches; on one that was not tried yet; on one that was
tried on some tests only."""
FIRST_S = SLOW_S
"""Seconds of tests that every mutant is tried on before any is tried on more: one test at least. What stands
in docs/mutants.md is tried on no more: its reason says that no test could see it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long is worked, and how."""

    until: float
    """On the clock of this process."""
    each_s: float
    processes: int


def _hash(*parts: bytes) -> str:
    return sha256(b"".join(parts)).hexdigest()[:16]


def _marks(tests: Iterable[str]) -> dict[str, str]:
    """Return what stands for each of these tests as long as its file is the same."""
    files: dict[str, bytes] = {}
    for test in tests:
        file = test.partition("::")[0]
        if file not in files:
            files[file] = (REPOSITORY / file).read_bytes()
    return {test: _hash(files[test.partition("::")[0]], test.encode())[:10] for test in tests}


class Results:
    """What is known of each mutant, kept in a file that is only ever added to."""

    def __init__(self) -> None:
        self.path = CACHE / "results.jsonl"
        self.verdicts: dict[tuple[str, str], str] = {}
        """(mutant, hash of its function) -> killed or endless."""
        self.blind: dict[tuple[str, str], set[str]] = {}
        """(mutant, hash of its function) -> marks of the tests that do not notice it."""
        self.noticed: dict[str, Counter[str]] = {}
        """Module -> how many of its mutants each test noticed first."""
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                self._keep(*json.loads(line))

    def _keep(self, name: str, within: str, verdict: str, test: str, blind: Sequence[str]) -> None:
        if verdict == SURVIVED:
            self.blind.setdefault((name, within), set()).update(blind)
            return
        self.verdicts[name, within] = verdict
        if test:
            self.noticed.setdefault(name.partition(":")[0], Counter())[test] += 1

    def of(self, mutant: Mutant, within: str, marks: Collection[str]) -> str:
        """Return the verdict on a mutant that the tests with these marks can notice."""
        key = mutant.name, within
        if key in self.verdicts:
            return self.verdicts[key]
        if not marks:
            return NO_TEST
        blind = self.blind.get(key, set())
        return SURVIVED if blind.issuperset(marks) else SO_FAR if blind else UNTRIED

    def add(self, mutant: Mutant, within: str, verdict: str, test: str, tried: Sequence[str]) -> None:
        """Write down a verdict, which test noticed the mutant, and the marks of those it was tried on."""
        blind = list(tried) if verdict == SURVIVED else []
        self._keep(mutant.name, within, verdict, test, blind)
        line = json.dumps([mutant.name, within, verdict, test, blind]) + "\n"
        with self.path.open("ab", buffering=0) as file:  # whole lines, whoever else writes
            file.write(line.encode())


def _reached(collected: Collected, marks: Mapping[str, str]) -> Reached:
    """Return which tests reach which lines: known from before for the same test."""
    path = CACHE / "reached.json"
    law = {file.stem: file.read_text(encoding="utf-8") for file in sorted(LAW.glob("*.py"))}
    kept: dict[str, Reach] = {}
    wanted = set(marks.values())
    if path.exists():
        known = json.loads(path.read_text(encoding="utf-8"))
        moved = {
            name: Moved.between(before, law.get(name, ""))
            for name, before in known["law"].items()
            if law.get(name, "") != before
        }
        kept = {mark: Reach(**reach).after(moved) for mark, reach in known["tests"].items() if mark in wanted}
    new = [test for test, mark in marks.items() if mark not in kept]
    if new:
        print(f"which lines {len(new)} tests reach", flush=True)
        found = json.loads(
            in_a_fork(lambda: json.dumps({t: asdict(r) for t, r in collected.reached(new).items()}).encode())
        )
        kept |= {marks[test]: Reach(**reach) for test, reach in found.items()}
        tests = {mark: asdict(reach) for mark, reach in kept.items()}
        path.write_text(json.dumps({"law": law, "tests": tests}), encoding="utf-8")
    reached = Reached()
    for test, mark in marks.items():
        reached.add(test, kept[mark])
    return reached


class Tries:
    """Mutants of these modules and what the tests make of them."""

    def __init__(self, sources: Mapping[str, Path], collected: Collected, limits: Limits) -> None:
        self.collected, self.limits = collected, limits
        self.marks = _marks(collected.items)
        self.reached = _reached(collected, self.marks)
        self.mutants = [
            (mutant, _hash(mutant.within.encode()))
            for name, path in sources.items()
            for mutant in mutants(name, path.read_text(encoding="utf-8"))
        ]
        self.results = Results()
        self.judged = frozenset(judged())

    def tests_for(self, mutant: Mutant) -> list[str]:
        """Return the tests that can notice this mutant, the likeliest first."""
        return tests_for(mutant, self.reached, self.results.noticed.get(mutant.module, Counter()))

    def left_for(self, mutant: Mutant, within: str, each_s: float) -> list[str]:
        """Return the tests that this mutant has not been tried on, as many as there is time for."""
        names = self.tests_for(mutant)
        blind = self.results.blind.get((mutant.name, within), set())
        left = set(so_many(names, self.reached, FIRST_S if mutant.name in self.judged else each_s))
        return [name for name in names if name in left and self.marks[name] not in blind]

    def verdict(self, mutant: Mutant, within: str) -> str:
        """Return what is known of this mutant."""
        return self.results.of(mutant, within, {self.marks[name] for name in self.tests_for(mutant)})

    def work(self, each_s: float) -> list[tuple[Mutant, str]]:
        """Return what has to be tried: functions first, for tables are tried twice."""
        wanted = [
            entry
            for entry in self.mutants
            if self.verdict(*entry) in (UNTRIED, SO_FAR) and self.left_for(*entry, each_s)
        ]
        return sorted(wanted, key=lambda entry: not entry[0].function)

    def do(self) -> None:
        """Try what has to be tried: everything on a few tests, then what is left on all."""
        gc.freeze()
        for each_s in (FIRST_S, self.limits.each_s):
            self._try_all(each_s)
            self.results = Results()

    def _try_all(self, each_s: float) -> None:
        """Try what has to be tried on so many seconds of tests each, in several processes."""
        work = self.work(each_s)
        children: list[int] = []
        for number in range(self.limits.processes):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    self._try(work[number :: self.limits.processes], each_s)
                    code = 0
                except (RuntimeError, ValueError, OSError) as error:
                    print(f"make mutants: {error}", file=sys.stderr)
                finally:
                    os._exit(code)
            children.append(child)
        ended = [os.waitpid(child, 0)[1] for child in children]
        if any(ended):
            raise SystemExit(1)

    def _try(self, work: Sequence[tuple[Mutant, str]], each_s: float) -> None:
        with Fresh() as fresh:
            for mutant, within in work:
                if time.monotonic() > self.limits.until:
                    return
                names = self.left_for(mutant, within, each_s)
                first = so_many(names, self.reached, FIRST_S)
                verdict, test = verdict_on(mutant, self.collected, fresh, names, first)
                self.results.add(mutant, within, verdict, test, [self.marks[name] for name in names])

    def tell(self) -> int:
        """Print how far each module is, and what the page of judged mutants lacks or names wrongly."""
        by_module: dict[str, Counter[str]] = {}
        by_name: dict[str, str] = {}
        for mutant, within in self.mutants:
            by_name[mutant.name] = self.verdict(mutant, within)
            by_module.setdefault(mutant.module, Counter())[by_name[mutant.name]] += 1
        for name, verdicts in by_module.items():
            print(f"{name}: {verdicts.total()} mutants; {_words(verdicts)}")
        together = sum(by_module.values(), Counter[str]())
        print(f"all {together.total()}: {_words(together)}")
        unnoticed = [name for name, verdict in by_name.items() if verdict in (SURVIVED, NO_TEST, SO_FAR)]
        not_judged = [name for name in unnoticed if name not in self.judged]
        misjudged = [name for name in self.judged if by_name.get(name) in (KILLED, ENDLESS)]
        for mutant_name in not_judged:
            print(f"  {mutant_name}")
        print(
            f"{len(unnoticed)} are noticed by no test; "
            f"{len(not_judged)} of them do not stand in docs/mutants.md"
        )
        for mutant_name in misjudged:
            print(f"noticed by a test, and yet in docs/mutants.md: {mutant_name}")
        return 1 if not_judged or misjudged or together[UNTRIED] else 0


def main() -> int:
    """Try what has to be tried; tell what no test notices and nobody has judged."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("modules", nargs="*", help="modules of the law; left out: all")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long, to go on later")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--each", type=float, default=1e9, help="seconds of tests on each mutant at most, for a quick look"
    )
    args = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    sources = {path.stem: path for path in sorted(LAW.glob("*.py")) if path.stem != "__init__"}
    unknown = set(args.modules) - set(sources)
    if unknown:
        print(f"make mutants: there is no module {', '.join(sorted(unknown))} in the law", file=sys.stderr)
        return 2
    limits = Limits(time.monotonic() + args.seconds, args.each, args.processes)
    chosen = {name: path for name, path in sources.items() if name in (args.modules or sources)}

    def all_of_it(collected: Collected) -> int:
        tries = Tries(chosen, collected, limits)
        tries.do()
        return tries.tell()

    return with_collected(all_of_it)


def _words(verdicts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {verdict}" for verdict, number in sorted(verdicts.items()))


if __name__ == "__main__":
    raise SystemExit(main())
