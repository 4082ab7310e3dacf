"""The records of manifest lists, manifests and index manifests with every name and value replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lakelens.codecs.paimon.types import PaimonField
from lakelens.errors import LakeError
from lakelens.formats.paimon.metadata.schema import PaimonSchema
from lakelens.formats.paimon.skeleton.columns import ColumnBook
from lakelens.formats.paimon.skeleton.places import PlaceBook

_KNOWN_TYPES = """HASH DELETION_VECTORS btree bitmap multivalue full-text lumina ivf-flat ivf-pq ivf-sq ivf-rq diskann
es-index"""
_INDEX_TYPES = frozenset(_KNOWN_TYPES.split())
Row = Callable[[bytes, Sequence[PaimonField]], bytes]


class RecordWalk:
    """Walks over records: `is_noting` gathers values and names, else they are replaced."""

    def __init__(
        self,
        book: ColumnBook,
        places: PlaceBook,
        partition: Sequence[PaimonField],
        find_schema: Callable[[int], PaimonSchema | None],
    ) -> None:
        self._book, self._places, self._partition = book, places, partition
        self._find_schema = find_schema
        self.is_noting = False
        #: names of data and index files
        self.files: dict[str, None] = {}

    def _row(self, data: Any, columns: Sequence[PaimonField] | None) -> Any:
        if not isinstance(data, bytes):
            return data
        if columns is None:
            self._book.redaction.note("rows whose schema cannot be read are zeros of the same length")
            return bytes(len(data))
        if self.is_noting:
            self._book.note_row(data, columns)
            return data
        return self._book.write_row(data, columns)

    def _stats(self, stats: Any, columns: Sequence[PaimonField] | None) -> Any:
        if not isinstance(stats, Mapping):
            return stats
        made = dict(stats)
        for name in ("_MIN_VALUES", "_MAX_VALUES"):
            made[name] = self._row(stats.get(name), columns)
        return made

    def _name(self, name: Any, place: Callable[[str], str]) -> Any:
        if not isinstance(name, str):
            return name
        self.files[name] = None
        return name if self.is_noting else place(name)

    def write_line(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """A line of a manifest list."""
        made = dict(record)
        if isinstance(made.get("_FILE_NAME"), str) and not self.is_noting:
            made["_FILE_NAME"] = self._places.manifest(made["_FILE_NAME"])
        made["_PARTITION_STATS"] = self._stats(record.get("_PARTITION_STATS"), self._partition)
        return made

    def write_entry(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """An entry of a manifest."""
        made = dict(record)
        self._book.learn_buckets(record.get("_TOTAL_BUCKETS"))
        made["_PARTITION"] = self._row(record.get("_PARTITION"), self._partition)
        if isinstance(record.get("_FILE"), Mapping):
            made["_FILE"] = self._write_file(record["_FILE"])
        return made

    def _write_file(self, file: Mapping[str, Any]) -> dict[str, Any]:
        made = dict(file)
        schema = self._find_schema(file.get("_SCHEMA_ID") or 0)
        keys = None if schema is None else schema.key_columns
        made["_FILE_NAME"] = self._name(file.get("_FILE_NAME"), self._places.data)
        for name in ("_MIN_KEY", "_MAX_KEY"):
            made[name] = self._row(file.get(name), keys)
        made["_KEY_STATS"] = self._stats(file.get("_KEY_STATS"), keys)
        made["_VALUE_STATS"] = self._stats(file.get("_VALUE_STATS"), self._find_columns(schema, file))
        for name in ("_VALUE_STATS_COLS", "_WRITE_COLS"):
            if isinstance(file.get(name), list):
                made[name] = [self._column(str(one)) for one in file[name]]
        if isinstance(file.get("_EXTRA_FILES"), list):
            made["_EXTRA_FILES"] = self._write_extra(file["_EXTRA_FILES"])
        if file.get("_EMBEDDED_FILE_INDEX") is not None:
            self._book.redaction.note("file indexes, which hold values or hashes of them, are left out")
            made["_EMBEDDED_FILE_INDEX"] = None
        if isinstance(file.get("_EXTERNAL_PATH"), str):
            made["_EXTERNAL_PATH"] = self._places.external(file["_EXTERNAL_PATH"])
        return made

    def _write_extra(self, names: Sequence[Any]) -> list[Any]:
        kept = [name for name in names if not str(name).endswith(".index")]
        if len(kept) < len(names):
            self._book.redaction.note("file indexes, which hold values or hashes of them, are left out")
        return [self._name(name, self._places.data) for name in kept]

    def _find_columns(
        self, schema: PaimonSchema | None, file: Mapping[str, Any]
    ) -> Sequence[PaimonField] | None:
        try:
            return None if schema is None else schema.find_stats_columns(file)
        except LakeError:
            return None

    def _column(self, name: str) -> str:
        names = self._book.redaction.names
        return name if name.startswith("_") else names.find_column(name) or names.word("no-column-", name)

    def write_index(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """An entry of an index manifest."""
        made = dict(record)
        made["_PARTITION"] = self._row(record.get("_PARTITION"), self._partition)
        made["_FILE_NAME"] = self._name(record.get("_FILE_NAME"), self._places.index)
        if record.get("_INDEX_TYPE") not in _INDEX_TYPES:
            made["_INDEX_TYPE"] = "other"
        ranges = record.get("_DELETIONS_VECTORS_RANGES")
        if isinstance(ranges, list):
            made["_DELETIONS_VECTORS_RANGES"] = [
                {**one, "f0": self._name(one.get("f0"), self._places.data)}
                if isinstance(one, Mapping)
                else one
                for one in ranges
            ]
        if isinstance(record.get("_EXTERNAL_PATH"), str):
            made["_EXTERNAL_PATH"] = self._places.external(record["_EXTERNAL_PATH"])
        if isinstance(record.get("_GLOBAL_INDEX"), Mapping):
            found = {**record["_GLOBAL_INDEX"]}
            made["_GLOBAL_INDEX"] = found | {
                key: None for key in ("_INDEX_META", "_SOURCE_META") if key in found
            }
        return made
