"""The charts of the pages: plain figures in, SVG out, drawn by matplotlib.

matplotlib is imported when the first chart is drawn, for it takes most of a second. The same
figures always give the same text. What a chart shows also stands beside it as a table.
"""

from __future__ import annotations

import io
import logging
import warnings
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final
from unicodedata import east_asian_width

from tournaments.course import Course
from tournaments.figures import Play
from tournaments.web.render import duration
from tournaments.web.svg import COLOURS, embedded

if TYPE_CHECKING:
    import numpy as np
    from markupsafe import Markup
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

LINES: Final = 8
"""Bots that are told apart in one chart; the table beside it has them all."""

_WIDTH = 8.0
"""Inches, as all measures here."""
_BARS = 8
"""For each power of ten of times."""
_LETTERS = 18
_NAMES = 1.75
"""Room for names, beside a chart or on its axis."""
_STYLE: Final[Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "knavery",
    "text.parse_math": False,
    "font.size": 10.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": COLOURS["quiet"],
    "axes.labelcolor": COLOURS["quiet"],
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": COLOURS["line"],
    "text.color": COLOURS["ink"],
    "xtick.color": COLOURS["quiet"],
    "ytick.color": COLOURS["quiet"],
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}
_MARKS = "osD^vPX*"


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing, and what it is called."""

    title: str
    svg: Markup


def course_chart(course: Course, names: Sequence[str], order: Sequence[int]) -> Chart:
    """Ratings by complete blocks, of the first of these entrants."""
    from matplotlib.ticker import MaxNLocator

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for line, entrant in enumerate(order[:LINES]):
            ratings = [step[entrant] for step in course.ratings]
            known = [(x, y) for x, y in zip(course.blocks, ratings, strict=True) if y is not None]
            if known:
                axes.plot(*zip(*known, strict=True), **_line(line), label=_short(names[entrant]))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("complete blocks")
        axes.set_ylabel("rating")
        _legend(axes)

    title = "Ratings over the tournament's course"
    about = f"Ratings after each of {len(course.blocks)} numbers of complete blocks, a line a bot."
    return _chart("course", title, about, 3.6, draw, right=_NAMES)


def places_chart(plays: Mapping[int, Play], names: Sequence[str], order: Sequence[int]) -> Chart:
    """Points a deal by seat and by position, of the first of these entrants."""

    def draw(figure: Figure) -> None:
        panels = figure.subplots(1, 2, sharey=True)
        for panel, label in zip(panels, ("seat", "seats after the dealer"), strict=True):
            for line, entrant in enumerate(order[:LINES]):
                play = plays[entrant]
                sums = play.by_seat if label == "seat" else play.by_position
                means = [(n, each.mean) for n, each in enumerate(sums) if each.count]
                panel.plot(*zip(*means, strict=True), **_line(line), label=_short(names[entrant]))
            panel.set_xlabel(label)
            panel.set_xticks(range(len(sums)))
        panels[0].set_ylabel("points a deal")
        _legend(panels[1])

    title = "Points a deal by seat, and by position from the dealer"
    about = "Two panels, a line a bot: the figures are below."
    return _chart("places", title, about, 3.4, draw, right=_NAMES)


def bids_chart(play: Play) -> Chart:
    """How often each number of tricks was bid, and made."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        bids = range(max(play.bids) + 1)
        axes.bar(bids, [play.bids[bid] for bid in bids], color=COLOURS["line"], label="bid")
        axes.bar(bids, [play.made[bid] for bid in bids], color=COLOURS["c0"], label="made")
        axes.set_xticks(bids)
        axes.set_xlabel("tricks bid")
        axes.set_ylabel("deals")
        axes.grid(axis="x", visible=False)
        _legend(axes)

    about = "Bars: how often each number of tricks was bid, and how often it was made."
    return _chart("bids", "Bids and success", about, 2.8, draw, right=_NAMES)


def tricks_chart(play: Play) -> Chart:
    """How often each number of tricks was won."""

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        tricks = range(max(play.tricks) + 1)
        axes.bar(tricks, [play.tricks[each] for each in tricks], color=COLOURS["c0"])
        axes.set_xticks(tricks)
        axes.set_xlabel("tricks won in a deal")
        axes.set_ylabel("deals")
        axes.grid(axis="x", visible=False)

    return _chart("tricks", "Tricks won", "Bars: in how many deals so many tricks.", 2.8, draw)


