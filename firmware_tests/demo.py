"""`make demo`: a host and two simulated devices recount one precinct of 120 drawn ballots, people and all.

Both sides sign the contest program, a logic-and-accuracy deck goes through each device, and only what passed
it counts, live; with --training nothing is tested and nothing counts. Every step is the real command; host,
worlds and devices are processes of their own. At the end everything is held against the deck's truth: any
difference makes the exit code 1. With ONCE=1 the demo ends by itself, else the live page stays up until
Ctrl-C. All files lie in a temporary folder and in `work/`.
"""

import argparse
import json
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from firmware_tests.day import (
    ANN,
    BOB,
    CLERK_OF_COURT,
    COORDINATOR,
    Day,
    DayError,
    run_host,
    toml_lines,
    toml_table,
)
from firmware_tests.deck_truth import (
    misplaced,
    people_find,
    wrong_figures,
    wrong_reasons,
    wrong_returns,
    wrong_statement,
)
from recount_ballots.__main__ import progress_line
from recount_ballots.deck import Deck, read_deck
from recount_ballots.design import Contest
from recount_ballots.errors import BallotError
from recount_ballots.render import MM_PER_INCH, picture_name, render_deck
from recount_classifier.program import read_program
from recount_host.decks.deck_make import DECK_FILE
from recount_host.law.identities import MEANINGS
from recount_host.ledger.ledger import open_ledger
from recount_host.plain_words import plain_words
from recount_world.errors import WorldGone

REPOSITORY = Path(__file__).resolve().parent.parent
FAIRVIEW = REPOSITORY / "images" / "ballots" / "fairview"
WORK = REPOSITORY / "work"
DEVICES = ("alpha", "beta")
SIDES = ("D", "R")
"""The parties to the recount: options of the contest, and the sides of the people who act."""
MACHINE = {"seed": 52, "bounce_us": 1500, "dust_per_minute": 6.0, "pick_spread_mm": 25.0}
"""Sensors that bounce and see dust, and a pick roller that slips: a used machine."""
BOTH = ("--by", ANN, "--by", BOB)
BOX = "box-1"
SEALED_BOX = ("--holds", "scanned", "--seal", "4711")
PATIENCE_S = 420.0
"""For the scanning of all sheets: some 40 seconds on a quiet machine."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; return 0 only when nothing differs from the truth."""
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--once", action="store_true", help="end by itself, as with ONCE=1")
    parser.add_argument("--training", action="store_true", help="without logic and accuracy, as people train")
    parser.add_argument("--deck", type=Path, default=FAIRVIEW, help="the deck's folder")
    parser.add_argument("--work", type=Path, default=WORK, help="where pictures and statement are kept")
    args = parser.parse_args(arguments)
    for number in _SIGNALS:
        signal.signal(number, _leave)
    folder = Path(tempfile.mkdtemp(prefix="recount-"))
    try:
        result = _demo(folder, args.deck, args.work, once=args.once, training=args.training)
    except (DayError, BallotError, WorldGone, OSError) as error:
        print(f"\ndemo: {error}\nThe logs are in {folder}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ndemo: ended before its end", file=sys.stderr)
        result = 1
    shutil.rmtree(folder, ignore_errors=True)
    return result


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _leave(*_: object) -> NoReturn:
    """Begin to end; a second signal must not keep the children from being ended."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def say(what: str, words: str) -> None:
    """Print one line of the day."""
    print(f"{what:<14}{words}", flush=True)


def _demo(folder: Path, deck_folder: Path, work: Path, *, once: bool, training: bool) -> int:
    deck = read_deck(deck_folder)
    pictures = work / deck_folder.name
    drawn = render_deck(deck_folder, pictures, progress=progress_line("drawing ballots"))
    when = "now" if drawn else "already"
    say("ballots", f"{deck.title}: {len(deck.sheets)} sheets, {when} drawn in {pictures}")
    program = build_program(folder, deck)
    with Day(folder, order_of(deck), program) as day:
        day.open_host()
        say("live page", day.page)
        for name in DEVICES:
            day.add_table(name, [], duplex=False, world=MACHINE)
            words = day.enrol(name)
            say("people", f"{name} shows the words {words}: both officials compare and enrol it")
        papers = work / f"forms-{deck.precinct}"
        papers.mkdir(parents=True, exist_ok=True)
        found = [] if training else logic_and_accuracy(day, deck, work, papers)
        if not found:
            mode = "training" if training else "live"
            found = recount(day, deck, pictures, papers, mode)
        found += verify_evidence(day, work / f"bundle-{deck.precinct}.tar")
        for difference in found:
            say("DIFFERENCE", difference)
        say("result", "everything is as the deck says" if not found else f"differences: {len(found)}")
        if not once:
            stay(day)
    return 1 if found else 0


def contest_of(deck: Deck) -> Contest:
    """Return the contest under recount."""
    design = deck.ballots.designs[deck.precinct]
    return next(c for c in (*design.front, *design.back) if c.key == deck.ballots.recount)


def order_of(deck: Deck) -> str:
    """Return the recount court's order, as the host reads it."""
    design, contest = deck.ballots.designs[deck.precinct], contest_of(deck)
    head = {
        "contest": contest.key,
        "title": contest.title,
        "locality": design.locality,
        "vote_for": contest.vote_for,
    }
    sides = [
        toml_table("side", {"key": candidate.key, "name": candidate.name})
        for candidate in contest.candidates
        if candidate.key in SIDES
    ]
    name = design.precinct.removeprefix(f"{deck.precinct} ")
    return toml_lines(head) + "".join(sides) + toml_table("precinct", {"id": deck.precinct, "name": name})


