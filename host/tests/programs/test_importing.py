"""Specs from a NIST ballot definition and from a CSV of places; every damaged file is one line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recount_classifier.program import read_program
from recount_host.cli import main
from recount_host.programs.importing import (
    CSV_COLUMNS,
    Blanks,
    ImportFileError,
    read_definition,
    read_places,
    spec_of,
)
from recount_host.programs.spec import OptionSpec, ProgramSpec, StyleSpec, parse_spec
from recount_host.programs.spec_text import spec_text

FAIRVIEW = Path(__file__).resolve().parents[3] / "images" / "ballots" / "fairview"


def _area(left: float, top: float, width: float, height: float) -> dict[str, Any]:
    return {"X": left, "Y": top, "W": width, "H": height, "Side": "front", "Sheet": 1}


def _said(words: str) -> dict[str, Any]:
    return {"Text": [{"Content": words, "Language": "en"}]}


def definition() -> dict[str, Any]:
    """Return the demonstration's race as another program would export it, in points."""
    options = [("o-D", "c-D", 164.16), ("o-R", "c-R", 189.36), ("o-I", "c-I", 214.2)]
    physical: list[dict[str, Any]] = [
        {"ContestOptionId": option, "OptionPosition": [_area(229.68, top, 9.36, 6.48)]}
        for option, _, top in options
    ]
    physical.append(
        {
            "OptionPosition": [_area(229.68, 239.4, 9.36, 6.12)],
            "WriteInPosition": [_area(247.68, 229.32, 138.6, 19.44)],
        }
    )
    names = {"c-D": "Cora Whitlock", "c-R": "Oscar Radford", "c-I": "Tessa Marlow"}
    return {
        "BallotFormat": [{"@id": "bf", "MeasurementUnit": "pt"}],
        "Election": [
            {
                "BallotStyle": [
                    {
                        "ExternalIdentifier": [{"Value": "101"}],
                        "OrderedContent": [
                            {
                                "ContestId": "delegates-52",
                                "Physical": [
                                    {
                                        "BallotFormatId": "bf",
                                        "Extent": [_area(219.96, 126, 172.08, 134.28)],
                                        "PhysicalContestOption": physical,
                                    }
                                ],
                            }
                        ],
                    }
                ],
                "Contest": [
                    {
                        "@id": "delegates-52",
                        "Name": "House of Delegates, Dist. 52",
                        "VotesAllowed": 1,
                        "ContestOption": [{"@id": o, "CandidateIds": [c]} for o, c, _ in options],
                    }
                ],
                "Candidate": [{"@id": key, "BallotName": _said(name)} for key, name in names.items()],
            }
        ],
    }


