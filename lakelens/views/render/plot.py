"""A plot as an object that shows itself: as SVG in the colours of the page, as PNG in colours that both grounds bear.

An image does not know the ground that it is shown on. Every colour here is one that is legible on white and on #111; in the
SVG it is exchanged for a pair of which the page's `color-scheme` chooses. Nothing in the SVG is active or fetched, its text
is escaped, and the same figure gives the same bytes. What has many points is an image inside of it.
"""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

from lakelens.views.card import wording
from lakelens.views.card.model import Card, Picture
from lakelens.views.render.html import draw
from lakelens.whole import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

TEXT, MUTED, LINE = "#7a7a7a", "#7a7a7b", "#7b7b7b"
BLUE, PALE_BLUE, RED, ROSE, ORANGE = "#3b73bd", "#5b93d3", "#c9453a", "#cf7c75", "#b9701f"
# of one lightness in every picture: with an edge they are seen on both grounds
LEVELS = ("#2e62ab", "#4675b8", "#5f8cca", "#7ba2da", "#98bae6", "#b3cff0")
# on a light ground, on a dark one
_PAIRS = {
    TEXT: ("#1b1b1b", "#e6e6e6"),
    MUTED: ("#5f5f5f", "#a5a5a5"),
    LINE: ("#8a8a8a", "#7d7d7d"),
    BLUE: ("#3b6fb6", "#6ea4e4"),
    PALE_BLUE: ("#8db4e2", "#3e679c"),
    RED: ("#b3261e", "#f28b82"),
    ROSE: ("#e8a39d", "#96504a"),
    ORANGE: ("#b96a10", "#e5a04c"),
}
_STYLE: Any = {  # whose type has the name of every setting
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "text.usetex": False,
    "text.color": TEXT,
    "axes.labelcolor": TEXT,
    "axes.titlecolor": TEXT,
    "axes.edgecolor": LINE,
    "axes.facecolor": "none",
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": MUTED,
    "legend.labelcolor": TEXT,
    "figure.facecolor": "none",
    "figure.edgecolor": "none",
    "savefig.facecolor": "auto",
    "savefig.bbox": None,
    "savefig.transparent": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "lakelens",
    "svg.id": None,
}
_SHEET = (
    # as a picture of its own it follows the page that shows it; inside of a page, the page's theme
    "svg:root{color-scheme:light dark}"
    ".ll-plot:is(.vscode-dark *,[theme=dark] *,[data-theme=dark] *,[data-jp-theme-light=false] *){color-scheme:dark}"
    ".ll-plot:is(.vscode-light *,[theme=light] *,[data-theme=light] *,[data-jp-theme-light=true] *){color-scheme:light}"
    ".ll-plot *{stroke-linejoin:round;stroke-linecap:butt}"
    ".ll-plot text{font-family:system-ui,'Liberation Sans',Helvetica,Arial,sans-serif}"
)
_COLOUR = re.compile(r"(fill|stroke): (#[0-9a-f]{6})")
_FONT = re.compile(r"; font-family: [^;\"]+")
_TAG = re.compile(r"<[^>]*>\n?\s*")  # in attributes and text it is escaped
_HEAD = re.compile(r"\A.*?<svg .*?viewBox=(\"[^\"]*\").*?</style>\s*</defs>", re.DOTALL)
_LONG = re.compile(r"(\.\d\d)\d+")  # a hundredth of a point is finer than any screen
_STYLED = re.compile(r' style="([^"]*)"')
_TURN = re.compile(r' transform="rotate\(-0 [^"]*"')
_ID = re.compile(r' id="[A-Za-z0-9.]+_\d+"')  # of things that nothing refers to
_BARS = 1.2  # what matplotlib draws before the axis: bars are at 1
_MOST_VERTICES = 2_000
_MOST_LETTERS = 40_000  # of an SVG: in a page it is a third longer
_SHARPEST, _MOST_DOTS = 160, 1_000_000
_INCH = 96  # pixels, as a page counts them


