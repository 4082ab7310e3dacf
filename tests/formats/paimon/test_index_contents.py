"""What index files of Paimon hold: hashes and deleted rows, decoded when they are asked for, as the engine counts them."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from lakelens.codecs.bitmaps.deletion_vector import decode_hash_index
from lakelens.errors import Corrupt, LakeError, Missing
from lakelens.formats.paimon.manifests.index import HashIndexFile, PaimonIndexFile, VectorIndexFile
from lakelens.formats.paimon.table import PaimonTable
from lakelens.io.memory import MemoryStore
from lakelens.model.table import Table
from lakelens.opening import open_in_store
from tests.codecs.bitmaps.test_deletion_vector import decode_vectors
from tests.support.paimon_lakes import get_lake, list_lakes


def list_present(table: PaimonTable) -> list[PaimonIndexFile]:
    """The index files of the snapshots whose files are there."""
    files = [file for snapshot in table.snapshots for file in snapshot.index_files]
    return [file for file in files if isinstance(file, PaimonIndexFile) and Path(file.path).is_file()]


def test_every_index_file_of_the_engine_tells_its_contents() -> None:
    seen = {"HASH": 0, "DELETION_VECTORS": 0}
    for lake in list_lakes():
        for table, _ in lake.views():
            for file in list_present(table):
                data = Path(file.path).read_bytes()
                if isinstance(file, HashIndexFile):
                    assert file.hashes.tolist() == decode_hash_index(data).tolist()
                    assert len(file.hashes) == file.row_count
                elif isinstance(file, VectorIndexFile):
                    ranges = [(one["data_file"], one["offset"], one["length"]) for one in file.ranges]
                    assert dict(file.vectors) == decode_vectors(data, ranges)
                    counts = {one["data_file"]: one["cardinality"] for one in file.ranges}
                    assert all(counts[name] in (None, len(rows)) for name, rows in file.vectors.items())
                else:
                    assert file.global_index is not None and not hasattr(file, "hashes")
                    continue
                seen[file.index_type] += 1
    assert all(seen.values())


def get_first(table: Table) -> PaimonIndexFile:
    """The first index file of today's snapshot."""
    assert table.current is not None
    file = table.current.index_files[0]
    assert isinstance(file, PaimonIndexFile)
    return file


def test_a_vector_is_read_when_it_is_asked_for() -> None:
    table = get_lake("2.0.0-pk-deletion-vectors").open()
    file = get_first(table)
    assert isinstance(file, VectorIndexFile)
    before = table.reads.bytes
    vectors = file.vectors
    assert list(vectors) == [one["data_file"] for one in file.ranges] and table.reads.bytes == before
    (name,) = vectors
    assert len(vectors[name]) == file.ranges[0]["cardinality"] and table.reads.bytes > before
    assert repr(vectors) == "<Vectors of 1 data file>"
    with pytest.raises(KeyError):
        vectors["another"]


def test_what_cannot_be_read_is_told() -> None:
    stored = {
        f"/t/{path.relative_to(root).as_posix()}": path.read_bytes()
        for root in [get_lake("2.0.0-pk-dynamic-bucket").table_path]
        for path in root.rglob("*")
        if path.is_file()
    }
    file = get_first(open_in_store(MemoryStore(stored), "/t"))
    assert isinstance(file, HashIndexFile)
    alone = pickle.loads(pickle.dumps(file))
    with pytest.raises(LakeError, match="no open table"):
        _ = alone.hashes
    stored[file.path] += b"x"
    damaged = get_first(open_in_store(MemoryStore(stored), "/t"))
    assert isinstance(damaged, HashIndexFile)
    with pytest.raises(Corrupt, match="cut inside a hash") as caught:
        _ = damaged.hashes
    assert caught.value.path == file.path
    del stored[file.path]
    gone = get_first(open_in_store(MemoryStore(stored), "/t"))
    assert isinstance(gone, HashIndexFile)
    with pytest.raises(Missing, match="is not there"):
        _ = gone.hashes


def test_a_card_shows_hashes_when_more_is_asked_for() -> None:
    file = get_first(get_lake("2.0.0-pk-dynamic-bucket").open())
    assert "Hashes" not in file.to_text()
    assert "1 key hash" in file.to_text(detail=2)
