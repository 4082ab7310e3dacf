"""Who committed a snapshot, how a file was written, which deletion vectors reach it in each snapshot, and its rows.

Follows "Snapshot" and "Manifest" of the Paimon table specification.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakelens.errors import Unsupported
from lakelens.formats.paimon.life.merge import PaimonMerge
from lakelens.model.life.living import FileDeletes, Living, Merge, NamedRows, StoredRows

if TYPE_CHECKING:
    from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.datafile import DataFile
    from lakelens.model.deletes import DeleteMatch
    from lakelens.model.schema import Field
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.storage import Storage

_MOST_COMMITS = 50  # that are looked at for the one that wrote a row


class PaimonDeletes(FileDeletes):
    """One index manifest holds all vectors of a snapshot: each is read once, and compared by the vectors of the files."""

    def __init__(self, files: Sequence[DataFile]) -> None:
        super().__init__(files)
        self._known: dict[str, dict[str, tuple[DeleteMatch, ...]]] = {}

    def mark(self, snapshot: Snapshot) -> Hashable:
        """See `FileDeletes.mark`."""
        found = self._read(snapshot)
        places = {
            (name, match.file.path, match.offset) for name, matches in found.items() for match in matches
        }
        return frozenset(places) if places else None

    def match(self, snapshot: Snapshot, file: DataFile) -> Sequence[DeleteMatch]:
        """See `FileDeletes.match`."""
        return self._read(snapshot).get(file.path.rpartition("/")[2], ())

    def _read(self, snapshot: Any) -> dict[str, tuple[DeleteMatch, ...]]:
        seen: PaimonSnapshot = snapshot
        name = seen.index_manifest
        if name is None:
            return {}
        if name not in self._known:
            files: Any = self._files
            found = ((file.file_name, seen.find_deletes(file)) for file in files)
            self._known[name] = {file: matches for file, matches in found if matches}
        return self._known[name]


class PaimonRows(NamedRows):
    """A data file, its columns found by the ids that the schema that it was written with gives to its names."""

    def __init__(self, storage: Storage, file: PaimonDataFile) -> None:
        super().__init__(storage, file, has_partition=False)
        if file.write_cols is not None or file.file_name.endswith(".blob"):
            message = "rows that are put together from files of some of their columns are not followed"
            raise Unsupported(message, path=file.path)
        self._fields = file.schema.fields

    def name(self, way: Sequence[Field]) -> tuple[str, ...] | None:
        """See `NamedRows.name`."""
        names: list[str] = []
        fields: Any = self._fields
        for wanted in way:
            found = next((field for field in fields if field.id == wanted.id), None)
            if found is None:
                return None
            names.append(found.name)
            fields = found.type.children
        return tuple(names)

    def get_constant(self, field: Field) -> Any:
        """See `StoredRows.get_constant`: a column that was added later is null in older files."""
        return None


class PaimonLiving(Living):
    """What only a Paimon table knows of lives."""

    table: PaimonTable

    def open_rows(self, file: DataFile) -> StoredRows:
        """See `Living.open_rows`."""
        found: Any = file
        return PaimonRows(self.table.storage, found)

    def open_merge(self, snapshot: Snapshot, slots: Mapping[int, int]) -> Merge | None:
        """See `Living.open_merge`: by the options of the snapshot's schema, as a reader that travels there has them."""
        schema: Any = snapshot.schema
        if not schema.primary_keys:
            return None
        return PaimonMerge(schema, slots, skips_level_0=self.table.context.skips_level_0)

    def open_deletes(self, files: Sequence[DataFile]) -> FileDeletes:
        """See `Living.open_deletes`."""
        return PaimonDeletes(files)

    def begins_later(self, snapshot: Snapshot) -> bool:
        """See `Living.begins_later`: the first snapshot is number 1."""
        return snapshot.id is not None and snapshot.id > 1

    def find_row_writer(self, snapshot: Snapshot, file: DataFile, sequence: int) -> Snapshot | None:
        """See `Living.find_row_writer`: with deletion vectors readers see a row once it is compacted out of level 0.

        A bucket numbers its rows: the file of level 0 whose sequence numbers have the row's is the one it was written to.
        """
        if snapshot.operation != "COMPACT":
            return None
        for before in islice(snapshot.walk_ancestors(), _MOST_COMMITS):
            for written in getattr(before, "delta_files", ()):
                if (written.partition, written.bucket, written.level) == (
                    file.partition,
                    file.bucket,
                    0,
                ) and (written.min_sequence_number <= sequence <= written.max_sequence_number):
                    return before
        return None

    def describe_commit(self, snapshot: Snapshot) -> str:
        """See `Living.describe_commit`: the kind, and since 2.0 the statement."""
        statement = getattr(snapshot, "statement", None)
        kind = super().describe_commit(snapshot)
        return f"{kind} ({statement})" if statement and statement != kind else kind

    def describe_writer(self, snapshot: Snapshot) -> str:
        """See `Living.describe_writer`."""
        version = getattr(snapshot, "writer_version", None)
        return f"Paimon {version}" if version else ""

    def describe_origin(self, file: DataFile) -> tuple[str, ...]:
        """See `Living.describe_origin`: also its level, and the sequence numbers and deletes of its rows."""
        words = list(super().describe_origin(file))
        if file.level is not None and getattr(file, "min_key", None):
            words.append(f"level {file.level}")
        removes = getattr(file, "delete_row_count", None)
        if removes:
            words.append(f"{removes:,} of its rows remove others")
        return tuple(words)
