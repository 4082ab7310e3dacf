"""The rows of a Paimon data file: its columns have the names of the schema that it was written with, matched by field id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakelens.errors import Unsupported
from lakelens.model.life.living import NamedRows

if TYPE_CHECKING:
    from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
    from lakelens.model.schema import Field
    from lakelens.model.storage import Storage


class PaimonRows(NamedRows):
    """A data file, its columns found by the ids that its own schema gives to its names."""

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