class Plot:
    """A plot that shows itself in a notebook, on a light ground and on a dark one; elsewhere it is one line of words.

    `figure` is the `matplotlib.figure.Figure`, to change or to take numbers from: what is changed shows. Nothing of
    pyplot is touched, so that it is shown once, whatever backend is set.

    >>> import lakelens as ll
    >>> plot = ll.sample("iceberg").plot()
    >>> plot
    <Plot: live rows after each of 5 snapshots; files after each of 5 snapshots; bytes after each of 5 snapshots>
    >>> len(plot.figure.axes)
    3
    """

    def __init__(self, figure: Figure) -> None:
        self.figure = figure

    @property
    def words(self) -> str:
        """What is drawn, in words: the titles of the axes."""
        titles = (axes.get_title(loc="left").replace(r"\$", "$") for axes in self.figure.axes)
        return wording.visible("; ".join(filter(None, titles)))

    def save(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the plot to a file, whose ending says in which format: SVG, PNG, PDF and what else matplotlib writes.

        Parameters
        ----------
        path
            The file to write; one that is there is overwritten.
        options
            Of `matplotlib.figure.Figure.savefig`, such as `dpi` and `facecolor`. An SVG without any follows light and dark.
        """
        if Path(path).suffix.lower() == ".svg" and not options:
            write_whole(path, self.to_svg().encode())
            return
        with draw_in_style():
            self.figure.savefig(path, **options)

    def to_svg(self) -> str:
        """The plot as SVG, which follows the `color-scheme` of the page that shows it."""
        lines = [line for axes in self.figure.axes for line in axes.lines if not line.get_rasterized()]
        with _draw_as_image([line for line in lines if len(line.get_path()) > _MOST_VERTICES]):
            written = self._write_svg()
            if len(written) <= _MOST_LETTERS:
                return written
            with _draw_as_image(self.figure.axes):
                return self._write_svg()

    def _write_svg(self) -> str:
        written = io.StringIO()
        with draw_in_style():
            self.figure.savefig(written, format="svg", dpi=self._sharpness, metadata={"Date": None})
        words = wording.visible(written.getvalue())
        return _recolour(words, self.words)

    @property
    def _sharpness(self) -> float:
        """Dots in an inch of the PNG: fewer where it is high."""
        width, height = self.figure.get_size_inches()
        return min(_SHARPEST, max(_INCH, sqrt(_MOST_DOTS / (width * height))))

    def to_png(self) -> bytes:
        """The plot as PNG without a ground."""
        written = io.BytesIO()
        with draw_in_style():
            self.figure.savefig(written, format="png", dpi=self._sharpness, metadata={"Software": None})
        return written.getvalue()

    def _repr_html_(self) -> str:
        """The SVG as an image with its words: a page's own styles do not reach it, nor its styles the page."""
        return draw(Card("", "", body=(Picture(self.to_svg(), self.words),)), 1)

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Say what a notebook asks for; those that cannot show HTML take SVG or PNG."""
        width, height = (round(side * _INCH) for side in self.figure.get_size_inches())
        makers = {
            "text/plain": self.__repr__,
            "text/html": self._repr_html_,
            "image/svg+xml": self.to_svg,
            "image/png": self.to_png,
        }
        wanted = [kind for kind in makers if (not include or kind in include) and kind not in (exclude or ())]
        held = {kind: makers[kind]() for kind in wanted}
        return held, {"image/png": {"width": width, "height": height}} if "image/png" in held else {}

    def __repr__(self) -> str:
        return f"<Plot: {self.words}>"


@contextmanager
def draw_in_style() -> Iterator[None]:
    """The colours and fonts of plots, whatever style the reader has set; letters that a font lacks are no reason to warn."""
    import matplotlib as mpl

    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph .* missing from")
        yield


@contextmanager
def _draw_as_image(parts: Sequence[Axes | Line2D]) -> Iterator[None]:
    """Draw lines, or the bars of axes, as an image inside of the SVG, whose size is bounded so."""
    for part in parts:
        if hasattr(part, "set_rasterization_zorder"):
            part.set_rasterization_zorder(_BARS)
        else:
            part.set_rasterized(True)
    try:
        yield
    finally:
        for part in parts:
            if hasattr(part, "set_rasterization_zorder"):
                part.set_rasterization_zorder(None)
            else:
                part.set_rasterized(False)


def _recolour(svg: str, words: str) -> str:
    """The SVG of matplotlib with a head of our own, pairs of colours, and without what says nothing."""
    head = _HEAD.match(svg)
    assert head is not None, "matplotlib begins an SVG otherwise"
    box = head[1]
    width, height = (round(float(side) * _INCH / 72) for side in box.strip('"').split()[2:])
    styles: dict[str, str] = {}
    body = _TAG.sub(lambda found: _rewrite(found[0].rstrip(), styles), svg[head.end() :])
    rules = "".join(f".ll-plot .{name}{{{rule}}}" for rule, name in styles.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" class="ll-plot" role="img" '
        f'aria-label="{escape(words)}" width="{width}" height="{height}" viewBox={box}>'
        f"<style>{_SHEET}{rules}</style>{body}"
    )


def _rewrite(tag: str, styles: dict[str, str]) -> str:
    """A tag as it is needed, its style as a class; what a lake says is between tags, and stays as it is."""
    if tag.startswith("<!--"):
        return ""
    tag = _ID.sub("", tag)
    style = _STYLED.search(tag)
    if style is not None:
        rule = _COLOUR.sub(_pair, _FONT.sub("", style[1])).replace(": ", ":").replace("; ", ";")
        name = styles.setdefault(rule, f"ll-{crc32(rule.encode()):08x}")
        tag = f'{tag[: style.start()]} class="{name}"{tag[style.end() :]}'
    if tag.startswith("<image"):  # its data is no number
        return tag
    return _LONG.sub(r"\1", _TURN.sub("", tag)).replace("  ", " ").replace("\n", "")


def _pair(found: re.Match[str]) -> str:
    """Give a colour, and after it the pair, which programs that know no pairs pass over."""
    name, colour = found[1], found[2]
    if colour not in _PAIRS:
        return found[0]
    light, dark = _PAIRS[colour]
    return f"{name}: {colour}; {name}: light-dark({light},{dark})"
