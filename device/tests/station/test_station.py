"""The station at work: paper in, records out, through the real journal."""

from device.tests.station.bench import Paper, foreign, overvote
from device.tests.station.conftest import MakeBench


def test_each_sheet_is_judged_and_lands_where_its_verdict_sends_it(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1"), overvote("2"), foreign("3")])
    bench.scan()
    piles = {name: [paper.name for paper in pile] for name, pile in bench.machine.bins.items()}
    assert piles == {"counted": ["1"], "set_aside": ["2"], "not_accepted": ["3"], "back": []}
    assert [kinds for _, kinds in bench.sheets()] == [["sheet_judged", "sheet_landed"]] * 3


def test_the_batch_closes_with_the_tally(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1"), Paper("2", choices=("R",)), overvote("3"), foreign("4")])
    bench.scan()
    bench.end_batch()
    (closed,) = bench.records("batch_closed")
    assert closed.body["votes"] == {"D": 1, "R": 1}
    assert (closed.body["counted"], closed.body["set_aside"], closed.body["not_accepted"]) == (
        2,
        {"overvote": 1},
        {"wrong_style": 1},
    )
