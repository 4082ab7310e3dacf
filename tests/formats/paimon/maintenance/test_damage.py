"""Damaged tables: a plan says what it could not know, or that the engine fails; nothing worse happens."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from lakelens.errors import LakeError
from lakelens.formats.paimon.maintenance.procedures import PROCEDURES
from lakelens.formats.paimon.table import PaimonTable
from lakelens.model.maintenance import Proposal
from lakelens.opening import open_table
from tests.support import LAKES
from tests.support.paimon_lakes import get_lake

GIVEN: dict[str, dict[str, Any]] = {
    "compact": {},
    "expire_snapshots": {"retain_max": 1},
    "expire_partitions": {"expiration_time": "1 d"},
    "delete_tag": {"tag": "t1"},
    "expire_tags": {"older_than": "2100-01-01"},
    "remove_orphan_files": {"older_than": "2100-01-01"},
    "rollback": {"version": "1"},
}


def copy_lake(name: str, tmp_path: Path) -> Path:
    return Path(shutil.copytree(get_lake(name).table_path, tmp_path / "table"))


def propose(place: Path, procedure: str, **options: Any) -> Proposal:
    table = open_table(place)
    assert isinstance(table, PaimonTable)
    found = PROCEDURES[procedure]
    return found.plan(table, found.read_options(options))


def test_an_unreadable_snapshot_that_would_go_stops_the_expiry(tmp_path: Path) -> None:
    place = copy_lake("append-compacted", tmp_path)
    (place / "snapshot/snapshot-2").write_text("{")
    proposal = propose(place, "expire_snapshots", retain_max=1, engine="0.9")
    assert not proposal.deletes and "Snapshot 2 cannot be read: the engine fails" in proposal.notes[0]
    young = propose(place, "expire_snapshots", older_than="2100-01-01", engine="0.9")
    assert young.refusal is not None and "snapshot 2" in young.refusal and not young.deletes


def test_an_unreadable_tag_stops_what_looks_at_tags(tmp_path: Path) -> None:
    place = copy_lake("append-compacted", tmp_path)
    (place / "tag").mkdir()
    (place / "tag/tag-t1").write_text("not json")
    for procedure in ("expire_snapshots", "delete_tag", "expire_tags", "remove_orphan_files"):
        refusal = propose(place, procedure, **GIVEN[procedure]).refusal
        assert refusal is not None and "tag t1 cannot be read" in refusal


def test_a_missing_manifest_makes_orphans_of_what_its_snapshot_needs(tmp_path: Path) -> None:
    place = copy_lake("append", tmp_path)
    old = open_table(place).snapshot(1)
    (manifest,) = old.manifests
    Path(manifest.path).unlink()
    files = {file.path for file in open_table(place).snapshot(2).delta_files}
    proposal = propose(place, "remove_orphan_files", older_than="2100-01-01", engine="0.9")
    gone = {piece.path for piece in proposal.deletes}
    assert files <= gone and any("for one that is being deleted" in note for note in proposal.notes)
    newer = propose(place, "remove_orphan_files", older_than="2100-01-01", engine="2.0")
    assert not {piece.path for piece in newer.deletes} & files


def test_a_damaged_manifest_stops_the_removal_of_orphans(tmp_path: Path) -> None:
    place = copy_lake("append", tmp_path)
    (manifest,) = open_table(place).snapshot(1).manifests
    Path(manifest.path).write_bytes(b"Obj\x01 and nothing")
    refusal = propose(place, "remove_orphan_files", older_than="2100-01-01").refusal
    assert refusal is not None and "the engine stops" in refusal


def test_a_missing_manifest_of_the_current_snapshot_stops_compactions(tmp_path: Path) -> None:
    place = copy_lake("append-compacted", tmp_path)
    current = open_table(place).current
    assert current is not None
    Path(current.manifests[-1].path).unlink()
    for procedure in ("compact",):
        assert "the engine fails" in (propose(place, procedure).refusal or "")


def test_a_missing_delta_manifest_leaves_what_the_commit_removed(tmp_path: Path) -> None:
    place = copy_lake("pk-compacted", tmp_path)
    whole = propose(place, "expire_snapshots", retain_max=1)
    data = {piece.path for piece in whole.deletes if piece.role == "data"}
    table = open_table(place)
    compacted = next(one for one in table.snapshots if one.operation == "COMPACT")
    (listed,) = [one for one in compacted.manifest_lists if one.role == "delta"]
    for manifest in listed.manifests:
        Path(manifest.path).unlink()
    left = propose(place, "expire_snapshots", retain_max=1)
    assert data and not data & {piece.path for piece in left.deletes}
    assert any(note.startswith("Unread: ") for note in left.notes)


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("procedure", GIVEN)
@pytest.mark.parametrize("engine", ["0.9", "2.0"])
def test_no_damage_of_any_one_document_is_a_traceback(procedure: str, engine: str, tmp_path: Path) -> None:
    place = copy_lake("2.0.0-tags", tmp_path)
    tag = next(path.name.removeprefix("tag-") for path in (place / "tag").iterdir())
    options = {**GIVEN[procedure], "engine": engine}
    if "tag" in options:
        options["tag"] = tag
    documents = [
        path for path in sorted(place.rglob("*")) if path.is_file() and path.parent.name != "bucket-0"
    ]
    for document in documents:
        kept = document.read_bytes()
        for damage in (None, b"", b"{", kept[: len(kept) // 2]):
            if damage is None:
                document.unlink()
            else:
                document.write_bytes(damage)
            try:
                proposal = propose(place, procedure, **options)
                assert proposal.call
            except LakeError:
                pass
            document.write_bytes(kept)


def test_nonsense_is_refused_by_name() -> None:
    lake = get_lake("append").table_path
    with pytest.raises(LakeError, match="no snapshot 99"):
        propose(lake, "rollback", version="99")
    with pytest.raises(LakeError, match="no tag nothing"):
        propose(lake, "delete_tag", tag="nothing")
    with pytest.raises(LakeError, match="retain_max"):
        proposal = propose(lake, "expire_snapshots", retain_max=1, retain_min=2)
        raise LakeError(proposal.refusal or "")
    with pytest.raises(LakeError, match="no rules of Paimon 7"):
        propose(lake, "expire_snapshots", engine="7")
    with pytest.raises(LakeError, match="expiration_time"):
        propose(lake, "expire_partitions")
    with pytest.raises(LakeError, match="no partition column"):
        propose(lake, "compact", partitions="dt=1")


HOSTILE = (
    {"num-sorted-run.compaction-trigger": "-5", "num-levels": "-1"},
    {"num-sorted-run.compaction-trigger": "0", "compaction.size-ratio": "9" * 400},
    {"target-file-size": "0", "compaction.min.file-num": "-3", "compaction.max.file-num": "0"},
    {"target-file-size": "9" * 400 + " tb", "snapshot.time-retained": "9" * 30 + " d", "bucket": "9" * 40},
    {"partition.expiration-time": "999999999 d", "partition.timestamp-formatter": "yyyy yyyy"},
    {"partition.timestamp-formatter": "S" * 100_000, "partition.timestamp-pattern": "$dt" * 50_000},
    {"partition.timestamp-formatter": "'", "partition.expiration-strategy": "when I like"},
    {"snapshot.num-retained.min": "-9", "snapshot.num-retained.max": "-10", "snapshot.expire.limit": "0"},
    {"changelog-producer": "maybe", "merge-engine": "??", "deletion-vectors.enabled": "perhaps"},
)


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("lake", ["pk-levels", "append-bins", "append-in-buckets", "days"])
@pytest.mark.parametrize("options", HOSTILE, ids=lambda options: next(iter(options)))
def test_no_option_of_a_table_is_a_traceback(lake: str, options: dict[str, str], tmp_path: Path) -> None:
    place = Path(shutil.copytree(LAKES / "maintenance/paimon" / lake / "table", tmp_path / "table"))
    (document,) = (place / "schema").glob("schema-*")
    raw = json.loads(document.read_text())
    raw["options"] |= options
    document.write_text(json.dumps(raw))
    for procedure, given in GIVEN.items():
        for more in ({"full": False}, {"full": True}) if procedure == "compact" else ({},):
            asked = {key: value for key, value in given.items() if key != "expiration_time"}
            for engine in ("0.9", "2.0"):
                with suppress(LakeError):
                    propose(place, procedure, **{**asked, **more, "engine": engine})


def test_a_gap_of_many_numbers_takes_no_time(tmp_path: Path) -> None:
    place = copy_lake("append-compacted", tmp_path)
    far = 10**17
    text = (place / "snapshot/snapshot-5").read_text()
    (place / f"snapshot/snapshot-{far}").write_text(text.replace('"id" : 5', f'"id" : {far}'))
    (place / "snapshot/LATEST").write_text(str(far))
    for engine in ("0.9", "2.0"):
        proposal = propose(place, "expire_snapshots", older_than="2100-01-01", engine=engine)
        assert len(proposal.lost) + len(proposal.kept) == 6
        propose(place, "rollback", version="1", engine=engine)
