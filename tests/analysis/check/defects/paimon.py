"""For each rule of Paimon's book: an engine-written table, and what the defective writer would have left in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import lakelens as ll
from tests.support import footers
from tests.support.rewriting import Record, rewrite_avro, rewrite_document

Plant = Callable[[Path], None]
EMPTY_ROW = bytes(12)  # a BinaryRow without fields, its arity in front


def plant_total_rows(place: Path) -> None:
    """The rows of a compaction's output are added to those of its input."""
    latest = sorted(place.glob("snapshot/snapshot-*"))[-1]
    rewrite_document(
        latest, lambda snapshot: snapshot.update(totalRecordCount=snapshot["totalRecordCount"] + 3)
    )


def change_manifests(place: Path, change: Callable[[list[Record]], Any], role: str = "delta") -> None:
    snapshot = ll.open(place).current
    assert snapshot is not None
    for listed in snapshot.manifest_lists:
        if listed.role == role:
            sizes = {Path(one.path).name: rewrite_avro(Path(one.path), change) for one in listed.manifests}

            def note(lines: list[Record], sizes: dict[str, int] = sizes) -> None:
                for line in lines:
                    line["_FILE_SIZE"] = sizes[line["_FILE_NAME"]]

            rewrite_avro(Path(str(listed.path)), note)


def plant_added_twice(place: Path) -> None:
    change_manifests(
        place, lambda entries: entries.extend([entry for entry in entries if entry["_KIND"] == 0])
    )


def plant_dropped_stats(place: Path) -> None:
    schema = sorted(place.glob("schema/schema-*"))[-1]
    rewrite_document(
        schema, lambda document: document["options"].update({"manifest.delete-file-drop-stats": "true"})
    )

    def drop(entries: list[Record]) -> None:
        for entry in entries:
            none = {"_MIN_VALUES": EMPTY_ROW, "_MAX_VALUES": EMPTY_ROW, "_NULL_COUNTS": []}
            entry["_FILE"] |= {"_VALUE_STATS": none, "_VALUE_STATS_COLS": []}

    for role in ("base", "delta"):
        change_manifests(place, drop, role)


def rewrite_data(place: Path, change: Callable[[Any], None]) -> None:
    for file in ll.open(place).files:
        footers.rewrite_footer(Path(file.path), change)


def plant_plain_timestamps(place: Path) -> None:
    def forget(footer: Any) -> None:
        for element in footer[footers.SCHEMA][1][1]:
            if b"TIMESTAMP" in element.get(4, [8, b""])[1].upper() or element.get(6, [5, -1])[1] in (9, 10):
                element.pop(6, None)
                element.pop(10, None)

    rewrite_data(place, forget)


#: code of the rule, the table, what is planted, and a table of the same writer that does not show it
PLANTED: list[tuple[str, str, Plant, str]] = [
    ("total-rows-of-compaction", "spark/paimon/pk-compacted", plant_total_rows, "spark/paimon/pk-compacted"),
    ("file-added-twice", "spark/paimon/append", plant_added_twice, "spark/paimon/append"),
    (
        "stats-dropped-by-compaction",
        "paimon-java/2.0.0-pk-level-upgrade",
        plant_dropped_stats,
        "paimon-java/2.0.0-pk-level-upgrade",
    ),
    (
        "timestamp-without-type",
        "spark/paimon/types-parquet",
        plant_plain_timestamps,
        "spark/paimon/types-parquet",
    ),
]
