"""Building a contest program: the spec and the blanks it names become one `Program`."""

from pathlib import Path

from recount_classifier.compiling import StyleSpec as CompilerStyle
from recount_classifier.compiling import TargetSpec, compile_style
from recount_classifier.errors import BlankError
from recount_classifier.program import Option, Program, Style, make_program
from recount_classifier.raster import Grey
from recount_classifier.thresholds import Thresholds
from recount_host.errors import OperatorError
from recount_host.given_files import read_given
from recount_host.law import DEFAULT_SECTION
from recount_host.programs.blanks import read_blank
from recount_host.programs.finding import ink_share
from recount_host.programs.spec import MAX_SPEC_BYTES, ProgramSpec, SpecError, StyleSpec, parse_spec

_FILLED = 0.35
"""Share of the printer's black in the middle of a target; a number or letter printed there takes a fifth."""


def build_program(path: Path) -> Program:
    """Return the program that a SPEC.toml describes; blanks are looked for beside it.

    Raises OperatorError in one sentence for a spec, a blank or a layout that no safe program can be made of.
    """
    text = read_given(path, "the spec", MAX_SPEC_BYTES)
    try:
        spec = parse_spec(text)
        return program_of(spec, path.parent)
    except SpecError as error:
        raise OperatorError(f"{path}: {error}") from error
    except BlankError as error:
        raise OperatorError(
            f"{path}: {error}. Correct the spec; a style that no correct spec makes safe could not be "
            f"programmed: leave it out, and its ballots are counted by hand ({DEFAULT_SECTION})"
        ) from error


def program_of(spec: ProgramSpec, folder: Path) -> Program:
    """Return the program of a spec whose blanks lie in `folder`. Raises BlankError and OperatorError."""
    blanks: dict[str, Grey] = {}

    def blank(name: str) -> Grey:
        if name not in blanks:
            blanks[name] = read_blank(name, folder, spec.dpi)
        return blanks[name]

    styles: list[Style] = []
    for style in spec.styles:
        other = None if style.other_side is None else blank(style.other_side)
        told = _for_compiler(spec, style)
        _refuse_filled(told, blank(style.blank))
        styles.append(compile_style(told, blank(style.blank), other))
    options = [Option(option.key, option.name or "write-in", option.write_in) for option in spec.options]
    thresholds = Thresholds(**spec.thresholds)
    return make_program(spec.key, spec.title, spec.vote_for, options, styles, thresholds)


def _refuse_filled(style: CompilerStyle, page: Grey) -> None:
    """Refuse a target that the blank itself fills: a mark in it would be taken for the print."""
    ink = ink_share(page, style.dpi)
    for target in style.targets:
        left, top, width, height = target.box
        x, y = max(0, round(left + width / 4)), max(0, round(top + height / 4))
        inside = ink[y : y + round(height / 2), x : x + round(width / 2)]
        if inside.size and float(inside.mean()) > _FILLED * 255:
            raise BlankError(
                f"style {style.id}: the target at {left:g}, {top:g} of {target.option} is filled or marked "
                "on the blank, so that a mark in it could not be told: take a ballot that nobody marked"
            )


def _for_compiler(spec: ProgramSpec, style: StyleSpec) -> CompilerStyle:
    write_ins = {option.key for option in spec.options if option.write_in}
    return CompilerStyle(
        id=style.id,
        side=style.side,
        dpi=spec.dpi,
        box=style.contest_box,
        write_in_areas=style.write_in_areas,
        targets=tuple(
            TargetSpec(option.key, option.key in write_ins, box)
            for option in spec.options
            for box in style.targets[option.key]
        ),
        test_mark=style.test_mark,
    )