PLACES = """style,side,option,name,kind,left,top,width,height
101,front,,,contest_box,3.055,1.75,2.39,1.865
101,front,D,Cora Whitlock,target,3.19,2.28,0.13,0.09
101,front,R,Oscar Radford,target,3.19,2.63,0.13,0.09
101,front,I,Tessa Marlow,target,3.19,2.975,0.13,0.09
101,front,W,,target,3.19,3.325,0.13,0.085
101,front,W,,write_in_area,3.44,3.185,1.925,0.27
"""


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_what_is_imported_becomes_a_program_with_the_same_places(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, spec, program = tmp_path / f"places.{kind}", tmp_path / "spec.toml", tmp_path / "p.program"
    file.write_text(json.dumps(definition()) if kind == "json" else PLACES, encoding="utf-8")
    blank = f"101={FAIRVIEW}/blank-101-front.png,{FAIRVIEW}/blank-101-back.png"
    assert main(["program", "import", str(file), "--blank", blank, "-o", str(spec)]) == 0
    assert main(["program", "build", str(spec), "-o", str(program)]) == 0
    assert capsys.readouterr().err == ""
    built = read_program(program.read_bytes())
    known = parse_spec((FAIRVIEW / "spec.toml").read_bytes())
    assert [option.name for option in built.printed_options] == [
        "Cora Whitlock",
        "Oscar Radford",
        "Tessa Marlow",
    ]
    assert len(built.write_in_keys) == 1
    exact = [target for boxes in known.styles[0].targets.values() for target in boxes]
    for target, box in zip(built.styles[0].targets, exact, strict=True):
        assert (target.left, target.top) == pytest.approx(box[:2], abs=1)
    assert built.styles[0].other_side or built.styles[0].side == "front"


def test_the_examples_of_the_standard_are_read(shared_folder: Path) -> None:
    for number, options, contest in ((1, 5, "cc-president"), (2, 5, "cc-president"), (3, 4, "_1GO")):
        path = shared_folder / "schemas" / f"bd_example_physical_ballot_def_{number}.json"
        found = read_definition(path.read_bytes(), contest)
        assert len(found.options) == options
        assert [option.key for option in found.options if option.write_in] == ["W1"]
        spec = spec_of(
            found,
            {style: Blanks("front.png", "back.png") for style in found.styles},
            200,
            (0.1, 0.1, 8.4, 10.9),
        )
        assert parse_spec(spec_text(spec).encode()).vote_for == 1


def _change(path: str, value: Any) -> Callable[[], bytes]:
    """Return the definition with one place in it changed; a value of None takes it out."""

    def changed() -> bytes:
        whole = definition()
        *steps, last = [int(step) if step.isdigit() else step for step in path.split("/")]
        place: Any = whole
        for step in steps:
            place = place[step]
        if value is None:
            del place[last]
        else:
            place[last] = value
        return json.dumps(whole).encode()

    return changed


_PHYSICAL = "Election/0/BallotStyle/0/OrderedContent/0/Physical/0"


@pytest.mark.parametrize(
    ("text", "contest", "sentence"),
    [
        (lambda: b"{", None, "it is no ballot definition"),
        (lambda: b"[" * 100_000, None, "it is no ballot definition"),
        (lambda: b"\xff", None, "it is no ballot definition"),
        (_change("BallotFormat/0/MeasurementUnit", "ell"), None, "MeasurementUnit"),
        (_change(f"{_PHYSICAL}/BallotFormatId", "other"), None, "there is no BallotFormat 'other'"),
        (
            _change(f"{_PHYSICAL}/Extent", [_area(1, 1, 2, 2)] * 2),
            None,
            "must have one place with one extent",
        ),
        (_change(f"{_PHYSICAL}/Extent/0/X", 1e9), None, "lengths are from 0 to 50"),
        (_change(f"{_PHYSICAL}/Extent/0/X", -1), None, "lengths are from 0 to 50"),
        (_change(f"{_PHYSICAL}/PhysicalContestOption/0/ContestOptionId", "o-Z"), None, "has no option 'o-Z'"),
        (
            _change(f"{_PHYSICAL}/PhysicalContestOption/0/OptionPosition/0/Side", "back"),
            None,
            "on both sides",
        ),
        (_change("Election/0/BallotStyle", []), None, "no ballot style bears contest"),
        (_change("Election/0/Contest", []), None, "there is none"),
        (_change("Election/0/Contest/0/VotesAllowed", 0), None, "VotesAllowed"),
        (_change("Election", None), None, "Election"),
        (lambda: json.dumps(definition()).encode(), "mayor", "has no contest 'mayor' with --contest"),
    ],
)
def test_a_damaged_definition_is_one_line(
    text: Callable[[], bytes], contest: str | None, sentence: str
) -> None:
    with pytest.raises(ImportFileError) as told:
        read_definition(text(), contest)
    assert sentence in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ("style,side", "style,face", "its first line must name the columns"),
        ("front,R", "both,R", "line 4: side is 'both'"),
        ("front,R", "back,R", "line 4: style 101 has the contest on both sides"),
        ("Radford,target", "Radford,oval", "line 4: kind is 'oval'"),
        ("Radford,target,3.19", "Radford,target,three", "line 4: left is 'three', not a number"),
        ("Radford,target,3.19", "Radford,target,nan", "line 4: left is nan inches"),
        ("front,R,Oscar Radford", "front,,Oscar Radford", "line 4: it names no option"),
        ("front,R,Oscar Radford", "front,D,Oscar Radford", "line 4: option D is 'Oscar Radford' here and"),
        ("101,front,R", ",front,R", "line 4: it names no style"),
        ("3.19,2.63,", "3.19,", "line 4 has 8 cells, not 9"),
        (
            "101,front,R,Oscar Radford,target",
            "101,front,,,contest_box",
            "line 4: style 101 has a second contest_box",
        ),
        (PLACES[len(",".join(CSV_COLUMNS)) + 1 :], "", "it names no place"),
        ("Cora", '"Cora', "it is no CSV"),
    ],
)
def test_a_damaged_list_of_places_is_one_line(before: str, after: str, sentence: str) -> None:
    assert before in PLACES
    with pytest.raises(ImportFileError) as told:
        read_places(PLACES.replace(before, after, 1).encode(), "race", "The Race", 1)
    assert sentence in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("blank", "sentence"),
    [
        ("102=a.png", "it has no style '102': its styles are 101"),
        ("a.png", "is not STYLE=FRONT"),
        ("101=", "is not STYLE=FRONT"),
    ],
)
def test_a_blank_that_does_not_fit_is_one_line(
    blank: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "places.csv"
    file.write_text(PLACES, encoding="utf-8")
    assert main(["program", "import", str(file), "--blank", blank, "-o", str(tmp_path / "s.toml")]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert sentence in told.err


def test_a_definition_without_the_contests_extent_wants_its_box() -> None:
    found = read_definition(_change(f"{_PHYSICAL}/Extent", [])(), None)
    with pytest.raises(ImportFileError, match="add --box, in inches"):
        spec_of(found, {"101": Blanks("front.png")}, 200)
    style = spec_of(found, {"101": Blanks("front.png")}, 200, (3, 1.7, 5.5, 3.7)).styles[0]
    assert style.contest_box == (600, 340, 1100, 740)


def test_a_contest_on_the_back_wants_the_backs_blank() -> None:
    found = read_places(PLACES.replace("front", "back").encode(), "race", "The Race", 1)
    with pytest.raises(ImportFileError, match="name that blank too"):
        spec_of(found, {"101": Blanks("front.png")}, 200)
    style = spec_of(found, {"101": Blanks("front.png", "back.png")}, 200).styles[0]
    assert (style.side, style.blank, style.other_side) == ("back", "back.png", "front.png")


_LINES = st.text("aZ 0\"\\'#\t\n\x7f\x1b\u00e9\u674e=[]{}.", min_size=1, max_size=20)
_KEYS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,10}", fullmatch=True)
_BOXES = st.tuples(*[st.integers(0, 5000).map(lambda number: number / 10)] * 4)


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60)
@given(
    title=_LINES,
    names=st.lists(_LINES, min_size=1, max_size=4),
    key=_KEYS,
    box=_BOXES,
    mark=st.none() | _BOXES,
)
def test_a_spec_that_is_written_down_reads_as_the_same_spec(
    title: str,
    names: list[str],
    key: str,
    box: tuple[float, float, float, float],
    mark: tuple[float, float, float, float] | None,
) -> None:
    keys = [f"{key}{number}" for number in range(len(names))]
    options = tuple(OptionSpec(one, name) for one, name in zip(keys, names, strict=True))
    style = StyleSpec(key, "back", title, box, dict.fromkeys(keys, (box,)), None, (box,), mark)
    spec = ProgramSpec(key, title, 1, 203.5, options, (style,))
    assert msgspec.structs.asdict(parse_spec(spec_text(spec).encode())) == msgspec.structs.asdict(spec)
