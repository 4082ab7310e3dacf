"""The partitions of manifest entries by column: each different one once, and all of them together where their types allow.

Numbers, texts and booleans have one written form, which Arrow's cast gives; what a path escapes, and partitions of other
types, go through the record path's own functions one by one. See "Partition" of the Paimon documentation.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.codecs.paimon.types import PaimonField
from lakelens.errors import LakeError
from lakelens.formats.paimon.metadata.layout import escape_path
from lakelens.formats.paimon.metadata.partitions import Partitions
from lakelens.formats.paimon.scan.entries import EntryRows
from lakelens.model.arrow import to_array

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.stats import Partition

_ONE_FORM = {"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "CHAR", "VARCHAR"}
_PLAIN = "^[0-9A-Za-z_.-]+$"  # texts that a path neither escapes nor has another word for


class PartitionColumns:
    """The different ones of the serialized partitions of `rows`, an item for each; `codes` say which one each row has."""

    def __init__(self, stored: pa.Array, partitions: Partitions, rows: EntryRows) -> None:
        coded = stored.dictionary_encode()
        self.codes = coded.indices
        self._stored = coded.dictionary
        self._partitions = partitions
        self._rows = rows

    @cached_property
    def texts(self) -> pa.Array:
        """The text of each partition."""
        if self._by_column is None:
            return to_array([str(one) for one, _ in self._singly], _string())
        return _join("", [f"{name}=" for name in self._by_column], [t for _, t in self._by_column.values()])

    def list_distinct(self) -> list[Partition]:
        """Each partition, as the record path decodes it."""
        return [partition for partition, _ in self._singly]

    def find_folders(self, outside: pa.Array | None) -> pa.Array:
        """The directory of each partition, of those alone that have a row that is not `outside`."""
        import pyarrow.compute as pc

        if self._by_column is not None:
            base = self._partitions.base
            heads = [f"{escape_path(name)}=" for name in self._by_column]
            return _join(f"{base}/" if base else "", heads, [text for _, text in self._by_column.values()])
        wanted: Collection[int] = range(len(self._stored))
        if outside is not None:
            wanted = set(self.codes.filter(pc.invert(outside)).to_pylist())
        pairs = zip(self._stored.to_pylist(), self._singly, strict=True)
        found = [
            self._partitions.folder(stored, manifest) if number in wanted else ""
            for number, (stored, (_, manifest)) in enumerate(pairs)
        ]
        return to_array(found, _string())

    def find_values(self, name: str, kind: pa.DataType) -> pa.Array:
        """A partition field of each partition."""
        import pyarrow as pa

        if self._by_column is None:
            return to_array([one.get(name) for one, _ in self._singly], kind)
        if name not in self._by_column:
            return pa.nulls(len(self._stored), kind)
        return self._by_column[name][0].cast(kind)

    @cached_property
    def _by_column(self) -> dict[str, tuple[pa.Array, pa.Array]] | None:
        """Values and texts of each field; None where only one by one they say what the record path says."""
        from lakelens.codecs.paimon.row_columns import decode_binary_rows

        columns = self._partitions.columns
        if not columns or any(column.type.name not in _ONE_FORM for column in columns):
            return None
        try:
            decoded = decode_binary_rows(self._stored, columns)
        except LakeError:
            return None
        values = [decoded.field(place) for place in range(len(columns))]
        return {c.name: (v, self._write(v, c)) for v, c in zip(values, columns, strict=True)}

    @cached_property
    def _singly(self) -> list[tuple[Partition, str]]:
        """Each partition with the path of the manifest that first has it."""
        import numpy as np

        _, firsts = np.unique(self.codes.to_numpy(), return_index=True)
        manifests = [self._rows.parts[part].task.path for part in self._rows.find_parts()[firsts]]
        pairs = zip(self._stored.to_pylist(), manifests, strict=True)
        return [(self._partitions.decode(stored, manifest), manifest) for stored, manifest in pairs]

    def _write(self, values: pa.Array, column: PaimonField) -> pa.Array:
        """The text of each value."""
        import pyarrow.compute as pc

        texts = values.cast(_string())
        odd = pc.invert(pc.fill_null(pc.match_substring_regex(texts, _PLAIN), False))
        written = [self._partitions.write(value, column) for value in values.filter(odd).to_pylist()]
        return pc.replace_with_mask(texts, odd, to_array(written, _string())) if written else texts


def _string() -> pa.DataType:
    import pyarrow as pa

    return pa.string()


def _join(base: str, heads: Sequence[str], texts: Sequence[pa.Array]) -> pa.Array:
    """Heads and texts in turn, the pairs apart by slashes."""
    import pyarrow.compute as pc

    parts: list[Any] = []
    for number, (head, text) in enumerate(zip(heads, texts, strict=True)):
        parts += [f"{'/' if number else base}{head}", text]
    return pc.binary_join_element_wise(*parts, "")
