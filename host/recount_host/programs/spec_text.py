"""Writing a spec down as TOML, as a person would, so that a person can go on with it."""

import json
import re
from collections.abc import Mapping, Sequence

from recount_host.programs.spec import OptionSpec, ProgramSpec, StyleSpec


def spec_text(
    spec: ProgramSpec, head: Sequence[str] = (), notes: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Return the TOML of a spec: remarks at the head, and remarks of each style by its id."""
    lines = [f"# {line}" for line in head]
    lines += [
        f"key = {_words(spec.key)}",
        f"title = {_words(spec.title)}",
        f"vote_for = {spec.vote_for}",
        f"dpi = {spec.dpi:g}",
    ]
    for option in spec.options:
        lines += ["", "[[option]]", *_option(option)]
    for style in spec.styles:
        lines += ["", "[[style]]", *_style(style, (notes or {}).get(style.id, ()))]
    if spec.thresholds:
        lines += ["", "[thresholds]", *(f"{name} = {value!r}" for name, value in spec.thresholds.items())]
    return "\n".join(lines) + "\n"


def _option(option: OptionSpec) -> list[str]:
    lines = [f"key = {_words(option.key)}"]
    if option.name or not option.write_in:
        lines.append(f"name = {_words(option.name)}")
    if option.write_in:
        lines.append("write_in = true")
    return lines


def _style(style: StyleSpec, notes: Sequence[str]) -> list[str]:
    lines = [f"id = {_words(style.id)}", f'side = "{style.side}"', f"blank = {_words(style.blank)}"]
    if style.other_side:
        lines.append(f"other_side = {_words(style.other_side)}")
    lines.append(f"contest_box = {_numbers(style.contest_box)}")
    lines += [f"# {note}" for note in notes]
    lines.append(f"write_in_areas = [{', '.join(map(_numbers, style.write_in_areas))}]")
    targets = (f"{_key(key)} = [{', '.join(map(_numbers, boxes))}]" for key, boxes in style.targets.items())
    lines.append(f"targets = {{ {', '.join(targets)} }}")
    if style.test_mark:
        lines.append(f"test_mark = {_numbers(style.test_mark)}")
    return lines


def _numbers(values: Sequence[float]) -> str:
    return "[" + ", ".join(f"{round(value, 1):.10g}" for value in values) + "]"


def _key(key: str) -> str:
    """Return a TOML key: bare where it may be, for a dot in it would mean a table."""
    return key if re.fullmatch(r"[A-Za-z0-9_\-]+", key) else _words(key)


def _words(text: str) -> str:
    """Return a TOML basic string: JSON's escapes are a part of TOML's, which wants U+007F escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
