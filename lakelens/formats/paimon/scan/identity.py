"""What distinguishes files, as one binary value for each: equal exactly where `PaimonDataFile.identity` is.

    8-byte little-endian words                                           then the contents, end to end
    flags  bucket  level  partition  name  extra  index  external        partition name extra index external
                          lengths, -1 for an absent index or external path

All lengths stand before all contents, so that no two different identities have the same encoding. `flags` says whether the
bucket and the level are known. The extra files are words and contents again: the length (-1: null) and the name of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakelens.formats.paimon.scan.entries import EntryRows, join_chunks
from lakelens.model.arrow import to_array
from lakelens.model.scan.columnar import NotColumnar

if TYPE_CHECKING:
    import pyarrow as pa

_NAMES = (
    "partition",
    "bucket",
    "level",
    "name",
    "extra",
    "index",
    "external",
)  # of `PaimonDataFile.identity`


def encode_identities(columns: pa.Table) -> pa.Array:
    """Encode one binary value for each row of `partition`, `bucket`, `level`, `name`, `extra`, `index`, `external`.

    >>> import pyarrow as pa
    >>> nulls = pa.nulls(2)
    >>> table = pa.table({"partition": nulls, "bucket": [0, 1], "level": nulls, "name": ["a", "a"],
    ...     "extra": nulls, "index": nulls, "external": nulls})
    >>> encode_identities(table).unique().to_pylist()[0].hex()[:48]
    '010000000000000000000000000000000000000000000000'
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = columns.num_rows
    bucket, level = (_whole(columns[name], pa.int64()) for name in ("bucket", "level"))
    texts = {name: _whole(columns[name], pa.binary()) for name in ("partition", "name", "index", "external")}
    texts["extra"] = encode_lists(join_chunks(columns["extra"]))
    known = [np.asarray(pc.is_valid(one).cast(pa.int64())) for one in (bucket, level)]
    words = np.empty((rows, 8), "<i8")
    words[:, 0] = known[0] | known[1] << 1
    words[:, 1], words[:, 2] = _fill(bucket, 0), _fill(level, 0)
    names = ("partition", "name", "extra", "index", "external")
    for place, name in enumerate(names, 3):
        absent = -1 if name in ("index", "external") else 0
        words[:, place] = _fill(pc.binary_length(texts[name]).cast(pa.int64()), absent)
    parts = [texts[name] for name in names if texts[name].null_count < rows]
    filled = [pc.fill_null(part, b"") for part in parts]
    return pc.binary_join_element_wise(_to_binary(words), *filled, b"")


def encode_rows(rows: EntryRows) -> pa.Array:
    """Encode the identity of each file of manifest entries."""
    import pyarrow as pa

    fields = (
        *(("_PARTITION", "bytes"), ("_BUCKET", "integer"), ("_LEVEL", "integer"), ("_FILE_NAME", "text")),
        *(("_EXTRA_FILES", "list"), ("_EMBEDDED_FILE_INDEX", "bytes"), ("_EXTERNAL_PATH", "text")),
    )
    columns = {name: rows.find(*field) for name, field in zip(_NAMES, fields, strict=True)}
    return encode_identities(pa.table(columns))


def encode_files(files: Sequence[Any]) -> pa.Array:
    """Encode the identities of files that were decoded one by one."""
    import pyarrow as pa

    kinds = (
        pa.binary(),
        pa.int64(),
        pa.int64(),
        pa.string(),
        pa.list_(pa.string()),
        pa.binary(),
        pa.string(),
    )
    identities = [file.identity for file in files]
    columns = [
        to_array([identity[place] for identity in identities], kind) for place, kind in enumerate(kinds)
    ]
    return encode_identities(pa.table(columns, names=_NAMES))


def encode_lists(lists: pa.Array) -> pa.Array:
    """Encode the texts of each list behind their lengths, end to end; null for a null list."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    lists = _whole(lists, pa.list_(pa.string()))
    values = lists.flatten()
    if not len(values):
        return pc.if_else(pc.is_valid(lists), b"", pa.scalar(None, pa.binary()))
    content = values.cast(pa.binary())
    lengths = _fill(pc.binary_length(content).cast(pa.int64()), -1).astype("<i8").reshape(-1, 1)
    items = pc.binary_join_element_wise(_to_binary(lengths), pc.fill_null(content, b""), b"")
    sizes = _fill(pc.list_value_length(lists), 0)
    offsets = pa.array(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32))
    joined = pc.binary_join(pa.ListArray.from_arrays(offsets, items), b"")
    return (
        joined
        if not lists.null_count
        else pc.if_else(pc.is_valid(lists), joined, pa.scalar(None, pa.binary()))
    )


def _whole(column: Any, kind: pa.DataType) -> pa.Array:
    import pyarrow as pa

    column = join_chunks(column)
    try:
        return column if column.type == kind else column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise NotColumnar(f"{column.type} is not {kind}") from error


def _fill(array: pa.Array, absent: int) -> Any:
    import pyarrow.compute as pc

    return pc.fill_null(array, absent).to_numpy(zero_copy_only=False)


def _to_binary(words: Any) -> pa.Array:
    """Each row of a matrix of words as its bytes."""
    import pyarrow as pa

    width = words.shape[1] * 8
    fixed = pa.Array.from_buffers(pa.binary(width), len(words), [None, pa.py_buffer(words)])
    return fixed.cast(pa.binary())
