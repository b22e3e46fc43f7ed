"""What a logic-and-accuracy deck is composed of: for each style, sheets whose right reading follows by rule.

Every option alone with a distinct count, at each of its targets; every number of marks from none to one too
many; write-ins in each way; the kinds of marks and pens that voters use, down to those that are for people;
folds, stains, smudges, stray ink and a target covered; four orientations; sheets that must not be accepted,
one of a wrong size among them; two sheets together; one sheet fed twice. The expected fate of each is stated
here and nowhere read. Derived from § 24.2-802.2 D 2 and VVSG 2.0 1.1.2 and 1.1.6; it is no official list.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, count
from typing import NamedTuple

from recount_classifier.program import Program, Style
from recount_host.law.deck import MARGINAL, READ_BEFORE, WRONG_STYLE
from recount_protocol.fates import COUNTED, NOT_ACCEPTED, RETURNED, SET_ASIDE

PENS = ("black_pen", "blue_pen", "gel_pen", "red_pen")
KINDS = ("middle", "neat_x", "full")
"""How each option's sheets are marked, in turn. First a narrow mark, so that every option has one: a wide one
(an X, a filled target) still reads as a mark where the program looks for the target half its width beside
it. Marks stay inside their targets: whether a larger one touches a neighbour would be chance."""
KIND_WORDS = {
    "full": "filled",
    "half": "half filled, from one end to the middle",
    "middle": "the middle filled, both ends left empty",
    "neat_x": "X that stays inside the target",
    "neat_check": "check mark that stays inside the target",
    "long_axis": "one line of 1 mm along the target",
    "neat_dot": "a small dot in the middle of the target",
    "short_axis": "one thin stroke across the middle of the target, a third of its width long",
    "outside": "X beside the target",
}
WRITTEN = "JANE ROE"
WORDS = "FED TWICE"
"""What is written beside the contest of the sheet that is fed twice, for people to know it by, too."""
CUT_MM = 150.0
"""Length of the sheet of a wrong size: shorter than any ballot and than the least that a feeder takes."""
MOST_BEFORE_TWICE = 380
"""So many sheets of a style go before the one that is fed twice at most: a device knows the sheets of its
batch again, and a batch holds 400."""
_TRIES = 50


class Spot(NamedTuple):
    """One target of an option: the first, or a further one where its name is printed more than once."""

    option: str
    target: int = 0


Marks = Mapping[Spot, str]
"""The kind of mark on each target that bears one."""


@dataclass(frozen=True)
class Plan:
    """One sheet as it is to be marked, and what is right for it."""

    style: str
    what: str
    fate: str
    marks: Marks = field(default_factory=dict[Spot, str])
    choices: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    tool: str = "black_pen"
    writing: str = ""
    area: int = 0
    """The write-in area of the style that bears the writing."""
    damage: str = ""
    """A key of drawing's table, such as fold or torn; empty for none."""
    turned: bool = False
    face_down: bool = False
    test_mark: bool = True
    foreign: bool = False
    """Whether it is a sheet of another ballot style, which the program does not know."""
    cut_mm: float = 0.0
    """Length that it is cut to; 0 for a whole sheet."""
    comes_back: str = ""
    again: bool = False
    """Whether it is no sheet of its own, but the one before it, fed a second time."""


def compose(program: Program, two_sided: Iterable[str] = ()) -> list[Plan]:
    """Return the sheets of the deck in the order of feeding.

    `two_sided`: styles whose other side the program knows when a sheet lies face down.
    """
    plans: list[Plan] = []
    known = frozenset(two_sided)
    for style in program.styles:
        plans += _of_style(program, style, has_back=style.id in known)
    return plans


def filled(options: Iterable[str], kind: str = "full") -> dict[Spot, str]:
    """Return the marks that make these options' first targets marked, all of one kind."""
    return {Spot(option): kind for option in options}


