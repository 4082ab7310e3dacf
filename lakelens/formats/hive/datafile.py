"""One data file of a Hive-style table: what its name and the listing say, and, when asked, what it says of itself."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakelens.formats.access import TableAccess
from lakelens.formats.hive.footers import FactsCache, FileFacts, read_facts, read_format
from lakelens.formats.hive.names import parse_partition_value
from lakelens.formats.hive.read import Found, Pairs
from lakelens.model.datafile import DataFile, Footer
from lakelens.model.explainable import Source
from lakelens.model.schema import Field
from lakelens.model.stats import Bounds, Partition

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.explanation import Explanation


class HiveFile(DataFile):
    """A visible file of a Hive-style table.

    Nothing is opened until `record_count`, `bounds`, `footer`, `columns` or `preview` is asked for, or `file_format` of a
    file whose name does not tell. Damage is a finding and leaves `record_count` None and `bounds` empty; asking for
    `footer` or `preview` raises. `write_id` is the UUID of the Spark job that wrote the file, None for other writers.
    """

    def __init__(
        self,
        access: TableAccess,
        cache: FactsCache,
        found: Found,
        columns: Sequence[str],
        names: Mapping[str, str],
    ) -> None:
        self._access = access
        self._cache = cache
        self._names = names
        self._found = found
        self.path = self.recorded_path = found.path
        self.relative_path = found.relative_path
        self.role = found.role
        self.partition = make_partition(found.pairs, columns)
        self.bucket = found.name.bucket
        self.size_bytes = found.info.size
        self.modified: datetime | None = found.info.modified
        self.write_id = found.name.job
        self.writer = found.name.writer
        self.task = found.name.task
        self.codec_in_name = found.name.codec
        self.acid_write_ids = (
            None if found.acid is None else (found.acid.first_write_id, found.acid.last_write_id)
        )

    @property
    def copy_identity(self) -> Hashable:
        """The path below the table's directory, and the size: a copy has times of its own."""
        return (self.relative_path, self.size_bytes)

    @cached_property
    def file_format(self) -> str:  # type: ignore[override]
        """By the extension, else by the first bytes."""
        if self._found.name.format is not None:
            return self._found.name.format
        if not self.size_bytes:
            return "empty"
        return self._access.attempt(lambda: read_format(self._access.store, self.path), self.path, "unknown")

    @cached_property
    def raw(self) -> Mapping[str, Any]:  # type: ignore[override]
        """What the listing and the name said; a Hive-style table records nothing else of a file."""
        name = self._found.name
        parts = {key: getattr(name, key) for key in type(name).__slots__}
        return {
            "path": self.path,
            "size": self.size_bytes,
            "modified": self.modified,
            "role": self.role,
            "directories": [f"{key}={text}" for key, text in self._found.pairs],
        } | {key: value for key, value in parts.items() if value is not None}

    @property
    def facts(self) -> FileFacts | None:
        """Rows and columns as the file tells them; None for text, and, with a finding, for a damaged file."""
        return self._cache.get(self.path, lambda: self._access.attempt(self.read_facts, self.path, None))

    def read_facts(self, file_format: str | None = None) -> FileFacts | None:
        """Rows and columns as the file tells them, read anew; any thread may. Raises `LakeError`."""
        return read_facts(self._access.store, self.path, file_format or self.file_format)

    def keep_facts(self, load: Callable[[], FileFacts | None]) -> None:
        """Take what `read_facts` gave or raised elsewhere, and remember the row count of it."""
        facts = self._cache.get(self.path, lambda: self._access.attempt(load, self.path, None))
        self.__dict__["record_count"] = None if facts is None else facts.record_count

    @cached_property
    def record_count(self) -> int | None:  # type: ignore[override]
        """Rows by the file's own footer; 0 for a file without bytes, None for text and for damaged files."""
        if not self.size_bytes:
            return 0
        facts = self.facts
        return None if facts is None else facts.record_count

    @property
    def columns(self) -> tuple[Field, ...]:
        """The columns that are stored in the file; empty for text and where the file's own schema cannot be read."""
        facts = self.facts if self.size_bytes else None
        if facts is None:
            return ()
        return self._access.attempt(lambda: facts.columns, self.path, ())

    @cached_property
    def bounds(self) -> Bounds:
        """Bounds and counts of the Parquet footer, row groups taken together; empty for other formats."""
        from lakelens.formats.hive.bounds import collect_bounds

        if not self.size_bytes or self.file_format != "parquet":
            return Bounds({})
        facts = self.facts
        if facts is None:
            return Bounds({})
        source = Source("lakelens.formats.hive.explain.explain_bounds", self.path)
        return self._access.attempt(lambda: collect_bounds(facts, self._names, source), self.path, Bounds({}))

    def bytes_view(self) -> Explanation:
        """The stored file. Raises `Missing` when it is gone."""
        from lakelens.formats.hive.explain import explain_data_file

        return explain_data_file(self, self._access.store)

    @property
    def footer(self) -> Footer:
        """What the file says of itself. Raises `Corrupt`, naming the file, when it is empty, cut off or something else."""
        from lakelens.formats.contents import read_footer

        return read_footer(self._access.store, self.path, self.file_format)

    def preview(self, n: int = 10) -> pa.Table:
        """The first `n` rows as stored, without the partition's columns; lines of text as one column `line`."""
        from lakelens.formats.hive.rows import read_rows

        return read_rows(self._access.store, self.path, self.file_format, n)

    def __repr__(self) -> str:
        # rows would cost a look into the file
        rows = f"{self.record_count} rows, " if "record_count" in self.__dict__ else ""
        return f"<DataFile {self.content} {self.path.rsplit('/', 1)[-1]}: {rows}{self.size_bytes} bytes>"


def make_partition(pairs: Pairs, columns: Sequence[str]) -> Partition:
    """The partition of a path: values (text, or None for Hive's default partition) by column, in the table's order.

    >>> make_partition((("B", "__HIVE_DEFAULT_PARTITION__"), ("a", "x%2Fy")), ["a", "b"])
    <Partition a=x%2Fy/b=__HIVE_DEFAULT_PARTITION__>
    """
    texts = {key.casefold(): text for key, text in pairs}
    ordered = {column: texts[column.casefold()] for column in columns if column.casefold() in texts}
    return Partition({column: parse_partition_value(text) for column, text in ordered.items()}, ordered)
