"""The live files of a state, worked out from files alone by the rules of each format's specification."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote

import fastavro
import pyarrow.parquet as pq


def _read_avro(path: Path) -> list[dict[str, object]]:
    with path.open("rb") as file:
        return list(fastavro.reader(file))  # type: ignore[arg-type]


def list_live(root: Path, format: str) -> dict[str, int]:
    """The recorded paths of the live files of the current state, deletes among them, with their recorded sizes."""
    return {"iceberg": _list_iceberg, "paimon": _list_paimon, "delta": _list_delta}[format](root)


def _list_iceberg(root: Path) -> dict[str, int]:
    """Scan Planning: the entries of the manifests in the list of the current snapshot that are not DELETED."""
    document = json.loads(max((root / "metadata").glob("*.metadata.json")).read_text())
    (snapshot,) = (s for s in document["snapshots"] if s["snapshot-id"] == document["current-snapshot-id"])
    live: dict[str, int] = {}
    for line in _read_avro(root / "metadata" / Path(snapshot["manifest-list"]).name):
        for entry in _read_avro(root / "metadata" / Path(str(line["manifest_path"])).name):
            file = entry["data_file"]
            assert isinstance(file, dict)
            if entry["status"] != 2:
                live[f"{file['file_path']}@{file.get('content_offset')}"] = file["file_size_in_bytes"]
    return live


def _list_paimon(root: Path) -> dict[str, int]:
    """Manifest: what is added and not deleted, over the manifests of the base and the delta list of the newest snapshot."""
    newest = max((root / "snapshot").glob("snapshot-*"), key=lambda path: int(path.name.partition("-")[2]))
    document = json.loads(newest.read_text())
    added: dict[str, int] = {}
    deleted = set()
    for name in (document["baseManifestList"], document["deltaManifestList"]):
        for line in _read_avro(root / "manifest" / name):
            for entry in _read_avro(root / "manifest" / str(line["_FILE_NAME"])):
                file = entry["_FILE"]
                assert isinstance(file, dict)
                key = f"{entry['_PARTITION']!r}/{entry['_BUCKET']}/{file['_LEVEL']}/{file['_FILE_NAME']}"
                if entry["_KIND"] == 0:
                    added[key] = file["_FILE_SIZE"]
                else:
                    deleted.add(key)
    return {key: size for key, size in added.items() if key not in deleted}


def _list_delta(root: Path) -> dict[str, int]:
    """Action Reconciliation: commits one after the other; where the first ones are gone, from a checkpoint on."""
    log = root / "_delta_log"
    commits = sorted(path for path in log.glob("*.json") if path.stem.isdigit())
    first = int(commits[0].stem)
    live: dict[str, int] = {}
    if first > 0:
        checkpoint = max(log.glob("*.checkpoint.parquet"))
        for row in pq.read_table(checkpoint).to_pylist():
            if row["add"] is not None:
                live[unquote(row["add"]["path"])] = row["add"]["size"]
        commits = [path for path in commits if int(path.stem) > int(checkpoint.name.partition(".")[0])]
    for commit in commits:
        actions = [json.loads(line) for line in commit.read_text().splitlines() if line.strip()]
        for action in actions:
            if "remove" in action:
                live.pop(unquote(action["remove"]["path"]), None)
        for action in actions:
            if "add" in action:
                live[unquote(action["add"]["path"])] = action["add"]["size"]
    return live
