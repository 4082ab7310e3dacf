"""The picture of a space: three rows of boxes as wide as their bytes, as SVG.

The document follows the `color-scheme` of the page that it is shown on: every box has a tint for either, on which the text
of that scheme stands. Boxes thinner than a pixel are drawn together; every box has its name and bytes as a title.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from lakelens.analysis.space import census as names
from lakelens.analysis.space.census import Slice
from lakelens.analysis.space.space import Space
from lakelens.views.card import wording

WIDTH, _HEIGHT = 760, 28
#: Pixels that it is shown in at least: letters are never smaller than 10 pixels.
LEAST = 640
_LETTER = 6.4  # pixels that a letter takes, generously
_PAD = 6
_SHORTEST = 4  # letters
_MOST_BOXES = 60
#: Tints of a group and, lighter, of its parts: each as light and dark.
_GREY = (("#dddddd", "#3a3d42"), ("#ececec", "#2b2e32"))
_BLUE, _GREEN = (
    (("#bcdcfb", "#1f4d78"), ("#dbecfd", "#1a3a58")),
    (("#bfe8cb", "#22573a"), ("#dcf3e2", "#1c412d")),
)
_SAND, _VIOLET = (
    (("#f4d4a6", "#694a17"), ("#fae7cb", "#4c3815")),
    (("#d9ccf7", "#4a3a7d"), ("#ebe4fb", "#382e5c")),
)
_ROSE = (("#f6c4da", "#70314f"), ("#fbdfea", "#52273c"))
_TINTS = {
    names.LIVE: _BLUE,
    names.DELETES: _GREEN,
    names.CHANGELOG: _GREEN,
    names.INDEXES: _GREEN,
    names.MANIFESTS: _GREEN,
    names.OLD: _SAND,
    names.NAMED: _SAND,
    names.METADATA: _VIOLET,
    names.STATISTICS: _VIOLET,
    names.ORPHANS: _ROSE,
    names.YOUNG: _ROSE,
}


@dataclass(frozen=True, slots=True)
class Box:
    """One box: what it is, its bytes, where it is and how wide, and its tint."""

    name: str
    size: int
    x: float
    width: float
    row: int
    tint: tuple[str, str]


def render_picture(space: Space) -> str:
    """The directory, its groups, and their slices."""
    boxes = list_boxes(space)
    drawn = "".join(map(_draw, boxes))
    height = _HEIGHT * (1 + max(box.row for box in boxes))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">'
        "<style>:root{color-scheme:light dark}text{font:12px system-ui,'Liberation Sans',Helvetica,Arial,sans-serif;"
        "fill:light-dark(#1b1b1b,#f0f0f0)}tspan{fill:light-dark(#4d4d4d,#c4c4c4)}</style>"
        f"{drawn}</svg>"
    )


def list_boxes(space: Space) -> list[Box]:
    """The boxes, row by row."""
    groups = [(name, members, members.size_bytes) for name, members in space.slices.iterate_groups()]
    boxes = [Box(f"under {space.name}", space.size_bytes, 0, WIDTH, 0, _GREY[0])]
    tops = _divide([(name, size) for name, _, size in groups], 0, WIDTH, 1)
    for box in tops:
        dark, light = _TINTS.get(box.name, _GREY)
        boxes.append(Box(box.name, box.size, box.x, box.width, 1, dark))
        members: Sequence[Slice] = next((held for name, held, _ in groups if name == box.name), ())
        parts = [(one.part, one.size_bytes) for one in members if one.part]
        for part in _divide(parts, box.x, box.width, 2) if len(parts) == len(members) else ():
            boxes.append(Box(part.name, part.size, part.x, part.width, 2, light))
    return boxes


def _divide(parts: Iterable[tuple[str, int]], x: float, width: float, row: int) -> list[Box]:
    """Boxes side by side, the widest first; those that are too thin to be seen are one."""
    ordered = sorted((part for part in parts if part[1] > 0), key=lambda part: -part[1])
    whole = sum(size for _, size in ordered)
    shown = [part for part in ordered[:_MOST_BOXES] if part[1] / whole * width >= 1]
    rest = ordered[len(shown) :]
    if rest:
        name = rest[0][0] if len(rest) == 1 else f"{wording.count(len(rest))} more"
        shown.append((name, sum(size for _, size in rest)))
    boxes = []
    for name, size in shown:
        wide = size / whole * width
        boxes.append(Box(name, size, x, wide, row, _GREY[0]))
        x += wide
    return boxes


def _draw(box: Box) -> str:
    """A box with its title, and as much of its name as fits."""
    name, size = wording.clean(box.name, 80), wording.size(box.size)
    y = box.row * _HEIGHT
    wide = max(box.width - 1, 0.5)  # a gap of a pixel divides neighbours
    title = escape(f"{name} {size}")
    drawn = (
        f'<g><title>{title}</title><rect x="{box.x:.1f}" y="{y}" width="{wide:.1f}" height="{_HEIGHT - 1}" '
        f'style="fill:light-dark({box.tint[0]},{box.tint[1]})"/>'
    )
    room = (wide - 2 * _PAD) / _LETTER
    at = f'x="{box.x + _PAD:.1f}" y="{y + 18}"'
    if len(name) + 1 + len(size) <= room:
        drawn += f"<text {at}>{escape(name)} <tspan>{escape(size)}</tspan></text>"
    elif room >= _SHORTEST:
        short = name if len(name) <= room else f"{name[: int(room) - 1]}…"
        drawn += f"<text {at}>{escape(short)}</text>"
    return f"{drawn}</g>"


def describe_picture(space: Space) -> str:
    """The picture in words."""
    shown = []
    for name, members in space.slices.iterate_groups():
        largest = sorted((one for one in members if one.part), key=lambda one: -one.size_bytes)[:3]
        inside = ", ".join(f"{wording.clean(one.part, 60)} {wording.size(one.size_bytes)}" for one in largest)
        shown.append(f"{name} {wording.size(members.size_bytes)}{f' ({inside})' if inside else ''}")
    return f"{wording.size(space.size_bytes)}: {'; '.join(shown)}"
