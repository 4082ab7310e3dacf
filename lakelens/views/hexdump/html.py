"""The annotated hex dump as HTML: static, escaped, within the budget of a view."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from lakelens.model.bytes_view import BytesView
from lakelens.views.card.markup import read_style, template_environment
from lakelens.views.card.wording import visible
from lakelens.views.hexdump.lines import list_tokens
from lakelens.views.hexdump.model import choose_scale, present_bytes
from lakelens.views.hexdump.parts import ByteFold, DumpPart, HexDump, LineGroup, More
from lakelens.views.hexdump.targets import PartLinks

if TYPE_CHECKING:
    from jinja2 import Environment

# classes of the common sheet that this view never uses: their rules are left out of its style
_UNUSED = ("ll-f", "ll-b", "ll-o", "ll-a", "ll-r", "ll-s", "ll-id", "ll-c")
_WIDTH, _WIDEST = 860, 1400  # pixels of a view
_MEANING = 6.2  # pixels of one character of the meaning
_WIDEST_MEANING = 420  # pixels, before it is broken
_PIXELS = 7.25  # of one character of code
_SHORT = 32  # characters of a value that is not broken where there is room
_LONG = 44  # characters that a value has before it is broken
_ROW = 250  # bytes of a short line
_SMALLEST = 0.001  # of the rows of a view: fewer than the few that there always are
_INDENT = 8  # pixels, of the body of a fold


class Columns(NamedTuple):
    """Which columns a view has, and their widths in pixels (0: not there), so that its tables align at every depth."""

    at: int
    number: int
    field: int
    octets: int
    ascii: int
    value: int
    meaning: int = 0

    @property
    def width(self) -> int:
        """The width of the view: what its columns need, between that of prose and what a wide screen has."""
        needed = self.at + self.number + self.field + self.octets + self.ascii + self.value + self.meaning
        return min(max(needed, _WIDTH), _WIDEST)

    @property
    def across(self) -> int:
        """How many columns there are."""
        return 4 + bool(self.number) + bool(self.field) + bool(self.value)

    def format_at(self, depth: int) -> int:
        """The width of the first column, narrower by what the body of a fold is indented."""
        return max(24, self.at - depth * _INDENT)


def render_bytes(
    explanation: BytesView,
    detail: int,
    most: int,
    *,
    style: bool = True,
    level: int = 4,
    links: PartLinks | None = None,
) -> str:
    """An explanation as HTML of at most `most` bytes: with fewer rows until it fits. Its name is a heading of `level`.

    With `links` its structures, and what its values name, are links.
    """
    scale = choose_scale(detail, most, _ROW)
    while True:
        markup = _render(present_bytes(explanation, detail, scale), style, level, links)
        size = len(markup.encode())
        if size <= most:
            return markup
        if scale < _SMALLEST:
            return f"<pre>{escape(visible(explanation.what[:200]))}: too much to show in {most:,} bytes</pre>"
        scale *= min(0.7, 0.9 * most / size)


def _render(view: HexDump, style: bool, level: int, links: PartLinks | None) -> str:
    sheet = bytes_style() if style else None
    template = _environment().get_template("bytes.html")
    markup: str = template.render(view=view, has=choose_columns(view), style=sheet, level=level, links=links)
    return markup


def choose_columns(view: HexDump) -> Columns:
    """The columns that some line fills, as wide as what is in them; the rest of the width is for the meaning."""
    lines = list(view.list_lines())
    numbers = [len(str(line.number)) for line in lines if line.number is not None]
    octets = max((line.lead + line.end - line.start for line in lines if line.role != "more"), default=0)
    depth = min(6, measure_depth(view.parts))
    at = max((len(line.at) for line in lines), default=0) * 8 + 14 + depth * _INDENT
    number = max(numbers) * 8 + 18 if numbers else 0
    field = _measure(max((len(line.field) for line in lines), default=0), 20 if octets <= 8 else 16)
    octets_width = int(max(octets, 5) * 3 * _PIXELS) + 6
    ascii_width = int(max(octets, 5) * _PIXELS) + 12
    # sixteen bytes and their characters leave one column for what they mean and what they are
    is_wide = octets > 8
    usual = 0 if is_wide else _find_usual([len(line.value) for line in lines if line.value])
    said = _find_usual(
        [len(line.meaning + line.aside) + (len(line.value) if is_wide else 0) for line in lines]
    )
    meaning = int(min(said * _MEANING, _WIDEST_MEANING)) + 24
    return Columns(at, number, field, octets_width, ascii_width, _measure(usual, _LONG), meaning)


def measure_depth(parts: Sequence[DumpPart]) -> int:
    """How deep folds are nested."""
    return max((1 + measure_depth(part.parts) for part in parts if isinstance(part, ByteFold)), default=0)


def _find_usual(lengths: list[int]) -> int:
    """The length that nine of ten do not exceed: a few long values may be broken, the others leave room."""
    usual = sorted(lengths)[len(lengths) * 9 // 10] if lengths else 0
    return max(usual, min(_SHORT, max(lengths, default=0)))


def _measure(characters: int, most: int) -> int:
    return int(min(max(characters, 5), most) * _PIXELS) + 22 if characters else 0


def chunk(parts: Sequence[DumpPart]) -> list[tuple[str, Any]]:
    """Parts as the template draws them: groups that follow each other share a table."""
    chunks: list[tuple[str, Any]] = []
    for kind, run in groupby(parts, _name_kind):
        members = list(run)
        chunks += [("table", members)] if kind == "table" else [(kind, member) for member in members]
    return chunks


def _name_kind(part: DumpPart) -> str:
    return "table" if isinstance(part, LineGroup) else "more" if isinstance(part, More) else "fold"


@cache
def _environment() -> Environment:
    made = template_environment().overlay()
    made.filters["chunk"] = chunk
    made.filters["list_tokens"] = list_tokens
    return made


@cache
def bytes_style() -> Any:
    """The part of the common sheet that this view uses, and its own."""
    from markupsafe import Markup

    kept = [rule for rule in str(read_style("lakelens.css")).splitlines() if not _is_unused(rule)]
    return Markup("\n".join((*kept, str(read_style("bytes.css")))))


def _is_unused(rule: str) -> bool:
    """Whether every selector of a rule (one a line), or each of those nested in it, needs a class that this view lacks."""
    head, _, nested = rule.partition("{")
    return _needs_unused(head) or all(map(_needs_unused, re.findall(r"([^{}]+)\{", nested) or [""]))


def _needs_unused(selectors: str) -> bool:
    names = re.findall(r"\.(ll-[a-z]+)", re.sub(r":is\([^)]*\)", "", selectors))
    return any(name in _UNUSED for name in names)