def _of_style(program: Program, style: Style, *, has_back: bool) -> list[Plan]:
    printed = [option.key for option in program.printed_options]
    write_ins = [option.key for option in program.options if option.write_in]
    votes = program.vote_for
    turns = _turns(printed, votes)
    others = [
        *_printed_twice(style, printed, votes),
        *_kinds(style.id, turns, printed),
        *_papers(style.id, turns),
        *(_face_down(style.id, turns) if has_back else ()),
    ]
    twice = _fed_twice(style.id, next(turns))
    extra = [sum(key in plan.choices for plan in (*others, *twice)) for key in printed]
    every = list(_every_option(style.id, printed, votes, extra))
    plans = [
        *every,
        *_numbers_of_marks(style.id, printed, votes),
        *(_write_ins(style, printed, write_ins, votes) if write_ins else ()),
        *others,
        Plan(
            style.id, "marked, but without TEST: a ballot of the recount", NOT_ACCEPTED,
            filled(next(turns)), reasons=("live_ballot",), test_mark=False,
        ),
    ]  # fmt: skip
    if style is program.styles[0]:
        other = "a ballot of another style"
        plans.append(Plan(style.id, other, NOT_ACCEPTED, reasons=(WRONG_STYLE,), foreign=True))
    # As late as it can: a device knows a style's print only after some sheets of it.
    place = len(plans) if len(plans) <= MOST_BEFORE_TWICE else min(len(every), MOST_BEFORE_TWICE)
    return [*plans[:place], *twice, *plans[place:]]


def _fed_twice(style: str, keys: tuple[str, ...]) -> tuple[Plan, Plan]:
    """Return a sheet with writing that no other has, which tells it from all others, and it once more.

    Two sheets that bear nothing but the same marks cannot be told apart, and no device asks about them.
    """
    told = f"{' + '.join(keys)}: words written beside the contest"
    first = Plan(style, told, COUNTED, filled(keys), keys, damage="words")
    again = f"{' + '.join(keys)}: the same sheet, fed a second time"
    return first, replace(first, what=again, fate=RETURNED, choices=(), reasons=(READ_BEFORE,), again=True)


def weights(options: int, votes: int, extra: Sequence[int]) -> list[int]:
    """Return how many sheets begin at each option, so that no two options have one count in the whole deck.

    A sheet that begins at option i marks i and those behind it, `votes` in all, round the end; `extra` are
    the counted sheets that each option has besides. Where every sheet marks every option, one is enough. Few
    sheets are looked for, by trial: the same for the same numbers.
    """
    if options == votes:
        return [1] * options
    if votes == 1:
        return _one_each(extra)
    chance = random.Random(options * 1000 + votes)  # noqa: S311  no secret: a deck that is made the same again
    for step in count():
        most = 2 + round(1.4**step)
        for _ in range(_TRIES):
            tried = [chance.randint(1, most) for _ in range(options)]
            if len(set(_totals(tried, votes, extra))) == options:
                return tried
    raise AssertionError("unreachable")


def _one_each(extra: Sequence[int]) -> list[int]:
    """Return the fewest sheets for options that are marked alone, one after the other."""
    sheets: list[int] = []
    taken: set[int] = set()
    for besides in extra:
        sheets.append(next(own for own in count(1) if own + besides not in taken))
        taken.add(sheets[-1] + besides)
    return sheets


def _totals(sheets: Sequence[int], votes: int, extra: Sequence[int]) -> list[int]:
    """Return each option's count."""
    options = len(sheets)
    return [
        sum(sheets[(option - back) % options] for back in range(votes)) + extra[option]
        for option in range(options)
    ]


def _every_option(style: str, printed: Sequence[str], votes: int, extra: Sequence[int]) -> Iterator[Plan]:
    number = count()
    for start, sheets in enumerate(weights(len(printed), votes, extra)):
        keys = _from(printed, start, votes)
        for turn in range(sheets):
            n = next(number)
            kind = KINDS[turn % len(KINDS)]
            yield Plan(
                style, f"{' + '.join(keys)}: {KIND_WORDS[kind]}", COUNTED, filled(keys, kind), keys,
                tool=_pen(kind, n), turned=n % 3 == 2,
            )  # fmt: skip


def _from(printed: Sequence[str], start: int, number: int) -> tuple[str, ...]:
    """Return so many options beginning at one, round the end, in the ballot's order."""
    chosen = {printed[(start + n) % len(printed)] for n in range(number)}
    return tuple(key for key in printed if key in chosen)


