"""The annotated hex dump as HTML: static, escaped, within the budget of a view."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from lakelens.errors import LakeError
from lakelens.lazy import dataclass
from lakelens.model.bytes_view import BytesView
from lakelens.views.card.markup import read_style, template_environment
from lakelens.views.card.model import Target, TargetKind
from lakelens.views.card.wording import visible
from lakelens.views.hexdump.lines import Line, list_tokens
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
    from jinja2 import Environment


# What parts of an explanation lead to, in a view that has links: to themselves alone, and to what their values name.

#: Fields of documents and records whose value names something of the table.
_NAMED: dict[str, TargetKind] = {
    "manifest-list": "manifest_list",
    "baseManifestList": "manifest_list",
    "deltaManifestList": "manifest_list",
    "changelogManifestList": "manifest_list",
    "manifest_path": "manifest",
    "file_path": "file",
    "referenced_data_file": "file",
    "referenced-data-file": "file",
    "metadata-file": "metadata",
    "statistics-path": "statistics",
    "snapshot-id": "snapshot",
    "snapshot_id": "snapshot",
    "added_snapshot_id": "snapshot",
    "current-snapshot-id": "snapshot",
    "parent-snapshot-id": "snapshot",
    "schemaId": "schema",
    "schema-id": "schema",
    "current-schema-id": "schema",
}
# a name alone says by its beginning what it is the name of
_FILE_NAME = ("_FILE_NAME", "fileName")
_BEGINNINGS: tuple[tuple[str, TargetKind], ...] = (("manifest-", "manifest"), ("index-", "index"))
# the place of something in the same file, and how long what ends before a length is
_OFFSETS = frozenset((
    "file_offset", "data_page_offset", "index_page_offset", "dictionary_page_offset", "bloom_filter_offset",
    "offset_index_offset", "column_index_offset", "offset",
))  # fmt: skip
_LENGTHS = frozenset(("footer length", "postscript length", "payload size"))
_UNPACKED = re.compile(r"\.unpacked\((\d+)\)")
_LONGEST = 4_096


@dataclass(frozen=True, slots=True)
class PartLinks:
    """The addresses of parts of an explanation.

    `part` gives that of some bytes: where they were decompressed (None: they are stored), their first byte, their length, 0
    for what is at that byte. `thing` gives that of what a value names. `size` is the length of the file, where positions
    are those of a file.
    """

    part: Callable[[int | None, int, int], str]
    thing: Callable[[Target], str]
    size: int = 0

    def open_fold(self, fold: ByteFold) -> str:
        """Open the address of a structure alone."""
        if fold.source is None:
            return ""
        span, frame = fold.source
        return self._find(frame.code, span.start, len(span))

    def go_on(self, more: More) -> str:
        """The address of what was left out."""
        if more.source is None:
            return ""
        _, frame, start = more.source
        return self._find(frame.code, start, 0)

    def follow(self, line: Line) -> str:
        """Follow the address of what the value of a line names; empty where it names nothing."""
        span = line.span
        if span is None or not line.value or line.role not in ("", "mute"):
            return ""
        try:
            value: Any = span.value
        except LakeError:
            return ""
        if isinstance(value, int) and not isinstance(value, bool) and not line.code and self.size:
            if span.label in _OFFSETS and 0 < value < self.size:
                return self.part(None, value, 0)
            if span.label in _LENGTHS and 0 < value <= span.start:
                return self.part(None, span.start - value, value)
        target = find_target(span.label, value)
        return "" if target is None else self.thing(target)

    def _find(self, code: str, start: int, length: int) -> str:
        packed = _UNPACKED.findall(code)
        if len(packed) > 1:
            return ""  # compressed twice: no address leads there
        return self.part(int(packed[0]) if packed else None, start, length)


def find_target(label: str, value: Any) -> Target | None:
    """Find what the value of a field names; None for any other value.

    >>> find_target("manifest_path", "s3://b/t/metadata/m0.avro")
    Target(kind='manifest', key='s3://b/t/metadata/m0.avro', asked=())
    >>> find_target("snapshot-id", -1), find_target("name", "x")
    (None, None)
    """
    kind = _NAMED.get(label)
    if kind in ("snapshot", "schema"):
        is_id = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        return Target(kind, str(value)) if is_id else None
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST:
        return None
    if kind is not None:
        return Target(kind, value)
    if label in _FILE_NAME:
        kinds = [kind for beginning, kind in _BEGINNINGS if value.startswith(beginning)]
        return Target(kinds[0] if kinds else "file", value)
    return None


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
        """Format the width of the first column, narrower by what the body of a fold is indented."""
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
    """Choose the columns that some line fills, as wide as what is in them; the rest of the width is for the meaning."""
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
    """Measure how deep folds are nested."""
    return max((1 + measure_depth(part.parts) for part in parts if isinstance(part, ByteFold)), default=0)


def _find_usual(lengths: list[int]) -> int:
    """Find the length that nine of ten do not exceed: a few long values may be broken, the others leave room."""
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
