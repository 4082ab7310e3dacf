"""The annotated hex dump as plain text, aligned for 100 columns."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.codecs.span.span import Span
from lakelens.errors import LakeError
from lakelens.model.bytes_view import BytesView, is_field
from lakelens.options import display
from lakelens.views.card.wording import visible
from lakelens.views.hexdump.lines import Line
from lakelens.views.hexdump.model import (
    ByteFold,
    DumpPart,
    HexDump,
    LineGroup,
    More,
    choose_scale,
    present_bytes,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


_NAMES = ("at", "#", "field", "bytes", "ASCII", "meaning", "value")
_NUMBERS = (0, 1)  # columns that stand to the right
_ROW = 50  # characters of a short line
# the widest that a column makes itself; longer cells push what follows them
_WIDEST = (8, 4, 20, 47, 16, 34, 24)


def render_bytes_text(explanation: BytesView, detail: int = 1) -> str:
    """Render an explanation as text, within `display.max_bytes` characters."""
    scale = choose_scale(detail, display.max_bytes, _ROW)
    while True:
        text = visible("\n".join(write_bytes(present_bytes(explanation, detail, scale))))
        if len(text) <= display.max_bytes or scale < 0.001:
            return text[: display.max_bytes]
        scale *= min(0.7, 0.9 * display.max_bytes / len(text))


def write_bytes(view: HexDump) -> Iterator[str]:
    """Write the lines of the text."""
    yield f"{view.noun}: {view.sentence}" + (f" ({view.alert})" if view.alert else "")
    for words in (view.place, view.details):
        if words:
            yield f"  {words}"
    table = _Table(list(view.list_lines()))
    yield from (line.rstrip() for line in (table.write_head(), *table.write(view.parts)))


class _Table:
    """One grid over all lines of a view: columns that nothing fills are left out."""

    def __init__(self, lines: Sequence[Line]) -> None:
        rows = [_list_cells(line) for line in lines]
        self._kept = [i for i in range(len(_NAMES)) if i in (0, 3) or any(row[i] for row in rows)]
        self._widths = {
            i: max([len(_NAMES[i]), *(len(row[i]) for row in rows if len(row[i]) <= _WIDEST[i])])
            for i in self._kept
        }

    def write_head(self) -> str:
        return self._align(_NAMES)

    def write(self, parts: Sequence[DumpPart], indent: str = "") -> Iterator[str]:
        for part in parts:
            if isinstance(part, LineGroup):
                if part.title:
                    yield f"{indent}{part.title}"
                yield from (self._align(_list_cells(line)) for line in part.lines)
            elif isinstance(part, ByteFold):
                yield f"{indent}{'▾' if part.opened else '▸'} {part.label}: {part.answer} ({part.call or part.place})"
                if part.opened:
                    yield from self.write(part.parts, f"{indent}  ")
            else:
                yield f"{indent}{format_more(part)}"

    def _align(self, row: Sequence[str]) -> str:
        cells = (
            row[i].rjust(self._widths[i]) if i in _NUMBERS else row[i].ljust(self._widths[i])
            for i in self._kept
        )
        return "  ".join(cells)


def format_more(more: More) -> str:
    """Say what was left out, with the call that shows it."""
    return f"{more.text}: {more.code}" if more.code else more.text


def _list_cells(line: Line) -> tuple[str, ...]:
    number = "" if line.number is None else str(line.number)
    meaning = "; ".join(filter(None, (line.meaning, line.aside)))
    if line.role == "more":
        return ("", number, line.field, line.meaning, "", "", "")
    return (line.at, number, line.field, line.hex, line.ascii, meaning, line.value)


# The annotated hex dump on a terminal: offsets, names, bytes and meanings in colours, within the width.

_COLUMNS = ("at", "field", "bytes", "ASCII", "meaning")
_STYLES = ("dim", "cyan", "bold", "dim", "green")
_WIDE = 110  # columns from which the ASCII column has room


def print_bytes(console: Console, explanation: BytesView, detail: int = 1) -> None:
    """Print an explanation."""
    from rich.text import Text

    view = present_bytes(explanation, detail, choose_scale(detail, display.max_bytes, _ROW))
    head = Text.assemble((visible(f"{view.noun}: "), "bold"), visible(view.sentence))
    if view.alert:
        head.append(f"  {visible(view.alert)}", "bold yellow")
    console.print(head)
    for words in filter(None, (view.place, view.details)):
        console.print(Text(visible(words), style="dim", overflow="fold"))
    _print_parts(console, view, view.parts, "")


def _print_parts(console: Console, view: HexDump, parts: Sequence[DumpPart], indent: str) -> None:
    from rich.padding import Padding
    from rich.text import Text

    for part in parts:
        if isinstance(part, LineGroup):
            if part.title:
                console.print(Text(f"{indent}{visible(part.title)}", style="bold"))
            if part.lines:
                made = _make_table(part.lines, console.width - len(indent))
                console.print(Padding(made, (0, 0, 0, len(indent))))
        elif isinstance(part, ByteFold):
            sign = "▾" if part.opened else "▸"
            words = Text.assemble((f"{indent}{sign} {visible(part.label)}  ", "bold"))
            console.print(
                words.append(visible(part.answer), "").append(f"  {visible(part.call or part.place)}", "dim")
            )
            if part.opened:
                _print_parts(console, view, part.parts, f"{indent}  ")
        else:
            console.print(Text(f"{indent}{visible(format_more(part))}", style="dim"))


def _make_table(lines: Sequence[Line], width: int) -> Table:
    """Lines of one group; the bytes fold as a hex dump does, at whole bytes."""
    from rich.table import Table
    from rich.text import Text

    rows = [_list_cells_terminal(line) for line in lines]
    kept = [
        index
        for index in range(len(_COLUMNS))
        if index in (0, 2) or (any(row[index] for row in rows) and (index != 3 or width >= _WIDE))
    ]
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for index in kept:
        hex_width = 47 if width >= _WIDE else 23
        table.add_column(
            style=_STYLES[index],
            justify="right" if index == 0 else "left",
            no_wrap=index == 0,
            overflow="fold",
            width=min(hex_width, max(len(row[2]) for row in rows)) if index == 2 else None,
        )
    for line, row in zip(lines, rows, strict=True):
        style = "bold red" if line.role == "damage" else ""
        table.add_row(*(Text(visible(row[index]), style=style, overflow="fold") for index in kept))
    return table


def _list_cells_terminal(line: Line) -> tuple[str, ...]:
    name = line.field if line.number is None else f"{line.number} {line.field}"
    meaning = "; ".join(filter(None, (line.value, line.meaning, line.aside)))
    if line.role == "more":
        return ("", line.field, "", "", line.meaning)
    return (line.at, name, line.hex, line.ascii, meaning)


# The spans of an explanation as JSON, written piece by piece: a tree may be far larger than its bytes.


def write_json(explanation: BytesView, depth: int | None) -> Iterator[str]:
    """Write the tree as JSON in pieces, `depth` levels below its root; None is all of it. Nothing of it is kept."""
    facts = {"file": explanation.path, "what": explanation.what, "summary": explanation.summary}
    yield f'{json.dumps(facts)[:-1]}, "root": '
    yield from write_span(explanation, depth)
    yield "}"


def write_span(span: Span, depth: int | None) -> Iterator[str]:
    """Write one span and what is below it."""
    stack: list[Iterator[Span]] = []
    yield from _open_span(span)
    stack.append(span.iter_children() if depth is None or depth > 0 else iter(()))
    first = True
    while stack:
        child = next(stack[-1], None)
        if child is None:
            stack.pop()
            yield "]}"
            first = False
            continue
        yield "\n" if first else ",\n"
        yield from _open_span(child)
        goes_on = depth is None or len(stack) < depth
        stack.append(child.iter_children() if goes_on else iter(()))
        first = True


def _open_span(span: Span) -> Iterator[str]:
    yield f'{json.dumps(describe_span(span))[:-1]}, "children": ['


def describe_span(span: Span) -> dict[str, Any]:
    """List the facts of a span that JSON can express; the value of a structure is that of its parts."""
    facts: dict[str, Any] = {"start": span.start, "end": span.end, "label": span.label}
    value = None
    if is_field(span):
        try:
            value = span.value
        except LakeError as error:
            value = f"ERROR: {error.reason}"
        else:
            value = _make_plain(value)
    if value is not None:
        facts["value"] = value
    optional = {"note": span.note or None, "role": span.role or None, "number": span.number}
    facts |= {name: held for name, held in optional.items() if held is not None}
    if span.error is not None:
        facts["error"] = span.error.reason
    if span.is_packed:
        facts["compressed"] = True
    return facts


def _make_plain(value: Any) -> Any:
    """Make a value as JSON has it: bytes as hex, and text for everything that JSON has no type for."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, dict):
        return {str(key): _make_plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_make_plain(item) for item in value]
    return str(value)