def build_program(folder: Path, deck: Deck) -> Path:
    """Build the contest program from the blank ballot with the real command."""
    program = folder / f"{deck.ballots.recount}.program"
    words = ["program", "build", str(deck.ballots.folder / "spec.toml"), "-o", str(program)]
    code, out, err = run_host(words)
    if code != 0:
        raise DayError(f"recount-host {' '.join(words)}: {err.strip()}")
    for line in out.splitlines():
        say("program", line.removeprefix(f"{folder}/"))
    return program


def logic_and_accuracy(day: Day, deck: Deck, work: Path, papers: Path) -> list[str]:
    """Let both sides sign the program, run a deck through each device and arm it; return what differs."""
    day.sign_program()
    say("people", f"{ANN} and {BOB} compared the program's proof with the ballot: both signed it")
    made = make_test_deck(day.program, deck, work)
    for name in DEVICES:
        day.begin_test(name, made)
    begun, found = time.monotonic(), list[str]()
    for name in DEVICES:
        told = day.compared(name)
        found += [f"{name}: {d['code']} ({d['what']}): {d['actual']}" for d in told["differences"]]
        took = f"after {time.monotonic() - begun:.0f} s"
        say("test", f"{name} read the deck {'as it must' if told['passed'] else 'WRONG'}, {took}")
        if told["passed"]:
            day.arm(name, papers)
            say("people", f"both sides certified {name}, it stands at zero: armed")
    return found


def make_test_deck(program: Path, deck: Deck, work: Path) -> Path:
    """Return the folder of the program's logic-and-accuracy deck, made now or by an earlier demo."""
    spec = deck.ballots.folder / "spec.toml"
    code = read_program(program.read_bytes()).program_hash.hex()[:8]
    made = work / f"logic-accuracy-{code}"
    if not (made / DECK_FILE).exists():  # what is written last
        shutil.rmtree(made, ignore_errors=True)
        other = next(style for style in deck.ballots.designs if style != deck.precinct)
        foreign = deck.ballots.folder / f"blank-{other}-front.png"
        words = ("deck", "make", str(program), str(made), "--spec", str(spec), "--foreign", str(foreign))
        status, _, err = run_host(words)
        if status != 0:
            raise DayError(f"recount-host {' '.join(words)}: {err.strip()}")
    say("test", f"the logic-and-accuracy deck, its overlays and guide lie in {made}")
    return made


