"""What a logic-and-accuracy deck is composed of: for each style, sheets whose right reading follows by rule.

Every option alone with a distinct count; every number of marks from none to one too many; write-ins in each
way; the kinds of marks and pens that voters use; folds, stains and stray ink; both orientations; sheets that
must not be accepted; two sheets together. The expected fate of each is stated here and nowhere read. Derived
from § 24.2-802.2 D 2 and VVSG 2.0 1.1.2 and 1.1.6; it is no official list.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from recount_classifier.program import Program, Style
from recount_host.law.deck import MARGINAL, WRONG_STYLE
from recount_protocol.fates import COUNTED, NOT_ACCEPTED, SET_ASIDE

PENS = ("black_pen", "blue_pen", "gel_pen", "red_pen")
KINDS = ("middle", "neat_x", "full")
"""How each option's sheets are marked, in turn. First a narrow mark, so that every option has one: a wide one
(an X, a filled target) still reads as a mark where the program looks for the target half its width beside
it. Marks stay inside their targets: whether a larger one touches a neighbour would be chance."""
KIND_WORDS = {
    "full": "filled",
    "partial": "half filled",
    "middle": "the middle filled, both ends left empty",
    "neat_x": "X that stays inside the target",
    "neat_check": "check mark that stays inside the target",
    "long_axis": "one line of 1 mm along the target",
    "dot": "a small dot in the target",
    "outside": "X beside the target",
}
WRITTEN = "JANE ROE"
_TRIES = 50


@dataclass(frozen=True)
class Plan:
    """One sheet as it is to be marked, and what is right for it."""

    style: str
    what: str
    fate: str
    marks: dict[str, str] = field(default_factory=dict[str, str])
    choices: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    tool: str = "black_pen"
    writing: str = ""
    damage: str = ""
    """fold, stain, bleed_through or torn; empty for none."""
    turned: bool = False
    test_mark: bool = True
    foreign: bool = False
    """Whether it is a sheet of another ballot style, which the program does not know."""
    comes_back: str = ""


def compose(program: Program, *, has_foreign: bool) -> list[Plan]:
    """Return the sheets of the deck in the order of feeding; `has_foreign`: with one of another style."""
    plans: list[Plan] = []
    for style in program.styles:
        plans += _of_style(program, style)
    if has_foreign:
        marks = {option.key: "full" for option in program.printed_options[: program.vote_for]}
        words = "a ballot of another style"
        other = (WRONG_STYLE,)
        plans.append(Plan(program.styles[0].id, words, NOT_ACCEPTED, marks, reasons=other, foreign=True))
    return plans


def _of_style(program: Program, style: Style) -> Iterator[Plan]:
    printed = [option.key for option in program.printed_options]
    write_ins = [option.key for option in program.options if option.write_in]
    votes = program.vote_for
    # The last ones have the most sheets already: with more of theirs no two counts become equal.
    plain = tuple(printed[-votes:])
    beside = printed[0] if len(printed) > votes else ""
    others = [*_kinds(style.id, plain, beside), *_papers(style.id, plain)]
    extra = sum(plan.fate == COUNTED for plan in others)
    yield from _every_option(style.id, printed, votes, extra)
    yield from _numbers_of_marks(style.id, printed, votes)
    if write_ins:
        yield from _write_ins(style, plain, write_ins[0], votes)
    yield from others
    yield Plan(
        style.id, "marked, but without TEST: a ballot of the recount", NOT_ACCEPTED,
        dict.fromkeys(plain, "full"), reasons=("live_ballot",), test_mark=False,
    )  # fmt: skip


def weights(options: int, votes: int, extra: int) -> list[int]:
    """Return how many sheets begin at each option, so that no two options have one count in the whole deck.

    A sheet that begins at option i marks i and those behind it, `votes` in all, round the end; `extra` more
    sheets mark the last `votes`. Where every sheet marks every option, one is enough. Few sheets are looked
    for, by trial: the same for the same numbers.
    """
    if options == votes:
        return [1] * options
    if votes == 1:
        return [1 + option for option in range(options)]
    chance = random.Random(options * 1000 + votes)  # noqa: S311  no secret: a deck that is made the same again
    for step in count():
        most = 2 + round(1.4**step)
        for _ in range(_TRIES):
            tried = [chance.randint(1, most) for _ in range(options)]
            if len(set(_totals(tried, votes, extra))) == options:
                return tried
    raise AssertionError("unreachable")


def _totals(sheets: Sequence[int], votes: int, extra: int) -> list[int]:
    """Return each option's count."""
    options = len(sheets)
    return [
        sum(sheets[(option - back) % options] for back in range(votes))
        + (extra if option >= options - votes else 0)
        for option in range(options)
    ]


def _every_option(style: str, printed: Sequence[str], votes: int, extra: int) -> Iterator[Plan]:
    number = count()
    for start, sheets in enumerate(weights(len(printed), votes, extra)):
        keys = tuple(sorted((printed[(start + n) % len(printed)] for n in range(votes)), key=printed.index))
        for turn in range(sheets):
            n = next(number)
            kind = KINDS[turn % len(KINDS)]
            yield Plan(
                style, f"{' + '.join(keys)}: {KIND_WORDS[kind]}", COUNTED, dict.fromkeys(keys, kind), keys,
                tool=_pen(kind, n), turned=n % 3 == 2,
            )  # fmt: skip


