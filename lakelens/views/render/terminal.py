"""A view-model for a terminal, through rich: tables that fit the width, roles as colours, no wrapping of numbers.

Text from a lake is never markup and never a control sequence here: every string becomes a `Text` of visible characters.
Where the output is no terminal, the plain text twin is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Literal

from rich.cells import cell_len

from lakelens.lazy import dataclass
from lakelens.options import display
from lakelens.views.card.model import Block, Body, Card, Cell, Column, Fold, Grid, Note, Pairs, Picture
from lakelens.views.card.wording import format_failure, split_ids, visible
from lakelens.views.present import present
from lakelens.views.render.text import align_row

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text


# Tables within the width of a terminal: every figure whole, names whole where there is room, no column of single letters.
#
# Where a table is too wide, long ids inside of names are cut to eight characters and texts are folded between words. Where
# even that does not fit, columns are stacked: what they hold stands on a line of its own below each row, with their names.
# Where most columns would be, each row becomes a record, one name and value a line.

# what a role says in colours; its text says it too
STYLES = {
    "mute": "dim",
    "add": "green",
    "del": "red",
    "warn": "bold yellow",
    "code": "",
    "exact": "",
    "tree": "",
    "": "",
}
STYLES |= {"small": "dim", "strong": "bold", "changed": "underline"}

_GAP = 2
_NARROWEST = 14  # of a column of names that are broken
_BREAKS = "/-_.…"  # after which a long name is broken
_SILENT = ("null", "absent", "", "-")


@dataclass(frozen=True)
class ColumnLayout:
    """The columns that stand side by side (`kept`) with their widths, and those that are stacked below each row.

    `is_cut` says of each column whether the ids in its texts are cut.
    """

    kept: list[int]
    widths: list[int]
    stacked: list[int]
    is_cut: list[bool]

    @property
    def is_records(self) -> bool:
        """Whether so little stands side by side that each row is better a record."""
        return len(self.stacked) > len(self.kept) + 2


def fit(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], width: int) -> ColumnLayout:
    """Fit how columns are laid out within a width: the widest texts give way first, then columns are stacked."""
    texts = [
        [*_name(column).split("\n"), *(visible(row[i].text) for row in rows)]
        for i, column in enumerate(columns)
    ]
    every = list(range(len(columns)))
    natural = [max(map(cell_len, column)) for column in texts]
    if _add(natural, every) <= width:
        return ColumnLayout(every, natural, [], [False] * len(columns))
    is_cut = [not all(_is_id_alone(text) for text in column[1:]) for column in texts]
    texts = [
        [_cut_ids(text) for text in held] if cut else held for held, cut in zip(texts, is_cut, strict=True)
    ]
    natural = [max(map(cell_len, column)) for column in texts]
    floors = [_find_floor(column, held, width // 2) for column, held in zip(columns, texts, strict=True)]
    kept = every
    while _add(floors, kept) > width and len(kept) > 1:
        stacked = _choose_stacked(columns, floors, natural, kept, width)
        kept = [place for place in kept if place != stacked]
    widths = [natural[place] for place in kept]
    least = [floors[place] for place in kept] if len(kept) > 1 else [_NARROWEST]
    while _add(widths) > width and (soft := [n for n, w in enumerate(widths) if w > least[n]]):
        widths[max(soft, key=lambda n: widths[n])] -= 1
    return ColumnLayout(kept, widths, [place for place in every if place not in kept], is_cut)


def _add(widths: Sequence[int], places: Sequence[int] | None = None) -> int:
    """Add the width of a line."""
    chosen = list(widths) if places is None else [widths[place] for place in places]
    return sum(chosen) + _GAP * (len(chosen) - 1)


def _choose_stacked(
    columns: Sequence[Column], floors: Sequence[int], natural: Sequence[int], kept: Sequence[int], width: int
) -> int:
    """Choose the column that gives way: a text, of several the longest that makes room enough; else the last number."""
    texts = [place for place in kept[1:] if not columns[place].is_number]
    if not texts:
        return kept[-1]
    missing = _add(floors, kept) - width
    enough = [place for place in texts if floors[place] + _GAP >= missing]
    return max(enough or texts, key=lambda place: natural[place])


def _find_floor(column: Column, texts: Sequence[str], most: int) -> int:
    """How narrow a column may become: numbers and ids stay whole, texts are folded between words, longer names broken."""
    names = len(_name(column).split("\n"))
    heading = max((cell_len(word) for text in texts[:names] for word in text.split()), default=1)
    body = texts[names:]
    if column.is_number:
        return max([heading, *map(cell_len, body)])
    words = max((cell_len(word) for text in body for word in text.split()), default=1)
    if all(_is_id_alone(text) for text in body):
        return max(heading, words)
    return max(heading, min(words, max(most, _NARROWEST)))


def make_rows(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    layout: ColumnLayout,
    *,
    show_header: bool = True,
) -> Iterator[RenderableType]:
    """Rows as the layout has them: in one table, or each followed by what is stacked below it."""
    if layout.is_records:
        yield from make_records(columns, rows)
        return
    from rich.padding import Padding

    pieces = [rows] if not layout.stacked else [(), *([row] for row in rows)]
    for number, piece in enumerate(pieces):
        is_first = show_header and number == 0
        if piece or is_first:
            yield _make_piece(columns, piece, layout, show_header=is_first)
        for row in piece if layout.stacked else ():
            if (below := _make_stacked(columns, row, layout)).plain:
                yield Padding(below, (0, 0, 0, _GAP))


def _make_piece(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], layout: ColumnLayout, *, show_header: bool
) -> Table:
    table = make_table(show_header=show_header)
    for place, width in zip(layout.kept, layout.widths, strict=True):
        column = columns[place]
        justify: Literal["left", "right"] = "right" if column.is_number else "left"
        table.add_column(make_text(_name(column), "dim"), justify=justify, width=width, overflow="fold")
    for row in rows:
        table.add_row(
            *(
                make_cell(row[place], is_cut=layout.is_cut[place], width=width)
                for place, width in zip(layout.kept, layout.widths, strict=True)
            )
        )
    return table


def _make_stacked(columns: Sequence[Column], row: Sequence[Cell], layout: ColumnLayout) -> Text:
    """Say what the columns hold that have no room beside the others, each after its name."""
    from rich.text import Text

    line = Text(overflow="fold")
    for place in layout.stacked:
        cell = make_cell(row[place], is_cut=layout.is_cut[place])
        if cell.plain not in _SILENT:
            line.append(" · " if line.plain else "", "dim")
            line.append(f"{visible(columns[place].name or columns[place].kind)}: ".replace("\n", " "), "dim")
            line.append_text(cell)
    return line


def make_records(
    columns: Sequence[Column], rows: Iterable[Sequence[Cell]], first: int = 1
) -> Iterator[RenderableType]:
    """Make each row as a record below its number; what is null in it is left out."""
    for number, row in enumerate(rows, first):
        yield make_text(f"{number}", "bold")
        table = make_table(show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for column, cell in zip(columns, row, strict=True):
            if cell.text not in _SILENT:
                table.add_row(make_text(f"  {column.name}", "dim"), make_cell(cell))
        yield table


def make_table(*, show_header: bool) -> Table:
    """Make a table without lines, two spaces between its columns."""
    from rich.table import Table

    return Table(box=None, show_header=show_header, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="")


def make_cell(cell: Cell, *, is_cut: bool = False, width: int | None = None) -> Text:
    """Make a cell's text in its colour; a name that is longer than a `width` is broken where its parts end."""
    text = _cut(cell) if is_cut else cell.text
    return make_text(text if width is None else break_names(visible(text), width), STYLES[cell.role])


