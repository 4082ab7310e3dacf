"""Which deletes reach which files: the index against the rules of the specification written down file by file."""

from __future__ import annotations

import math
import random
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.errors import LakeError
from lakelens.formats.iceberg.deletes.dangling import find_dangling
from lakelens.formats.iceberg.deletes.matching import DeleteIndex
from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
from lakelens.formats.iceberg.metadata.columns import DELETE_FILE_PATH
from lakelens.io.relocation import Locator
from lakelens.model.stats import Partition
from lakelens.opening import open_table
from tests.support.iceberg_lakes import find_lakes
from tests.support.paimon_lakes import get_lake

CONTENT = {"data": 0, "position_deletes": 1, "deletion_vector": 1, "equality_deletes": 2}


class FakeColumns:
    def find(self, column_id: int) -> Any:
        return SimpleNamespace(id=column_id, name=f"c{column_id}", iceberg_type=None)


def make_context() -> Any:
    locator = Locator("/now/t", ["/was/t"], folders=("data", "metadata"))
    return SimpleNamespace(access=SimpleNamespace(locator=locator), columns=FakeColumns())


def make_file(
    context: Any,
    content: str,
    name: str,
    sequence: int,
    partition: Any,
    spec: int = 0,
    target: str | None = None,
    bounds: tuple[str, str] | None = None,
) -> IcebergDataFile:
    fields: dict[str, Any] = {
        "file_path": f"/was/t/data/{name}",
        "file_format": "puffin" if content == "deletion_vector" else "parquet",
        "content": CONTENT[content],
        "record_count": 10,
    }
    if target is not None:
        fields["referenced_data_file"] = f"/was/t/data/{target}"
    if content == "deletion_vector":
        fields["content_offset"] = 4
    if content == "equality_deletes":
        fields["equality_ids"] = [1]
    if bounds is not None:
        for key, bound in zip(("lower_bounds", "upper_bounds"), bounds, strict=True):
            fields[key] = {DELETE_FILE_PATH: f"/was/t/data/{bound}".encode()}
    values = {} if spec == 9 else {"p": partition}
    return IcebergDataFile(
        context,
        fields,
        lambda: Partition(values, {key: str(value) for key, value in values.items()}),
        spec_id=spec,
        manifest="m.avro",
        snapshot_id=1,
        sequence_number=sequence,
        file_sequence_number=sequence,
        first_row_id=None,
    )


SEQUENCE = st.integers(0, 4)
PARTITION = st.sampled_from([None, 0, math.nan, 0.0, -0.0])
SPEC = st.sampled_from([0, 1, 9])
NAME = st.sampled_from([f"f{i}" for i in range(6)])


@st.composite
def lakes(draw: st.DrawFn) -> tuple[Any, list[IcebergDataFile], list[IcebergDataFile]]:
    context = make_context()
    names = draw(st.lists(NAME, unique=True, max_size=6))
    data = [make_file(context, "data", name, draw(SEQUENCE), draw(PARTITION), draw(SPEC)) for name in names]
    deletes = []
    for place in range(draw(st.integers(0, 6))):
        content = draw(st.sampled_from(["position_deletes", "deletion_vector", "equality_deletes"]))
        target = bounds = None
        if content == "deletion_vector" or (content == "position_deletes" and draw(st.booleans())):
            target = draw(NAME)
        elif content == "position_deletes" and draw(st.booleans()):
            lower, upper = sorted((draw(NAME), draw(NAME)))
            bounds = (lower, upper)
        deletes.append(
            make_file(
                context, content, f"d{place}", draw(SEQUENCE), draw(PARTITION), draw(SPEC), target, bounds
            )
        )
    return context, data, deletes


def same_partition(data: IcebergDataFile, delete: IcebergDataFile) -> bool:
    if data.spec_id != delete.spec_id:
        return False
    left, right = data.partition.get("p"), delete.partition.get("p")
    if isinstance(left, float) and isinstance(right, float):
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) and math.isnan(right)
        return left == right and math.copysign(1, left) == math.copysign(1, right)
    return type(left) is type(right) and left == right


