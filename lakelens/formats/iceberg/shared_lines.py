"""The manifest lists of a long history: a line that many of them have is decoded once.

A commit repeats the lines of the list before it, byte by byte, and adds one or a few::

    list 7:  line a | line b | line c
    list 8:  line a | line b | line c | line d        only line d is decoded

Where the rest of the list before follows, its manifests are taken together. Else a line begins with the path of its
manifest, which finds the bytes of the last line of that path: where those follow, the line is known. A list whose lines
begin in another way, or that is damaged, is left to `IcebergManifestList`, which says what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from lakelens.codecs.avro.container import AvroHeader, decompress_block, iter_blocks
from lakelens.codecs.avro.records import check_count
from lakelens.codecs.avro.types import RecordType, read_long
from lakelens.errors import LakeError
from lakelens.formats.iceberg.manifests.containers import decode_head
from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
from lakelens.formats.iceberg.manifests.manifest_list import IcebergManifestList, KnownManifests
from lakelens.formats.iceberg.manifests.records import MANIFEST_FIELDS, make_rename
from lakelens.io.ahead import fetch_along

if TYPE_CHECKING:
    from lakelens.formats.iceberg.snapshot import IcebergSnapshot

_PATH_ID = 500


class _Line(NamedTuple):
    content: bytes
    manifest: IcebergManifest


class _Lists:
    """The lists of one Avro schema: their lines by path, and the last block with where each of its lines begins."""

    def __init__(self, header: AvroHeader, kind: RecordType) -> None:
        self.rename = make_rename(header.record, MANIFEST_FIELDS)
        self.kind = kind
        self.lines: dict[bytes, _Line] = {}
        self.content = b""
        self.starts: list[int] = []
        self.manifests: list[IcebergManifest] = []


class SharedLines:
    """Reads manifest lists into `known`, where the objects of the table find what they name."""

    def __init__(self, known: KnownManifests) -> None:
        self._known = known
        self._lists: dict[bytes, _Lists] = {}  # by the text of the schema

    def fetch_along(self, snapshots: Iterable[IcebergSnapshot]) -> Iterator[IcebergSnapshot]:
        """Fetch the snapshots in order; the lists of those that come next are read together (see `lakelens.io.ahead`)."""

        def place(snapshot: IcebergSnapshot) -> tuple[str, int | None] | None:
            recorded = next((one.recorded_path for one in snapshot.manifest_lists), None)
            is_needed = recorded is not None and recorded not in self._known.lists
            return (snapshot.path, None) if is_needed and snapshot.path is not None else None

        return fetch_along(self._known.context.access.store, snapshots, place)

    def read(self, manifest_list: IcebergManifestList) -> None:
        """Read a list, unless it was read before or can only be read line by line."""
        recorded = manifest_list.recorded_path
        if recorded is None or recorded in self._known.lists:
            return
        try:
            path, data = self._known.context.access.read_recorded(recorded)
            header = decode_head(data, path)
            if not isinstance(header, AvroHeader):
                return
            kind = header.parsed.kind
            if not isinstance(kind, RecordType) or not kind.fields:
                return
            name, first, number = kind.fields[0]  # has to be the text that names the manifest
            is_path = number == _PATH_ID or (number is None and name == "manifest_path")
            if first.name != "string" or not is_path:
                return
            schema = header.metadata["avro.schema"]
            lists = self._lists[schema] = self._lists.get(schema) or _Lists(header, kind)
            manifests: list[IcebergManifest] = []
            spent = 0
            for block in iter_blocks(data, header):
                content = decompress_block(data, block, header.codec, spent=spent)
                spent += len(content)
                check_count(block, header.parsed.smallest, len(content))
                manifests += self._split(lists, content, block.count)
        except LakeError:
            return
        self._known.lists[recorded] = tuple(manifests), None

    def _split(self, lists: _Lists, content: bytes, count: int) -> list[IcebergManifest]:
        """Split the manifests of a block. Raises `LakeError` when it is damaged."""
        manifests: list[IcebergManifest] = []
        starts: list[int] = []
        at = place = 0
        while len(manifests) < count:
            rest = lists.content[lists.starts[place] :] if place < len(lists.starts) else b""
            if rest and content.startswith(rest, at):  # all that is left of the list before
                starts += [start + at - lists.starts[place] for start in lists.starts[place:]]
                manifests += lists.manifests[place:]
                at, place = at + len(rest), len(lists.starts)
                continue
            line = self._find_line(lists, content, at)
            if place < len(lists.starts) and lists.manifests[place] is line.manifest:
                place += 1
            starts.append(at)
            manifests.append(line.manifest)
            at += len(line.content)
        if at != len(content) or len(manifests) != count:
            raise LakeError("a block of another size than its lines")
        lists.content, lists.starts, lists.manifests = content, starts, manifests
        return manifests

    def _find_line(self, lists: _Lists, content: bytes, at: int) -> _Line:
        size, start = read_long(content, at, len(content))
        path = content[start : start + size]
        line = lists.lines.get(path)
        if line is None or not content.startswith(line.content, at):
            record, stop = lists.kind.decode(content, at, len(content))
            line = _Line(content[at:stop], self._known.share(lists.rename(record), None))
            lists.lines[path] = line
        return line
