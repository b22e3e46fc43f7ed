"""`make mutants`: change the law wrongly in thousands of small ways, and see that a test notices each.

It goes on where it was stopped (.cache/mutants): what was noticed is not tried again as long as its module
is the same, what was not noticed is tried again when a test has changed. At the end every mutant that no
test notices must stand in docs/mutants.md with the reason why it is not wrong.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from host.tests.mutants.changes import Mutant, mutants
from host.tests.mutants.judged import judged
from host.tests.mutants.trying import (
    ENDLESS,
    KILLED,
    LAW,
    REPOSITORY,
    SURVIVED,
    TESTS,
    Collected,
    Reached,
    in_a_fork,
    tests_for,
    verdict_on,
    with_collected,
)

CACHE = REPOSITORY / ".cache" / "mutants"
NO_TEST, UNTRIED = "no test", "untried"
"""The verdict on a mutant whose lines no quick test reaches; and on one that was not tried yet."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long is worked, and how."""

    until: float
    """On the clock of this process."""
    each_s: float
    processes: int


def _hash(*paths: Path) -> str:
    return sha256(b"".join(path.read_bytes() for path in sorted(paths))).hexdigest()[:16]


class Results:
    """What is known of each mutant, kept in a file that is only ever added to."""

    def __init__(self, tests: str) -> None:
        self.tests = tests
        self.path = CACHE / "results.jsonl"
        self.known: dict[tuple[str, str], tuple[str, str]] = {}
        """(mutant, hash of its module) -> (verdict, hash of the tests)."""
        self.noticed: dict[str, Counter[str]] = {}
        """Module -> how many of its mutants each test noticed first."""
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                name, module, verdict, tried, test = json.loads(line)
                self._keep(name, module, verdict, tried, test)

    def _keep(self, name: str, module: str, verdict: str, tried: str, test: str) -> None:
        self.known[name, module] = verdict, tried
        if test:
            self.noticed.setdefault(name.partition(":")[0], Counter())[test] += 1

    def of(self, mutant: Mutant, module: str) -> str | None:
        """Return the verdict on a mutant, None where it has to be tried."""
        verdict, tried = self.known.get((mutant.name, module), ("", ""))
        return verdict if verdict in (KILLED, ENDLESS) or tried == self.tests else None

    def add(self, mutant: Mutant, module: str, verdict: str, test: str = "") -> None:
        """Write down a verdict, and which test noticed the mutant."""
        self._keep(mutant.name, module, verdict, self.tests, test)
        line = json.dumps([mutant.name, module, verdict, self.tests, test])
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def _reached(collected: Collected, key: str) -> Reached:
    path = CACHE / "reached.json"
    if path.exists():
        kept = json.loads(path.read_text(encoding="utf-8"))
        if kept["key"] == key:
            lines = {name: {int(n): t for n, t in own.items()} for name, own in kept["lines"].items()}
            return Reached(kept["seconds"], lines)
    print("which tests reach which lines: about two minutes", flush=True)
    found = json.loads(in_a_fork(lambda: json.dumps(asdict(collected.reached())).encode()))
    path.write_text(json.dumps({"key": key, **found}), encoding="utf-8")
    return _reached(collected, key)


def _try(
    work: Sequence[tuple[Mutant, str]],
    collected: Collected,
    reached: Reached,
    results: Results,
    limits: Limits,
) -> None:
    for mutant, module in work:
        if time.monotonic() > limits.until:
            return
        noticed_before = results.noticed.get(mutant.module, Counter())
        names = tests_for(mutant, reached, noticed_before, limits.each_s)
        results.add(mutant, module, *(verdict_on(mutant, collected, names) if names else (NO_TEST, "")))


def _in_processes(
    work: Sequence[tuple[Mutant, str]],
    collected: Collected,
    reached: Reached,
    results: Results,
    limits: Limits,
) -> None:
    children: list[int] = []
    for number in range(limits.processes):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                _try(work[number :: limits.processes], collected, reached, results, limits)
                code = 0
            except RuntimeError as error:
                print(f"make mutants: {error}", file=sys.stderr)
            finally:
                os._exit(code)
        children.append(child)
    ended = [os.waitpid(child, 0)[1] for child in children]
    if any(ended):
        raise SystemExit(1)


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
    return with_collected(lambda collected: _all(chosen, collected, limits))


def _all(sources: Mapping[str, Path], collected: Collected, limits: Limits) -> int:
    tests = _hash(*TESTS.glob("*.py")) + (f" for {limits.each_s} s" if limits.each_s < 1e9 else "")
    reached = _reached(collected, _hash(*LAW.glob("*.py"), *TESTS.glob("*.py")))
    made = [
        (mutant, _hash(path)) for name, path in sources.items() for mutant in mutants(name, path.read_text())
    ]
    results = Results(tests)
    work = [entry for entry in made if results.of(*entry) is None]
    # Functions first: a table that no test notices is tried again in a process of its own.
    work.sort(key=lambda entry: not entry[0].function)
    _in_processes(work, collected, reached, results, limits)
    return _tell(made, Results(tests))


def _tell(made: Sequence[tuple[Mutant, str]], results: Results) -> int:
    """Print how far each module is, and what no test notices and nobody has judged."""
    by_module: dict[str, Counter[str]] = {}
    open_ones: list[str] = []
    for mutant, module in made:
        verdict = results.of(mutant, module) or UNTRIED
        by_module.setdefault(mutant.module, Counter())[verdict] += 1
        if verdict in (SURVIVED, NO_TEST):
            open_ones.append(mutant.name)
    for name, verdicts in by_module.items():
        print(f"{name}: {verdicts.total()} mutants; {_words(verdicts)}")
    together = sum(by_module.values(), Counter[str]())
    print(f"all: {_words(together)}")
    page = set(judged())
    not_judged = [mutant for mutant in open_ones if mutant not in page]
    for mutant in not_judged:
        print(f"  {mutant}")
    print(
        f"{len(open_ones)} are noticed by no test; {len(not_judged)} of them do not stand in docs/mutants.md"
    )
    return 1 if not_judged or together[UNTRIED] else 0


def _words(verdicts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {verdict}" for verdict, number in sorted(verdicts.items()))


if __name__ == "__main__":
    raise SystemExit(main())
