"""Each target's section of docs/benchmarks.md is its own, and nobody else's is touched."""

from collections import Counter

from firmware_tests.benchmark_page import with_section
from firmware_tests.soak import MUST_BE_ZERO, section


def test_a_section_is_added_at_the_end_and_renewed_in_its_place() -> None:
    page = with_section("# Others\n\n1 ms\n", "rig-soak", "# Days\n\nold")
    page = with_section(page, "throughput", "# Speed")
    page = with_section(page, "rig-soak", "# Days\n\nnew")
    assert page == (
        "# Others\n\n1 ms\n\n"
        "<!-- make rig-soak: begin -->\n# Days\n\nnew\n<!-- make rig-soak: end -->\n\n"
        "<!-- make throughput: begin -->\n# Speed\n<!-- make throughput: end -->\n"
    )


def test_a_soaks_section_tells_every_figure_also_the_zeros() -> None:
    told = section(Counter({"clean sheets": 20_000, "false stops": 3, "seconds": 725}))
    assert "12 min 5 s" in told
    assert "| clean sheets | 20,000 |" in told
    assert "| false stops | 3 |" in told
    assert all(f"| {name} | " in told for name in MUST_BE_ZERO)
