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
from collections.abc import Mapping
from dataclasses import asdict
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
NO_TEST = "no test"
"""The verdict on a mutant whose lines no quick test reaches."""


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


def _try(work: list[tuple[Mutant, str]], collected: Collected, reached: Reached, until: float) -> None:
    results = Results(_hash(*TESTS.glob("*.py")))
    for mutant, module in work:
        if time.monotonic() > until:
            return
        names = tests_for(mutant, reached, results.noticed.get(mutant.module, Counter()))
        results.add(mutant, module, *(verdict_on(mutant, collected, names) if names else (NO_TEST, "")))


def _in_processes(
    work: list[tuple[Mutant, str]], collected: Collected, reached: Reached, until: float, processes: int
) -> None:
    children: list[int] = []
    for number in range(processes):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                _try(work[number::processes], collected, reached, until)
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
    args = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    sources = {path.stem: path for path in sorted(LAW.glob("*.py")) if path.stem != "__init__"}
    unknown = set(args.modules) - set(sources)
    if unknown:
        print(f"make mutants: there is no module {', '.join(sorted(unknown))} in the law", file=sys.stderr)
        return 2
    until = time.monotonic() + args.seconds
    chosen = {name: path for name, path in sources.items() if name in (args.modules or sources)}
    return with_collected(lambda collected: _all(chosen, collected, until, args.processes))


def _all(sources: Mapping[str, Path], collected: Collected, until: float, processes: int) -> int:
    reached = _reached(collected, _hash(*LAW.glob("*.py"), *TESTS.glob("*.py")))
    verdicts: Counter[str] = Counter()
    open_ones: list[str] = []
    untried = 0
    for name, path in sources.items():
        made = [(mutant, _hash(path)) for mutant in mutants(name, path.read_text())]
        known = Results(_hash(*TESTS.glob("*.py")))
        work = [entry for entry in made if known.of(*entry) is None]
        _in_processes(work, collected, reached, until, processes)
        known = Results(_hash(*TESTS.glob("*.py")))
        told = {mutant.name: known.of(mutant, module) for mutant, module in made}
        own = Counter(verdict or "untried" for verdict in told.values())
        print(
            f"{name}: {len(made)} mutants; {', '.join(f'{n} {word}' for word, n in sorted(own.items()))}",
            flush=True,
        )
        verdicts.update(own)
        untried += own["untried"]
        open_ones += [mutant for mutant, verdict in told.items() if verdict in (SURVIVED, NO_TEST)]
    print(f"all: {', '.join(f'{n} {word}' for word, n in sorted(verdicts.items()))}")
    not_judged = [mutant for mutant in open_ones if mutant not in judged()]
    for mutant in not_judged:
        print(f"  {mutant}")
    print(
        f"{len(open_ones)} are noticed by no test; {len(not_judged)} of them do not stand in docs/mutants.md"
    )
    return 1 if not_judged or untried else 0


if __name__ == "__main__":
    raise SystemExit(main())
