"""Manifest lists, and the manifests that they name, each once.

Follows "Manifest Lists" of the Iceberg table specification.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.formats.iceberg.context import TableContext, TableObject
from lakelens.formats.iceberg.encryption import refuse_encrypted
from lakelens.formats.iceberg.manifests.containers import StoredRecords, decode_head, iterate_records
from lakelens.formats.iceberg.manifests.header import describe_header
from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
from lakelens.formats.iceberg.manifests.records import MANIFEST_FIELDS, check_manifest_line, make_rename
from lakelens.io.store import find_info
from lakelens.model.collections import Document
from lakelens.model.manifest import ManifestList, collect
from lakelens.options import budgets


class KnownManifests:
    """The manifests of one table: the same line in many lists is one object, so that each file is read once."""

    def __init__(self, context: TableContext) -> None:
        self.context = context
        #: what was read of each manifest list, by its recorded path
        self.lists: dict[str, tuple[Sequence[IcebergManifest], LakeError | None]] = {}
        self._manifests: dict[tuple[Any, ...], list[IcebergManifest]] = {}

    def share(self, line: Mapping[str, Any], snapshot_id: int | None) -> IcebergManifest:
        """The manifest of a line. `snapshot_id` is used where no list records who added it."""
        names = ("manifest_path", "manifest_length", "added_snapshot_id", "sequence_number", "first_row_id")
        same = self._manifests.setdefault(tuple(line.get(name) for name in names), [])
        for known in same:
            if known.raw == line:
                return known
        # lists may disagree about a manifest: then each line is compared with it
        same.append(IcebergManifest(self.context, line, snapshot_id))
        return same[-1]


class IcebergManifestList(TableObject, ManifestList):
    """The manifest list of a snapshot; without a file (`path` is None) when version 1 names the manifests itself."""

    role = "all"
    # manifests that are named in the metadata document itself have no file, and no header
    late = MappingProxyType(
        {
            "path": lambda listed: (
                None
                if listed.recorded_path is None
                else listed._context.access.locator.locate(listed.recorded_path)
            ),
            "size_bytes": lambda listed: listed._measure(),
            "header": lambda listed: Document(
                {} if listed.recorded_path is None else describe_header(listed._file.header), "header"
            ),
            "_read_manifests": lambda listed: listed._read_all(),
        }
    )

    def __init__(
        self,
        known: KnownManifests,
        recorded: str | None,
        snapshot_id: int,
        inline: Sequence[str] = (),
        key_id: str | None = None,
    ) -> None:
        self._context = known.context
        self._known = known
        self._inline = tuple(inline)
        self.recorded_path = recorded
        self.snapshot_id = snapshot_id
        self._key_id = key_id
        self._length: int | None = None  # once it was read

    @cached_property
    def _file(self) -> StoredRecords:
        assert self.recorded_path is not None
        path, data = self._context.access.read_recorded(self.recorded_path)
        if path == self.path:
            self._length = len(data)
        refuse_encrypted(data, path, self._key_id)
        return StoredRecords(path, decode_head(data, path), data)

    def _measure(self) -> int | None:
        """Bytes of the file; None when it is not there."""
        if self._length is not None:
            return self._length
        info = None if self.path is None else find_info(self._context.access.store, self.path)
        return None if info is None else info.size

    def _read_all(self) -> tuple[Sequence[IcebergManifest], LakeError | None]:
        if self.recorded_path is None:
            lines = ({"manifest_path": recorded} for recorded in self._inline)
            return tuple(self._known.share(line, self.snapshot_id) for line in lines), None
        if self.recorded_path not in self._known.lists:
            manifests = (self._known.share(line, None) for line in self._iterate_lines())
            known = self._known.lists[self.recorded_path] = collect(manifests)
            large = [one for one in known[0] if (one.manifest_length or 0) > budgets.max_document]
            self._context.access.store.expect((one.path, one.manifest_length or 0) for one in large)
        return self._known.lists[self.recorded_path]

    def _iterate_lines(self) -> Iterator[dict[str, Any]]:
        path, header = self._file.path, self._file.header
        rename = make_rename(header.record, MANIFEST_FIELDS)
        for index, record in enumerate(iterate_records(self._file.take(), path, header)):
            line = rename(record)
            check_manifest_line(line, path, index)
            yield line
