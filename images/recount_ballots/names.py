"""Invented people, offices and parties, and ballots made at random from them."""

import numpy as np

from recount_ballots.design import HEIGHTS_IN, Candidate, Contest, Design, TargetShape
from recount_ballots.layout import GAP_PT, block_height

FIRST_NAMES = (
    "Abigail",
    "Arthur",
    "Beatrice",
    "Calvin",
    "Cora",
    "Daniel",
    "Delia",
    "Edwin",
    "Elena",
    "Felix",
    "Flora",
    "Gideon",
    "Grace",
    "Harold",
    "Helen",
    "Isaac",
    "Ivy",
    "Jasper",
    "Joan",
    "Keith",
    "Laura",
    "Leon",
    "Mabel",
    "Marcus",
    "Nadia",
    "Norman",
    "Olive",
    "Oscar",
    "Paula",
    "Peter",
    "Quentin",
    "Rosa",
    "Rufus",
    "Stella",
    "Simon",
    "Theo",
    "Tessa",
    "Ursula",
    "Victor",
    "Vera",
    "Walter",
    "Wanda",
    "Xavier",
    "Yvonne",
    "Zachary",
    "Zelda",
)
LAST_NAMES = (
    "Abbott",
    "Albright",
    "Barlow",
    "Bennett",
    "Calloway",
    "Carver",
    "Dalton",
    "Draper",
    "Ellsworth",
    "Emery",
    "Fairfield",
    "Forrest",
    "Garland",
    "Gentry",
    "Hadley",
    "Holloway",
    "Ingram",
    "Ives",
    "Jarvis",
    "Keller",
    "Kendrick",
    "Langley",
    "Lockwood",
    "Marlow",
    "Merritt",
    "Norwood",
    "Nash",
    "Oakley",
    "Osborne",
    "Prescott",
    "Pruitt",
    "Quimby",
    "Radford",
    "Ridgeway",
    "Sawyer",
    "Stanton",
    "Tilden",
    "Thorne",
    "Underhill",
    "Vance",
    "Varney",
    "Wexler",
    "Whitlock",
    "Yardley",
    "Yates",
    "Zeller",
)
OFFICES = (
    "Governor",
    "Lieutenant Governor",
    "Attorney General",
    "Senate of Virginia",
    "House of Delegates",
    "Clerk of Court",
    "Commonwealth's Attorney",
    "Sheriff",
    "Commissioner of Revenue",
    "Treasurer",
    "Board of Supervisors",
    "School Board",
    "Soil and Water Director",
    "Town Council",
    "Mayor",
    "Recorder",
)
PARTIES = ("Democratic", "Republican", "Libertarian", "Green", "Independent", "")


def random_design(
    seed: int, target: TargetShape = "oval", height: str = "letter", columns: int | None = None
) -> Design:
    """Return a ballot with as many random contests as its front takes.

    `height` is a key of HEIGHTS_IN. A box ballot has two columns, an oval one three,
    unless `columns` says otherwise.
    """
    rng = np.random.default_rng(seed)
    columns = columns or (2 if target == "box" else 3)
    height_pt = HEIGHTS_IN[height] * 72.0
    contests: list[Contest] = []
    column, y = 0, 126.0
    while True:
        contest = _random_contest(rng, len(contests))
        taken = block_height(contest, target) + GAP_PT
        if y + taken - GAP_PT > height_pt - 46.0:
            column, y = column + 1, 126.0
            if column == columns:
                break
        contests.append(contest)
        y += taken
    return Design(
        name=f"{target} {height} {seed}",
        code=int(rng.integers(1, 9999)),
        locality=f"{LAST_NAMES[int(rng.integers(len(LAST_NAMES)))]} County",
        precinct=f"{int(rng.integers(1, 60)):03d} {LAST_NAMES[int(rng.integers(len(LAST_NAMES)))]}",
        election="General Election",
        date="November 4, 2025",
        front=tuple(contests),
        target=target,
        height_in=HEIGHTS_IN[height],
        columns=columns,
    )


def _random_contest(rng: np.random.Generator, number: int) -> Contest:
    vote_for = 1 if rng.random() < 0.75 else int(rng.integers(2, 4))
    count = int(rng.integers(2, 5)) + vote_for - 1
    firsts = rng.choice(FIRST_NAMES, count, replace=False)
    lasts = rng.choice(LAST_NAMES, count, replace=False)
    parties = [PARTIES[int(i)] for i in rng.integers(len(PARTIES), size=count)]
    people = [
        Candidate(chr(ord("A") + i), f"{first} {last}", party)
        for i, (first, last, party) in enumerate(zip(firsts, lasts, parties, strict=True))
    ]
    people.append(Candidate("W", "Write-in", write_in=True))
    office = OFFICES[number % len(OFFICES)]
    district = f" {number // len(OFFICES) + 1}" if number >= len(OFFICES) else ""
    return Contest(f"c{number + 1}", office + district, vote_for, tuple(people))
