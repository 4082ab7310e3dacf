"""One data file of a Hive-style table: the facts of its name and the listing, and, when asked for, those of its footer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, field
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from lakelens.formats.access import LruCache, TableAccess
from lakelens.formats.contents import make_footer, read_footer
from lakelens.formats.hive.contents import (
    FileFacts,
    collect_bounds,
    read_facts,
    read_format,
    read_rows,
)
from lakelens.formats.hive.names import parse_partition_value
from lakelens.formats.hive.read import Found, Pairs
from lakelens.io.ahead import fetch
from lakelens.lazy import dataclass
from lakelens.model.bytes_view import Bound, Source
from lakelens.model.collections import Document
from lakelens.model.datafile import DataFile, FileAnswers, Footer
from lakelens.model.schema import Field, Schema
from lakelens.model.stats import Bounds, Partition

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.bytes_view import BytesView
    from lakelens.model.scan.row_groups import RowGroups


@dataclass(frozen=True, slots=True)
class FileContext(Bound):
    """What the files of one table share: storage, partition columns, the spelling of columns, facts read so far.

    `names` are the metastore's column names by case-folded name. `explain` finds the bytes of an object of the table,
    `find_schema` gives the table's columns.
    """

    access: TableAccess
    columns: Sequence[str]
    names: Mapping[str, str]
    explain: Callable[..., BytesView]
    find_schema: Callable[[], Schema]
    # of the files that were read last: the facts of a whole large table would fill the memory
    cache: LruCache[str, FileFacts | None] = field(default_factory=lambda: LruCache(200))


class HiveFile(DataFile):
    """A visible file of a Hive-style table.

    Nothing is opened until `record_count`, `bounds`, `footer`, `columns` or `preview` is asked for, or `file_format` of a
    file whose name does not show it. Damage is a finding and leaves `record_count` None and `bounds` empty; asking for
    `footer` or `preview` raises. `write_id` is the UUID of the Spark job that wrote the file, None for other writers.
    `is_counted` says whether `record_count` is known already.
    """

    # a copy has times of its own
    copied_by = ("relative_path", "size_bytes")
    answers = "lakelens.formats.hive.datafile:ANSWERS"

    def __init__(self, context: FileContext, found: Found, partition: Partition) -> None:
        self._context = context
        self._access = context.access
        self._source = Source(context.explain, context.access)
        self._found = found
        self.path = self.recorded_path = found.path
        self.relative_path = found.relative_path
        self.role = found.role
        self.partition = partition
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
    def facts(self) -> FileFacts | None:
        """Rows and columns by the file itself; None for text and, with a finding, for a damaged file."""
        return self._keep(self.read_facts)

    def read_facts(self, file_format: str | None = None) -> FileFacts | None:
        """Rows and columns by the file itself, read again; any thread may. Raises `LakeError`."""
        fetch_facts([self])
        return read_facts(self._access.store, self.path, file_format or self.file_format)

    def _keep(self, load: Callable[[], FileFacts | None]) -> FileFacts | None:
        return self._context.cache.get(self.path, lambda: self._access.attempt(load, self.path, None))

    @property
    def is_counted(self) -> bool:
        """Whether the rows are counted already, which opens the file."""
        return "record_count" in vars(self)

    def count_rows(self, load: Callable[[], FileFacts | None]) -> None:
        """Keep the row count. `load` gives the facts, which may have been read elsewhere, or raises `LakeError`."""
        if not self.size_bytes:
            self.record_count = 0
        else:
            facts = self._keep(load)
            self.record_count = None if facts is None else facts.record_count

    @property
    def columns(self) -> tuple[Field, ...]:
        """The columns that are stored in the file; empty for text and where the file's own schema cannot be read."""
        facts = self.facts if self.size_bytes else None
        if facts is None:
            return ()
        return self._access.attempt(lambda: facts.columns, self.path, ())


def _find_format(file: HiveFile) -> str:
    """Find the format by the extension, else by the first bytes."""
    if file._found.name.format is not None:
        return file._found.name.format
    if not file.size_bytes:
        return "empty"
    return file._access.attempt(lambda: read_format(file._access.store, file.path), file.path, "unknown")


def _record_listing(file: HiveFile) -> Document:
    """Put together the facts of the listing and the name; a Hive-style table records nothing else of a file."""
    name = file._found.name
    listed = {
        "path": file.path,
        "size": file.size_bytes,
        "modified": file.modified,
        "role": file.role,
        "directories": [f"{key}={text}" for key, text in file._found.pairs],
    }
    parts = {key: value for key, value in asdict(name).items() if value is not None}
    return Document(listed | parts, "data file")


def _count_rows(file: HiveFile) -> int | None:
    """Count rows by the file's own footer: 0 in a file without bytes, None for text and for damaged files."""
    file.count_rows(file.read_facts)
    return file.record_count


def _build_bounds(file: HiveFile) -> Bounds:
    """Take bounds and counts from the Parquet footer, row groups taken together; other formats have none."""
    facts = file.facts if file.size_bytes and file.file_format == "parquet" else None
    if facts is None:
        return Bounds({})
    context = file._context
    source = Source(context.explain, file.path)
    return context.access.attempt(lambda: collect_bounds(facts, context.names, source), file.path, Bounds({}))


def _read_footer(file: HiveFile) -> Footer:
    """Read the facts in the file's own footer. Raises `Corrupt` when it is empty, cut off or something else."""
    store = file._access.store
    facts = file.read_facts() if file.is_counted and file.record_count else None  # its magic was looked at
    if facts is not None:
        return make_footer(store, file.path, facts.footer)
    fetch_facts([file])
    return read_footer(store, file.path, file.file_format)


def _open_row_groups(file: HiveFile) -> RowGroups | None:
    """Open the row groups or stripes of a Parquet or ORC file, their columns found by name."""
    from lakelens.formats.hive.row_groups import open_row_groups

    if not file.size_bytes or file.file_format not in ("parquet", "orc"):
        return None
    return open_row_groups(file._context, file.footer)


def _read_rows(file: HiveFile, count: int) -> pa.Table:
    """Read the first rows as stored, without the partition's columns; lines of text as one column `line`."""
    fetch_facts([file])
    return read_rows(file._access.store, file.path, file.file_format, count)


ANSWERS = FileAnswers(footer=_read_footer, rows=_read_rows, bounds=_build_bounds, row_groups=_open_row_groups)
HiveFile.late = {"file_format": _find_format, "raw": _record_listing, "record_count": _count_rows}


def fetch_facts(files: Iterable[HiveFile]) -> None:
    """Read what the facts of these files take, together where their store is far."""
    for store, group in groupby(files, lambda file: file._access.store):
        listed = [file._found for file in group if file.size_bytes]
        kinds = [(found.info, found.name.format) for found in listed]
        fetch(
            store,
            documents=[info.path for info, kind in kinds if kind == "avro"],
            ends=[info for info, kind in kinds if kind in (None, "parquet", "orc")],
        )


def make_partition(pairs: Pairs, columns: Sequence[str]) -> Partition:
    """Make the partition of a path: values (text, or None for Hive's default partition) by column, in the table's order.

    >>> make_partition((("B", "__HIVE_DEFAULT_PARTITION__"), ("a", "x%2Fy")), ["a", "b"])
    <Partition a=x%2Fy/b=__HIVE_DEFAULT_PARTITION__>
    """
    texts = {key.casefold(): text for key, text in pairs}
    ordered = {column: texts[column.casefold()] for column in columns if column.casefold() in texts}
    return Partition({column: parse_partition_value(text) for column, text in ordered.items()}, ordered)