def times_chart(plays: Mapping[int, Play], names: Sequence[str]) -> Chart:
    """The distribution of decision times, a line an entrant: all, most, and the middle."""
    import numpy as np

    rows = [entrant for entrant in plays if plays[entrant].charged]

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        for row, entrant in enumerate(rows):
            values = _seconds(plays[entrant])
            least, low, middle, high, most = np.quantile(values, (0, 0.05, 0.5, 0.95, 1)).tolist()
            axes.plot((least, most), (row, row), color=COLOURS["quiet"], linewidth=1)
            axes.plot((low, high), (row, row), color=COLOURS["c0"], linewidth=6)
            axes.plot(middle, row, "o", color=COLOURS["paper"], markersize=4)
        _scale_of_times(axes)
        axes.set_yticks(range(len(rows)), [_short(names[entrant]) for entrant in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)

    about = (
        "A line a bot on a scale of powers of ten: thin from the fastest to the slowest decision, "
        "thick for nine of ten, a dot at the median."
    )
    height = 0.8 + 0.32 * max(1, len(rows))
    longest = max((_room(_short(names[entrant])) for entrant in rows), default=0)
    left = 0.3 + (_NAMES - 0.3) * longest / _LETTERS
    return _chart("times", "Decision times", about, height, draw, left=left)


def spread_chart(play: Play) -> Chart:
    """How many decisions took how long, of one entrant that has made some."""
    import numpy as np

    def draw(figure: Figure) -> None:
        axes = figure.subplots()
        values = _seconds(play)
        low, high = np.floor(np.log10(values.min())), np.ceil(np.log10(values.max()))
        edges = np.logspace(low, max(low + 1, high), 1 + _BARS * int(max(1, high - low)))
        axes.hist(values, edges.tolist(), color=COLOURS["c0"])
        _scale_of_times(axes)
        axes.set_ylabel("decisions")
        axes.grid(axis="x", visible=False)

    about = "Bars on a scale of powers of ten: how many decisions took so long."
    return _chart("spread", "Decision times", about, 2.8, draw)


def _seconds(play: Play) -> NDArray[np.float64]:
    """What each decision took, a microsecond at least."""
    import numpy as np

    values: NDArray[np.float64] = np.maximum(np.asarray(play.charged), 1) / 1e6
    return values


def _scale_of_times(axes: Axes) -> None:
    from matplotlib.ticker import NullFormatter

    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: duration(value))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("charged for a decision")


def make_ready() -> None:
    """Load what draws, which takes a while, before a page waits for it."""
    with _drawing():
        import matplotlib.backends.backend_svg  # noqa: F401


def _chart(
    name: str,
    title: str,
    about: str,
    height: float,
    draw: Callable[[Figure], None],
    *,
    left: float = 0.75,
    right: float = 0.15,
) -> Chart:
    """Draw a chart with these margins. (To have matplotlib find them draws everything twice.)"""
    with _drawing():
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

        figure = Figure(figsize=(_WIDTH, height))
        draw(figure)
        across, up = 1 / _WIDTH, 1 / height
        figure.subplots_adjust(
            left * across, 0.5 * up, 1 - right * across, 1 - 0.12 * up, wspace=0.06
        )
        text = io.StringIO()
        FigureCanvasSVG(figure)
        figure.savefig(text, format="svg", metadata={"Date": None})
    return Chart(title, embedded(text.getvalue(), f"chart-{name}", title, about))


@contextmanager
def _drawing() -> Iterator[None]:
    """matplotlib with our style. It would warn of letters that its own font lacks, but the page's
    fonts draw them."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import matplotlib as mpl

        with mpl.rc_context(_STYLE):
            yield


def _line(number: int) -> dict[str, Any]:
    """How the lines of a chart are told apart, by more than their colour."""
    return {"color": COLOURS[f"c{number}"], "marker": _MARKS[number], "markersize": 4}


def _legend(axes: Axes) -> None:
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


def _short(name: str) -> str:
    """What there is room for."""
    widths = list(accumulate(map(_width, name)))
    if not widths or widths[-1] <= _LETTERS:
        return name
    return name[: bisect(widths, _LETTERS - _width("…"))] + "…"


def _room(text: str) -> float:
    """How wide a text is, in usual letters."""
    return sum(map(_width, text))


def _width(letter: str) -> float:
    """How wide a letter is, in usual ones."""
    if letter in "WM@%…" or east_asian_width(letter) in "WF":
        return 2.1
    return 1.25 if letter.isupper() else 1.0
