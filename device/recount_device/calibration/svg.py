"""The few shapes of the drawings that a technician is given, as SVG elements."""

from xml.sax.saxutils import escape

INK, QUIET, BAD = "#212121", "#696969", "#be3c00"


def line(x1: float, y1: float, x2: float, y2: float, colour: str, *, width: float = 1, dash: str = "") -> str:
    """Return a straight line."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width}"{dashes}/>'
    )


def text(
    x: float,
    y: float,
    words: str,
    *,
    size: int = 14,
    colour: str = INK,
    weight: str = "normal",
    anchor: str = "start",
) -> str:
    """Return words, with a white rim that keeps them legible over lines."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" font-weight="{weight}" '
        f'text-anchor="{anchor}" stroke="#fff" stroke-width="3" paint-order="stroke">{escape(words)}</text>'
    )
