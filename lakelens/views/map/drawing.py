"""The chain: a row of boxes for each tier, and the lines that say who names whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakelens.model.charts import Beside, Box, Branch, Bucket, Level, Run, Tier, count_noun
from lakelens.views.card.wording import clean
from lakelens.views.map.marks import (
    LEFT,
    LINE,
    RIGHT,
    break_word,
    draw_box,
    draw_frame,
    draw_label,
    draw_path,
    draw_text,
    fit,
    fit_name,
    is_apart,
    is_marked,
    list_lines,
    measure,
    wrap,
    wrap_lines,
)
from lakelens.views.svg import INKS, write_document

if TYPE_CHECKING:
    from lakelens.analysis.map import Map


_GAP = 10
_SECOND = 14  # the step to a second line of a field's name


@dataclass(frozen=True, slots=True)
class Rectangle:
    """Where a box is."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """Half of its width."""
        return self.x + round(self.width / 2)

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.y + self.height


def place_boxes(tier: Tier, y: float) -> list[Rectangle]:
    """Place where the boxes of a tier are: one beside its remark, two of which the first is wide, or equal ones."""
    count, whole = len(tier.boxes), float(RIGHT - LEFT)
    if count == 1:
        widths = [236.0 if tier.remark else 336.0]
    elif count == 2:
        widths = [336.0, whole - 336.0 - 2 * _GAP]
    elif count == 3 and tier.has_lead:
        widths = [258.0, 140.0, 140.0]
    else:
        widths = [(whole - _GAP * (count - 1)) // count] * count
    heights = [
        len(wrap_lines(list_lines(box, width), width)) for box, width in zip(tier.boxes, widths, strict=True)
    ]
    height = 26 + LINE * max(heights)
    gap = 2 * _GAP if count == 2 else _GAP
    found, x = [], float(LEFT)
    for width in widths:
        found.append(Rectangle(x, y, width, height))
        x += width + gap
    return found


def draw_chain(tiers: Sequence[Tier]) -> tuple[list[str], float, list[Rectangle]]:
    """Draw the tiers below each other; say where they end, and where the boxes of the last one are."""
    lines: list[str] = []
    boxes: list[str] = []
    above: list[Rectangle] = []
    ends: list[float] = []
    y = 2.0
    for number, tier in enumerate(tiers):
        if number:
            # the boxes of a tier that a box above names by a field
            namers = [
                box
                for box in tier.boxes
                if box.field and any(parent < len(tiers[number - 1].boxes) for parent in box.parents)
            ]
            y = ends[-1] + (40 if namers else 26)
            if len({box.field for box in namers}) > 1 and any(
                len(_break_field(box.field, place)) > 1
                for box, place in zip(tier.boxes, place_boxes(tier, y), strict=True)
                if box in namers
            ):
                y += _SECOND
        places = place_boxes(tier, y)
        boxes += draw_label(y + 18, tier.noun, tier.notes)
        for box, place in zip(tier.boxes, places, strict=True):
            shown = wrap_lines(list_lines(box, place.width), place.width)
            boxes += draw_box(place.x, y, (place.width, place.height), box.name, box.state, shown,
                              is_file=box.names_files, is_stack=box.is_stack,
                              apart=is_apart(box.name, box.state, place.width, is_file=box.names_files))  # fmt: skip
        if tier.remark:
            x = places[-1].x + places[-1].width + 14
            for row, line in enumerate(wrap(" ".join(tier.remark), RIGHT + 6 - x, 3)):
                boxes.append(draw_text(x, places[-1].y + 16 + LINE * row, line, "m"))
        lines += _draw_links(tiers[number - 1] if number else None, tier, above, places)
        above = places
        ends.append(max(places[0].bottom, y + 22 + LINE * len(tier.notes)))
    y = ends[-1] if ends else y
    refers, y = _draw_references(tiers[-1], above, y) if tiers else ([], y)
    return [*lines, *boxes, *refers], y, above


def _draw_links(
    upper: Tier | None, tier: Tier, above: Sequence[Rectangle], places: Sequence[Rectangle]
) -> list[str]:
    """Lines from the boxes above; those that are new over the others. The field is said once where it is one."""
    kept: list[str] = []
    new: list[str] = []
    words: list[str] = []
    fields = {box.field for box in tier.boxes if box.parents and box.field}
    said = False
    for number, (box, place) in enumerate(zip(tier.boxes, places, strict=True)):
        if box.is_joined and number:
            before = places[number - 1]
            y = round(before.y + before.height / 2)
            kept.append(draw_path(f"M{before.x + before.width:g} {y}H{place.x:g}", "w"))
        for parent in box.parents if upper is not None else ():
            if parent >= len(above):
                continue
            top = above[parent]
            half = min(round((top.bottom + place.y) / 2), round(top.bottom) + 20)
            shape = f"M{top.middle:g} {top.bottom:g}V{half}H{place.middle:g}V{place.y:g}"
            (new if is_marked(box.state) else kept).append(
                draw_path(shape, "w-new" if is_marked(box.state) else "w")
            )
            if len(fields) == 1 and not said:
                words.append(draw_text(top.middle + 7, half - 5, next(iter(fields)), "c m"))
                said = True
        if len(fields) > 1 and box.field:
            shown = _break_field(box.field, place)
            if (
                shown == [fit(box.field, place.width, code=True)]
                or number < len(places) - 1
                or len(shown) > 1
            ):
                at, anchor = place.middle + 6, ""
            else:  # what does not fit at the right edge stands left of its line
                at, anchor = place.middle - 6, "end"
                shown = [fit(box.field, place.width / 2 - 6 + _GAP, code=True)]
            for line, text in enumerate(reversed(shown)):
                words.append(draw_text(at, place.y - 9 - _SECOND * line, text, "c m", anchor))
    return [*kept, *new, *words]


def _break_field(field: str, place: Rectangle) -> list[str]:
    """The name of a field beside the line to its box, in two lines where one is too short for it."""
    room = min(place.width - 6, RIGHT + 4 - place.middle - 6)
    first, rest = break_word(field, room, code=True)
    return [fit(part, room, code=True) for part in (first, rest) if part]


def _draw_references(tier: Tier, places: Sequence[Rectangle], y: float) -> tuple[list[str], float]:
    """Dotted lines below the last tier, from what refers to what it refers to, with one word for each."""
    drawn: list[str] = []
    groups: dict[tuple[int, str], list[int]] = {}
    for number, box in enumerate(tier.boxes):
        if box.refers_to is not None and box.refers_to < len(places):
            groups.setdefault((box.refers_to, box.reference), []).append(number)
    for step, ((target, word), sources) in enumerate(groups.items()):
        base = y + 20 + 24 * step
        tip = places[target].middle - 8 * step
        ends = [tip]
        for source in sources:
            start = places[source].middle + (14 if source == target else 4)
            drawn.append(draw_path(f"M{start:g} {places[source].bottom:g}V{base:g}H{tip:g}", "w-ref"))
            ends.append(start)
        low = places[target].bottom
        drawn.append(draw_path(f"M{tip:g} {base:g}V{low + 4:g}", "w-ref"))
        drawn.append(draw_path(f"M{tip - 4:g} {low + 10:g}l4 -7l4 7", "w-tip"))
        width = measure(word)
        x = min(max((min(ends) + max(ends)) / 2 - width / 2, LEFT), RIGHT - width)
        drawn.append(draw_text(x, base + 15, word, "m"))
    return drawn, y + (20 + 24 * len(groups) if groups else 0)


# One bucket: its levels as rows, the sorted runs of each as bars over the range of the keys, and the files beside them.

_FIRST, _LAST = 186, 588  # where the smallest and the greatest key are
_ROW = 28
_LEAST = 8  # pixels of a bar


def draw_bucket(bucket: Bucket, y: float, above: Sequence[Rectangle]) -> tuple[list[str], float]:
    """Draw a bucket below what is above; and where it ends."""
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
        marks.append(draw_text(_FIRST, at, fit(f"key {bucket.first}", half, code=True), "c m"))
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
    """Draw the bar of a run, with its words in it, or beside it where it is short."""
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
    """Draw the files that are not in a level, below it: changelog files and index files."""
    marks: list[str] = []
    width = (RIGHT - LEFT - 60 - 10 * (len(boxes) - 1) - 14) / max(len(boxes), 2)
    lines = [wrap_lines(box.lines, width) for box in boxes]
    height = 26 + LINE * max(len(line) for line in lines)
    for number, (box, shown) in enumerate(zip(boxes, lines, strict=True)):
        x = round(LEFT + 60 + (width + 10) * number)
        marks += draw_box(x, y, (round(width), height), box.name, box.state, shown,
                          is_file=box.names_files, is_stack=box.is_stack)  # fmt: skip
        if box.refers_to is not None and box.refers_to < len(levels):
            to, right = levels[box.refers_to], x + round(width)
            marks.append(draw_path(f"M{right} {y + 14:g}H{_LAST + 34}V{to:g}H{_LAST + 6}", "w-ref"))
            marks.append(draw_path(f"M{_LAST + 12} {to - 4:g}l-7 4l7 4", "w-tip"))
    return marks, y + height


# A tree of directories: what is in the table's own, and beside it what stands elsewhere, the metastore.

_STEP, _END, _PANEL = 22, 400, 436


def draw_tree(tree: Sequence[Branch], beside: Beside | None) -> tuple[list[str], float]:
    """Draw the tree at the left, what is beside it at the right; and where both end."""
    marks = [draw_text(0, 16, "directory", "b")]
    y, ends = 28.0, []
    open_at: dict[int, float] = {}
    for branch in tree:
        x = _STEP * branch.depth
        width = _END - x
        lines = wrap_lines((branch.words,) if branch.words else (), width, 2)
        height = 26 + LINE * len(lines)
        if branch.depth:
            start = open_at.get(branch.depth - 1, y)
            stroke = "w-new" if branch.state in ("new", "changed") else "w"
            marks.append(draw_path(f"M{x - _STEP + 10} {start:g}V{y + 13:g}H{x}", stroke))
        marks += draw_box(x, y, (width, height), branch.name, branch.state, lines,
                          is_file=branch.is_file or branch.count == 1, is_stack=branch.count > 1)  # fmt: skip
        open_at[branch.depth] = y + height
        y += height + 12
        ends.append(y)
    if beside is None:
        return marks, y
    more, bottom = _draw_outside(beside)
    return [*marks, *more], max(y, bottom)


def _draw_outside(beside: Beside) -> tuple[list[str], float]:
    """Draw the panel of what is stored elsewhere."""
    width = RIGHT - _PANEL - 22
    marks = [
        draw_text(_PANEL, 16, beside.noun, "b"),
        draw_text(RIGHT, 16, fit(beside.note, RIGHT - _PANEL - 90), "m", "end"),
    ]
    y = 48.0
    for number, (head, lines) in enumerate(beside.parts):
        y += 10 if number else 0
        marks.append(draw_text(_PANEL + 11, y, fit(head, width, bold=True), "b"))
        y += LINE
        for line in lines:
            for part in wrap(line, width, 3):
                marks.append(draw_text(_PANEL + 11, y, part, "m"))
                y += LINE
    marks += draw_frame(_PANEL, 28, RIGHT - _PANEL, y - 28, beside.state)
    marks.append(draw_path(f"M{_PANEL} 42H{_END + 8}", "w-ref"))
    marks.append(draw_path(f"M{_END + 10} 38l-7 4l7 4", "w-tip"))
    return marks, y


# The drawing of a map as a document of its own.

#: Units of the drawing, and pixels that it is shown in at most and at least: letters are never smaller than 11.5 pixels.
_UNITS, _MOST, LEAST = 688, 820, 660
_LEGEND = (
    "A bar and the word new or changed: by this change. A thin line and kept: as it was. Dashed: gone from this state, or "
    "not looked at. A line means that a file names another, its word is the field; a dotted one refers to it."
)
_STYLE = (
    f":root{{{INKS};--a:light-dark(#17753a,#5cbb74)}}"
    "text{font:13px Helvetica,Arial,'Liberation Sans','Nimbus Sans',sans-serif;fill:var(--f)}"
    ".c{font-family:Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;font-size:12px}"
    ".m{fill:var(--m)}.b{font-weight:600}.new{fill:var(--a);font-weight:700}"
    "path{fill:none}.e-kept,.w{stroke:var(--f);stroke-opacity:.38}.e-new{stroke:var(--a)}"
    ".e-gone{stroke:var(--m);stroke-dasharray:4 3}.f-new{fill:var(--a)}.w-new{stroke:var(--a);stroke-width:2}"
    ".w-ref{stroke:var(--m);stroke-dasharray:2 3}.w-tip{stroke:var(--m)}"
)


def render_map(drawn: Map) -> str:
    """Render a map as SVG."""
    chart = drawn.chart
    marks: list[str] = []
    y = 0.0
    if chart.tiers:
        marks, y, above = draw_chain(chart.tiers)
        if chart.bucket is not None:
            more, y = draw_bucket(chart.bucket, y, above)
            marks += more
    else:
        marks, y = draw_tree(chart.tree, chart.beside)
    y += 36
    marks.append(draw_text(0, y, "live rows", "b"))
    for line in wrap(drawn.total, RIGHT - LEFT, 4, bold=True):
        marks.append(draw_text(LEFT, y, line, "b"))
        y += LINE + 1
    for sentence in (drawn.news, *chart.advice):
        for line in wrap(sentence, RIGHT - LEFT, 4):
            marks.append(draw_text(LEFT, y, line, "m"))
            y += LINE
    y += 10
    for line in wrap(_LEGEND, RIGHT, 3):
        marks.append(draw_text(0, y, line, "m"))
        y += LINE
    return write_drawing(marks, y, describe_map(drawn))


def write_drawing(marks: Iterable[str], height: float, words: str) -> str:
    """Marks as a document: so high, in the style of all maps, with what they show in words."""
    high = round(height)
    size = _MOST, round(high * _MOST / _UNITS)
    return write_document(size, _STYLE, *marks, box=(-1, -2, _UNITS, high), words=words)


def describe_map(drawn: Map) -> str:
    """Describe what the drawing shows, in a sentence."""
    chart = drawn.chart
    title = drawn.table.traits.title
    parts = []
    for tier in chart.tiers:
        boxes = ", ".join(f"{clean(box.name, 200)} {box.word}" for box in tier.boxes)
        parts.append(f"{tier.noun}: {boxes}")
    if chart.bucket is not None:
        parts.append(
            f"bucket {clean(chart.bucket.name, 200)} with {count_noun(len(chart.bucket.levels), 'level')}"
        )
    if chart.tree:
        parts.append(", ".join(f"{clean(branch.name, 200)} {branch.word}" for branch in chart.tree))
    if chart.beside is not None:
        parts.append(f"{chart.beside.noun}: {chart.beside.note}")
    words = "; ".join(parts)
    return f"{title} table {clean(drawn.table.name, 80)}: {words}; live rows {clean(drawn.total, 300)}; {drawn.news}"
