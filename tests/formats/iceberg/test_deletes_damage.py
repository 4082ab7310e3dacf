"""Delete files and vectors with their bytes cut or flipped: a reading or a `LakeError`, never anything else."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakelens.errors import Corrupt, LakeError
from lakelens.formats.iceberg.deletes.positions import DeleteReader
from lakelens.formats.iceberg.table import IcebergTable
from lakelens.opening import open_table
from tests.support.iceberg_lakes import find_lakes
from tests.support.paimon_lakes import get_lake

# ORC is left out: pyarrow itself crashes on rare damage inside a stripe, see lakelens.codecs.orc.footer
NAMES = [
    "v2-position-deletes-avro",
    "v2-position-deletes-untidy",
    "v3-merge-on-read",
    "v2-equality-deletes-avro",
]


def copy_lake(name: str, place: Path) -> Path:
    import shutil

    (lake,) = [lake for lake in find_lakes() if lake.name == name]
    shutil.copytree(lake.table_path, place / "t")
    return place / "t"


def damage(stored: bytes, chance: random.Random) -> bytes:
    data = bytearray(stored)
    if chance.random() < 0.3:
        return bytes(data[: chance.randrange(len(data))])
    for _ in range(chance.randrange(1, 4)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)


def ask_everything(snapshot: Any) -> None:
    for file in snapshot.files:
        for match in file.deletes:
            for ask in (lambda m=match: len(m.positions), lambda m=match: len(m.values)):
                try:
                    ask()
                except LakeError:
                    continue
    counted = snapshot.count_live_rows()
    assert counted.count is None or 0 <= counted.count <= counted.recorded
    _ = snapshot.dangling_deletes


@pytest.mark.parametrize("name", [*NAMES, "v2-equality-deletes"])
def test_damaged_delete_files_of_iceberg(name: str, tmp_path: Path) -> None:
    place, chance = copy_lake(name, tmp_path), random.Random(11)
    paths = {Path(file.path) for file in open_table(place).files if file.content != "data"}
    kept = {path: path.read_bytes() for path in sorted(paths)}
    for _ in range(20):
        for path, stored in kept.items():
            path.write_bytes(damage(stored, chance))
        ask_everything(open_table(place).current)


@pytest.mark.parametrize("name", ["2.0.0-append-deletion-vectors", "2.0.0-append-deletion-vectors-bitmap64"])
def test_damaged_index_files_of_paimon(name: str, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(get_lake(name).table_path, tmp_path / "t")
    chance = random.Random(12)
    table = open_table(tmp_path / "t")
    kept = {Path(match.file.path) for match in table.current.deletion_vectors.values()}
    contents = {path: path.read_bytes() for path in sorted(kept)}
    for _ in range(20):
        for path, stored in contents.items():
            path.write_bytes(damage(stored, chance))
        ask_everything(open_table(tmp_path / "t").current)


def rewrite_deletes(place: Path, columns: dict[str, pa.Array]) -> Any:
    """The first position delete file of a table, with other content."""
    table = open_table(place)
    assert isinstance(table, IcebergTable)
    delete: Any = next(file for file in table.files if file.content == "position_deletes")
    pq.write_table(pa.table(columns), delete.path)
    return DeleteReader(table._context).read_all_positions(delete)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"file_path": pa.array(["a"]), "pos": pa.array([-1])}, "not a position"),
        ({"file_path": pa.array(["a", None]), "pos": pa.array([1, 2])}, "without a path"),
        ({"file_path": pa.array(["a", "b"]), "pos": pa.array([1, None])}, "not a position"),
        ({"file_path": pa.array(["a"]), "pos": pa.array(["x"])}, "positions that are not numbers"),
        ({"file_path": pa.array([b"\xff"]), "pos": pa.array([1])}, "paths that are not text"),
        ({"file_path": pa.array([[1]]), "pos": pa.array([1])}, "paths that are not text"),
        ({"somewhere": pa.array(["a"]), "pos": pa.array([1])}, "without its columns"),
    ],
)
def test_what_is_no_position_delete_is_refused(
    columns: dict[str, pa.Array], message: str, tmp_path: Path
) -> None:
    with pytest.raises(Corrupt, match=message):
        rewrite_deletes(copy_lake("v2-position-deletes-by-partition", tmp_path), columns)


def test_positions_without_field_ids_are_found_by_name(tmp_path: Path) -> None:
    columns = {
        "pos": pa.array([7, 3, 3, 2**40], pa.int64()),
        "file_path": pa.array(["b", "a", "b", "a"], pa.large_string()),
    }
    found = rewrite_deletes(copy_lake("v2-position-deletes-by-partition", tmp_path), columns)
    assert {path: list(positions) for path, positions in found.items()} == {"a": [3, 2**40], "b": [3, 7]}


def test_a_vector_with_endless_rows_takes_no_memory() -> None:
    """A few bytes may claim billions of rows: the bitmap holds them as runs, and only those that exist are counted."""
    from pyroaring import BitMap64, FrozenBitMap64

    from lakelens.model.deletes import DeleteMatch, unite_positions

    endless = BitMap64()
    endless.add_range(0, 1 << 32)
    match = DeleteMatch(None, "", "deletion_vector", "f", lambda: FrozenBitMap64(endless))  # type: ignore[arg-type]
    heard: list[int] = []
    assert len(unite_positions([match], 10, lambda _, last: heard.append(last))) == 10
    assert heard == [(1 << 32) - 1]
