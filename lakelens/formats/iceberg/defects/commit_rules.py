"""What writers of Iceberg get wrong in what a commit records: partition ranges of its manifests, and its summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from lakelens.codecs.avro.schema import find_record
from lakelens.errors import LakeError
from lakelens.formats.defects import find_snapshots, list_sizes, read_entries, shorten
from lakelens.formats.iceberg.metadata.document import parse_snapshot_id
from lakelens.model.check.defect import Product, rule
from lakelens.model.facts.traits import parse_figure

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.finding import Finding
    from lakelens.model.stats import Partition


_WIDTHS = {"int": 4, "date": 4, "float": 4}
_MOST_READ = 500


@rule(
    "range-without-bounds",
    "partition ranges with neither bounds nor nulls",
    writers=(Product("clickhouse"),),
    threads=("ClickHouse/ClickHouse#118905", "ClickHouse/ClickHouse#118930"),
    shows="contains_null is false and both bounds are absent",
    severity="error",
)
def ranges_without_bounds(table: IcebergTable) -> Iterator[Finding]:
    """ClickHouse recorded no bounds for partition fields of most transforms, and said that there are no nulls either.

    Shows in manifest lists: a partition range with neither bounds nor nulls, over files that are there. A reader that
    follows the specification concludes that the field has no value at all, and skips the manifest.
    """
    found: dict[str, tuple[str, list[int]]] = {}
    for snapshot in table._known:
        for listed in snapshot.manifest_lists:
            for manifest in listed.walk()[0]:
                live = (manifest.added_files_count, manifest.existing_files_count)
                if manifest.path in found:
                    found[manifest.path][1].append(snapshot.id)
                elif any(count is None or count > 0 for count in live):
                    names = [
                        str(place)
                        for place, field in enumerate(manifest.partitions or ())
                        if field.get("contains_null") is False
                        and not field.get("contains_nan")
                        and field.get("lower_bound") is None
                        and field.get("upper_bound") is None
                    ]
                    if names:
                        found[manifest.path] = (", ".join(names), [snapshot.id])
    for path, (places, snapshots) in found.items():
        message = f"partition field {places}: neither bounds nor nulls; readers skip the manifest"
        yield ranges_without_bounds.report(shorten(table, path), message, snapshots)


@rule(
    "range-of-source",
    "partition ranges of the source column",
    writers=(Product("iceberg-rust"), Product("clickhouse")),
    threads=("apache/iceberg-rust#794", "ClickHouse/ClickHouse#118905"),
    shows="a bound wider than the partition field, or a partition value outside of the range",
    severity="error",
)
def ranges_of_source(table: IcebergTable) -> Iterator[Finding]:
    """iceberg-rust recorded in manifest lists the range of the column that a partition field is made from, not of the field.

    Shows in manifest lists: a bound that is wider than the type of the partition field (a timestamp of eight bytes where
    the day has four), or a file whose partition value is outside of the range. ClickHouse did so for `truncate` of an
    int.
    """
    manifests = (
        {manifest.path: manifest for manifest in table.current.manifests} if table.current is not None else {}
    )
    found = {path: message for path, one in manifests.items() if (message := _find_wide(table, one))}
    rest = [one for path, one in manifests.items() if path not in found and one.partitions]
    for path, partition in _list_partitions(table, rest):
        if path not in found and path in manifests:
            message = _find_outside(manifests[path], partition)
            if message is not None:
                found[path] = message
    for path, message in found.items():
        yield ranges_of_source.report(shorten(table, path), message, find_snapshots(table, [path]))


def _list_partitions(
    table: IcebergTable, manifests: Sequence[IcebergManifest]
) -> Iterator[tuple[str, Partition]]:
    """List the partitions of the live files of some manifests by column, each about once for each manifest."""
    import numpy as np
    import pyarrow.compute as pc

    from lakelens.formats.iceberg.scan.plan import plan_scan
    from lakelens.model.scan.plan import ScanRequest
    from lakelens.model.scan.scan_to_arrow import iterate_batches

    if not manifests:
        return
    rows = table.current.files.rows if table.current is not None else None
    if rows is not None:  # of many files it was read with them which partition each is in
        for files, _ in rows.parts:
            yield from files.pair_partitions("manifest")
        return
    request = ScanRequest(stats=False, columns=("manifest",), partitions=True)
    for batch in iterate_batches(plan_scan(table._context, manifests), request):
        if batch.partitions is None:
            continue
        partitions, places = batch.partitions
        encoded = pc.dictionary_encode(batch.plain["manifest"])
        pairs = encoded.indices.to_numpy().astype(np.int64) * len(partitions) + places.to_numpy()
        names = encoded.dictionary.to_pylist()
        for pair in np.unique(pairs).tolist():
            yield names[pair // len(partitions)], partitions[pair % len(partitions)]


def _find_wide(table: IcebergTable, manifest: IcebergManifest) -> str | None:
    columns = table._context.specs.columns(manifest.partition_spec_id) or ()
    for column, stored in zip(columns, manifest.partitions or (), strict=False):
        width = _WIDTHS.get(column.result.name) if column.result is not None else None
        for side in ("lower_bound", "upper_bound"):
            bound = stored.get(side)
            if width is not None and bound is not None and len(bound) > width:
                return f"{column.name}: a bound of {len(bound)} bytes, the field has {width}"
    return None


def _find_outside(manifest: IcebergManifest, partition: Partition) -> str | None:
    for one in manifest.partition_summary:
        value = partition.get(one.name)
        if one.lower is None or one.upper is None or value is None:
            continue
        # writers disagree on the order of these: Java's is another of UUIDs, and of characters beyond the first plane
        if isinstance(value, UUID) or (isinstance(value, str) and not value.isascii()):
            continue
        try:
            is_inside = value != value or one.lower <= value <= one.upper
        except TypeError:
            continue
        if not is_inside:
            return f"{one.name}: a file has {value}, the range is {one.lower} to {one.upper}"
    return None


@rule(
    "range-with-nan",
    "partition ranges with NaN as a bound",
    writers=(Product("paimon"),),
    threads=("apache/paimon#9188",),
    shows="a bound of a partition field is NaN",
    severity="warning",
)
def ranges_with_nan(table: IcebergTable) -> Iterator[Finding]:
    """Paimon's Iceberg metadata took NaN for the smallest or largest value of a partition field.

    Shows in manifest lists: a bound of a float or double field that is NaN, which the specification forbids.
    """
    for manifest in dict.fromkeys(table.current.manifests) if table.current is not None else ():
        for one in manifest.partition_summary:
            if any(isinstance(bound, float) and bound != bound for bound in (one.lower, one.upper)):
                message = f"{one.name}: the range is {one.lower} to {one.upper}"
                path = manifest.path
                yield ranges_with_nan.report(shorten(table, path), message, find_snapshots(table, [path]))


@rule(
    "partition-of-unknown-spec",
    "entries partitioned by another spec than their manifest names",
    writers=(Product("iceberg-go"),),
    threads=("apache/iceberg-go#1855",),
    shows="partition fields of the entries are not in the manifest's spec",
    severity="error",
)
def unknown_spec(table: IcebergTable) -> Iterator[Finding]:
    """iceberg-go took the empty partition spec where it did not know the one of a file: the manifest names one spec, its
    entries another.

    Shows in manifests: entries have partition fields that the manifest's spec does not have.
    """
    manifests = dict.fromkeys(table.current.manifests) if table.current is not None else {}
    for number, manifest in enumerate(manifests):
        if number == _MOST_READ:
            return
        try:
            schema = manifest.header["schema"]
        except LakeError:
            continue
        stored = _list_fields(schema)
        known = {
            column.field_id for column in (table._context.specs.columns(manifest.partition_spec_id) or ())
        }
        unknown = [field for field in stored if field.get("field-id", -1) not in (*known, -1)]
        if unknown:
            names = ", ".join(str(field.get("name")) for field in unknown)
            message = f"its entries have the partition fields {names}, which spec {manifest.partition_spec_id} has not"
            yield unknown_spec.report(
                shorten(table, manifest.path), message, find_snapshots(table, [manifest.path])
            )


def _list_fields(schema: Any) -> list[dict[str, Any]]:
    """List the partition fields (102) of the data file (2) of an entry, by the Avro schema of a manifest."""
    record = find_record(schema)
    for number in (2, 102):
        fields = [field for field in (record or {}).get("fields", ()) if isinstance(field, dict)]
        record = next(
            (find_record(field.get("type")) for field in fields if field.get("field-id") == number), None
        )
    found = (record or {}).get("fields", ())
    return [field for field in found if isinstance(field, dict)]


@rule(
    "dropped-partition-source",
    "the source column of a partition spec in use was dropped",
    writers=(Product("iceberg"), Product("spark")),
    threads=("apache/iceberg#10234", "apache/iceberg-python#2771"),
    shows="a spec of the current manifests refers to a column that today's schema lacks",
    severity="warning",
)
def dropped_source(table: IcebergTable) -> Iterator[Finding]:
    """A column was dropped that an old partition spec is made from: engines cannot bind the spec and refuse the table.

    Shows in the metadata: a spec that manifests of the current snapshot follow has a source that today's schema lacks.
    """
    if table.current is None:
        return
    used = {manifest.partition_spec_id for manifest in table.current.manifests}
    today = {field.id for _, field in table.schema.walk()}
    for spec in table.specs:
        for field in spec.fields:
            if spec.id in used and field.source_id not in today and field.transform != "void":
                message = f"spec {spec.id}, field {field.name}: its column {field.source_id} was dropped"
                yield dropped_source.report(table.metadata_path, message, [table.current.id])


# What writers of Iceberg get wrong in what a commit records of itself: totals, and manifest lists that were not its own.

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
    sizes = list_sizes(table)
    for manifest, paths, rows, size in _list_alike(read_entries(table)):
        stored = [sizes.get(path) for path in paths]
        if None in stored:
            continue
        if size == sum(one or 0 for one in stored):
            message = (
                f"each of its {len(paths)} entries records {rows:,} rows and {size:,} bytes, "
                "which is what all the files have together"
            )
            yield insert_figures.report(shorten(table, manifest), message, find_snapshots(table, [manifest]))


def _list_alike(entries: pa.Table) -> Iterator[tuple[str, list[str], int, int]]:
    """List the manifests of several entries that all have the same rows and bytes: with their files and these figures."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names, steps = ("record_count", "size_bytes"), ("min", "max", "count")
    wanted = [(name, step) for name in names for step in steps]
    groups = entries.group_by("manifest", use_threads=False).aggregate([*wanted, ("path", "count")])
    is_alike = pc.greater(groups["path_count"], 1)
    for name in names:
        is_same = pc.equal(groups[f"{name}_min"], groups[f"{name}_max"])
        is_known = pc.equal(groups[f"{name}_count"], groups["path_count"])
        is_alike = pc.and_(is_alike, pc.and_(is_same, is_known))
    chosen = groups.filter(is_alike)
    if not chosen.num_rows:
        return
    some = entries.filter(pc.is_in(entries["manifest"], value_set=pa.array(chosen["manifest"].to_pylist())))
    paths: dict[str, list[str]] = {}
    for manifest, path in zip(some["manifest"].to_pylist(), some["path"].to_pylist(), strict=True):
        paths.setdefault(manifest, []).append(path)
    columns = (chosen[name].to_pylist() for name in ("manifest", "record_count_min", "size_bytes_min"))
    for manifest, rows, size in zip(*columns, strict=True):
        yield manifest, paths[manifest], rows, size


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
    for snapshot in table._known:
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
    for snapshot in table._known:
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
        for snapshot in table._known
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
    for snapshot in table._known:
        key = tuple(snapshot.summary.get(name) for name in _KEYS)
        adds = parse_figure(snapshot.summary, "added-data-files") or 0
        if key[0] is not None and key[2] is not None and adds and snapshot.picked_from is None:
            seen.setdefault(key, []).append(snapshot.id)
    for (job, _, checkpoint), snapshots in seen.items():
        if len(snapshots) > 1:
            message = f"checkpoint {checkpoint} of job {job} was committed {len(snapshots)} times, with files each time"
            yield checkpoint_twice.report(table.metadata_path, message, snapshots)