def _pen(kind: str, number: int) -> str:
    """Return the pen of a sheet: each in turn, but thin strokes of red are too pale to be beyond question."""
    pen = PENS[number % len(PENS)]
    return "black_pen" if kind == "neat_x" and pen == "red_pen" else pen


def _numbers_of_marks(style: str, printed: Sequence[str], votes: int) -> Iterator[Plan]:
    yield Plan(style, "blank", SET_ASIDE, reasons=("undervote",))
    for number in range(1, votes):
        keys = printed[:number]
        yield Plan(
            style, f"{number} of {votes}: {' + '.join(keys)}", SET_ASIDE, dict.fromkeys(keys, "full"),
            reasons=("undervote",),
        )  # fmt: skip
    if len(printed) > votes:
        for keys in dict.fromkeys([tuple(printed[: votes + 1]), tuple(printed[-votes - 1 :])]):
            yield Plan(
                style, f"one too many: {' + '.join(keys)}", SET_ASIDE, dict.fromkeys(keys, "full"),
                reasons=("overvote",),
            )  # fmt: skip


def _write_ins(style: Style, plain: Sequence[str], write_in: str, votes: int) -> Iterator[Plan]:
    others = dict.fromkeys(plain[: votes - 1], "full")
    has_area = bool(style.write_in_areas)
    if has_area:
        yield Plan(
            style.id, "write-in: target filled and a name written", SET_ASIDE, {**others, write_in: "full"},
            reasons=(MARGINAL, "write_in"), writing=WRITTEN,
        )  # fmt: skip
        yield Plan(
            style.id, "write-in: a name written, its target empty", SET_ASIDE, dict.fromkeys(plain, "full"),
            reasons=(MARGINAL, "write_in"), writing=WRITTEN, tool="blue_pen",
        )  # fmt: skip
    yield Plan(
        style.id, "write-in: target filled, nothing written", SET_ASIDE, {**others, write_in: "full"},
        reasons=("write_in",),
    )  # fmt: skip
    yield Plan(
        style.id, f"one too many: {' + '.join(plain)} and the write-in", SET_ASIDE,
        {**dict.fromkeys(plain, "full"), write_in: "full"}, reasons=("overvote", "write_in"),
    )  # fmt: skip


def _kinds(style: str, plain: tuple[str, ...], beside: str) -> Iterator[Plan]:
    """Yield a sheet of each kind of mark; `beside` is a printed option that is not marked, empty if none."""
    yield Plan(
        style, f"{' + '.join(plain)}: {KIND_WORDS['long_axis']}, in pencil", COUNTED,
        dict.fromkeys(plain, "long_axis"), plain, tool="pencil",
    )  # fmt: skip
    yield Plan(
        style,
        f"{' + '.join(plain)}: {KIND_WORDS['partial']}",
        COUNTED,
        dict.fromkeys(plain, "partial"),
        plain,
    )
    yield Plan(
        style, f"{' + '.join(plain)}: filled in pencil", COUNTED, dict.fromkeys(plain, "full"), plain,
        tool="pencil",
    )  # fmt: skip
    yield Plan(
        style, f"{' + '.join(plain)}: {KIND_WORDS['neat_check']}, with a felt pen", COUNTED,
        dict.fromkeys(plain, "neat_check"), plain, tool="marker",
    )  # fmt: skip
    *clear, last = plain
    yield Plan(
        style, f"{last}: {KIND_WORDS['dot']}, neither a mark nor none", SET_ASIDE,
        {**dict.fromkeys(clear, "full"), last: "dot"}, reasons=(MARGINAL,),
    )  # fmt: skip
    if beside:
        yield Plan(
            style, f"{' + '.join(plain)}: filled, and an X beside the target of {beside}", SET_ASIDE,
            {**dict.fromkeys(plain, "full"), beside: "outside"}, reasons=(MARGINAL,), tool="blue_pen",
        )  # fmt: skip


def _papers(style: str, plain: tuple[str, ...]) -> Iterator[Plan]:
    marks, name = dict.fromkeys(plain, "full"), " + ".join(plain)
    for damage, words in (
        ("fold", "folded across, beside the contest"),
        ("stain", "a coffee ring beside the contest"),
        ("bleed_through", "the other side shines through"),
    ):
        yield Plan(style, f"{name}: {words}", COUNTED, marks, plain, damage=damage)
    yield Plan(
        style,
        "a corner of the contest torn off",
        NOT_ACCEPTED,
        marks,
        reasons=("not_on_paper",),
        damage="torn",
    )
    yield Plan(
        style, f"{name}: fed with the next sheet stuck to it", COUNTED, marks, plain, comes_back="double_feed"
    )
    yield Plan(style, f"{name}: the sheet that was stuck to it", COUNTED, marks, plain, tool="gel_pen")