def make_text(text: str, style: str = "") -> Text:
    """Text of a lake: neither markup nor a control sequence."""
    from rich.text import Text

    return Text(visible(text), style=style, overflow="fold")


def break_names(text: str, width: int) -> str:
    """A text in which every word that is longer than a width is broken, after a sign that ends a part where there is one.

    >>> break_names("at day=2024-01-01/part-00000.parquet", 16)
    'at day=2024-01-01/\\npart-00000.\\nparquet'
    """
    if cell_len(text) <= width:
        return text
    pieces = []
    for word in text.split(" "):
        while cell_len(word) > width:
            most = min(width, len(word))
            end = next((n for n in range(most, most // 2, -1) if word[n - 1] in _BREAKS), most)
            pieces.append(f"{word[:end]}\n")
            word = word[end:]
        pieces.append(f"{word} ")
    return "".join(pieces)[:-1]


def _name(column: Column) -> str:
    return "\n".join(filter(None, (visible(column.name), visible(column.kind))))


def _is_id_alone(text: str) -> bool:
    """Check whether a text is an id and nothing else: one that is copied from here to be asked for.

    >>> _is_id_alone("5210511640741470556"), _is_id_alone("snap-5210511640741470556.avro")
    (True, False)
    """
    parts = split_ids(text)
    return text.isdigit() or (len(parts) == 1 and parts[0][1])


def _cut(cell: Cell) -> str:
    """Cut the text of a cell with its long ids cut; times and numbers stay whole."""
    if cell.role == "exact":
        return cell.text
    if cell.parts:
        return "".join("; " if part.text == "\n" else _cut(part) for part in cell.parts)
    return _cut_ids(cell.text)


def _cut_ids(text: str) -> str:
    return "".join(f"{part[:8]}…" if is_id else part for part, is_id in split_ids(text))


_INDENT = 4  # of a branch


def print_on(console: Console, thing: object, detail: int) -> None:
    """Write the view of an object on a console."""
    try:
        console.print(make_card(present(thing, detail), detail, console.width))
    except Exception as error:
        if display.strict_views:
            raise
        console.print(make_text(format_failure(thing, error)))


def make_card(card: Card, detail: int, width: int = 100) -> RenderableType:
    """Make a card a tree: its head, its facts in a row, a branch for each fold. `width` is that of the terminal."""
    from rich.columns import Columns
    from rich.console import Group
    from rich.tree import Tree

    pieces = [(card.noun, f"bold {STYLES[card.role]}".rstrip()), (f"  {card.sentence}", "")]
    if card.alert:
        pieces += [("  — ", ""), (card.alert, STYLES["warn"])]
    head = _join(pieces)
    parts: list[RenderableType] = [head]
    if card.place:
        parts.append(make_text(card.place, "dim"))
    if card.facts:
        made = []  # label, value and small print of each, side by side as far as the width goes
        for fact in card.facts:
            value = fact.value.text, f"bold {STYLES[fact.value.role]}".strip()
            made.append(_join([(f"{fact.label}\n", "dim"), value, (f"\n{fact.small}", "dim")]))
        parts.append(Columns(made, padding=(0, 3)))
    parts += [make_body(body, detail, width) for body in card.body]
    if card.folds:
        tree = Tree(Group(*parts), guide_style="dim")
        for fold in card.folds:
            _add_fold(tree, fold, detail, width - _INDENT)
        return tree
    return Group(*parts)


def _add_fold(tree: object, fold: Fold, detail: int, width: int) -> None:
    from rich.tree import Tree

    assert isinstance(tree, Tree)
    alert = [(fold.alert, STYLES["warn"]), (": " if fold.answer else "", "")] if fold.alert else []
    branch = tree.add(_join([(f"{fold.label}  ", "bold"), *alert, (fold.answer, "")]))
    if fold.is_open(detail):
        for body in fold.body():
            branch.add(make_body(body, detail, width - _INDENT))


def make_body(body: Body, detail: int, width: int) -> RenderableType:
    """Say what a fold holds."""
    if isinstance(body, Grid):
        return _make_grid(body, width)
    if isinstance(body, Pairs):
        return _make_pairs(body, width)
    if isinstance(body, Block):
        return make_text(body.text)
    if isinstance(body, Note):
        return make_text(": ".join(filter(None, (body.text, body.code))), STYLES[body.role])
    if isinstance(body, Picture):  # the same stands beside it in words
        return make_text("")
    return make_card(body, detail, width)


def _make_grid(grid: Grid, width: int) -> RenderableType:
    """Make a table with its headings between the rows; bars repeat the numbers beside them."""
    from rich.console import Group

    kept = [i for i in range(len(grid.columns)) if not any(row[i].bar for row in grid.rows)]
    columns = [grid.columns[i] for i in kept]
    rows = [[row[i] for i in kept] for row in (*grid.rows, *grid.totals)]
    layout = fit(columns, rows, width)
    headings = dict(grid.groups)
    starts = sorted({0, *headings})
    parts: list[RenderableType] = []
    for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        if start in headings:
            parts.append(make_text(headings[start], "dim"))
        parts += make_rows(columns, rows[start:end], layout, show_header=start == 0)
    if grid.more:
        parts.append(make_text(f"{grid.more}: a pipe has them all, as --json does", "dim"))
    return Group(*parts)


def _make_pairs(pairs: Pairs, width: int) -> Table:
    table = make_table(show_header=False)
    longest = max((cell_len(name) for name, _ in pairs.items), default=0)
    table.add_column(no_wrap=longest <= width // 2, max_width=max(width // 2, 1), overflow="fold")
    table.add_column(overflow="fold")
    for name, cell in pairs.items:
        table.add_row(make_text(name, "dim"), make_cell(cell))
    return table


def _join(parts: Sequence[tuple[str, str]]) -> Text:
    """Pieces with a style each, in one line."""
    from rich.text import Text

    joined = Text(overflow="fold")
    for text, style in parts:
        joined.append(visible(text), style)
    return joined


# A long list, written as it is read: column widths are those of its first rows, and nothing of it is kept.

_MEASURED = 500  # rows whose widths are those of the columns
_PRINTED = 100  # rows in one piece


def write_rows(columns: Sequence[Column], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Aligned lines below a line of names; a longer cell further down pushes what follows it."""
    remaining = iter(rows)
    first = list(islice(remaining, _MEASURED))
    widths = [
        max([len(column.name), *(len(row[index].text) for row in first)])
        for index, column in enumerate(columns)
    ]
    names = [column.name for column in columns]
    for texts in chain([names], ([cell.text for cell in row] for row in chain(first, remaining))):
        yield visible(align_row(texts, widths, columns)).replace("\n", "⟨U+000A⟩")


def print_rows(console: Console, columns: Sequence[Column], rows: Iterable[tuple[Cell, ...]]) -> int:
    """Rows within a terminal's width, as they come; how many there were."""
    remaining = iter(rows)
    first = list(islice(remaining, _MEASURED))
    # bars repeat the numbers beside them
    kept = [index for index in range(len(columns)) if not any(row[index].bar for row in first)]
    columns = [columns[index] for index in kept]
    remaining = (tuple(row[index] for index in kept) for row in remaining)
    first = [tuple(row[index] for index in kept) for row in first]
    layout = fit(columns, first, console.width)
    stream = chain(first, remaining)
    printed = 0
    while chunk := list(islice(stream, _PRINTED)):
        pieces = (
            make_records(columns, chunk, printed + 1)
            if layout.is_records
            else make_rows(columns, chunk, layout, show_header=printed == 0)
        )
        for piece in pieces:
            console.print(piece)
        printed += len(chunk)
    return printed
