"""A short run of `make fuzz`, and what it has found so far."""

import json
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from random import Random

import msgpack
import pytest

from firmware_tests.fuzz.reached import unreached
from firmware_tests.fuzz.targets import NAMES, program_seeds, target
from recount_classifier.errors import ProgramError
from recount_classifier.program import MAGIC, read_program

ROUNDS = {"programs": 300, "orders": 300, "crops": 500, "sealed bundles": 300, "bundles": 60}


@pytest.mark.parametrize("name", NAMES)
def test_a_decoder_stands_changed_inputs(name: str) -> None:
    """Without guidance: each input is a change of a seed or of an earlier input."""
    chosen, random = target(name), Random(802)
    seeds = list(chosen.seeds())
    pool, past = list(seeds), 0
    assert sum(map(chosen.decode, seeds)) >= 0.5 * len(seeds), "too few seeds pass the outermost layer"
    rounds = ROUNDS.get(name, 1000)
    for _ in range(rounds):
        data = chosen.change(random.choice(pool), random, chosen.max_bytes)
        past += chosen.decode(data)
        pool = [*seeds, *pool[len(seeds) :][-50:], data]
    assert past >= 0.3 * rounds


@pytest.mark.skipif(find_spec("atheris") is None, reason="atheris has no wheel for this machine")
def test_atheris_drives_a_decoder(tmp_path: Path) -> None:
    (tmp_path / "corpus").mkdir()
    words = ["feeder messages", "1000", str(tmp_path / "figures.json"), str(tmp_path / "corpus"), "1"]
    ended = subprocess.run(
        [sys.executable, "-m", "firmware_tests.fuzz.one", *words], capture_output=True, check=False
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["inputs"] >= 1000
    assert figures["past"] >= 300


@pytest.mark.parametrize("name", NAMES)
def test_seeds_and_a_few_changes_of_them_reach_nearly_every_line(name: str) -> None:
    chosen, random = target(name), Random(802)
    seeds = list(chosen.seeds())
    rounds = ROUNDS.get(name, 1000)
    changed = [chosen.change(random.choice(seeds), random, chosen.max_bytes) for _ in range(rounds)]
    left, lines = unreached(chosen, [*seeds, *changed])
    assert len(left) <= 0.05 * lines, left


def test_a_line_that_is_said_to_be_beyond_all_inputs_must_not_be_reached() -> None:
    chosen = replace(target("feeder messages"), beyond={"return name, fields": "said wrongly"})
    with pytest.raises(ValueError, match="said to be beyond"):
        unreached(chosen, chosen.seeds())


def test_the_lines_that_inputs_reach_are_told() -> None:
    chosen = target("feeder messages")
    few, lines = unreached(chosen, chosen.seeds()[:1])
    none, _ = unreached(chosen, [])
    assert len(few) < len(none) == lines


# Findings


def with_fields(**changed: object) -> bytes:
    seed = program_seeds()[0]
    fields = msgpack.unpackb(seed[len(MAGIC) + 32 :]) | changed
    return hashed(msgpack.packb(fields) or b"")


def hashed(content: bytes) -> bytes:
    return MAGIC + sha256(content).digest() + content


def test_a_program_for_another_resolution_is_refused_in_one_line() -> None:
    with pytest.raises(ProgramError) as caught:
        read_program(with_fields(dpi="\n\x1b[2J"))
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_a_program_with_a_key_twice_is_refused() -> None:
    content = program_seeds()[0][len(MAGIC) + 32 :]
    assert content[0] == 0x87, "a map of seven"
    doubled = b"\x88" + content[1:] + (msgpack.packb("vote_for") or b"") + (msgpack.packb(1) or b"")
    with pytest.raises(ProgramError, match="not in its one form"):
        read_program(hashed(doubled))
