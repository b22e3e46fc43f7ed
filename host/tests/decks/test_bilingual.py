"""A ballot in two languages (52 U.S.C. § 10503 asks some localities for one): program, deck."""

from pathlib import Path

import cv2

from host.tests.decks.fairview_deck import right_reading
from recount_ballots.blank import draw_blank
from recount_ballots.design import Candidate, Contest, Design
from recount_ballots.spec import StyleEntry, write_spec
from recount_classifier.reading import read_sheet
from recount_host.decks.making import draw_deck, plan_deck, read_source
from recount_host.law.deck import classes_of
from recount_host.programs.building import build_program

QUESTION = Contest(
    "bonds",
    "School bonds / Bonos escolares",
    1,
    (Candidate("Y", "Yes / Sí", "For / A favor"), Candidate("N", "No / No", "Against / En contra")),
)
MAYOR = Contest(
    "mayor",
    "Mayor / Alcaldía",
    1,
    (
        Candidate("A", "Inés Calloway", "Independent / Independiente"),
        Candidate("B", "Hồng Barlow", "Green / Verde"),
        Candidate("W", "Write-in / Por escrito", write_in=True),
    ),
)
OTHERS = tuple(
    Contest(
        f"c{n}",
        f"{title} {n}",
        1,
        (Candidate("A", one, "Democratic / Demócrata"), Candidate("B", other, "Republican / Republicano")),
    )
    for n, (title, one, other) in enumerate(
        [
            ("Council / Concejo", "Nadia Emery", "Rufus Tilden"),
            ("Sheriff / Alguacil", "Vera Norwood", "Leon Garland"),
            ("Treasurer / Tesorería", "Olive Hadley", "Arthur Ives"),
            ("Recorder / Registro", "Zelda Prescott", "Edwin Nash"),
            ("School board / Junta escolar", "Ivy Thorne", "Xavier Kendrick"),
            ("Clerk / Secretaría", "Mabel Forrest", "Gideon Langley"),
        ],
        1,
    )
)
BALLOT = Design(
    "bilingual", 77, "Fairview County", "301 Library", "General Election / Elecciones generales",
    "November 4, 2025 / 4 de noviembre de 2025", front=(*OTHERS[:3], QUESTION, MAYOR, *OTHERS[3:]),
)  # fmt: skip


def test_a_program_of_a_ballot_in_two_languages_reads_its_deck(tmp_path: Path) -> None:
    blank = draw_blank(BALLOT)
    cv2.imwrite(str(tmp_path / "front.png"), blank.image)
    spec = tmp_path / "spec.toml"
    spec.write_text(
        write_spec("bonds", 200, [StyleEntry("301", blank.layout, "front.png")]), encoding="utf-8"
    )
    program = build_program(spec)
    assert [option.name for option in program.options] == ["Yes / Sí", "No / No"]
    source = read_source(program, spec, None)
    deck, plans = plan_deck(source)
    pictures = dict(draw_deck(source, deck, plans))
    seen = {
        sheet.code: read_sheet([pictures[sheet.front]], program, expects_test=True) for sheet in deck.sheets
    }
    for n, sheet in enumerate(deck.sheets):
        if sheet.comes_back != "short_sheet":
            one = seen[sheet.code]
            read = (one.fate, one.choices, classes_of(one.reasons))
            assert read == right_reading(deck, n), sheet.what