def reaches(data: IcebergDataFile, delete: IcebergDataFile) -> bool:
    """Scan planning as the specification words it, without what a vector does to position deletes."""
    born, deleted = data.sequence_number or 0, delete.sequence_number or 0
    if delete.content == "equality_deletes":
        return born < deleted and (delete.spec_id == 9 or same_partition(data, delete))
    if born > deleted or not same_partition(data, delete):
        return False
    if delete.target is not None:
        return delete.target == data.file_path
    lower, upper = (
        (bounds or {}).get(DELETE_FILE_PATH) for bounds in (delete.lower_bounds, delete.upper_bounds)
    )
    path = data.file_path.encode()
    return lower is None or upper is None or lower <= path <= upper


def naive(data: IcebergDataFile, deletes: list[IcebergDataFile]) -> set[str]:
    found = [delete for delete in deletes if reaches(data, delete)]
    if any(delete.content == "deletion_vector" for delete in found):
        found = [delete for delete in found if delete.content != "position_deletes"]
    return {delete.file_path for delete in found}


@given(lakes())
@settings(max_examples=300, deadline=None)
def test_matches_are_those_of_the_rules(drawn: Any) -> None:
    context, data, deletes = drawn
    index = DeleteIndex(deletes, SimpleNamespace(context=context))  # type: ignore[arg-type]
    for file in data:
        matches = index.match(file)
        assert {match.file.recorded_path for match in matches} == naive(file, deletes)
        assert len(matches) == len(naive(file, deletes))
        assert all(match.rule and match.data_file == file.file_path for match in matches)


@given(lakes())
@settings(max_examples=300, deadline=None)
def test_dangling_deletes_are_those_that_match_nothing(drawn: Any) -> None:
    context, data, deletes = drawn
    index = DeleteIndex(deletes, SimpleNamespace(context=context))  # type: ignore[arg-type]
    found = {dangling.file.recorded_path for dangling in find_dangling(index, [*data, *deletes], read=False)}
    reached = {path for file in data for path in naive(file, deletes)}
    # without reading, a delete file for a partition is not known to name only files that have vectors
    reached |= {
        delete.file_path
        for delete in deletes
        for file in data
        if delete.content == "position_deletes" and delete.target is None and reaches(file, delete)
    }
    assert found == {delete.file_path for delete in deletes} - reached


def test_many_files_with_many_deletes_are_matched_by_lookup() -> None:
    """Compared one with another they would be 60 million; the number of looks at a delete's sequence number is counted."""
    looks = 0

    class Counted(IcebergDataFile):
        @property
        def target(self) -> str | None:
            nonlocal looks
            looks += 1
            return super().target

    random.seed(7)
    context = make_context()
    data = [make_file(context, "data", f"f{i}", 1, i % 1000) for i in range(20_000)]
    deletes = [
        make_file(context, "deletion_vector", f"d{i}", 2, (i * 7) % 1000, target=f"f{i * 7 % 20_000}")
        for i in range(3_000)
    ]
    for delete in deletes:
        delete.__class__ = Counted
    index = DeleteIndex(deletes, SimpleNamespace(context=context))  # type: ignore[arg-type]
    assert sum(len(index.match(file)) for file in data) == 3_000
    assert not list(find_dangling(index, [*data, *deletes], read=False))
    assert looks < 20 * len(deletes)


def open_copy(name: str, place: Path) -> Any:
    (lake,) = [lake for lake in find_lakes() if lake.name == name]
    shutil.copytree(lake.table_path, place / "t")
    return open_table(place / "t")


def test_untidy_position_deletes_are_read_and_told(tmp_path: Path) -> None:
    """Unsorted, repeated, past the end, for files that are gone: each a finding or a dangling delete."""
    table = open_copy("v2-position-deletes-untidy", tmp_path)
    snapshot = table.snapshots[-2]  # before the third file was deleted
    deleted = sorted(
        (list(file.deleted_positions), [list(match.positions) for match in file.deletes])
        for file in snapshot.files
        if file.content == "data"
    )
    assert deleted == [([0, 7], [[0, 7], []]), ([1, 3], [[1, 3], [1, 99]]), ([4, 5], [[4], [], [5]])]
    assert {finding.code for finding in table.findings} >= {
        "unsorted-deletes",
        "repeated-deletes",
        "delete-past-the-end",
    }
    assert snapshot.live_record_count == 30 - 6
    (whole, partial) = sorted(table.current.dangling_deletes, key=lambda dangling: dangling.is_partial)
    assert not whole.is_partial and "is not live" in whole.reason and whole.record_count == 1
    assert partial.is_partial and len(partial.data_files) == 2 and partial.record_count == 2


