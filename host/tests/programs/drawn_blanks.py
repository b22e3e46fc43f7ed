"""Blanks of invented vendors, typeset for a test: other targets, and letters like targets."""

from collections.abc import Sequence

import cv2
import numpy as np
import typst

from recount_ballots.layout import Rect
from recount_classifier.raster import Grey

TARGETS = {
    "circle": "circle(radius: 5pt, stroke: 0.7pt)",
    "check box": "rect(width: 9pt, height: 9pt, stroke: 0.8pt)",
    "large box": "rect(width: 30pt, height: 16pt, stroke: 1.2pt)",
    "small box": "rect(width: 6.5pt, height: 6.5pt, stroke: 0.6pt)",
    "faint oval": "ellipse(width: 14pt, height: 8pt, stroke: 0.35pt + luma(90))",
    "thick box": "rect(width: 12pt, height: 12pt, stroke: 2pt)",
}
_CONTESTS = (
    ("OSCAR O. DOOLEY", "BOB ODOO", "QUINCY O COBB", "WRITE-IN"),
    ("Otto Bloom", "Dora Pool", "Good Doodle"),
    ("YES", "NO"),
    ("Ola Oot", "Pia Q. Ro", "D. O. Opo", "Zoo B. Qoo", "Write-in"),
)
COUNTS = tuple(len(contest) for contest in _CONTESTS)


def drawn_blank(
    target: str, *, on_the_right: bool, ruled: bool, dpi: float
) -> tuple[Grey, list[tuple[float, float]]]:
    """Return the page and the middle of each target on it."""
    lines: list[str] = []
    for number, names in enumerate(_CONTESTS):
        rows = [
            f"[{name} #h(1fr) #box(baseline: 20%, mark)]"
            if on_the_right
            else f"[#box(baseline: 20%, mark) #h(8pt) {name}]"
            for name in names
        ]
        stroke = "1pt" if ruled else "none"
        lines.append(
            f"#block(width: 100%, inset: 7pt, stroke: {stroke}, below: 20pt)["
            f"*CONTEST {number} COMMON COUNCIL* \\ Vote for ONE OR NO MORE THAN {number + 8}\n"
            f"#stack(spacing: 9pt, {', '.join(rows)})]"
        )
    body = "\n".join(lines)
    source = (
        "#set page(width: 8.5in, height: 11in, margin: 0.6in)\n#set text(size: 11pt)\n"
        "#text(size: 24pt)[OFFICIAL BALLOT OOO DOO 2026]\n\n"
        f"TO VOTE, COMPLETELY FILL IN THE TARGET. DO NOT CROSS OUT. {'Look at 800 good odd doors. ' * 9}\n"
        f"#v(6pt)\n#columns(2)[{body}]"
    )
    empty = _typeset(f"#let mark = {target}\n{source}", dpi)
    filled = _typeset(f"#let mark = {target[:-1]}, fill: black)\n{source}", dpi)
    inside = ((empty.astype(int) - filled) > 128).astype(np.uint8)
    _, _, stats, _ = cv2.connectedComponentsWithStats(inside)
    middles = [(x + w / 2, y + h / 2) for x, y, w, h, area in np.asarray(stats)[1:].tolist() if area > 20]
    return empty, middles


