"""Which deletes reach a data file, and by which rule.

Follows "Scan Planning" of the Iceberg table specification. With s the data sequence number of the file:

* a deletion vector reaches the file it references, when s <= its own; then no position delete file does;
* a position delete file reaches the files of its partition (or the one it references), when s <= its own;
* an equality delete file reaches the files of its partition (of all, when its spec has no fields), when s < its own.

Delete files are looked up by what they reference or by partition, and in order of sequence numbers: a file is compared
with the deletes that may reach it, not with all. Locations are compared as they are now, so that a table that was moved, or
whose metadata mixes spellings of one place, keeps its deletes.
"""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from lakelens.formats.iceberg.deletes.equality import KeyColumn, describe_keys
from lakelens.formats.iceberg.metadata.columns import DELETE_FILE_PATH
from lakelens.model.deletes import DeleteMatch
from lakelens.model.fileset import FileSet

if TYPE_CHECKING:
    from lakelens.formats.iceberg.deletes.positions import DeleteReader
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile


class DeleteIndex:
    """The delete files and vectors of one snapshot, ready to be asked which of them reach a data file."""

    def __init__(self, files: Iterable[IcebergDataFile], reader: DeleteReader) -> None:
        self.reader = reader
        self.targeted: dict[str, BySequence] = {}
        self.positions: dict[Hashable, BySequence] = {}
        self.equality: dict[Hashable, BySequence] = {}
        self.everywhere = BySequence()
        self.has_vectors = False
        self._keys: dict[tuple[int, ...], tuple[KeyColumn, ...]] = {}
        for file in keep_deletes(files):
            self._add(file)

    def __bool__(self) -> bool:
        return bool(self.targeted or self.positions or self.equality or self.everywhere)

    def _add(self, file: IcebergDataFile) -> None:
        self.has_vectors |= file.content == "deletion_vector"
        if file.content == "equality_deletes":
            if reaches_everywhere(file):
                self.everywhere.add(file)
            else:
                self.equality.setdefault(partition_key(file), BySequence()).add(file)
        elif file.referenced_data_path is not None:
            self.targeted.setdefault(file.referenced_data_path, BySequence()).add(file)
        elif file.content == "position_deletes":
            self.positions.setdefault(partition_key(file), BySequence()).add(file)

    def match(self, data: IcebergDataFile) -> tuple[DeleteMatch, ...]:
        """The deletes that reach a data file: vectors, position deletes, equality deletes, each by sequence number."""
        if data.content != "data" or not self:
            return ()
        return tuple(self._make(file, data) for file in self.find(data))

    def find(self, data: IcebergDataFile) -> list[IcebergDataFile]:
        """Find the delete files and vectors that reach a data file."""
        born = data.sequence_number or 0
        found = self.find_vectors(data)
        if not found:
            found = [file for file in self._find_targeted(data) if file.content == "position_deletes"]
            group = self.positions.get(partition_key(data)) if self.positions else None
            if group is not None:
                found += [file for file in group.since(born) if may_name(file, data.file_path)]
        found += self.everywhere.after(born)
        group = self.equality.get(partition_key(data)) if self.equality else None
        if group is not None:
            found += group.after(born)
        return found

    def find_vectors(self, data: IcebergDataFile) -> list[IcebergDataFile]:
        """Find the deletion vectors of a data file: one at most, where the writer keeps the rules."""
        return [file for file in self._find_targeted(data) if file.content == "deletion_vector"]

    def _find_targeted(self, data: IcebergDataFile) -> Sequence[IcebergDataFile]:
        """Find the vectors and position deletes that are for this one file, in the order of their sequence numbers."""
        group = self.targeted.get(data.path) if self.targeted else None
        if group is None:
            return ()
        key = partition_key(data)
        return [file for file in group.since(data.sequence_number or 0) if partition_key(file) == key]

    def _make(self, file: IcebergDataFile, data: IcebergDataFile) -> DeleteMatch:
        born, deleted = data.sequence_number or 0, file.sequence_number or 0
        reader = self.reader
        if file.content == "equality_deletes":
            where = "every partition" if reaches_everywhere(file) else "its partition"
            ids = tuple(file.equality_ids or ())
            if ids not in self._keys:
                self._keys[ids] = describe_keys(reader.context, ids)
            keys = self._keys[ids]
            return DeleteMatch(
                file,
                f"equality delete for {where}: data sequence {born} < delete sequence {deleted}",
                "equality_deletes",
                data.file_path,
                lambda: reader.find_equal(file, keys, data),
                at_most=data.record_count,
                equality_ids=file.equality_ids or (),
                columns=[key.name for key in keys],
                load_values=lambda: reader.read_values(file, keys),
            )
        order = f"data sequence {born} <= delete sequence {deleted}"
        if file.target is not None and file.target != data.file_path:
            order += f"; it names the file {file.target}, which is there now"
        if file.content == "deletion_vector":
            return DeleteMatch(
                file,
                f"deletion vector for this file: {order}",
                "deletion_vector",
                data.file_path,
                lambda: reader.read_vector(file),
                cardinality=file.record_count,
                offset=file.content_offset,
                length=file.content_size_in_bytes,
            )
        scope = "for this file" if file.target is not None else "of its partition"
        return DeleteMatch(
            file,
            f"position deletes {scope}: {order}",
            "position_deletes",
            data.file_path,
            lambda: reader.read_positions(file, data),
            at_most=file.record_count,
        )


