"""Skeletons of every Paimon table: nothing in clear, the same counts, the same files skipped."""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.errors import Unsupported
from lakelens.formats.paimon.metadata.wire import SnapshotDocument
from lakelens.formats.paimon.skeleton.documents import PLAIN, SPECIFIED
from lakelens.formats.paimon.skeleton.record_walk import FIELDS
from tests.analysis.skeleton.states import compare_answers, count_parts, values_of
from tests.support import LAKES
from tests.support.clear_text import Clear, unpack
from tests.support.planned import list_lakes
from tests.support.rewriting import rewrite_avro
from tests.support.unpacked import unpack_samples

# keys of documents, types, names that Paimon gives Avro records, and how it names files
_WORDS = """
BOOLEAN TINYINT SMALLINT INT BIGINT FLOAT DOUBLE DECIMAL DATE TIME TIMESTAMP STRING VARCHAR CHAR BYTES BINARY VARBINARY
ARRAY MAP ROW MULTISET VARIANT BLOB VECTOR NOT NULL WITH LOCAL ZONE EARLIEST LATEST APPEND COMPACT OVERWRITE ANALYZE WRITE
HASH DELETION_VECTORS btree bitmap record__FILE__VALUE_STATS record__FILE__KEY_STATS record__PARTITION_STATS
record__GLOBAL_INDEX record__DELETIONS_VECTORS_RANGES org.apache.paimon.avro.generated.record namespace timestamp-millis
zstandard fields options primaryKeys consumer partitionKeys highestFieldId comment description defaultValue nextSnapshot
logOffsets file-index.columns file-index.bloom-filter.columns file-index.bitmap.columns file-index.bsi.columns
file-index.range-bitmap.columns pk-btree.index.columns pk-bitmap.index.columns bucket-key blob-descriptor-field vector-field
data-file.external-paths stats-mode aggregate-function items
"""
_NULLABLE = [
    f"{one} NOT NULL" for one in ("INT", "BIGINT", "STRING", "DOUBLE", "DATE", "SMALLINT", "TINYINT", "FLOAT")
]
_TYPES = ["BOOLEAN NOT NULL", "BYTES NOT NULL", "LOCAL TIME ZONE NOT NULL", "TIMESTAMP WITH LOCAL TIME ZONE"]
_KEYS = list(SnapshotDocument.__struct_encode_fields__)
# what pypaimon calls the records of manifests, and its own formats
_PYPAIMON = (
    "ManifestEntry DataFileMeta ManifestFileMeta record_KEY_STATS record_VALUE_STATS record_PARTITION_STATS"
    " lance mosaic vortex"
)
VOCABULARY = (*_WORDS.split(), *_NULLABLE, *_TYPES, *FIELDS, *SPECIFIED, *PLAIN, *_KEYS, *_PYPAIMON.split())
_STEP = 1 if os.environ.get("LAKELENS_EVERY_LAKE", "") not in ("", "0") else 5
_SAMPLES = [one.name for one in ll.sample() if one.name.startswith("paimon")]
CASES = [*(str(path) for path in list_lakes() if "paimon" in str(path)), *_SAMPLES][::_STEP]
counted: dict[str, int] = defaultdict(int)


def name_case(case: str) -> str:
    path = Path(case)
    return str(path.parent.relative_to(LAKES)) if path.is_absolute() else f"sample/{case}"


@pytest.mark.parametrize("case", CASES, ids=name_case)
def test_nothing_in_clear_and_everything_else(case: str, tmp_path: Path) -> None:
    place = Path(case) if Path(case).is_absolute() else unpack_samples() / case
    table = ll.open(place)
    path = table.skeleton(tmp_path / "made", seed=1)
    copy = ll.open(path)
    clear = Clear(place, values_of(table), VOCABULARY)
    assert clear.texts
    assert clear.search(unpack(Path(path))) == []
    assert count_parts(copy) == count_parts(table)
    assert [one.code for one in copy.findings] == [one.code for one in table.findings]
    # a predicate that a file index or the bucket of several columns decides is not the same question there
    if not any("index" in one.message or "bucket" in one.message for one in path.findings):
        compare_answers(table, copy, path, name_case(case), counted)


def test_as_many_predicates_were_compared_as_it_takes(request: pytest.FixtureRequest) -> None:
    ran = [item for item in request.session.items if item.name.startswith("test_nothing_in_clear")]
    if len(ran) < len(CASES):
        pytest.skip("only some of the tables were asked")
    print(dict(counted))
    assert counted["compared"] > 5 * len(CASES) and counted["refused"] < counted["compared"] // 10
    assert counted["skipped"] > counted["files"] // 5


def test_a_branch_of_a_skeleton_opens(tmp_path: Path) -> None:
    table = ll.open(LAKES / "paimon-java/2.0.0-branches/table")
    copy = ll.open(table.skeleton(tmp_path / "made", seed=1))
    was = {ref.type: 0 for ref in table.refs}
    for before, after in zip(sorted(table.refs, key=lambda ref: ref.name != "main"), copy.refs, strict=False):
        was[before.type] += 1
        assert (after.name == "main") == (before.name == "main")
    names = [ref.name for ref in copy.refs.branches if ref.name != "main"]
    assert names and all(len(ll.open(copy.location, branch=name).files) for name in names)


def test_a_wrong_count_is_minimised(tmp_path: Path) -> None:
    copied = tmp_path / "table"
    shutil.copytree(unpack_samples() / "paimon", copied)
    name = ll.open(copied).current.manifest_lists[-1].path.rpartition("/")[2]  # type: ignore[union-attr]
    rewrite_avro(copied / "manifest" / name, lambda lines: lines[0].update(_NUM_ADDED_FILES=77))

    def fails(path: str) -> bool:
        table = ll.open(path)
        for snapshot in table.snapshots:
            len(snapshot.files)
        return any(one.code == "manifest-counts" for one in table.findings)

    assert fails(str(copied))
    made = ll.minimize(ll.open(copied), fails, tmp_path / "smallest", tries=120)
    assert fails(made) and made.size_bytes < 20_000
    print(made.size_bytes)


def test_other_formats_say_that_they_cannot(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="Hive"):
        ll.sample("hive").skeleton(tmp_path / "made")
    assert list(tmp_path.iterdir()) == []
