"""Position delete files decoded in batches against the same rows taken one by one."""

from __future__ import annotations

from unittest.mock import patch

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lakelens.formats.iceberg.deletes import positions
from lakelens.formats.iceberg.deletes.positions import _Grouping

ROWS = st.lists(st.tuples(st.sampled_from(["a", "b/c", "é", "z"]), st.integers(0, 2**40)), max_size=40)


@given(ROWS, st.booleans(), st.booleans(), st.integers(1, 9), st.integers(1, 12))
def test_positions_by_path(
    rows: list[tuple[str, int]], is_sorted: bool, is_dictionary: bool, size: int, grouped: int
) -> None:
    rows = sorted(rows) if is_sorted else rows
    grouping = _Grouping("f")
    with patch.object(positions, "_GROUPED_ROWS", grouped):
        for start in range(0, len(rows), size):
            batch = rows[start : start + size]
            paths = pa.array([path for path, _ in batch], pa.string())
            given_paths = paths.dictionary_encode() if is_dictionary else paths
            grouping.add(given_paths, pa.array([position for _, position in batch], pa.int64()))
        grouping.group()
    naive: dict[str, set[int]] = {}
    for path, position in rows:
        naive.setdefault(path, set()).add(position)
    assert {path: set(found) for path, found in grouping.by_path.items()} == naive
    assert grouping.rows == len(rows)
    assert grouping.is_unsorted == (rows != sorted(rows))
