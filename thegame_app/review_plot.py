"""The curve of a reviewed game as a picture."""

from __future__ import annotations

import io
from pathlib import Path

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from thegame_app.language import Language, Refusal
from thegame_app.review import GRADES, Review, curve
from thegame_app.review_text import GRADE_NAMES

FORMATS = (".svg", ".png")
"""Endings of the file names that can be written."""
MARKERS = {"best": "o", "fine": "s", "inaccurate": "^", "bad": "X"}
"""Shapes, so that grades differ in more than colour."""
COLOURS = {"best": "#2b7a3d", "fine": "#4c78a8", "inaccurate": "#c98a00", "bad": "#b3202c"}


def plot_format(path: Path) -> str:
    """The format of a file name; Refusal where it is neither SVG nor PNG."""
    if path.suffix.lower() not in FORMATS:
        raise Refusal(
            "{path}: the name must end in one of {endings}", path=path, endings=", ".join(FORMATS)
        )
    return path.suffix.lower()[1:]


def draw(result: Review, lang: Language, kind: str) -> bytes:
    """The picture: cards left to expect and chance to win before each turn, and the grades.

    Args:
        result: The review.
        lang: Language of its words.
        kind: "svg" or "png".
    """
    figure = Figure(figsize=(8, 5), layout="constrained")
    FigureCanvasAgg(figure)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    numbers, cards, win = curve(result)
    above.plot(numbers, cards, color="#666666", linewidth=1, zorder=1)
    for grade in GRADES:
        at = [turn for turn in result.turns if turn.grade == grade]
        above.scatter(
            [turn.number for turn in at],
            [turn.cards_best for turn in at],
            marker=MARKERS[grade],
            color=COLOURS[grade],
            label=f"{lang(GRADE_NAMES[grade])} ({len(at)})",
            zorder=2,
            clip_on=False,
        )
    above.set_ylabel(lang("cards left to expect"))
    above.set_ylim(bottom=0)
    figure.legend(loc="outside upper center", ncols=len(GRADES))
    below.plot(numbers, [100 * value for value in win], color="#333333")
    below.set_ylim(-2, 102)
    below.set_ylabel(lang("chance to win, %"))
    below.set_xlabel(lang("turn"))
    below.xaxis.set_major_locator(MaxNLocator(integer=True))
    return _bytes(figure, kind)


def _bytes(figure: Figure, kind: str) -> bytes:
    buffer = io.BytesIO()
    with rc_context({"svg.hashsalt": "thegame"}):  # the same game gives the same bytes
        figure.savefig(buffer, format=kind, metadata={"Date": None} if kind == "svg" else {})
    return buffer.getvalue()