def test_the_finding_of_dangling_deletes_comes_with_the_files_and_reads_no_delete_file(
    tmp_path: Path,
) -> None:
    table = open_copy("v2-rewrite-data-files", tmp_path)
    assert not [finding for finding in table.findings if finding.code == "dangling-deletes"]
    assert len(table.files)
    (found,) = [finding for finding in table.findings if finding.code == "dangling-deletes"]
    assert found.message == "2 delete files (2 deletes) reach no live data file"
    assert found.snapshots == (table.current.id,)
    assert not [path for path in table.reads.paths if "deletes" in path]


def test_deletes_follow_a_data_file_that_is_recorded_at_another_place(tmp_path: Path) -> None:
    """A manifest rewritten after a move names the data file where it lies now; the deletes still name the old place."""
    table = open_copy("v2-position-deletes-by-partition", tmp_path)
    files = [file for file in table.files if file.content == "data" and len(file.deleted_positions)]
    assert files
    for file in files:
        before = list(file.deleted_positions)
        moved = file.with_deletes(file._find_deletes)
        moved.file_path = file.path
        assert list(moved.deleted_positions) == before


@pytest.mark.parametrize("name", ["v2-position-deletes-orc", "v2-equality-deletes", "v3-merge-on-read"])
def test_a_damaged_delete_file_is_told_and_hides_nothing_else(name: str, tmp_path: Path) -> None:
    table = open_copy(name, tmp_path)
    places = {file.path for file in table.files if file.content != "data"}
    for place in places:
        stored = Path(place)
        stored.write_bytes(stored.read_bytes()[:20])
    reached = [file for file in table.files if file.deletes]
    assert reached
    assert any(is_unreadable(file) for file in reached)
    if name.startswith("v2"):  # the number of rows in a vector is taken from the manifest
        counted = table.current.count_live_rows()
        assert counted.count is None and "cannot be read" in counted.reason
        assert counted.at_least is not None and counted.at_least <= (counted.at_most or 0)
        assert [finding for finding in table.findings if finding.severity == "error"]


def is_unreadable(file: IcebergDataFile) -> bool:
    try:
        _ = file.deleted_positions
    except LakeError:
        return True
    return False


def test_vectors_without_their_data_files_are_dangling(tmp_path: Path) -> None:
    from lakelens.formats.paimon.deletes.positions import find_dangling as find_lost
    from lakelens.formats.paimon.deletes.positions import match_deletes

    table = get_lake("2.0.0-append-deletion-vectors").open()
    snapshot = table.current
    matches = match_deletes(snapshot.index_files, table._vector_reader)
    first, *others = sorted(matches)
    assert others
    (lost,) = find_lost({first: matches[first], others[0]: matches[others[0]]}, {first}) or (None,)
    assert lost is not None and lost.data_files == (others[0],)
    assert lost.record_count == matches[others[0]][0].cardinality
    assert find_lost(matches, set(matches)) == ()


def test_a_damaged_vector_of_paimon_is_told(tmp_path: Path) -> None:
    lake = get_lake("2.0.0-append-deletion-vectors-bitmap64")
    shutil.copytree(lake.table_path, tmp_path / "t")
    table = open_table(tmp_path / "t")
    for index in {match.file.path for match in table.current.deletion_vectors.values()}:
        data = bytearray(Path(index).read_bytes())
        data[-6] ^= 0xFF
        Path(index).write_bytes(bytes(data))
    assert table.current.live_record_count == len(lake.answers["rows"])  # the index manifest tells it
    with pytest.raises(LakeError):
        _ = [list(match.positions) for match in table.current.deletion_vectors.values()]


def test_counting_by_vectors_reads_none_of_them() -> None:
    table = get_lake("2.0.0-append-deletion-vectors").open()
    counted = table.current.live_rows
    assert (counted.count, counted.delete_files_read) == (counted.at_least, 0)
    assert not [path for path in table.reads.paths if "/index/index-" in path]
