"""The card of a space: how much there is, a picture, every byte in one row, what expiring frees, what refs keep.

The picture is three rows of boxes as wide as their bytes, as SVG. It follows the `color-scheme` of the page that it is shown
on: every box has a tint for either, on which the text of that scheme stands. Boxes thinner than a pixel are drawn together;
every box has its name and bytes as a title.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lakelens.analysis.space import census as names
from lakelens.analysis.space.census import Slice, Slices
from lakelens.analysis.space.holders import Expiry, format_time
from lakelens.analysis.space.space import Space
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Body, Card, Cell, Fold, Grid, Note, Picture, Target
from lakelens.views.cards.finding import fold_findings, format_alert
from lakelens.views.describe import describe, one
from lakelens.views.svg import FONT, write_document, write_element

_INDENT = "\N{NO-BREAK SPACE}" * 3
_ALL_SLICES = Cell("all rows", target=named.page("space", part="slices"))
_COLUMNS = ("what", "files#", "bytes#", "", "of all#", "who keeps it")
_MOST_PARTS = 10
_LARGE = 4  # a column that takes more than a fourth is worth a sentence
# groups whose parts are worth a row each; the parts of the others are said beside them
_SPREAD = (names.LIVE, names.OLD)

WIDTH, _HEIGHT = 760, 28
#: Pixels that it is shown in at least: letters are never smaller than 10 pixels.
LEAST = 640
_LETTER = 6.4  # pixels that a letter takes, generously
_PAD = 6
_SHORTEST = 4  # letters
_MOST_BOXES = 60
_STYLE = (
    f":root{{color-scheme:light dark}}text{{{FONT};fill:light-dark(#1b1b1b,#f0f0f0)}}"
    "tspan{fill:light-dark(#4d4d4d,#c4c4c4)}"
)
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


@describe.register
def card_of_space(space: Space, detail: int = 1) -> Card:
    """Where the bytes are, who keeps them, and what would free them."""
    body: list[Body] = [Note(_format_scope(space))]
    if space.size_bytes:
        body.append(Picture(render_picture(space), describe_picture(space), LEAST))
    body += [_grid_slices(space, detail), Note(_format_method(space), "mute")]
    return Card(
        wording.size(space.size_bytes),
        f"under {wording.clean(space.name, 100)}, {wording.size(space.live_bytes)} of it live data",
        alert=format_alert(space.findings) or ("" if space.is_certain else "something is unread"),
        body=tuple(body),
        folds=tuple(_list_folds(space)),
        about=list_sections(space, "space"),
    )


@describe.register
def card_of_expiry(expiry: Expiry, detail: int = 1) -> Card:
    """What expiring before a time frees."""
    files = wording.plural(expiry.files, "file")
    sentence = f"freed by expiring {wording.plural(expiry.snapshots, 'snapshot')} before {format_time(expiry.before)}"
    return Card(wording.size(expiry.size_bytes), f"{sentence}: {files}")


def _format_scope(space: Space) -> str:
    """Say how many files, and what is worth knowing first."""
    sentences = [wording.plural(space.files, "file")]
    if space.before is not None:
        found = space.find_freed(space.before)
        share = f" ({_format_share(found.size_bytes, space.size_bytes)})" if found.size_bytes else ""
        sentences.append(f"{_format_expiring(space, found)} frees {wording.size(found.size_bytes)}{share}")
    orphans = space.measure(names.ORPHANS)
    if orphans:
        what = "Removing orphans frees" if space.is_certain else "Orphans, perhaps, are"
        sentences.append(f"{what} {wording.size(orphans)}")
    columns = [row for row in space.slices.find(names.LIVE) if row.part in space.division.columns]
    if len(columns) > 1 and columns[0].size_bytes * _LARGE > space.live_bytes:
        share = _format_share(columns[0].size_bytes, space.live_bytes)
        sentences.append(f"The column {wording.clean(columns[0].part, 60)} alone is {share} of the live data")
    return ". ".join(sentences) + "."


def _format_expiring(space: Space, expiry: Expiry) -> str:
    if expiry.before == space.holders.newest:
        return "Expiring all but the current snapshot"
    return f"Expiring before {format_time(expiry.before)}"


def _format_share(part: int, whole: int) -> str:
    """Format a share in per cent.

    >>> _format_share(1, 3), _format_share(1, 30), _format_share(1, 30_000), _format_share(0, 3)
    ('33 %', '3.3 %', '< 0.1 %', '')
    """
    if not part or not whole:
        return ""
    share = 100 * part / whole
    return f"{share:.0f} %" if share >= 9.95 else f"{share:.1f} %" if share >= 0.1 else "< 0.1 %"


def _grid_slices(space: Space, detail: int) -> Grid:
    """Every byte in one row."""
    most = _MOST_PARTS if detail < 3 else max(_MOST_PARTS, display.max_rows)
    rows = [
        row
        for group, members in space.slices.iterate_groups()
        for row in _list_rows(space, group, members, most)
    ]
    sizes = [size for size, _ in rows]
    bars = cells.shares(sizes, [space.size_bytes] * len(sizes))
    made = [(*row[:3], bar, *row[3:]) for (_, row), bar in zip(rows, bars, strict=True)]
    exact = f"= {wording.count(space.size_bytes)} B listed"
    total = (
        Cell("under the directory", "strong"),
        cells.number(space.files),
        cells.size(space.size_bytes),
        Cell(""),
        Cell("100 %" if space.size_bytes else ""),
        Cell(exact),
    )
    with display.using(max_rows=max(display.max_rows, len(made))):  # or the rows would not add up
        return cells.grid(_COLUMNS, made, how="space.slices", noun="slice", totals=(total,))


def _list_rows(
    space: Space, group: str, members: Slices, most: int
) -> Iterator[tuple[int, tuple[Cell, ...]]]:
    """List the row of a group, then those of its parts; of many the largest, and one of all others."""
    keeper = members[0].kept_by
    if group == names.OLD:
        keeper = "all that the current snapshot lacks; by who keeps it last"
    elif group not in _SPREAD and len(members) + bool(members[0].part) > 1:
        keeper = _format_parts(group, members) or keeper
    yield (
        members.size_bytes,
        _row(space, group, space.count_files(group), members.size_bytes, cells.text(keeper)),
    )
    if group not in _SPREAD or (len(members) == 1 and not members[0].part):
        return
    listed, others, rest = _choose(space, group, members, most)
    for row in (*listed, *rest):
        what = row.kept_by if group == names.OLD else row.about
        is_column = group == names.LIVE and row.part in space.division.columns
        name = Cell(wording.clean(row.part, 80), "code" if is_column else "")
        if row is (rest[0] if rest else None) and others:
            yield _add_others(space, group, others)
        yield row.size_bytes, _row(space, name, row.files, row.size_bytes, cells.text(what, "mute"))
    if others and not rest:
        yield _add_others(space, group, others)


def _add_others(space: Space, group: str, others: Sequence[Slice]) -> tuple[int, tuple[Cell, ...]]:
    """Add one row for parts that have none of their own."""
    size = sum(row.size_bytes for row in others)
    noun = "column" if group == names.LIVE else "row"
    many = f"… {wording.count(len(others))} more {noun}{'s' * (len(others) != 1)}"
    files = None if group == names.LIVE else sum(row.files or 0 for row in others)
    typed = Cell("space.slices", "code", linked=(_ALL_SLICES,))
    return size, _row(space, Cell(many, "mute"), files, size, typed)


def _choose(
    space: Space, group: str, members: Slices, most: int
) -> tuple[list[Slice], list[Slice], list[Slice]]:
    """Choose the parts that have a row of their own, those that are added up, and those that follow."""
    listed, rest = list(members), list[Slice]()
    if group == names.LIVE:
        listed = [row for row in members if row.part in space.division.columns]
        rest = [row for row in members if row.part not in space.division.columns]
    if len(listed) <= most + 1:
        return listed, [], rest
    return listed[:most], listed[most:], rest


def _row(space: Space, name: str | Cell, files: int | None, size: int, keeper: Cell) -> tuple[Cell, ...]:
    cell = Cell(name, "strong") if isinstance(name, str) else cells.join(Cell(_INDENT), name)
    count = Cell("") if files is None else cells.number(files)
    return cell, count, cells.size(size), Cell(_format_share(size, space.size_bytes)), keeper


def _format_parts(group: str, members: Sequence[Slice]) -> str:
    """Format the parts of a group in a line, with their files; who keeps orphans is said too."""
    parts = [
        f"{wording.count(row.files)} {wording.clean(_name_one(row), 60)}" for row in members[:6] if row.files
    ]
    more = len(members) - 6
    words = ", ".join(parts) + (f", {wording.plural(more, 'more kind')}" if more > 0 else "")
    return f"{members[0].kept_by}: {words}" if group == names.ORPHANS else words


def _name_one(found: Slice) -> str:
    """Name a part as it is called after a number: of one file in the singular.

    >>> [_name_one(Slice("live manifests", name, 7, 1)) for name in ("manifest lists", "manifests of data")]
    ['manifest list', 'manifest of data']
    """
    first, _, rest = found.part.partition(" of ")
    if found.files == 1:
        first = first.replace("documents", "document")
        if first.endswith("indexes"):
            first = first.removesuffix("es")
        elif first.endswith("s") and not first.endswith("statistics"):
            first = first.removesuffix("s")
    return f"{first} of {rest}" if rest else first


def _format_method(space: Space) -> str:
    """Say where the bytes of columns come from, and the rule of the rows."""
    division = space.division
    sources = []
    if division.footers:
        sources.append(f"{wording.plural(division.footers, 'footer')} (page bytes as stored)")
    if division.recorded:
        sources.append(f"what manifests record of {wording.plural(division.recorded, 'file')}")
    columns = f"Columns from {' and '.join(sources)}. " if sources else ""
    return f"{columns}A file that several keep is in the row of the last one that would let go of it."


def _list_folds(space: Space) -> Iterator[Fold]:
    expiring = space.expiring
    if len(expiring):
        last = expiring[-1]
        many = wording.plural(last.snapshots, "snapshot")
        answer = f"{_format_expiring(space, last).removeprefix('Expiring ')} frees {wording.size(last.size_bytes)}, {many}"
        yield Fold("Expiring", answer, lambda: one(_grid_expiring(space)), opened=True)
    if len(space.holders.keepers) and not space.table.traits.files_are_listed:
        refs = [ref for ref in space.by_ref[:4] if ref.kind != "current"][:3]
        parts = [f"{wording.clean(ref.name, 60)} {wording.size(ref.size_bytes)}" for ref in refs]
        left = len(space.by_ref) - len(refs) - (space.holders.current is not None)
        more = f"; {wording.count(left)} more" if left > 0 else ""
        answer = (
            f"kept by it alone: {', '.join(parts)}{more}"
            if parts
            else "the current snapshot keeps all there is"
        )
        yield Fold("By ref", answer, lambda: one(_grid_refs(space)))
        answer = f"bytes that only one of {wording.plural(len(space.by_snapshot), 'state')} needs"
        yield Fold("By snapshot", answer, lambda: one(_grid_states(space)))
    if space.outside_files:
        many = wording.plural(space.outside_files, "file")
        answer = f"{many}, {wording.size(space.outside_bytes)} as recorded, elsewhere: in no row above"
        yield Fold("Outside", answer)
    if len(space.findings):
        yield fold_findings(space.findings)


def _grid_expiring(space: Space) -> Grid:
    rows, sizes = [], [expiry.size_bytes for expiry in space.expiring]
    bars = cells.shares(sizes, [max(sizes)] * len(sizes))
    for found, bar in zip(space.expiring, bars, strict=True):
        is_last = found.before == space.holders.newest
        note = Cell("all but the current snapshot" if is_last else "", "small")
        many, size = cells.number(found.snapshots), cells.size(found.size_bytes)
        rows.append((cells.code(format_time(found.before)), many, cells.number(found.files), size, bar, note))
    names_ = ("expire before", "snapshots that go#", "files#", "frees#", "", "")
    return cells.grid(names_, rows, how="space.expire(before)", noun="time")


def _grid_refs(space: Space) -> Grid:
    total = len(space.by_ref)
    rows = []
    for ref in space.by_ref[: display.max_rows]:
        name = cells.text(ref.name)
        rows.append(
            (
                name if ref.ref is None else named.lead(name, Target("ref", ref.ref)),
                cells.number(ref.snapshots),
                cells.size(ref.size_bytes),
                cells.number(ref.files),
                cells.size(ref.last_bytes),
                cells.size(ref.total_bytes),
                Cell(wording.clean(", ".join(ref.shared_with), 120)),
            )
        )
    header = (
        "kept by",
        "snapshots#",
        "alone#",
        "files#",
        "last of all#",
        "with others#",
        "the same snapshot as",
    )
    return cells.prune(
        cells.grid(header, rows, how="space.by_ref", noun="ref", total=total, target=_lead_to("by_ref"))
    )


def _lead_to(part: str) -> Target:
    return named.page("space", part=part)


def _grid_states(space: Space) -> Grid:
    ordered = sorted(space.by_snapshot, key=lambda state: (-state.size_bytes, -state.last_bytes))
    rows = []
    for state in ordered[: display.max_rows]:
        is_here = state.name == f"snapshot {state.snapshot_id}"  # of the branch that was opened
        rows.append(
            (
                named.snapshot(state.snapshot_id if is_here else None, cells.text(state.name)),
                cells.moment(state.committed_at),
                cells.text(state.held_by),
                cells.size(state.size_bytes),
                cells.number(state.files),
                cells.size(state.last_bytes),
            )
        )
    header = ("state", "committed, UTC!", "kept by", "alone#", "files#", "last of all#")
    total, more = len(ordered), _lead_to("by_snapshot")
    return cells.grid(header, rows, how="space.by_snapshot", noun="state", total=total, target=more)


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
    """Draw the directory, its groups, and their slices."""
    boxes = list_boxes(space)
    size = WIDTH, _HEIGHT * (1 + max(box.row for box in boxes))
    return write_document(size, _STYLE, *map(_draw, boxes))


def list_boxes(space: Space) -> list[Box]:
    """List the boxes, row by row."""
    groups = [(name, members, members.size_bytes) for name, members in space.slices.iterate_groups()]
    boxes = [Box(f"under {space.name}", space.size_bytes, 0, WIDTH, 0, _GREY[0])]
    tops = _divide([(name, size) for name, _, size in groups], 0, WIDTH, 1)
    for box in tops:
        dark, light = _TINTS.get(box.name, _GREY)
        boxes.append(Box(box.name, box.size, box.x, box.width, 1, dark))
        members: Sequence[Slice] = next((held for name, held, _ in groups if name == box.name), ())
        parts = [(row.part, row.size_bytes) for row in members if row.part]
        for part in _divide(parts, box.x, box.width, 2) if len(parts) == len(members) else ():
            boxes.append(Box(part.name, part.size, part.x, part.width, 2, light))
    return boxes


def _divide(parts: Iterable[tuple[str, int]], x: float, width: float, row: int) -> list[Box]:
    """Place boxes side by side, the widest first; those that are too thin to be seen are one."""
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
    """Draw a box with its title, and as much of its name as fits."""
    name, size = wording.clean(box.name, 80), wording.size(box.size)
    y = box.row * _HEIGHT
    wide = max(box.width - 1, 0.5)  # a gap of a pixel divides neighbours
    place = {"x": f"{box.x:.1f}", "y": y, "width": f"{wide:.1f}", "height": _HEIGHT - 1}
    tint = f"fill:light-dark({box.tint[0]},{box.tint[1]})"
    drawn = [
        write_element("title", {}, text=f"{name} {size}"),
        write_element("rect", {**place, "style": tint}),
    ]
    room = (wide - 2 * _PAD) / _LETTER
    at = {"x": f"{box.x + _PAD:.1f}", "y": y + 18}
    if len(name) + 1 + len(size) <= room:
        drawn.append(write_element("text", at, write_element("tspan", {}, text=size), text=f"{name} "))
    elif room >= _SHORTEST:
        short = name if len(name) <= room else f"{name[: int(room) - 1]}…"
        drawn.append(write_element("text", at, text=short))
    return write_element("g", {}, *drawn)


def describe_picture(space: Space) -> str:
    """Say the picture in words."""
    shown = []
    for name, members in space.slices.iterate_groups():
        largest = sorted((row for row in members if row.part), key=lambda one: -one.size_bytes)[:3]
        inside = ", ".join(f"{wording.clean(row.part, 60)} {wording.size(row.size_bytes)}" for row in largest)
        shown.append(f"{name} {wording.size(members.size_bytes)}{f' ({inside})' if inside else ''}")
    return f"{wording.size(space.size_bytes)}: {'; '.join(shown)}"
