"""The two readers of live files agree: by column and action by action, on every fixture and version, and on logs made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lakelens as ll
from lakelens.formats.delta.live_files import LiveFiles
from lakelens.formats.delta.version import DeltaSnapshot
from lakelens.model.fileset import FileSet
from lakelens.model.scan.files_to_arrow import build_table
from lakelens.model.scan.scan_to_arrow import read_table
from tests.formats.delta.test_log import METADATA, PROTOCOL, add, remove, write_checkpoint, write_commit

LAKES = Path(__file__).resolve().parents[2] / "lakes/delta"
TABLES = sorted(path.parent for path in LAKES.glob("*/*/table"))


def compare_readers(snapshot: DeltaSnapshot) -> bool:
    """Compare both; whether the columns could be read without the records."""
    scan = LiveFiles(snapshot).plan()
    columns = read_table(scan)
    files = FileSet(
        lambda: snapshot._make_files(snapshot.state.files.values()), lambda: snapshot.context.file_columns
    )
    records = build_table(list(files), snapshot.context.file_columns)
    if columns is None:
        return False
    assert columns.schema == records.schema
    assert columns.to_pylist() == records.to_pylist()
    for names in (["path"], ["record_count", "partition"], ["upper_bounds"], ["modified", "vector_id"]):
        some = read_table(scan, columns=names)
        assert some is not None
        assert some.to_pylist() == records.select(names).to_pylist()
    identities = [batch.identity for batch in scan.read(scan.tasks, _identify(), scan.removals())]
    assert pa.chunked_array(identities, pa.binary()).to_pylist() == scan.encode(list(files)).to_pylist()
    return True


def _identify() -> Any:
    from lakelens.model.scan.plan import ScanRequest

    return ScanRequest(False, (), identity=True)


@pytest.mark.parametrize("folder", TABLES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_both_readers_agree_on_what_engines_wrote(folder: Path) -> None:
    """Every column of every version."""
    for snapshot in ll.open(folder / "table").snapshots:
        assert isinstance(snapshot, DeltaSnapshot)
        assert compare_readers(snapshot)


_TEXTS = st.sampled_from(
    ["a", "b", "./c", "x%20y", "x=A%252FA/a", "s3://b/t/a", "/abs/a", "file:///t/a", "ü%C3", "d/%2e/e"]
)
_NUMBERS = st.one_of(st.integers(-5, 5), st.sampled_from([None, 3.0, 2**70, "3", True]))
_BOUNDS = st.sampled_from(
    [
        None,
        1,
        -(2**63),
        2**64,
        1.5,
        "text",
        "z" * 32,
        "😀" * 16,
        "2024-01-31T10:11:12.123Z",
        "NaN",
        True,
        {},
        {"x": 1},
    ]
)
_STATS = st.one_of(
    st.none(),
    st.sampled_from(
        [
            "",
            "{",
            "[]",
            "1",
            "{}\n{}",
            ' {"numRecords":1}',
            '{"numRecords":1}{"numRecords":2}',
            '{"numRecords":NaN}',
        ]
    ),
    st.fixed_dictionaries(
        {},
        optional={
            "numRecords": _NUMBERS,
            "tightBounds": st.sampled_from([True, False, None]),
            "minValues": st.dictionaries(
                st.sampled_from(["id", "p", "q", "t", "u", "f"]), _BOUNDS, max_size=3
            ),
            "maxValues": st.dictionaries(
                st.sampled_from(["id", "p", "q", "t", "u", "f"]), _BOUNDS, max_size=3
            ),
            "nullCount": st.dictionaries(st.sampled_from(["id", "q", "t"]), _NUMBERS, max_size=3),
        },
    ).map(json.dumps),
)
_VECTORS = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {
            "storageType": st.sampled_from(["u", "i", "p"]),
            "pathOrInlineDv": st.sampled_from(["ab", "c"]),
            "sizeInBytes": st.just(3),
        },
        optional={"offset": st.integers(0, 1), "cardinality": st.integers(0, 3)},
    ),
)
_ADDS = st.builds(
    lambda path, stats, vector, size, parts: (
        add(path, size=size, partitionValues=parts) | {}
        if stats is None and vector is None
        else add(path, size=size, partitionValues=parts, stats=stats, deletionVector=vector)
    ),
    _TEXTS,
    _STATS,
    _VECTORS,
    _NUMBERS,
    st.sampled_from([{"p": "x"}, {"p": None}, {}, {"p": ""}, {"p": "a/b", "q": "c"}]),
)
_REMOVES = st.builds(lambda path, vector: remove(path, deletionVector=vector), _TEXTS, _VECTORS)
_COMMITS = st.lists(st.lists(st.one_of(_ADDS, _ADDS, _REMOVES), max_size=6), min_size=1, max_size=5)
_FIELDS = {"q": "string", "t": "timestamp", "u": "timestamp_ntz", "f": "double"}
_WIDER = {
    "metaData": METADATA["metaData"]
    | {
        "schemaString": json.dumps(
            {
                "type": "struct",
                "fields": [
                    *json.loads(METADATA["metaData"]["schemaString"])["fields"],  # type: ignore[arg-type]
                    *(
                        {"name": name, "type": kind, "nullable": True, "metadata": {}}
                        for name, kind in _FIELDS.items()
                    ),
                ],
            }
        )
    }
}


@given(commits=_COMMITS, checkpointed=st.lists(_ADDS, max_size=4), is_checkpointed=st.booleans())
def test_both_readers_agree_on_logs_made_up(
    tmp_path_factory: pytest.TempPathFactory,
    commits: list[Any],
    checkpointed: list[Any],
    is_checkpointed: bool,
) -> None:
    """Renewed, removed, added again; odd paths, odd statistics, vectors."""
    root = tmp_path_factory.mktemp("log")
    first = 0
    if is_checkpointed:
        unique = {json.dumps(action["add"]["path"]): action for action in checkpointed}
        plain = [
            {"add": {k: v for k, v in one["add"].items() if k != "deletionVector"}} for one in unique.values()
        ]
        for one in plain:
            size = one["add"]["size"]
            one["add"]["size"] = size if type(size) is int and size < 2**63 else None
        write_checkpoint(root, 4, [PROTOCOL, _WIDER, *plain])
        first = 5
    else:
        write_commit(root, 0, PROTOCOL, _WIDER)
        first = 1
    for number, actions in enumerate(commits):
        write_commit(root, first + number, *actions)
    table = ll.open(root)
    assert table.current is not None
    assert isinstance(table.current, DeltaSnapshot)
    compare_readers(table.current)
