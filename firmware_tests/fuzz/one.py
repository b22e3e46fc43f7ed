"""One decoder under atheris: a process of its own, because libFuzzer ends the process when it is done."""

import importlib
import json
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from random import Random
from typing import Any

atheris: Any = importlib.import_module("atheris")
"""Not for every machine: Linux on x86-64 only."""

guide: AbstractContextManager[Any] = (
    atheris.instrument_imports(include=sys.argv[6:]) if sys.argv[6:] else nullcontext()
)
with guide:
    from firmware_tests.fuzz.targets import target

NOTE_EVERY = 1000


def main() -> None:
    """Fuzz: NAME, number of inputs, file for the figures, folder of the corpus, seed, what guides it."""
    name, inputs, figures, corpus, seed = sys.argv[1:6]
    chosen = target(name)
    for function in () if chosen.guided_by else chosen.code:
        atheris.instrument_func(function)
    wanted, path = int(inputs), Path(figures)
    counts = {"inputs": 0, "past": 0}
    for n, data in enumerate(chosen.seeds()):
        chosen.decode(data)  # whole, also where it is longer than what the fuzzer may make
        Path(corpus, f"seed-{n}").write_bytes(data)

    def one_input(data: bytes) -> None:
        counts["past"] += chosen.decode(data)
        counts["inputs"] += 1
        if counts["inputs"] % NOTE_EVERY == 0 or counts["inputs"] >= wanted:
            path.write_text(json.dumps(counts))

    random = Random(int(seed))

    def change(data: bytes, max_size: int, _number: int) -> bytes:
        return chosen.change(data, random, max_size)[:max_size]

    finding = Path(corpus).with_name(f"finding-{Path(corpus).name}-")
    options = (
        f"-runs={wanted}",
        f"-max_len={chosen.max_bytes}",
        f"-seed={seed}",
        f"-artifact_prefix={finding}",
        "-timeout=10",
        "-rss_limit_mb=1500",
        "-len_control=0",
        "-print_final_stats=1",
    )
    atheris.Setup([sys.argv[0], *options, corpus], one_input, custom_mutator=change)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
