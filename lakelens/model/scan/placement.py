"""Where a format puts rows by their values, so that a file's place says something of the rows in it.

This is the placement of columns as they are (Hive's, and the partitions of Paimon); a format that divides otherwise says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.model.arrow import arrow_type
from lakelens.model.driver import open_part

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.schema import DataType, PartitionField, PartitionSpec
    from lakelens.model.stats import Term


@dataclass(frozen=True, slots=True)
class Merging:
    """How a reader merges rows of one key from several files of a bucket, so that one file alone proves little.

    `keys` are the key columns: what is proved of them is proved of each file. `is_combining` says that a row may be put
    together from several files, so that its values are in none of them. `by_rows` says that files hold different columns of
    the same rows.
    """

    keys: tuple[str, ...] = ()
    is_combining: bool = False
    by_rows: bool = False


class Placement:
    """What partitions and buckets say of the rows in them; `specs` are the partitionings by id."""

    def __init__(self, specs: Sequence[PartitionSpec] = (), merging: Merging | None = None) -> None:
        self.specs = {spec.id: spec for spec in specs}
        self.merging = merging
        #: the columns that decide the bucket, where `bucket` is a column of files
        self.bucket_columns: tuple[str, ...] = ()

    def list_fields(self, spec_id: int | None, term: Term) -> Sequence[tuple[str, PartitionField, int]]:
        """List the partition fields made from a term's column: the name in `partition_values`, the field, its place."""
        spec = self.specs.get(spec_id)
        return [
            (field.name, field, place)
            for place, field in enumerate(spec.fields if spec is not None else ())
            if field.source_name == term.column
        ]

    def find_values(self, name: str, find: Callable[[str], pa.Array | None]) -> pa.Array | None:
        """Find the partition values of a field by its name, as `list_fields` gives it; `find` has those of files."""
        return find(name)

    def find_sources(
        self, field: PartitionField, kind: DataType, values: pa.Array
    ) -> tuple[pa.Array, pa.Array] | None:
        """Find the least and the greatest value that the source column (of type `kind`) can have, by partition value.

        None where the field says nothing of an order; null where that one value does not. Text may be given as bytes.
        """
        found = cast_known(values, arrow_type(kind))
        return None if found is None else (found, found)

    def transform(self, field: PartitionField, kind: DataType, value: Any) -> Any:
        """The partition value of a value of the source column; None where that is not known."""
        return None

    def find_bucket(self, values: Mapping[str, Any], total: int) -> int | None:
        """The bucket of rows with these values of `bucket_columns`, of a total number; None where that is not known."""
        return None

    def explain_absence(self, term: Term, file_format: str | None) -> str | None:
        """Explain why files have no statistics of a term's column, as far as properties say it."""
        return None


def open_placement(table: Any) -> Placement:
    """Open what partitions and buckets of a table say of the rows in them, once for each open table."""
    return open_part(table, "placement", lambda table: Placement(table.specs))


def cast_known(values: pa.Array, kind: pa.DataType) -> pa.Array | None:
    """Values in another type; null for one that it cannot hold, None where the types have nothing in common.

    >>> import pyarrow as pa
    >>> cast_known(pa.array(["1", "x", None]), pa.int32()).to_pylist()
    [1, None, None]
    """
    from lakelens.arrays import pa

    if values.type == kind:
        return values
    values = getattr(values, "storage", values)
    kind = getattr(kind, "storage_type", kind)
    try:
        return values.cast(kind)
    except pa.ArrowNotImplementedError:
        return None
    except pa.ArrowInvalid:
        coded = values.dictionary_encode()
        return pa.array([_cast_one(one, kind) for one in coded.dictionary], kind).take(coded.indices)


def _cast_one(value: Any, kind: pa.DataType) -> Any:
    from lakelens.arrays import pa

    try:
        return value.cast(kind).as_py()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError, OverflowError):
        return None
