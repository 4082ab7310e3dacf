"""How a table grew, as small charts in one picture: rows, files, bytes, bytes a file, delete files after each snapshot."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lakelens.analysis.shape import Moment
from lakelens.views.card import wording
from lakelens.views.card.model import Picture
from lakelens.views.svg import FONT, INKS, write_document, write_element

_WIDTH, _HEIGHT, _GAP = 168, 84, 22
_TOP, _BOTTOM = 34, 78  # of the line
_STYLE = (
    f"svg{{{INKS}}}text{{{FONT};fill:var(--f)}}.m{{fill:var(--m)}}"
    ".l{fill:none;stroke:light-dark(#3b6fb6,#6ea4e4);stroke-width:1.5}.a{fill:light-dark(#3b6fb626,#6ea4e433)}"
    ".b{stroke:light-dark(#8a8a8a,#7d7d7d);stroke-width:1}"
)
_CHARTS: tuple[tuple[str, Callable[[Moment], int | None], Callable[[int], str]], ...] = (
    ("rows live", lambda moment: moment.live_rows, wording.count),
    ("rows stored", lambda moment: moment.rows, wording.count),
    ("data files", lambda moment: moment.files, wording.count),
    ("bytes", lambda moment: moment.bytes, wording.size),
    ("bytes a file", lambda moment: moment.mean_size, wording.size),
    ("delete files", lambda moment: moment.delete_files, wording.count),
)


def draw_growth(moments: Sequence[Moment]) -> Picture | None:
    """Draw what the snapshots record of the state after each of them, on a scale of time; None where they say nothing.

    Rows are the live ones where these are known of every state, else those that are stored.

    >>> from datetime import UTC, datetime
    >>> days = [Moment(datetime(2026, 3, day, tzinfo=UTC), "append", day * 10, day, day * 100) for day in (1, 2, 5)]
    >>> picture = draw_growth(days)
    >>> picture.words
    'After each of 3 snapshots: rows stored 10 to 50, data files 1 to 5, bytes 100 B to 500 B, bytes a file 100 B to 100 B'
    >>> draw_growth(days[:1]) is None
    True
    """
    if len(moments) < 2:
        return None
    begin, end = moments[0].committed_at, moments[-1].committed_at
    whole = (end - begin).total_seconds() or 1.0
    marks: list[str] = []
    said: list[str] = []
    left_out = "rows live" if any(moment.live_rows is None for moment in moments) else "rows stored"
    for name, read, say in (chart for chart in _CHARTS if chart[0] != left_out):
        known = [
            ((moment.committed_at - begin).total_seconds() / whole, value)
            for moment in moments
            if (value := read(moment)) is not None
        ]
        if len(known) < 2 or not any(value for _, value in known):
            continue
        left = len(said) * (_WIDTH + _GAP)
        said.append(f"{name} {say(known[0][1])} to {say(known[-1][1])}")
        marks += _draw_chart(left, name, say(known[-1][1]), known)
    if not said:
        return None
    words = f"After each of {wording.count(len(moments))} snapshots: {', '.join(said)}"
    size = (len(said) * (_WIDTH + _GAP) - _GAP, _HEIGHT)
    return Picture(write_document(size, _STYLE, *marks, words=words), words)


def _draw_chart(left: int, name: str, last: str, known: Sequence[tuple[float, int]]) -> list[str]:
    """Draw one chart: steps, since a total stays what it is until the next commit."""
    most = max(value for _, value in known)
    height = _BOTTOM - _TOP
    steps, before = [], None
    for at, value in known:
        across, up = left + round(at * _WIDTH, 1), round(_BOTTOM - height * value / most, 1)
        steps.append(f"M{across} {up}" if before is None else f"H{across}V{up}")
        before = across
    path = "".join(steps)
    return [
        write_element("text", {"x": left, "y": 12, "class": "m"}, text=name),
        write_element("text", {"x": left, "y": 27}, text=last),
        write_element("path", {"class": "a", "d": f"{path}V{_BOTTOM}H{left}Z"}),
        write_element("path", {"class": "l", "d": path}),
        write_element("path", {"class": "b", "d": f"M{left} {_BOTTOM + 0.5}h{_WIDTH}"}),
    ]