def _turns(printed: Sequence[str], votes: int) -> Iterator[tuple[str, ...]]:
    """Yield what is marked on one sheet after the other: every option in its turn, `votes` at once."""
    for turn in count():
        yield _from(printed, turn * votes, votes)


def _pen(kind: str, number: int) -> str:
    """Return the pen of a sheet: each in turn, but thin strokes of red are too pale to be beyond question."""
    pen = PENS[number % len(PENS)]
    return "black_pen" if kind == "neat_x" and pen == "red_pen" else pen


def _printed_twice(style: Style, printed: Sequence[str], votes: int) -> Iterator[Plan]:
    """Yield, for each option with more targets than one, a sheet for each further one, and one with all."""
    for start, key in enumerate(printed):
        targets = sum(target.option == key for target in style.targets)
        keys = _from(printed, start, votes)
        others = filled(other for other in keys if other != key)
        for target in range(1, targets):
            yield Plan(
                style.id, f"{' + '.join(keys)}: {key} where it is printed again", COUNTED,
                {**others, Spot(key, target): "full"}, keys,
            )  # fmt: skip
        if targets > 1:
            every = {Spot(key, target): "full" for target in range(targets)}
            yield Plan(
                style.id, f"{' + '.join(keys)}: {key} filled wherever it is printed", SET_ASIDE,
                {**others, **every}, reasons=(MARGINAL,),
            )  # fmt: skip


def _numbers_of_marks(style: str, printed: Sequence[str], votes: int) -> Iterator[Plan]:
    yield Plan(style, "blank", SET_ASIDE, reasons=("undervote",))
    for number in range(1, votes):
        keys = printed[:number]
        yield Plan(
            style, f"{number} of {votes}: {' + '.join(keys)}", SET_ASIDE, filled(keys), reasons=("undervote",)
        )
    for keys in _one_too_many(printed, votes):
        yield Plan(style, f"one too many: {' + '.join(keys)}", SET_ASIDE, filled(keys), reasons=("overvote",))


def _one_too_many(printed: Sequence[str], votes: int) -> Iterator[tuple[str, ...]]:
    """Yield what is overvoted: any two options, so any two parties, stand together on one of these sheets."""
    met: set[frozenset[str]] = set()
    for one, other in combinations(printed, 2) if votes < len(printed) else ():
        if frozenset((one, other)) not in met:
            place = printed.index(other)
            behind = [key for key in (*printed[place + 1 :], *printed[:place]) if key != one]
            marked = {one, other, *behind[: votes - 1]}
            met |= {frozenset(pair) for pair in combinations(marked, 2)}
            yield tuple(key for key in printed if key in marked)


def _write_ins(style: Style, printed: Sequence[str], write_ins: Sequence[str], votes: int) -> Iterator[Plan]:
    plain = tuple(printed[-votes:])
    others = filled(plain[: votes - 1])
    for area, box in enumerate(style.write_in_areas):
        write_in = _nearest(style, write_ins, box)
        yield Plan(
            style.id, f"write-in {write_in}: target filled and a name written", SET_ASIDE,
            {**others, Spot(write_in): "full"}, reasons=(MARGINAL, "write_in"), writing=WRITTEN, area=area,
        )  # fmt: skip
        yield Plan(
            style.id, f"write-in {write_in}: a name written, its target empty", SET_ASIDE,
            filled(plain), reasons=(MARGINAL, "write_in"), writing=WRITTEN, area=area, tool="blue_pen",
        )  # fmt: skip
    for write_in in write_ins:
        yield Plan(
            style.id, f"write-in {write_in}: target filled, nothing written", SET_ASIDE,
            {**others, Spot(write_in): "full"}, reasons=("write_in",),
        )  # fmt: skip
    for keys in dict.fromkeys(_from(printed, start, votes) for start in range(len(printed))):
        yield Plan(
            style.id, f"one too many: {' + '.join(keys)} and the write-in {write_ins[0]}", SET_ASIDE,
            filled((*keys, write_ins[0])), reasons=("overvote", "write_in"),
        )  # fmt: skip


def _nearest(style: Style, write_ins: Sequence[str], area: tuple[int, int, int, int]) -> str:
    """Return the write-in whose target lies nearest to the middle of an area, up or down."""
    middle = (area[1] + area[3]) / 2
    targets = [target for target in style.targets if target.option in write_ins]
    return min(targets, key=lambda target: abs(target.top + target.height / 2 - middle)).option