def recount(day: Day, deck: Deck, pictures: Path, papers: Path, mode: str) -> list[str]:
    """Let people and devices recount the precinct; return every difference from the deck's truth."""
    precinct = deck.precinct
    load(day, deck, pictures)
    stack = sum(len(table.control.positions()["hopper"]) for table in day.tables.values())
    day.does("custody", "receive", precinct, BOX, *SEALED_BOX, "--from", CLERK_OF_COURT, *BOTH)
    day.does("custody", "open", precinct, BOX, *BOTH)
    say("people", f"both sides took {BOX} from the clerk, its seal whole, and opened it")
    day.count(precinct, "H", stack)
    say("people", f"{ANN} and {BOB} counted the stack, each alone: H is locked")
    day.assign(precinct, *DEVICES, mode=mode)
    say("people", f"precinct {precinct} is given to {' and '.join(DEVICES)}, mode {mode}")
    scan(day, deck)
    day.does("finish-scanning", precinct, "--by", COORDINATOR)
    say("people", "scanning is finished; each pile is counted by both, blind")
    day.count_piles(precinct)
    piles = {name: table.piles() for name, table in day.tables.items()}
    found = misplaced(deck, piles.values())

    told = day.does("reconcile", precinct, "--by", COORDINATOR)
    for name, holds in told["identities"].items():
        say("reconcile", f"{name} {'holds' if holds else 'FAILS'}: {MEANINGS[name]}")
        found += [] if holds else [f"identity {name} fails"]
    figures = day.does("figures", precinct, "--by", COORDINATOR)["figures"]
    tell_figures(deck, figures)
    found += wrong_figures(deck, list(piles.values()), figures)
    found += wrong_reasons(deck, piles, day.does("notices", precinct)["notices"])
    found += wrong_returns(deck, returns(day, precinct))
    if not all(told["identities"].values()):
        return found  # the law sends the whole precinct to hand count: no statement of the scanners' figures
    return found + print_statement(day, deck, list(piles.values()), papers)


