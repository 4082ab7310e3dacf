"""Rows of manifests that know where they were read: BinaryRows of keys and statistics, and partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakelens.codecs.paimon.row import BinaryRow, decode_binary_row
from lakelens.codecs.paimon.types import PaimonField
from lakelens.errors import LakeError
from lakelens.model.explainable import Explainable, Source
from lakelens.model.stats import Partition

# the fields of a manifest entry that hold statistics
VALUE_STATS = "_FILE._VALUE_STATS"
KEY_STATS = "_FILE._KEY_STATS"


class StoredRow(Explainable, BinaryRow):
    """A row as a `BinaryRow`, equal to one of the same values; `bytes_view()` shows its bytes.

    `stored` are its bytes in the manifest, `columns` the fields it was decoded by, `label` the name of the field that
    holds it (`_FILE._MIN_KEY`).
    """

    __slots__ = ("_source", "columns", "label", "stored")

    def __init__(
        self,
        row: BinaryRow,
        stored: bytes,
        columns: Sequence[PaimonField] = (),
        label: str = "",
        source: Source | None = None,
    ) -> None:
        super().__init__(row.names, row.values, row.kind, row.data)
        self.stored = stored
        self.columns = columns
        self.label = label
        self._source = source

    def __reduce__(self) -> tuple[Any, ...]:
        plain = BinaryRow(self.names, self.values, self.kind, self.data)
        return StoredRow, (plain, self.stored, self.columns, self.label, self._source)


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


def decode_row(
    data: bytes, columns: Sequence[PaimonField], path: str, label: str = "", source: Source | None = None
) -> StoredRow:
    """One row of a manifest; an error names the manifest. `label` and `source` are for its `bytes_view`.

    >>> from lakelens.codecs.paimon.types import PaimonType
    >>> columns = [PaimonField(0, "id", PaimonType("INT"))]
    >>> decode_row(bytes.fromhex("0000000100000000000000000100000000000000"), columns, "manifest-1")
    {id: 1}
    """
    try:
        return StoredRow(decode_binary_row(data, columns), data, columns, label, source)
    except LakeError as error:
        error.path = error.path or path
        raise