def blank_with_lines_to_write_on(*, boxed: bool, dpi: float) -> Grey:
    """Return a page of contests of 3, 3 and 2 targets, whose rules end short of the boxes round them."""
    target = "#box(baseline: 20%, ellipse(width: 14pt, height: 8pt, stroke: 0.7pt)) #h(6pt)"
    line = (
        f"{target} #box(width: 70%, line(length: 100%, stroke: 0.5pt)) \\ #h(26pt) #text(size: 6pt)[Write-in]"
    )
    between = "#line(length: 100%, stroke: 0.3pt)\n" if boxed else "#v(3pt)\n"
    contests: list[str] = []
    for office, names in (
        ("Mayor", ("Ada Poe", "Otto Bloom")),
        ("Sheriff", ("Ola Oot", "Uwe Low")),
        ("Clerk", ("Pia Ro",)),
    ):
        rows = [f"{target} *{name}* \\ #h(26pt) #text(size: 8pt)[Independent Party]\n" for name in names]
        contests.append(
            f"#block(width: 100%, inset: 6pt, stroke: {'0.8pt' if boxed else 'none'}, below: 14pt)["
            f"*{office} of the County of Fairview* \\ Vote for one\n{between}{between.join([*rows, line])}]"
        )
    return _typeset(
        "#set page(width: 8.5in, height: 11in, margin: 0.6in)\n#set text(size: 11pt)\n"
        f"#text(size: 20pt)[Official Ballot]\n#columns(2)[{''.join(contests)}]",
        dpi,
    )


_HOW_TO_JOIN = (
    "To vote, join the two ends of the arrow that points at the name of your choice with one straight line. "
    "Use the pencil in the booth and no other. Whoever spoils a ballot is given another one by the judges."
)


def arrows_to_join(names: Sequence[str], dpi: float) -> tuple[Grey, list[Rect]]:
    """Return a page with a contest where voters join an arrow, and the gap of each arrow."""
    left, top, step, gap = 300.0, 200.0, 40.0, 24.0  # points
    rows: list[str] = []
    for n, name in enumerate(names):
        y = top + n * step
        rows.append(
            f"#place(top + left, dx: {left - 180}pt, dy: {y - 3}pt, [*{name}* Independent])"
            f"#place(top + left, dx: {left - 10}pt, dy: {y}pt, rect(width: 10pt, height: 5pt, fill: black))"
            f"#place(top + left, dx: {left + gap}pt, dy: {y - 2}pt, "
            "polygon(fill: black, (0pt, 0pt), (10pt, 4.5pt), (0pt, 9pt)))"
        )
    page = _typeset(
        "#set page(width: 8.5in, height: 11in, margin: 0pt)\n#set text(size: 11pt)\n"
        f"#place(top + left, dx: 100pt, dy: 60pt, text(size: 24pt)[Official Ballot])\n"
        f"#place(top + left, dx: 100pt, dy: 160pt, [*County Clerk*, vote for one])\n{''.join(rows)}"
        + "".join(
            f"#place({corner}, dx: {dx}pt, dy: {dy}pt, block(width: 200pt)[{_HOW_TO_JOIN}])"
            for corner, dx, dy in (
                ("top + right", -40, 50),
                ("bottom + left", 60, -60),
                ("bottom + right", -40, -200),
            )
        ),
        dpi,
    )
    gaps = [Rect(left, top + n * step, gap, 5).scaled(dpi / 72) for n in range(len(names))]
    return page, gaps


def _typeset(source: str, dpi: float) -> Grey:
    png = typst.compile(source.encode(), format="png", ppi=dpi, ignore_system_fonts=True)
    grey = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_GRAYSCALE)
    return np.asarray(grey, np.uint8)


def scanned(page: Grey, seed: int) -> Grey:
    """Return the page as a worn scanner gives it: soft, pale, grainy, unevenly lit."""
    rng = np.random.default_rng(seed)
    soft = np.asarray(cv2.GaussianBlur(page, (0, 0), 0.9), np.float64) * 0.7 + 60
    grain = rng.normal(0, 8, page.shape)
    return np.clip(soft + grain + np.linspace(-25, 15, page.shape[1]), 0, 255).astype(np.uint8)


def one_bit(page: Grey, seed: int) -> Grey:
    """Return the page as a scanner of one bit gives it."""
    rng = np.random.default_rng(seed)
    soft = np.asarray(cv2.GaussianBlur(page, (0, 0), 0.7), np.float64) + rng.normal(0, 12, page.shape)
    return np.where(soft > 150, 255, 0).astype(np.uint8)
