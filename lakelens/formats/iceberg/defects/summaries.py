"""What writers of Iceberg get wrong in what a commit records of itself: totals, and manifest lists that were not its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.defects.evidence import find_snapshots, list_sizes, read_entries, shorten
from lakelens.formats.iceberg.metadata.snapshot_index import parse_snapshot_id
from lakelens.model.check.defect import Product, rule
from lakelens.model.facts.traits import parse_figure

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding

_PAIRS = (
    ("total-records", "added-records"),
    ("total-data-files", "added-data-files"),
    ("total-files-size", "added-files-size"),
)
_KEYS = ("flink.job-id", "flink.operator-id", "flink.max-committed-checkpoint-id")


@rule(
    "figures-of-insert",
    "each entry has the rows and bytes of the whole insert",
    writers=(Product("clickhouse"),),
    threads=("ClickHouse/ClickHouse#104321",),
    shows="entries of one manifest with the same figures, which are the sum of their files",
    severity="error",
)
def insert_figures(table: IcebergTable) -> Iterator[Finding]:
    """ClickHouse recorded, in every entry of an insert into a partitioned table, the rows and bytes of all its files.

    Shows in a manifest: all entries have the same rows and the same bytes, which are those of their files added up.
    """
    entries, sizes = read_entries(table), list_sizes(table)
    grouped: dict[str, list[tuple[str, int, int]]] = {}
    columns = (entries[name].to_pylist() for name in ("manifest", "path", "record_count", "size_bytes"))
    for manifest, path, rows, size in zip(*columns, strict=True):
        grouped.setdefault(manifest, []).append((path, rows, size))
    for manifest, found in grouped.items():
        figures = {(rows, size) for _, rows, size in found}
        stored = [sizes.get(path) for path, _, _ in found]
        if len(found) < 2 or len(figures) > 1 or None in stored:
            continue
        ((rows, size),) = figures
        total = sum(one or 0 for one in stored)
        if size == total:
            message = (
                f"each of its {len(found)} entries records {rows:,} rows and {size:,} bytes, "
                "which is what all the files have together"
            )
            yield insert_figures.report(shorten(table, manifest), message, find_snapshots(table, [manifest]))


@rule(
    "totals-of-commit",
    "totals of a summary count this commit alone",
    writers=(Product("iceberg-rust"),),
    threads=("apache/iceberg-rust#2391", "apache/iceberg-rust#2390"),
    shows="an append's total-* equal its added-* though its parent has some",
    severity="warning",
)
def totals_of_commit(table: IcebergTable) -> Iterator[Finding]:
    """iceberg-rust looked for the summary of the snapshot that it was about to make, found none, and began its totals at 0.

    Shows in summaries: an append whose totals are what it added, though its parent has rows or files.
    """
    for snapshot in table.walk_snapshots():
        parent = snapshot.parent
        if parent is None or snapshot.operation != "append":
            continue
        wrong = [
            total
            for total, added in _PAIRS
            if (figure := parse_figure(snapshot.summary, total)) is not None
            and figure == (parse_figure(snapshot.summary, added) or 0) > 0
            and (parse_figure(parent.summary, total) or 0) > 0
        ]
        if wrong:
            said = ", ".join(f"{key} {snapshot.summary[key]}" for key in wrong)
            message = f"{said}: as many as this commit added; those of snapshot {parent.id} are not counted"
            yield totals_of_commit.report(table.metadata_path, message, [snapshot.id])


@rule(
    "totals-of-nothing",
    "summaries that count nothing",
    writers=(Product("iceberg-rust", "0.6.0", "0.8.0"),),
    threads=("apache/iceberg-rust#1767", "ArroyoSystems/arroyo#1038"),
    shows="added-data-files is 0 or absent, and manifests of the commit add files",
    severity="warning",
)
def totals_of_nothing(table: IcebergTable) -> Iterator[Finding]:
    """iceberg-rust summed up a commit after its list of added files had been taken away: its summaries count nothing.

    Shows in summaries: an append with no files added, whose manifest list has manifests of this snapshot with added files.
    """
    for snapshot in table.walk_snapshots():
        summary = snapshot.summary
        if snapshot.operation != "append" or (parse_figure(summary, "added-data-files") or 0) > 0:
            continue
        if not any(key.startswith(("added-", "total-")) for key in summary):
            continue  # it records no figures at all, which is allowed
        added = sum(
            manifest.added_files_count or 0
            for listed in snapshot.manifest_lists
            for manifest in listed.walk()[0]
            if manifest.added_snapshot_id == snapshot.id and manifest.content == "data"
        )
        if added:
            message = f"the summary says that no file was added, its manifests add {added:,}"
            yield totals_of_nothing.report(table.metadata_path, message, [snapshot.id])


@rule(
    "manifest-list-of-attempt",
    "a manifest list of another attempt to commit",
    writers=(Product("iceberg"),),
    threads=("apache/iceberg#14195", "apache/iceberg#9406"),
    shows="a manifest list is gone, and another one of its snapshot id is there",
    severity="error",
)
def list_attempt(table: IcebergTable) -> Iterator[Finding]:
    """A metadata document names the manifest list of one attempt to commit, and that of another attempt is what was kept.

    Shows in the listing: the manifest list of a snapshot is gone, and another one of the same snapshot id is there.
    """
    sizes = list_sizes(table)
    lost = {
        snapshot.id: snapshot.path
        for snapshot in table.walk_snapshots()
        if snapshot.path is not None and snapshot.path not in sizes
    }
    if not lost:
        return
    for path in sizes:
        number = parse_snapshot_id(path.rpartition("/")[2])
        if number in lost:
            gone = str(lost[number])
            message = f"it is gone, and {shorten(table, path)} is there: the list of another attempt"
            yield list_attempt.report(shorten(table, gone), message, [number])


@rule(
    "checkpoint-committed-twice",
    "a checkpoint that was committed twice",
    writers=(Product("flink"),),
    threads=("apache/iceberg#10765",),
    shows="two snapshots with files have the same job, operator and checkpoint",
    severity="warning",
)
def checkpoint_twice(table: IcebergTable) -> Iterator[Finding]:
    """Flink committed the files of a checkpoint in two snapshots: rows are there twice.

    Shows in summaries: two snapshots of the same job and operator name the same checkpoint and both add files.
    """
    seen: dict[tuple[str | None, ...], list[int]] = {}
    for snapshot in table.walk_snapshots():
        key = tuple(snapshot.summary.get(name) for name in _KEYS)
        adds = parse_figure(snapshot.summary, "added-data-files") or 0
        if key[0] is not None and key[2] is not None and adds and snapshot.picked_from is None:
            seen.setdefault(key, []).append(snapshot.id)
    for (job, _, checkpoint), snapshots in seen.items():
        if len(snapshots) > 1:
            message = f"checkpoint {checkpoint} of job {job} was committed {len(snapshots)} times, with files each time"
            yield checkpoint_twice.report(table.metadata_path, message, snapshots)
