"""How the columns that a delete compares are found: by id, by a name mapping, by name, or from outside of the file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

from lakelens.errors import Corrupt
from lakelens.formats.iceberg.deletes.equality import DataKeys, KeySet, describe_keys
from lakelens.formats.iceberg.deletes.stored_columns import StoredColumns
from lakelens.formats.iceberg.table import IcebergTable
from lakelens.opening import open_table
from tests.support.iceberg_lakes import find_lakes


def open_copy(name: str, place: Path) -> Any:
    (lake,) = [lake for lake in find_lakes() if lake.name == name]
    if not place.exists():
        shutil.copytree(lake.table_path, place)
    table = open_table(place)
    assert isinstance(table, IcebergTable)
    return table


def test_a_dropped_column_is_still_compared(tmp_path: Path) -> None:
    """As the specification has it; the engine refuses to read such a table ("Cannot find required field for ID 2")."""
    table = open_copy("v2-equality-deletes-dropped", tmp_path / "t")
    assert [field.name for field in table.schema.fields] == ["id", "gone"]
    assert table.schema.field("gone").id != 2
    (file,) = [file for file in table.files if file.content == "data"]
    (match,) = file.deletes
    assert (match.columns, match.values) == (("gone#2",), (("b",),))
    assert list(match.positions) == [1] and file.live_record_count == 2


def write_plain(place: Path, kind: str, columns: dict[str, list[Any]]) -> None:
    table = pa.table(columns)
    if kind == "orc":
        pyarrow.orc.write_table(table, place)
    else:
        pq.write_table(table, place)


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_a_file_without_ids_is_read_by_name(kind: str, tmp_path: Path) -> None:
    context = open_copy("v2-equality-deletes", tmp_path / "t")._context
    place = tmp_path / f"f.{kind}"
    write_plain(place, kind, {"name": ["a", "b"], "id": [1, 2]})
    stored = StoredColumns(context, str(place), kind)
    assert (stored.find(1), stored.find(2)) == (stored.named("id"), stored.named("name"))
    assert stored.find(3) is None


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_a_file_without_ids_is_read_by_the_name_mapping(kind: str, tmp_path: Path) -> None:
    context = open_copy("v2-equality-deletes", tmp_path / "t")._context
    mapping = [
        {"field-id": 1, "names": ["id", "ident"]},
        {"names": ["ignored"]},
        {"field-id": 9, "names": ["st"], "fields": [{"field-id": 10, "names": ["x"]}]},
    ]
    context.properties = {"schema.name-mapping.default": json.dumps(mapping)}
    place = tmp_path / f"f.{kind}"
    write_plain(place, kind, {"ident": [7], "ignored": [1], "st": [{"x": 3, "y": 4}]})
    stored = StoredColumns(context, str(place), kind)
    columns = [stored.find(1), stored.find(10)]
    assert [[array.to_pylist() for array in batch] for batch in stored.batches(columns)] == [[[7], [3]]]
    assert stored.find(2) is None
    context.properties = {"schema.name-mapping.default": "[{"}
    assert StoredColumns(context, str(place), kind).find(1) is None


def test_a_column_that_only_the_partition_tells(tmp_path: Path) -> None:
    """Files of an imported table leave out the columns that their directories name: the partition value is theirs."""
    table = open_copy("v2-equality-deletes", tmp_path / "t")
    context = table._context
    file = next(file for file in table.files if file.content == "data" and file.partition["p"] == 0)
    place = tmp_path / "f.parquet"
    write_plain(place, "parquet", {"id": [1, 2, 1]})
    columns = describe_keys(context, (1, 3))
    assert [column.name for column in columns] == ["id", "p"]
    rows = DataKeys(context, file, columns, str(place), "parquet")
    assert list(rows.find(KeySet([pa.array([1, 2]), pa.array([0, 1])]))) == [0, 2]
    assert list(rows.find(KeySet([pa.array([1]), pa.array([None], pa.int64())]))) == []
    only = DataKeys(context, file, columns[1:], str(place), "parquet")
    assert list(only.find(KeySet([pa.array([0])]))) == list(range(file.record_count))


def test_an_equality_delete_that_lacks_what_it_compares_is_refused(tmp_path: Path) -> None:
    table = open_copy("v2-equality-deletes", tmp_path / "t")
    delete = next(file for file in table.files if file.content == "equality_deletes")
    write_plain(Path(delete.path), "parquet", {"other": [1]})
    reached = next(file for file in table.files if any(match.file is delete for match in file.deletes))
    with pytest.raises(Corrupt, match="without the column id that it compares"):
        _ = reached.deleted_positions


@pytest.mark.parametrize("name", ["a.b", "a"])
def test_a_name_with_a_dot_is_not_a_nested_one(name: str, tmp_path: Path) -> None:
    context = open_copy("v2-equality-deletes", tmp_path / "t")._context
    context.properties = {"schema.name-mapping.default": json.dumps([{"field-id": 1, "names": [name]}])}
    place = tmp_path / "f.parquet"
    write_plain(place, "parquet", {"a.b": ["dotted"], "a": [{"b": "nested"}]})
    stored = StoredColumns(context, str(place), "parquet")
    (batch,) = stored.batches([stored.find(1)])  # type: ignore[list-item]
    assert batch[0].to_pylist() == (["dotted"] if name == "a.b" else [{"b": "nested"}])
