"""The guides are true: every command in them can be typed, every file read, every text is the panel's."""

import argparse
import re
from pathlib import Path

import pytest

from recount_device.cli import COMMANDS as DEVICE_COMMANDS
from recount_device.cli import build_parser
from recount_device.config import parse_config
from recount_device.messages import MESSAGES, STOP_SENTENCES
from recount_device.reasons import PATH_REASONS
from recount_host import cli as host_cli
from recount_host.law.counts import LETTERS, Standing
from recount_host.order import parse_order
from recount_host.programs.spec import parse_spec
from recount_world.script import read_script

DOCS = Path(__file__).resolve().parent.parent / "docs"
GUIDES = ("operator-guide.md", "technician-guide.md", "programming-guide.md")
WHOLE_SENTENCES = ("order_refused", "fault")
"""Messages that are nothing but the sentence which is put into them."""


def guide(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def commands(program: str) -> list[str]:
    """Return each command of that program in the guides, one that goes on over several lines as one."""
    lines = [line for name in GUIDES for line in re.sub(r"\\\n\s*", "", guide(name)).splitlines()]
    return [line.strip() for line in lines if line.startswith(f"    {program} ")]


def words(line: str) -> list[str]:
    return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', line)][1:]


def files(name: str) -> list[tuple[str, str]]:
    """Return (file name, content) of every TOML block of the guide."""
    return re.findall(r"```toml\n# (\S+)\n(.*?)```", guide(name), flags=re.DOTALL)


def as_written(template: str) -> str:
    return " ".join(template.format(sheet=12, why="...", like=3, tray="SET ASIDE").split())


def parse_as_host(given: list[str]) -> argparse.Namespace:
    command = host_cli.find_command(given)
    parser = host_cli.OneLineParser(prog="recount-host")
    host_cli.implementation(command).configure(parser)
    return parser.parse_args(given[len(command.words.split()) :])


@pytest.mark.parametrize("line", commands("recount-host"))
def test_every_command_of_the_host_in_the_guides_can_be_typed(line: str) -> None:
    assert parse_as_host(words(line))


@pytest.mark.parametrize("line", commands("recount-device"))
def test_every_command_of_the_device_in_the_guides_can_be_typed(line: str) -> None:
    given = words(line)
    assert build_parser(given[0]).parse_args(given).module in {one.module for one in DEVICE_COMMANDS}


def test_every_command_of_the_host_is_in_a_guide() -> None:
    text = "\n".join(commands("recount-host"))
    assert not [one.words for one in host_cli.COMMANDS if f"recount-host {one.words} " not in text]


def test_every_file_in_the_technician_guide_is_read_as_it_stands(tmp_path: Path) -> None:
    read = []
    for name, content in files("technician-guide.md"):
        read.append(name)
        if name == "order.toml":
            assert parse_order(content)
        elif name == "SPEC.toml":
            assert parse_spec(content.encode())
        elif name == "DEVICE.toml":
            assert parse_config(content, name, tmp_path)
        else:
            (tmp_path / "work/fairview").mkdir(parents=True)
            (tmp_path / "work/fairview/deck.toml").write_text('[[sheet]]\nid = "001"\n', encoding="utf-8")
            (tmp_path / name).write_text(content, encoding="utf-8")
            assert read_script(tmp_path / name).sheets
    assert sorted(read) == ["DEVICE.toml", "DEVICE.toml", "SPEC.toml", "WORLD.toml", "order.toml"]


@pytest.mark.parametrize("name", sorted(set(MESSAGES) - set(WHOLE_SENTENCES)))
def test_every_text_of_the_panel_stands_in_the_operator_guide(name: str) -> None:
    assert f"| {as_written(MESSAGES[name].text)} |" in guide("operator-guide.md")


def test_every_reason_of_the_paper_path_stands_in_the_operator_guide() -> None:
    sentences = [*(reason.sentence for reason in PATH_REASONS.values()), *STOP_SENTENCES.values()]
    assert not [one for one in sentences if f"| {one} |" not in guide("operator-guide.md")]


def test_every_letter_and_every_answer_to_a_count_stands_in_the_operator_guide() -> None:
    text = guide("operator-guide.md")
    assert not [letter for letter in LETTERS if f"\n| {letter} |" not in text]
    answers = [one.value for one in Standing if one is not Standing.NOT_COUNTED]
    assert not [one for one in answers if f"\n| {one} |" not in text]
