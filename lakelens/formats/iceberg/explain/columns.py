"""What the columns of a Parquet manifest mean: the specified field of each, and the typed values of bounds.

    data_file.lower_bounds.key_value.key      126   column ids
    data_file.lower_bounds.key_value.value    127   bounds: a value belongs to the columns whose id is beside it
    data_file.partition.*                     the id of the partition field

A Parquet file keeps keys and values of a map apart, and equal values once. Which columns a bound belongs to is therefore
found by its bytes: all those that have it in some entry of this manifest.

Follows "Manifests" and appendix D of the Iceberg table specification.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lakelens.caching import cached_property
from lakelens.codecs.parquet.structure import SchemaLeaf
from lakelens.codecs.parquet.value_spans import Meaning
from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import LakeError
from lakelens.formats.iceberg.explain.nested import MetadataHook, join_words
from lakelens.formats.iceberg.manifests.containers import DRAFT_FIELDS, ParquetHeader, iterate_tables
from lakelens.formats.iceberg.manifests.records import ENTRY_FIELDS, FILE_FIELDS

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.formats.iceberg.context import TableContext

_BOUNDS = {127: "lower_bounds", 130: "upper_bounds"}
_KEYS = (117, 119, 121, 138, 123, 126, 129)
_OF_MAPS = {118: "bytes on disk", 120: "values", 122: "nulls", 139: "NaN values", 124: "distinct values"}
_ITEMS = {112: "column ids", 133: "offsets in the file", 136: "column ids"}
_CODES = {
    0: "0 EXISTING, 1 ADDED, 2 DELETED",
    134: "0 data, 1 position deletes and deletion vectors, 2 equality deletes",
}
_INHERITED = (1, 3, 4, 142)
_MOST_NAMED = 4


class ManifestColumns:
    """The hook for `explain_parquet` of a manifest with this header; without a table its own schema gives the types."""

    def __init__(self, context: TableContext | None, header: ParquetHeader, data: Octets, path: str) -> None:
        self._hook = MetadataHook(context, header)
        self._header, self._data, self._path = header, data, path

    def find(self, leaf: SchemaLeaf) -> Meaning | None:
        """What a column means; None where the file does not say which field it is."""
        number = leaf.field_id
        if number is None:
            return None
        name = _BOUNDS.get(number)
        if name is not None:
            return Meaning("bounds, of the column whose id is the key", self._find_bounds(name))
        if ".partition." in f".{leaf.path}":
            return Meaning(self._hook.describe_partition(number))
        known = ENTRY_FIELDS.get(number) if "." not in leaf.path else FILE_FIELDS.get(number)
        if number in _KEYS:
            return Meaning("column ids")
        if number in _OF_MAPS or number in _ITEMS:
            return Meaning((_OF_MAPS | _ITEMS)[number])
        if number in DRAFT_FIELDS or known is None:
            return Meaning(f"field {number}, which the specification does not have yet")
        more = f": {_CODES[number]}" if number in _CODES else ""
        more = ", inherited where it is null" if number in _INHERITED else more
        return Meaning(f"field {number}, {known}{more}")

    def _find_bounds(self, name: str) -> Callable[[bytes], Callable[[Octets, int, int], Span] | None]:
        def find(stored: bytes) -> Callable[[Octets, int, int], Span] | None:
            columns = self._list_columns(name, stored)
            if not columns:
                return None
            words = join_words([self._hook.name_column(one) for one in columns], _MOST_NAMED)
            kinds = {self._hook.find_type(one) for one in columns}
            return self._hook.explain_value(kinds.pop() if len(kinds) == 1 else None, words)

        return find

    def _list_columns(self, name: str, stored: bytes) -> list[int]:
        """The columns that have a bound with these bytes in some entry."""
        import pyarrow as pa
        import pyarrow.compute as pc

        found: set[int] = set()
        for keys, values in self._pairs.get(name, ()):
            same = keys.filter(pc.equal(values, pa.scalar(stored, values.type)))
            found.update(same.unique().to_pylist())
        return sorted(found)

    @cached_property
    def _pairs(self) -> dict[str, list[tuple[pa.Array, pa.Array]]]:
        """The keys and values of both maps of bounds, of all entries that can be read."""
        found: dict[str, list[tuple[pa.Array, pa.Array]]] = {}
        places = self._hook.find_file_fields()
        try:
            for table in iterate_tables(bytes(self._data[:]), self._path, self._header):
                files = table[places.file].combine_chunks()
                for name in _BOUNDS.values():
                    stored = places.by_name.get(name)
                    if stored is not None:
                        pairs = files.field(stored).flatten()
                        found.setdefault(name, []).append((pairs.field(0), pairs.field(1)))
        except LakeError:
            pass  # the tree shows the damage in its place
        return found