def load(day: Day, deck: Deck, pictures: Path) -> None:
    """Put half of the stack into the hopper of each device."""
    half = -(-len(deck.sheets) // len(DEVICES))
    for n, name in enumerate(DEVICES):
        own = deck.sheets[n * half : (n + 1) * half]
        sheets = [
            {
                "id": sheet.id,
                "front": str((pictures / picture_name(sheet, "front")).absolute()),
                "turned": sheet.turned,
                "length_mm": round(deck.ballots.designs[sheet.style].height_in * MM_PER_INCH, 1),
            }
            for sheet in own
        ]
        control = day.tables[name].control
        control.load(sheets)
        for sheet in own:
            if sheet.fault:
                control.fault(sheet=sheet.id, **sheet.fault)
        say("device", f"{name} is ready with {len(own)} sheets in its hopper")


def scan(day: Day, deck: Deck) -> None:
    """Wait until both batches are closed; tell how many sheets left the hoppers, never where they lie."""
    show = progress_line("scanning")
    seen = 0

    def watch() -> None:
        nonlocal seen
        waiting = sum(len(table.control.positions()["hopper"]) for table in day.tables.values())
        fed = len(deck.sheets) - waiting
        for done in range(seen + 1, fed + 1):
            show(done, len(deck.sheets))
        seen = max(seen, fed)

    begun = time.monotonic()
    day.wait_for_batches(deck.precinct, closed=len(DEVICES), patience_s=PATIENCE_S, watch=watch)
    watch()
    say("devices", f"both batches are closed after {time.monotonic() - begun:.0f} s")


def returns(day: Day, precinct: str) -> list[Sequence[str]]:
    """Return the reasons of every sheet of a precinct that was driven back or taken out, from the ledger."""
    with open_ledger(day.folder / "host") as ledger:
        return [
            record.body["reasons"]
            for record in ledger.records()
            if record.kind == "sheet_returned" and record.run.startswith(f"{precinct}-")
        ]


def tell_figures(deck: Deck, figures: Mapping[str, Any]) -> None:
    """Print the figures, now that they may be shown."""
    names = {candidate.key: candidate.name for candidate in contest_of(deck).candidates}
    for who, line in (
        ("people", "H {stack}  x {not_accepted_pile}  R {rerun}"),
        ("devices", "C {counted}  S {set_aside}  X {not_accepted}"),
        ("people", "c {counted_pile}  s {set_aside_pile}  x {not_accepted_pile}"),
    ):
        say(who, line.format_map(figures))
    say("votes", ", ".join(f"{names[key]} {votes}" for key, votes in figures["votes"].items()))
    say("set aside", _in_words(figures["set_aside_reasons"]))
    say("not accepted", _in_words(figures["not_accepted_reasons"]))


def _in_words(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{plain_words(word)} {number}" for word, number in numbers.items())


def print_statement(
    day: Day, deck: Deck, piles: Sequence[Mapping[str, Sequence[str]]], papers: Path
) -> list[str]:
    """Let both officials decide what was put aside, print the papers, sign; return the differences."""
    precinct, path = deck.precinct, papers / f"{deck.precinct}-statement.pdf"
    day.does("notices", precinct, "--tags", str(papers / f"{precinct}-tags.pdf"))
    question_a_ballot(day, deck, piles)
    find = people_find(deck, piles)
    day.count(precinct, "p", 0)
    day.count(precinct, "o", find.without_contest)
    told = day.hand_count(precinct, find.outcomes)
    say("people", f"both officials decide the ballots put aside: {_in_words(find.outcomes)}")
    say("people", f"not accepted because they lack the contest: o = {find.without_contest}")
    say("hand count", told["hand_count"])
    for official in (ANN, BOB):
        day.does("challenge", "call", precinct, "no-further-question", "--by", official)
    say("people", "both officials have no further question about a ballot")
    printed = day.does("statement", precinct, "-o", str(path), "--by", ANN, "--by", BOB)
    for row in (*printed["parties"], *printed["others"]):
        say("statement", f"{row['name']}: {row['accepted']} + {row['by_hand']} = {row['total']}")
    say("statement", str(path))
    concluded = day.does("conclude", precinct, "--by", ANN, "--by", BOB)
    say("people", f"both officials signed: the precinct is {concluded['state']}")
    resealed = ("--holds", "counted", "--seal", "4712", "--to", CLERK_OF_COURT)
    day.does("custody", "reseal", precinct, BOX, *resealed, *BOTH)
    day.does("forms", precinct, str(papers), "--by", ANN)
    say("forms", f"{papers}: statement, tags, all forms and certificates")
    return wrong_statement(deck, printed)


def question_a_ballot(day: Day, deck: Deck, piles: Sequence[Mapping[str, Sequence[str]]]) -> None:
    """Let one official question a counted ballot: its vote stays in the totals until a court rules.

    One of those that most voters marked alike: whatever the deck says wrongly, such were counted.
    """
    truths = {sheet.id: sheet.truth for sheet in deck.sheets}
    counted = Counter(tuple(truths[sheet].choices) for pile in piles for sheet in pile["counted"])
    if not counted:
        return
    [(choices, _how_many)] = counted.most_common(1)
    tag, question = ("challenge", "segregate", deck.precinct, "T-1"), "its paper is paler than the others"
    where = ("--envelope", "E-1", "--pile", "counted", "--counted-as", "+".join(choices))
    day.does(*tag, *where, "--question", question, "--by", BOB)
    stated = ("challenge", "state", deck.precinct, "T-1", "--ground", "ballot")
    day.does(*stated, "--text", "It may be no ballot that was cast in this election.", "--by", BOB)
    say("people", f"{BOB} questions a counted ballot: it lies in an envelope, for the court")


def verify_evidence(day: Day, bundle: Path) -> list[str]:
    """Export the locality's evidence and verify it as a court would; return what does not hold."""
    bundle.unlink(missing_ok=True)
    day.does("export", "bundle", str(day.folder / "order.toml"), str(bundle))
    words = ("verify", str(bundle), "--json")
    code, out, err = run_host(words)
    if code not in (0, 1):
        raise DayError(f"recount-host {' '.join(words)}: {err.strip()}")
    told = json.loads(out)
    say("evidence", f"{bundle}: {_in_words(told['checked'])} checked, every picture judged again")
    return [f"the evidence: {problem['where']}: {problem['what']}" for problem in told["problems"]]


def stay(day: Day) -> None:
    """Keep the live page up until Ctrl-C."""
    try:
        say("live page", f"{day.page} stays up until Ctrl-C")
        while True:
            day.host.check()
            time.sleep(0.5)
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    sys.exit(main())