def _kinds(style: str, turns: Iterator[tuple[str, ...]], printed: Sequence[str]) -> Iterator[Plan]:
    """Yield a sheet of each kind of mark, those that are no votes beyond question at the end."""
    for kind, tool, words in (
        ("long_axis", "pencil", f"{KIND_WORDS['long_axis']}, in pencil"),
        ("half", "black_pen", KIND_WORDS["half"]),
        ("neat_x", "blue_pen", KIND_WORDS["neat_x"]),
        ("full", "pencil", "filled in pencil"),
        ("neat_check", "marker", f"{KIND_WORDS['neat_check']}, with a felt pen"),
    ):
        keys = next(turns)
        yield Plan(
            style, f"{' + '.join(keys)}: {words}", COUNTED, filled(keys, kind), keys,
            tool=tool, turned=kind == "neat_x",
        )  # fmt: skip
    for kind, words in (("neat_dot", "neither a mark nor none"), ("short_axis", "too little for a mark")):
        *clear, last = next(turns)
        yield Plan(
            style, f"{last}: {KIND_WORDS[kind]}, {words}", SET_ASIDE,
            {**filled(clear), Spot(last): kind}, reasons=(MARGINAL,),
        )  # fmt: skip
    keys = next(turns)
    yield Plan(
        style, f"{' + '.join(keys)}: filled so lightly that it is hardly seen", SET_ASIDE, filled(keys),
        reasons=(MARGINAL,), tool="faint_pencil",
    )  # fmt: skip
    keys = next(turns)
    for beside in [key for key in printed if key not in keys][:1]:
        yield Plan(
            style, f"{' + '.join(keys)}: filled, and an X beside the target of {beside}", SET_ASIDE,
            {**filled(keys), Spot(beside): "outside"}, reasons=(MARGINAL,), tool="blue_pen",
        )  # fmt: skip


def _papers(style: str, turns: Iterator[tuple[str, ...]]) -> Iterator[Plan]:
    for damage, tool, words in (
        ("fold", "blue_pen", "folded across, beside the contest"),
        ("stain", "red_pen", "a coffee ring beside the contest"),
        ("smudge", "black_pen", "pencil rubbed to a smudge beside the contest"),
        ("bleed_through", "gel_pen", "the other side shines through"),
    ):
        keys = next(turns)
        told = f"{' + '.join(keys)}: {words}"
        yield Plan(style, told, COUNTED, filled(keys), keys, tool=tool, damage=damage)
    keys = next(turns)
    yield Plan(
        style, f"{' + '.join(keys)}: filled, and a slip of paper over the first target", SET_ASIDE,
        filled(keys), reasons=(MARGINAL,), damage="covered",
    )  # fmt: skip
    torn = "a corner of the contest torn off"
    yield Plan(style, torn, NOT_ACCEPTED, filled(next(turns)), reasons=("not_on_paper",), damage="torn")
    yield Plan(
        style, f"cut to {CUT_MM:.0f} mm: a sheet of a wrong size", NOT_ACCEPTED, reasons=("short_sheet",),
        cut_mm=CUT_MM, comes_back="short_sheet",
    )  # fmt: skip
    upper, under = next(turns), next(turns)
    yield Plan(
        style, f"{' + '.join(upper)}: fed with the next sheet stuck to it", COUNTED, filled(upper), upper,
        comes_back="double_feed",
    )  # fmt: skip
    yield Plan(
        style, f"{' + '.join(under)}: the sheet that was stuck to it", COUNTED, filled(under), under,
        tool="gel_pen",
    )  # fmt: skip


def _face_down(style: str, turns: Iterator[tuple[str, ...]]) -> Iterator[Plan]:
    """Yield the two orientations in which the camera above sees the other side.

    A device with a second camera below reads them as they lie; any other gives them back to be turned over.
    """
    for turned, words in ((False, "fed face down"), (True, "fed face down, and upside down")):
        keys = next(turns)
        yield Plan(
            style, f"{' + '.join(keys)}: {words}", COUNTED, filled(keys), keys, turned=turned, face_down=True
        )
