"""Partitions of one table: from the BinaryRow in a manifest to values, to text, and to the directory it lies in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from lakelens.codecs.paimon.row import decode_binary_row
from lakelens.codecs.paimon.types import PaimonField
from lakelens.errors import LakeError
from lakelens.formats.paimon.discovery.layout import DEFAULT_PARTITION, Layout, escape_path, join_partition
from lakelens.formats.paimon.manifests.rows import PaimonPartition
from lakelens.formats.paimon.metadata.partition_path import is_blank, word_value
from lakelens.io.store import Store, list_names
from lakelens.model.explainable import Source
from lakelens.model.finding import Findings
from lakelens.model.stats import Partition

_TWO_FORMED = {"DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ"}


class Partitions:
    """Decodes the partitions of a table, each once. Types of partition columns never change, so today's serve all files."""

    def __init__(
        self,
        columns: Sequence[PaimonField],
        options: Mapping[str, str],
        store: Store,
        layout: Layout,
        findings: Findings,
    ) -> None:
        self._columns = tuple(columns)
        self.store = store
        self._layout = layout
        self._findings = findings
        self._legacy = options.get("partition.legacy-name", "true").strip().lower() != "false"
        self._default = options.get("partition.default-name", DEFAULT_PARTITION)
        self._data_folder = options.get("data-file.path-directory", "").strip("/")
        self._decoded: dict[bytes, Partition] = {}
        self._folders: dict[bytes, str] = {}
        self._listings: dict[str, frozenset[str]] = {}

    @cached_property
    def base(self) -> str:
        """The directory that holds the partitions, or the buckets of an unpartitioned table."""
        return f"{self._layout.root}/{self._data_folder}" if self._data_folder else self._layout.root

    def decode(self, data: bytes, path: str) -> Partition:
        """The partition of a serialized row; without values, and with a finding, when it does not decode.

        `path` is the manifest it stands in.
        """
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

    def _decode(self, data: bytes, path: str) -> Partition:
        source = (
            Source("lakelens.formats.paimon.explain.objects.explain_partition", path, self) if data else None
        )
        if not self._columns and len(data) <= 12:
            return PaimonPartition({}, {}, data, (), source)
        try:
            row = decode_binary_row(data, self._columns)
        except LakeError as error:
            error.path = error.path or path
            self._findings.add_error(error, path)
            return PaimonPartition({}, {}, data, self._columns, source)
        texts = {
            c.name: self._word(value, c, self._legacy) for c, value in zip(self._columns, row, strict=True)
        }
        return PaimonPartition(row.to_dict(), texts, data, self._columns, source)

    def _word(self, value: Any, column: PaimonField, legacy: bool) -> str:
        text = word_value(value, column.type, legacy=legacy)
        return escape_path(self._default if text is None or is_blank(text) else text)

    def _find_folder(self, partition: Partition) -> str:
        if not any(c.type.name in _TWO_FORMED for c in self._columns):
            return "/".join(part for part in (self.base, join_partition(partition.texts.items())) if part)
        folder = self.base
        for column in self._columns:
            if column.name not in partition:
                break
            forms = [
                join_partition([(column.name, self._word(partition[column.name], column, legacy))])
                for legacy in (self._legacy, not self._legacy)
            ]
            folder = f"{folder}/{self._choose(folder, forms)}"
        return folder

    def _choose(self, parent: str, forms: list[str]) -> str:
        if forms[0] == forms[1]:
            return forms[0]
        names = self._listings.get(parent)
        if names is None:
            try:
                names = frozenset(list_names(self.store, parent))
            except LakeError as error:
                self._findings.add_error(error, parent)
                names = frozenset()
            self._listings[parent] = names
        return forms[1] if forms[0] not in names and forms[1] in names else forms[0]
