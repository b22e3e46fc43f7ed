"""The mutants themselves: what is changed, what is left alone, and that the page of judged ones is true."""

import ast
from pathlib import Path

import pytest

from host.tests.mutants.changes import mutants
from host.tests.mutants.judged import judged
from host.tests.mutants.trying import Moved, Reach

LAW = Path(__file__).parents[2] / "recount_host" / "law"


def changed(line: str) -> set[str]:
    """Return what the mutants of one function make of its only line."""
    source = f'def f(a, b):\n    """Say what."""\n    {line}\n'
    return {mutant.source.splitlines()[2].strip() for mutant in mutants("m", source)}


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("return a == b", {"return a != b"}),
        ("return a < b", {"return a <= b", "return a >= b"}),
        ("return a is not None", {"return a is None"}),
        ("return a and b", {"return (a) or (b)", "return (b)", "return (a)"}),
        ("return not a", {"return bool(a)"}),
        ("return a + 1", {"return a - 1", "return a + 2"}),
        ("return True", {"return False"}),
        ("check(a)", {"pass"}),
        ("a += b", {"a -= b", "pass"}),
        ("raise Error('no')", {"pass"}),
        ("return a if b else c", {"return a if True else c", "return a if False else c"}),
        ("return [x for x in a if x]", {"return [x for x in a if True]"}),
        ("return any(a)", {"return all(a)"}),
        ("return replace(a, b=b)", {"return replace(a, )"}),
        ("return (a, b)", {"return ( b)", "return (a, )"}),
        ("return {'a': a, **b}", {"return { **b}", "return {'a': a, }"}),
        ("return a[-1]", {"return a[0]", "return a[-2]"}),
    ],
)
def test_a_mutant_is_a_small_wrong_change(line: str, wrong: set[str]) -> None:
    assert changed(line) == wrong


def test_sentences_types_exports_and_bounds_of_fields_are_left_alone() -> None:
    source = 'KIND = Field(int, 1, 99)\n\ndef f(a: "int | None") -> str:\n    return f"{a + 1} sheets"\n'
    source += '__all__ = ["f", "KIND"]\nWord = Annotated[str, Meta(max_length=64)]\nPair = tuple[int, str]\n'
    assert mutants("m", source) == []


def test_a_mutant_keeps_the_numbers_of_the_lines_and_is_named_by_its_function() -> None:
    source = (
        "class Book:\n    def of(self, a):\n        check(\n            a,\n        )\n        return a > 0\n"
    )
    made = mutants("m", source)
    assert [mutant.name for mutant in made] == [
        "m:Book.of: check( a, ) -> pass",
        "m:Book.of: a > 0 -> a >= 0",
        "m:Book.of: a > 0 -> a <= 0",
        "m:Book.of: 0 -> 1",
    ]
    for mutant in made:
        assert len(mutant.source.splitlines()) == len(source.splitlines())
        ast.parse(mutant.source)


def test_the_last_of_a_tuple_is_left_out_and_the_next_line_stays_where_it_is() -> None:
    made = mutants("m", "def f(a, b):\n    x, y = a, b\n    return x\n")
    assert "def f(a, b):\n    x, y = a, \n    return x\n" in [mutant.source for mutant in made]


def test_two_mutants_that_read_alike_have_two_names() -> None:
    made = mutants("m", "def f(a, b):\n    return a == 1, b == 1\n")
    names = [mutant.name for mutant in made]
    assert len(set(names)) == len(names)
    assert "m:f: 1 -> 2 #2" in names


def test_what_a_test_reaches_is_known_still_after_the_law_was_changed_elsewhere() -> None:
    before = "a = 1\nb = 2\nc = 3\nd = 4\n"
    now = "new = 0\na = 1\nb = 2\nc = 33\nd = 4\n"
    moved = {"m": Moved.between(before, now)}
    assert Reach(1.0, {"m": [2, 4], "n": [7]}).after(moved).lines == {"m": [1, 3, 4, 5], "n": [7]}
    assert Reach(1.0, {"n": [7]}).after(moved).lines == {"n": [7]}


def test_the_page_names_only_mutants_that_the_law_still_has_each_once() -> None:
    page = judged()
    modules = {name.partition(":")[0] for name in page}
    there = {m.name for module in modules for m in mutants(module, (LAW / f"{module}.py").read_text("utf-8"))}
    assert [name for name in page if name not in there] == []
    assert len(set(page)) == len(page)
