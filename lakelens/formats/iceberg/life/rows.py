"""The rows of an Iceberg data file by field id, and their row lineage.

Follows "Column Projection" and "Row Lineage" of the Iceberg table specification.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.formats.iceberg.deletes.equality import find_identity
from lakelens.formats.iceberg.deletes.stored_columns import StoredColumns
from lakelens.formats.iceberg.manifests.contents import find_content
from lakelens.model.life.living import StoredRows

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.formats.iceberg.context import TableContext
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
    from lakelens.model.schema import Field

_SYSTEM = {"_row_id": 2147483540, "_last_updated_sequence_number": 2147483539}


class IcebergRows(StoredRows):
    """A data file, its columns found by field id."""

    def __init__(self, context: TableContext, file: IcebergDataFile) -> None:
        path, kind = find_content(context, file)
        self._context = context
        self._file = file
        self._stored = StoredColumns(context, path, kind)

    def find(self, way: Sequence[Field]) -> Any:
        """See `StoredRows.find`."""
        return self._stored.find(way[-1].id)

    def find_system(self, name: str) -> Any:
        """See `StoredRows.find_system`."""
        return self._stored.find(_SYSTEM[name]) if name in _SYSTEM else None

    def get_constant(self, field: Field) -> Any:
        """See `StoredRows.get_constant`."""
        name = find_identity(self._context, self._file, field.id)
        return field.initial_default if name is None else self._file.partition[name]

    def read(self, places: Sequence[Any]) -> Iterator[list[pa.Array]]:
        """See `StoredRows.read`."""
        return self._stored.batches(places)
