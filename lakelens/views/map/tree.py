"""A tree of directories: what is in the table's own, and beside it what stands elsewhere, the metastore."""

from __future__ import annotations

from collections.abc import Sequence

from lakelens.model.map.boxes import Beside, Branch
from lakelens.views.map.marks import RIGHT, draw_box, draw_frame, draw_path, draw_text, wrap_lines
from lakelens.views.map.metrics import LINE, fit, wrap

_STEP, _END, _PANEL = 22, 400, 436


def draw_tree(tree: Sequence[Branch], beside: Beside | None) -> tuple[list[str], float]:
    """The tree at the left, what is beside it at the right; and where both end."""
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
    more, bottom = _draw_beside(beside)
    return [*marks, *more], max(y, bottom)


def _draw_beside(beside: Beside) -> tuple[list[str], float]:
    """The panel of what is stored elsewhere."""
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
