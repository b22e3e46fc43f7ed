"""docs/statute.md: everything it names exists, and no module of the law is missing from it."""

import ast
import importlib
import pkgutil
import re
from functools import cache
from pathlib import Path

import pytest

from recount_host import law
from recount_host.law.states import TRANSITIONS
from recount_host.order import Order

REPOSITORY = Path(__file__).parents[3]
PAGE = (REPOSITORY / "docs" / "statute.md").read_text(encoding="utf-8")
CLAUSES, REFUSALS, TEXT, READINGS, *_ = PAGE.split("\n## ")


def rows_of(part: str) -> list[list[str]]:
    lines = [line for line in part.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


ROWS = rows_of(CLAUSES)
IDS = [f"{row[0]}-{number}" for number, row in enumerate(ROWS)]


TESTS = [row[-1] for part in (CLAUSES, REFUSALS, READINGS) for row in rows_of(part)]
"""The tests that show what the page says is done, clause by clause, refused, and read so."""

SENTENCES = {row[0]: row[1] for row in rows_of(TEXT)}
"""Every sentence of the section by its clause, as the page copies it."""


def names_in(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@cache
def collected_from(file_name: str) -> list[str]:
    """Return the names that pytest collects from this file: later ones hide earlier ones of the same name."""
    (path,) = [REPOSITORY / file_name] if "/" in file_name else (REPOSITORY / "host/tests").rglob(file_name)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [name for name in names if name.startswith("test_")]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_the_code_that_a_clause_names_exists(row: list[str]) -> None:
    assert names_in(row[2])
    for name in names_in(row[2]):
        module, _, thing = name.partition(":")
        assert hasattr(importlib.import_module(f"recount_host.law.{module}"), thing), name


@pytest.mark.parametrize("tests", TESTS, ids=range(len(TESTS)))
def test_the_tests_that_a_clause_a_refusal_or_a_reading_names_exist(tests: str) -> None:
    assert names_in(tests)
    for name in names_in(tests):
        file_name, _, function = name.partition("::")
        assert collected_from(file_name).count(function) == 1, name


def test_every_sentence_that_obliges_somebody_refuses_something() -> None:
    refused = {row[0] for row in rows_of(REFUSALS)}
    assert [clause for clause in SENTENCES if clause not in refused] == ["D lead s. 2"]
    assert refused <= set(SENTENCES)


def test_every_sentence_of_the_text_has_a_row_and_every_row_its_sentence() -> None:
    assert [row[0] for row in ROWS if row[0] not in SENTENCES] == []
    assert [clause for clause in SENTENCES if clause not in {row[0] for row in ROWS}] == []
    assert len(rows_of(TEXT)) == len(SENTENCES)


def test_the_sentences_on_the_page_are_the_text_of_the_law_each_once(shared_folder: Path) -> None:
    text = (shared_folder / "procedure" / "statute.txt").read_text(encoding="utf-8")
    without_numbers = re.sub(r"^([A-H]|\d)\. ", "", text, flags=re.MULTILINE)
    assert " ".join(SENTENCES.values()) == " ".join(without_numbers.split())
    marks = [mark.rstrip(".") for mark in re.findall(r"^(?:[A-H]|\d)\.", text, re.MULTILINE)]
    last_of_name = [clause.partition(" s. ")[0].removesuffix(" lead").split()[-1] for clause in SENTENCES]
    assert list(dict.fromkeys(last_of_name)) == marks


def test_every_module_of_the_law_carries_out_a_clause() -> None:
    named = {name.partition(":")[0] for row in ROWS for name in names_in(row[2])}
    assert {module.name for module in pkgutil.iter_modules(law.__path__)} == named


def test_every_choice_of_the_order_stands_beside_its_question_and_no_other() -> None:
    keys = {name.strip("[]") for row in rows_of(READINGS) for name in names_in(row[2])}
    chosen = {field for field in Order.__struct_fields__ if field in keys} | {"kind"}
    assert keys == chosen
    named_at_once = {"contest", "title", "locality", "vote_for", "sides", "precincts"}
    said_only = {"court", "standards", "teams"}
    assert set(Order.__struct_fields__) - named_at_once - said_only == keys - {"kind"}


def test_every_change_of_state_in_the_table_is_in_the_diagram_and_no_other() -> None:
    drawn = set(re.findall(r"^    (\w+) --> (\w+)", PAGE, re.MULTILINE))
    changes = {
        (state.value, to.value)
        for state, events in TRANSITIONS.items()
        for to in events.values()
        if to is not state
    }
    assert drawn == changes
