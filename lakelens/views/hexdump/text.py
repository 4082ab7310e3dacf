"""The annotated hex dump as plain text, aligned for 100 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lakelens.model.bytes_view import BytesView
from lakelens.options import display
from lakelens.views.card.wording import visible
from lakelens.views.hexdump.lines import Line
from lakelens.views.hexdump.model import choose_scale, present_bytes
from lakelens.views.hexdump.parts import ByteFold, DumpPart, HexDump, LineGroup, More

_NAMES = ("at", "#", "field", "bytes", "ASCII", "meaning", "value")
_NUMBERS = (0, 1)  # columns that stand to the right
_ROW = 50  # characters of a short line
# the widest that a column makes itself; longer cells push what follows them
_WIDEST = (8, 4, 20, 47, 16, 34, 24)


def render_bytes_text(explanation: BytesView, detail: int = 1) -> str:
    """An explanation as text, within `display.max_bytes` characters."""
    scale = choose_scale(detail, display.max_bytes, _ROW)
    while True:
        text = visible("\n".join(write_bytes(present_bytes(explanation, detail, scale))))
        if len(text) <= display.max_bytes or scale < 0.001:
            return text[: display.max_bytes]
        scale *= min(0.7, 0.9 * display.max_bytes / len(text))


def write_bytes(view: HexDump) -> Iterator[str]:
    """The lines of the text."""
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
    """What was left out, with the call that shows it."""
    return f"{more.text}: {more.code}" if more.code else more.text


def _list_cells(line: Line) -> tuple[str, ...]:
    number = "" if line.number is None else str(line.number)
    meaning = "; ".join(filter(None, (line.meaning, line.aside)))
    if line.role == "more":
        return ("", number, line.field, line.meaning, "", "", "")
    return (line.at, number, line.field, line.hex, line.ascii, meaning, line.value)
