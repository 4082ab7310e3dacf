"""Data files, delete files, index files: what the metadata says of one stored file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from lakelens.display import Displayable
from lakelens.model.explainable import Explainable, Source
from lakelens.model.footer import Footer
from lakelens.model.stats import Bounds, Partition

if TYPE_CHECKING:
    import pyarrow as pa

Content = Literal["data", "position_deletes", "equality_deletes", "deletion_vector", "changelog"]


class DataFile(Explainable, Displayable, ABC):
    """One file of a table, as its metadata describes it.

    The neutral facts are attributes here; each format adds every field of its specification under its specified name in
    snake case. `path` is where the file lies now, `recorded_path` what the metadata says. Counts and sizes are None where
    the format does not record them.
    """

    content: Content = "data"
    path: str
    recorded_path: str
    file_format: str
    partition: Partition
    bucket: int | None = None
    level: int | None = None
    record_count: int | None = None
    size_bytes: int | None = None
    spec_id: int | None = None
    schema_id: int | None = None
    sequence_number: int | None = None
    snapshot_id: int | None = None
    manifest: str | None = None
    raw: Mapping[str, Any]

    @property
    def identity(self) -> Hashable:
        """What tells this file from others in a set: its path, with the offset for a vector inside a Puffin file."""
        return self.recorded_path

    @property
    @abstractmethod
    def bounds(self) -> Bounds:
        """Bounds and counts per leaf column."""

    @property
    @abstractmethod
    def footer(self) -> Footer:
        """What the file says of itself: Parquet, ORC or Avro facts. Raises `LakeError` when it cannot be read."""

    @abstractmethod
    def preview(self, n: int = 10) -> pa.Table:
        """The first `n` rows as stored, system columns included."""

    def further(self, name: str) -> Any:
        """The value of one of the format's own columns in `FileSet.to_arrow`."""
        return getattr(self, name)

    def __repr__(self) -> str:
        name = self.path.rsplit("/", 1)[-1]
        return f"<DataFile {self.content} {name}: {self.record_count} rows, {self.size_bytes} bytes>"


@dataclass(frozen=True, slots=True, repr=False)
class IndexFile(Explainable, Displayable):
    """A file that indexes others: Paimon `HASH`, `DELETION_VECTORS` and global indexes, Iceberg Puffin files.

    `row_count` is the number of entries in it as recorded, `partition` and `bucket` are Paimon's, `ranges` names the
    data files that a deletion-vector index speaks of, with offset, length and cardinality. `raw` is the record as read.
    """

    index_type: str
    path: str
    recorded_path: str
    size_bytes: int | None
    row_count: int | None = None
    partition: Partition | None = None
    bucket: int | None = None
    ranges: tuple[Mapping[str, Any], ...] = ()
    blobs: tuple[Any, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)
    _source: Source | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __repr__(self) -> str:
        return f"<IndexFile {self.index_type} {self.path.rsplit('/', 1)[-1]}: {self.row_count} rows>"


@dataclass(frozen=True, slots=True, repr=False)
class StatisticsFile(Explainable, Displayable):
    """Table or partition statistics of a snapshot: `kind` ("table", "partition"), where, and what the document says."""

    kind: str
    path: str
    recorded_path: str
    snapshot_id: int | None
    size_bytes: int | None = None
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    raw: Mapping[str, Any] = field(default_factory=dict)
    _source: Source | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __repr__(self) -> str:
        return f"<StatisticsFile {self.kind} of snapshot {self.snapshot_id}>"
