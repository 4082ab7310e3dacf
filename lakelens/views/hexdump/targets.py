"""What parts of an explanation lead to, in a view that has links: to themselves alone, and to what their values name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lakelens.errors import LakeError
from lakelens.views.card.model import Target, TargetKind
from lakelens.views.hexdump.lines import Line
from lakelens.views.hexdump.parts import ByteFold, More

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
        """The address of a structure alone."""
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
        """The address of what the value of a line names; empty where it names nothing."""
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
    """What the value of a field names; None for any other value.

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
