"""The bytes behind the files of a Paimon table: data files, their indexes, index files and the vectors in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakelens.codecs.kinds import explain
from lakelens.codecs.paimon.types import PaimonType
from lakelens.errors import LakeError, Missing
from lakelens.formats.explain.caption import Caption, count_bytes, join_clauses, name_file
from lakelens.formats.explain.stored import (
    explain_file,
    explain_range,
    find_child,
    focus_on,
    kind_of_format,
    make_explanation,
)
from lakelens.formats.paimon.explain.objects import describe_entry, locate_in_entry
from lakelens.io.store import Store
from lakelens.model.explanation import Explanation

if TYPE_CHECKING:
    from lakelens.formats.paimon.context import TableContext
    from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
    from lakelens.formats.paimon.manifests.index import PaimonIndexFile

_EMBEDDED = "_FILE._EMBEDDED_FILE_INDEX"
_INDEX_KINDS = {
    "HASH": "hash_index",
    "DELETION_VECTORS": "paimon_dv_index",
    "btree": "global_index",
    "bitmap": "global_index",
}


def explain_data_file(file: PaimonDataFile, store: Store) -> Explanation:
    """The stored file, by its own magic."""
    caption = Caption(place=name_file(file.path), details=describe_entry(file))
    return explain_file(store, file.path, kind_of_format(file.file_format), caption)


def explain_file_index(file: PaimonDataFile, store: Store) -> Explanation:
    """The index over the columns of a data file: embedded in its manifest entry, or a file of its own beside it."""
    data = file.embedded_file_index
    types = _list_types(file)
    if data is not None:
        caption = Caption(
            "File index", count_bytes(len(data)), f"{_EMBEDDED} of {file.file_name}", describe_entry(file)
        )
        base = locate_in_entry(file, _EMBEDDED, data, store)
        return make_explanation(
            data, explain(data, "file_index", types=types), caption, path=file.manifest, base=base
        )
    name = next((name for name in file.extra_files if name.endswith(".index")), None)
    if name is None:
        raise LakeError(
            "the data file has no file index", path=file.path, hint="bytes_view() shows the file itself"
        )
    path = f"{file.path.rpartition('/')[0]}/{name}"
    caption = Caption("File index", place=name, details=f"beside {file.file_name}")
    return explain_file(store, path, "file_index", caption, types=types)


def _list_types(file: PaimonDataFile) -> dict[str, PaimonType]:
    """The types of the columns, which values in bitmap indexes need; none where the schema is missing."""
    try:
        return {column.name: column.type for column in file.schema.columns}
    except LakeError:
        return {}


def explain_index_file(file: PaimonIndexFile, context: TableContext) -> Explanation:
    """The stored index file; of deletion vectors each with the data file it is for."""
    kind = "global_index" if file.global_index is not None else _INDEX_KINDS.get(file.index_type, "")
    more: dict[str, Any] = {"ranges": file.ranges} if kind == "paimon_dv_index" else {}
    if kind == "global_index":
        more["type"] = _find_key_type(file, context)
    if file.global_index is not None:
        column = context.schema.find_column(file.global_index.get("index_field_id", -1))
        more = {"type": None if column is None else column.type}
    caption = Caption(
        f"Index file {file.index_type}", place=name_file(file.path), details=describe_index(file)
    )
    return explain_file(context.store, file.path, kind, caption, **more)


def _find_key_type(file: PaimonIndexFile, context: TableContext) -> PaimonType | None:
    """The type of the column that a global index is over, which the keys in it need."""
    column = context.schema.find_column((file.global_index or {}).get("index_field_id", ""))
    return None if column is None else column.type


def explain_vector(file: PaimonIndexFile, context: TableContext, data_file: str) -> Explanation:
    """The deletion vector of one data file inside its index file. Raises `Missing` when the file has none for it."""
    found = next((one for one in file.ranges if one["data_file"] == data_file), None)
    if found is None:
        names = ", ".join(str(one["data_file"]) for one in file.ranges[:5])
        raise Missing(
            f"no deletion vector of {data_file}", path=file.path, hint=f"there are {names or 'none'}"
        )
    whole = explain_index_file(file, context)
    cardinality = found["cardinality"]
    rows = "" if cardinality is None else f"{cardinality:,} deleted rows recorded"
    details = join_clauses(f"in {name_file(file.path)}", f"at byte {found['offset']}", describe_index(file))
    caption = Caption("Deletion vector", rows, f"of {data_file}", details)
    span = find_child(whole, found["offset"])
    if span is None:
        return explain_range(
            whole.data, "deletion_vector", found["offset"], found["length"], caption, path=file.path
        )
    return focus_on(whole, span, caption)


def describe_index(file: PaimonIndexFile) -> str:
    """Where an index file is spoken of: its manifest, bucket and partition."""
    bucket = "" if file.bucket is None else f"bucket {file.bucket}"
    partition = "" if file.partition is None else str(file.partition)
    place = f"{bucket} of {partition}" if bucket and partition else bucket or partition
    return join_clauses(place, f"named by {name_file(file.manifest)}" if file.manifest else "")
