"""How an INSERT writes a Paimon table: data files, a base list, a manifest and its delta list, a snapshot, and a hint."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from lakelens.codecs.avro.records import decode_records
from lakelens.practice.commits.lake import (
    Commit,
    Format,
    Lake,
    load_json,
    load_lake,
    rewrite_avro,
    write_json,
)

STEPS = ("data files", "base list", "manifest and delta list", "snapshot", "hint")


def start_lake() -> Lake:
    """The table as it is after its first INSERT."""
    later = {path for number in (1, 2) for path in _list_files(number)}
    files = {path: data for path, data in load_lake("paimon").items() if path not in later}
    return Lake({**files, "snapshot/LATEST": b"1"})


@cache
def _find_snapshot(number: int) -> Mapping[str, Any]:
    return load_json(load_lake("paimon"), f"snapshot/snapshot-{number + 1}")


def _list_files(number: int) -> list[str]:
    """List the files of one of the three INSERTs, counted from 0: data files, lists, manifest, snapshot."""
    snapshot, lake = _find_snapshot(number), load_lake("paimon")
    delta = f"manifest/{snapshot['deltaManifestList']}"
    [manifest] = [f"manifest/{record['_FILE_NAME']}" for record in decode_records(lake[delta])]
    data = [f"bucket-0/{entry['_FILE']['_FILE_NAME']}" for entry in decode_records(lake[manifest])]
    return [
        *data,
        f"manifest/{snapshot['baseManifestList']}",
        manifest,
        delta,
        f"snapshot/snapshot-{number + 1}",
    ]


def insert(lake: Lake, number: int, is_atomic: bool) -> Commit:
    """Insert two rows as Spark does. The snapshot's name is taken by a rename that fails where it is taken already.

    Without such a rename the writer looks first whether the name is free, and then writes: two steps. Where another commit
    came first, lists and manifest are removed and made again on top of it.
    """
    stored = load_lake("paimon")
    *data, base, manifest, delta, _ = _list_files(number)
    for path in data:
        yield STEPS[0]
        lake.write(path, stored[path])
    attempt, steps = 0, STEPS[1:4]
    while True:
        yield steps[0]
        latest = max(
            int(path.rpartition("-")[2]) for path in lake.files if path.startswith("snapshot/snapshot-")
        )
        before = load_json(lake.files, f"snapshot/snapshot-{latest}")
        names = [_count_on(base, 2 * attempt), _count_on(manifest, attempt), _count_on(delta, 2 * attempt)]
        lists = [f"manifest/{before[key]}" for key in ("baseManifestList", "deltaManifestList")]
        earlier = [record for path in lists for record in decode_records(lake.files[path])]
        lake.write(names[0], rewrite_avro(stored[base], earlier))
        yield steps[1]
        lake.write(names[1], stored[manifest])
        yield steps[1]
        named = {"_FILE_NAME": names[1].partition("/")[2]}
        lake.write(
            names[2],
            rewrite_avro(stored[delta], [{**record, **named} for record in decode_records(stored[delta])]),
        )
        target = f"snapshot/snapshot-{latest + 1}"
        is_free = target not in lake.files  # what a writer knows that only looks
        document = write_json(_make_snapshot(number, latest + 1, before, names))
        if is_atomic:
            yield steps[2]
            temporary = f"snapshot/.snapshot-{latest + 1}.{number}.tmp"
            lake.write(temporary, document)
            yield steps[2]
            is_free = target not in lake.files
            lake.move(temporary, target) if is_free else lake.remove(temporary)
        elif is_free:
            yield steps[2]
            lake.write(target, document)
        if is_free:
            break
        yield steps[2]
        lake.remove(*names)
        attempt, steps = attempt + 1, (steps[2],) * 3
    yield STEPS[4]
    lake.write("snapshot/LATEST", str(latest + 1).encode())


def _count_on(path: str, more: int) -> str:
    """The name of a file that the same commit makes later: the number at its end is larger."""
    return re.sub(r"\d+$", lambda match: str(int(match[0]) + more), path)


def _make_snapshot(number: int, id: int, before: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    snapshot = dict(_find_snapshot(number))
    total = before["totalRecordCount"] + snapshot["deltaRecordCount"]
    base, _, delta = (name.partition("/")[2] for name in names)
    return {
        **snapshot,
        "id": id,
        "baseManifestList": base,
        "deltaManifestList": delta,
        "totalRecordCount": total,
    }


FORMAT = Format("paimon", STEPS, "atomic rename", start_lake, insert)
