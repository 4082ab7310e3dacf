"""One bucket: its levels as rows, the sorted runs of each as bars over the range of the keys, and the files beside them."""

from __future__ import annotations

from collections.abc import Sequence

from lakelens.model.map.boxes import Box, Bucket, Level, Run
from lakelens.views.map.chain import Place
from lakelens.views.map.marks import (
    LEFT,
    RIGHT,
    draw_box,
    draw_frame,
    draw_label,
    draw_path,
    draw_text,
    is_marked,
    wrap_lines,
)
from lakelens.views.map.metrics import LINE, fit, fit_name, measure

_FIRST, _LAST = 186, 588  # where the smallest and the greatest key are
_ROW = 28
_LEAST = 8  # pixels of a bar


def draw_bucket(bucket: Bucket, y: float, above: Sequence[Place]) -> tuple[list[str], float]:
    """A bucket below what is above; and where it ends."""
    top = y + 34
    marks = [draw_path(f"M{place.middle:g} {place.bottom:g}V{top:g}", "w") for place in above]
    marks += draw_label(top + 18, "one bucket", bucket.notes)
    rest = fit(bucket.rest, 220)
    room = RIGHT - LEFT - 24 - measure(rest)
    marks.append(draw_text(LEFT + _EDGE, top + 18, fit_name(bucket.name, room), "c"))
    marks.append(draw_text(RIGHT - 7, top + 18, rest, "m", "end"))
    at = top + 44
    marks.append(draw_text(LEFT + _EDGE, at, "level", "m"))
    marks.append(draw_text(_FIRST, at, "sorted runs, from the smallest key to the greatest", "m"))
    marks.append(draw_text(RIGHT - 7, at, "rows", "m", "end"))
    at += 10
    heights = []
    for level in bucket.levels:
        heights.append(at + 14)
        marks += _draw_level(level, at)
        at += _ROW * max(len(level.runs), 1)
    marks.append(draw_path(f"M{LEFT + _EDGE} {at:g}H{RIGHT - 7}", "w"))
    if bucket.first or bucket.last:
        at += 18
        half = (_LAST - _FIRST) / 2 - 8
        marks.append(draw_text(_FIRST, at, fit(bucket.first, half, code=True), "c m"))
        marks.append(draw_text(_LAST, at, fit(bucket.last, half, code=True), "c m", "end"))
    if bucket.boxes:
        more, at = _draw_beside(bucket.boxes, at + 12, heights)
        marks += more
    bottom = at + 14
    marks += draw_frame(LEFT, top, RIGHT - LEFT, bottom - top, "kept")
    return marks, bottom


_EDGE = 11


def _draw_level(level: Level, at: float) -> list[str]:
    marks = [
        draw_path(f"M{LEFT + _EDGE} {at:g}H{RIGHT - 7}", "w"),
        draw_text(168, at + 19, level.name, "", "end"),
    ]
    if not level.runs:
        marks.append(draw_text(_FIRST + 10, at + 19, "empty", "m"))
    for number, run in enumerate(level.runs):
        marks += _draw_run(run, at + 5 + _ROW * number)
    rows = "unknown" if level.rows is None else f"{level.rows:,}"
    marks.append(draw_text(RIGHT - 7, at + 19, rows, "", "end"))
    return marks


def _draw_run(run: Run, y: float) -> list[str]:
    """The bar of a run, with its words in it, or beside it where it is short."""
    across = _LAST - _FIRST
    start = _FIRST + min(across * run.start, across - _LEAST)
    width = max(across * (run.end - run.start), _LEAST)
    width = min(width, _LAST - start)
    marks = draw_frame(round(start), y, round(width), 18, run.state)
    bold = is_marked(run.state)
    words = f"  {run.words}" if run.words else ""
    wanted = measure(run.name + words, code=True)
    inside, beside = width - 14, RIGHT - 60 - start - width - 6
    kind = "c b" if bold else "c m"
    if inside >= min(wanted, 150) or inside >= beside:
        shown = _fit_run(run, words, inside)
        marks.append(draw_text(round(start) + 10, y + 13, shown, kind))
    elif beside >= min(wanted, 150) or beside >= start - _FIRST:
        marks.append(draw_text(round(start + width) + 6, y + 13, _fit_run(run, words, beside), kind))
    else:
        marks.append(
            draw_text(round(start) - 6, y + 13, _fit_run(run, words, start - _FIRST - 8), kind, "end")
        )
    return marks


def _fit_run(run: Run, words: str, room: float) -> str:
    taken = measure(words, code=True)
    if room - taken >= 90:
        return fit_name(run.name, room - taken) + words
    return fit(run.words or run.name, room, code=True)


def _draw_beside(boxes: Sequence[Box], y: float, levels: Sequence[float]) -> tuple[list[str], float]:
    """The files that are not in a level, below it: changelog files and index files."""
    marks: list[str] = []
    width = (RIGHT - LEFT - 60 - 10 * (len(boxes) - 1) - 14) / max(len(boxes), 2)
    lines = [wrap_lines(box.lines, width) for box in boxes]
    height = 26 + LINE * max(len(some) for some in lines)
    for number, (box, shown) in enumerate(zip(boxes, lines, strict=True)):
        x = round(LEFT + 60 + (width + 10) * number)
        marks += draw_box(x, y, (round(width), height), box.name, box.state, shown,
                          is_file=box.names_files, is_stack=box.is_stack)  # fmt: skip
        if box.refers_to is not None and box.refers_to < len(levels):
            to, right = levels[box.refers_to], x + round(width)
            marks.append(draw_path(f"M{right} {y + 14:g}H{_LAST + 34}V{to:g}H{_LAST + 6}", "w-ref"))
            marks.append(draw_path(f"M{_LAST + 12} {to - 4:g}l-7 4l7 4", "w-tip"))
    return marks, y + height