def keep_deletes(files: Iterable[IcebergDataFile]) -> Iterable[IcebergDataFile]:
    """Keep the delete files and vectors among files; of a set no other file is made."""
    if not isinstance(files, FileSet):
        return (file for file in files if file.content != "data")
    return cast("Iterable[IcebergDataFile]", files.choose(lambda content: content != "data", "content"))


class BySequence:
    """Delete files in the order of their sequence numbers."""

    def __init__(self) -> None:
        self._files: list[IcebergDataFile] = []
        self._numbers: list[int] | None = None

    def __len__(self) -> int:
        return len(self._files)

    def add(self, file: IcebergDataFile) -> None:
        """Add a file."""
        self._files.append(file)
        self._numbers = None

    def since(self, number: int) -> Sequence[IcebergDataFile]:
        """Those with at least a sequence number."""
        return self._files[bisect_left(self._sort(), number) :]

    def after(self, number: int) -> Sequence[IcebergDataFile]:
        """Those with more than a sequence number."""
        return self._files[bisect_right(self._sort(), number) :]

    def _sort(self) -> list[int]:
        if self._numbers is None:
            self._files.sort(key=lambda file: file.sequence_number or 0)
            self._numbers = [file.sequence_number or 0 for file in self._files]
        return self._numbers


def reaches_everywhere(delete: IcebergDataFile) -> bool:
    """Check whether an equality delete is global: its spec has no fields, or none that is not void."""
    return not delete.partition.texts


def partition_key(file: IcebergDataFile) -> Hashable:
    """Say what is equal for files of one partition: the spec and the values; NaN equals NaN, the two zeros differ."""
    return file.spec_id, tuple((name, _normalise(value)) for name, value in file.partition.items())


def _normalise(value: Any) -> Hashable:
    if isinstance(value, float):
        return "nan" if value != value else struct.pack("<d", value)
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value  # type: ignore[no-any-return]


def may_name(delete: IcebergDataFile, path: str) -> bool:
    """Check whether the bounds of the delete's `file_path` column let it name a path."""
    lower = (delete.lower_bounds or {}).get(DELETE_FILE_PATH)
    upper = (delete.upper_bounds or {}).get(DELETE_FILE_PATH)
    wanted = path.encode()
    return (lower is None or lower <= wanted) and (upper is None or wanted <= upper)
