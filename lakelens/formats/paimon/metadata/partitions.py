"""Partitions of one table: from the BinaryRow in a manifest to values, to text, and to the directory that holds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lakelens.codecs.paimon.row import decode_binary_row
from lakelens.codecs.paimon.types import PaimonField
from lakelens.errors import LakeError
from lakelens.formats.access import TableAccess
from lakelens.formats.paimon.metadata.layout import (
    DEFAULT_PARTITION,
    TableLayout,
    escape_path,
    join_partition,
)
from lakelens.formats.paimon.metadata.partition_path import format_value, is_blank
from lakelens.io.store import list_names
from lakelens.model.explainable import Source
from lakelens.model.stats import Partition

_TWO_FORMED = {"DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ"}


class PaimonPartition(Partition):
    """A partition that knows the row it was decoded from; `columns` are the fields of that row."""

    __slots__ = ("_source", "columns", "stored")

    def __init__(
        self,
        values: Mapping[str, Any],
        texts: Mapping[str, str],
        stored: bytes,
        columns: Sequence[PaimonField],
        source: Source | None = None,
    ) -> None:
        super().__init__(values, texts)
        self.stored = stored
        self.columns = columns
        self._source = source


class Partitions:
    """Decodes the partitions of a table, each once. Types of partition columns never change, so today's serve all files.

    `source` makes what a partition finds its bytes by, from the path of a manifest that holds it.
    """

    def __init__(
        self,
        columns: Sequence[PaimonField],
        options: Mapping[str, str],
        access: TableAccess,
        layout: TableLayout,
        source: Callable[[str], Source],
    ) -> None:
        self.columns = tuple(columns)
        self._access = access
        self._source = source
        self._legacy = options.get("partition.legacy-name", "true").strip().lower() != "false"
        self._default = options.get("partition.default-name", DEFAULT_PARTITION)
        below = options.get("data-file.path-directory", "").strip("/")
        #: The directory that holds the partitions, or the buckets of an unpartitioned table.
        self.base = f"{layout.root}/{below}" if below else layout.root
        self._decoded: dict[bytes, Partition] = {}
        self._folders: dict[bytes, str] = {}
        self._listings: dict[str, frozenset[str]] = {}

    def decode(self, data: bytes, path: str) -> Partition:
        """The partition of a serialized row in the manifest at `path`; without values, and a finding, on damage."""
        found = self._decoded.get(data)
        if found is None:
            found = self._decoded[data] = self._decode(data, path)
        return found

    def folder(self, data: bytes, path: str) -> str:
        """The directory of a partition, without a trailing slash.

        Where a type has two written forms and the one that the options ask for is not there, the one that is there is
        taken; each directory is listed at most once for that.
        """
        found = self._folders.get(data)
        if found is None:
            found = self._folders[data] = self._find_folder(self.decode(data, path))
        return found

    def write(self, value: Any, column: PaimonField) -> str:
        """A value of a partition column as the options have it written in paths."""
        return self._format(value, column, self._legacy)

    def _decode(self, data: bytes, path: str) -> Partition:
        source = self._source(path) if data else None
        if not self.columns and len(data) <= 12:
            return PaimonPartition({}, {}, data, (), source)
        try:
            row = decode_binary_row(data, self.columns)
        except LakeError as error:
            error.path = error.path or path
            self._access.findings.add_error(error, path)
            return PaimonPartition({}, {}, data, self.columns, source)
        columns = zip(self.columns, row, strict=True)
        texts = {c.name: self.write(value, c) for c, value in columns}
        return PaimonPartition(row.to_dict(), texts, data, self.columns, source)

    def _format(self, value: Any, column: PaimonField, legacy: bool) -> str:
        text = format_value(value, column.type, legacy=legacy)
        return escape_path(self._default if text is None or is_blank(text) else text)

    def _find_folder(self, partition: Partition) -> str:
        if not any(c.type.name in _TWO_FORMED for c in self.columns):
            return "/".join(part for part in (self.base, join_partition(partition.texts.items())) if part)
        folder = self.base
        for column in self.columns:
            if column.name not in partition:
                break
            wanted, other = (
                join_partition([(column.name, self._format(partition[column.name], column, legacy))])
                for legacy in (self._legacy, not self._legacy)
            )
            if wanted != other:
                names = self._list(folder)
                wanted = other if wanted not in names and other in names else wanted
            folder = f"{folder}/{wanted}"
        return folder

    def _list(self, folder: str) -> frozenset[str]:
        if folder not in self._listings:
            none = frozenset[str]()
            names = self._access.attempt(
                lambda: frozenset(list_names(self._access.store, folder)), folder, none
            )
            self._listings[folder] = names
        return self._listings[folder]
