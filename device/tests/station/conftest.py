"""The bench as a fixture."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from device.tests.station.bench import Bench, Paper

MakeBench = Callable[..., Bench]


@pytest.fixture
def a_bench(tmp_path: Path) -> Iterator[MakeBench]:
    """Give a maker of benches in a folder of their own; their journals are closed at the end."""
    made: list[Bench] = []

    def make(papers: Sequence[Paper] = (), *, batch_sheets: int = 400, diverter: str = "motor") -> Bench:
        folder = tmp_path / f"device-{len(made)}"
        folder.mkdir()
        made.append(Bench(folder, papers, batch_sheets=batch_sheets, diverter=diverter))
        return made[-1]

    yield make
    for bench in made:
        bench.journal.close()
