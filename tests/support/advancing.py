"""Another writer in a few lines: a commit, the expiry of all states before it, and the removal of their files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import lakelens as ll


def advance_iceberg(root: Path) -> None:
    """A snapshot of the newest one's manifests, nothing before it, and only its files."""
    path = max(root.glob("metadata/*.metadata.json"))
    document = json.loads(path.read_text())
    last = document["snapshots"][-1]
    old = root / "metadata" / last["manifest-list"].rpartition("/")[2]
    new = old.with_name("snap-1-1-0.avro")
    shutil.copyfile(old, new)
    fresh = {**last, "snapshot-id": 1, "parent-snapshot-id": None}
    fresh |= {"sequence-number": last["sequence-number"] + 1, "timestamp-ms": last["timestamp-ms"] + 1}
    fresh["manifest-list"] = last["manifest-list"].replace(old.name, new.name)
    document.update({"snapshots": [fresh], "current-snapshot-id": 1, "statistics": []})
    document["last-sequence-number"] = fresh["sequence-number"]
    document["refs"] = {"main": {"snapshot-id": 1, "type": "branch"}}
    document["snapshot-log"] = [{"timestamp-ms": fresh["timestamp-ms"], "snapshot-id": 1}]
    name = "99999-aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa.metadata.json"
    path.with_name(name).write_text(json.dumps(document))
    for one in (root / "metadata").glob("snap-*.avro"):
        if one != new:
            one.unlink()


def advance_paimon(root: Path) -> None:
    """The newest snapshot again under the next number, and nothing that it does not need."""
    folder = root / "snapshot"
    ids = sorted(int(path.name.partition("-")[2]) for path in folder.glob("snapshot-*"))
    document = json.loads((folder / f"snapshot-{ids[-1]}").read_text())
    document["id"] = ids[-1] + 1
    (folder / f"snapshot-{ids[-1] + 1}").write_text(json.dumps(document))
    for hint in ("LATEST", "EARLIEST"):
        (folder / hint).write_text(str(ids[-1] + 1))
    for number in ids:
        (folder / f"snapshot-{number}").unlink()
    state = ll.open(root).current
    assert state is not None
    kept = {one.path for one in (*state.files, *state.manifests, *state.manifest_lists)}
    for path in (*root.glob("manifest/manifest-*"), *root.rglob("data-*.parquet")):
        if str(path) not in kept:
            path.unlink()


#: By format.
WRITERS: dict[str, Callable[[Path], None]] = {"iceberg": advance_iceberg, "paimon": advance_paimon}
