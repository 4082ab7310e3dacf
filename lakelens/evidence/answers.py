"""What the answers to questions claim: sums of what is cited, and for each file the fact that decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from lakelens.evidence.claims import ANY, Address, Claim
from lakelens.evidence.nouns import (
    MOST_PARTS,
    MOST_THINGS,
    claim_facts,
    claim_file,
    claim_partition,
    claim_totals,
    list_files,
    list_lines,
    sum_files,
)
from lakelens.evidence.places import Places
from lakelens.evidence.verdicts import claim_agreement, claim_measures, claim_terms


def claim_explanation(table: Any, explanation: Any) -> Iterator[Claim]:
    """Claim how many files are read and how many are not, their bytes and rows; for each what its metadata says."""
    places, snapshot = Places(table), explanation.snapshot
    if snapshot is not None:
        yield from claim_facts(places, "snapshot", snapshot.id, says="snapshot", thing=snapshot)
    kept, skipped = (list(islice(files, MOST_THINGS)) for files in (explanation.kept, explanation.skipped))
    yield from sum_files(places, kept, "files that are read")
    yield from sum_files(places, skipped, "files that are not read")
    if len(kept) + len(skipped) <= MOST_PARTS:
        yield from sum_files(places, [*kept, *skipped], "files that were judged")
    for says, files in (("a file that is not read", skipped), ("a file that is read", kept)):
        for file in files:
            yield from claim_partition(places, file, file.path.rpartition("/")[2])
            yield from claim_terms(places, explanation.known, file, says)


def claim_health(table: Any, health: Any) -> Iterator[Claim]:
    """Claim the figures that a verdict is about, as far as they follow from metadata: sizes, deletes, and how many files."""
    places, snapshot = Places(table), health.snapshot
    if snapshot is not None:
        yield from claim_facts(places, "snapshot", snapshot.id, says="snapshot", thing=snapshot)
    files = list_files(table, snapshot)
    yield from claim_totals(table, snapshot)
    data = [file for file in files if file.content == "data"]
    deletes = [file for file in files if file.content != "data"]
    yield from sum_files(places, deletes, "delete files")
    deleted = dict(_place_deleted(places, data, deletes))
    yield from claim_measures(places, health, data, [*chain.from_iterable(deleted.values())])
    for path, pair in deleted.items():
        yield Claim("deleted rows of the file, as a share", ANY, pair, "share", path.rpartition("/")[2])
    for fact in ("snapshots", "schemas"):
        if (place := places.find("table", fact)) is not None:
            yield Claim(f"{fact} that the metadata keeps", ANY, (place,))


def _place_deleted(
    places: Places, data: Iterable[Any], deletes: Iterable[Any]
) -> Iterator[tuple[str, tuple[Address, Address]]]:
    """Place how many rows the deletion vector of a file deletes, and how many it has."""
    vectors = {
        getattr(file, "referenced_data_file", None): places.find("file", "record_count", thing=file)
        for file in deletes
        if file.content == "deletion_vector"
    }
    for file in data:
        deleted = vectors.get(file.recorded_path) or places.find("file", "deleted_rows", thing=file)
        rows = places.find("file", "record_count", thing=file)
        if deleted is not None and rows is not None:
            yield file.path, (deleted, rows)


def claim_space(table: Any, space: Any) -> Iterator[Claim]:
    """Claim the bytes below the directory: of all files, of live ones, and by what the files are."""
    stored = list(islice(table.list_files(), MOST_THINGS + 1))
    if len(stored) <= MOST_PARTS:
        lengths = {file.path: _measure(file.path) for file in stored}
        yield Claim("files, number", space.files, tuple(lengths.values()), "count")
        yield Claim("size_bytes", space.size_bytes, tuple(lengths.values()), "sum")
        live = [file for file in list_files(table) if file.content == "data" and file.path in lengths]
        if live:
            yield Claim("live_bytes", space.live_bytes, tuple(lengths[file.path] for file in live), "sum")
    by_role: dict[str, list[Any]] = {}
    for file in stored:
        by_role.setdefault(file.role, []).append(file)
    for role, files in by_role.items():
        if len(files) <= MOST_PARTS:
            parts = tuple(_measure(file.path) for file in files)
            yield Claim(
                "bytes of files of one role", sum(file.size_bytes for file in files), parts, "sum", role
            )


def _measure(path: str) -> Address:
    return Address((path,), (), "length")


def claim_check(table: Any, check: Any) -> Iterator[Claim]:
    """Claim what is missing, what nobody refers to, where findings are; and of each live file that it is as recorded."""
    places = Places(table)
    for file in islice(check.missing, MOST_THINGS):
        yield Claim(
            "missing: no file is there", True, (Address((file.path,), (), "absence"),), "there", file.path
        )
    for noun, strays in (("orphan", check.orphans), ("young", check.young)):
        for file in islice(strays, MOST_THINGS):
            yield Claim(f"{noun}, size_bytes", file.size_bytes, (_measure(file.path),), about=file.path)
    for finding in islice(check.findings, MOST_THINGS):
        gone = Address((finding.path,), (), "absence")
        is_about = replace(_measure(finding.path), others=(gone,))
        yield Claim(f"{finding.severity}, {finding.code}: the file", True, (is_about,), "there", finding.path)
    if table.current is not None:
        yield from claim_facts(
            places, "snapshot", table.current.id, says="current snapshot", thing=table.current
        )
        yield from _compare_totals(places, table.current, list_files(table))
    yield from claim_totals(table)
    for file in list_files(table):
        yield from _compare_file(places, file)


def _compare_file(places: Places, file: Any) -> Iterator[Claim]:
    """Claim whether a file is as long, and has the same number of rows, as is recorded of it."""
    about = file.path.rpartition("/")[2]
    size, rows = (places.find("file", fact, thing=file) for fact in ("size_bytes", "record_count"))
    if size is not None and size.kind != "length" and file.content != "deletion_vector":
        yield from claim_agreement("size_bytes of the file", about, size, [_measure(file.path)], "")
    if rows is not None and rows.kind != "footer" and file.file_format == "parquet":
        footer = Address((file.path,), (), "footer")
        yield from claim_agreement("record_count in the footer of the file", about, rows, [footer], "")


def _compare_totals(places: Places, snapshot: Any, files: Iterable[Any]) -> Iterator[Claim]:
    """Claim whether the rows that a snapshot records are those of its files, and manifests as long as their list says."""
    data = [file for file in files if file.content == "data"]
    found = [places.find("file", "record_count", thing=file) for file in data]
    known = [place for place in found if place is not None]
    total = places.find("snapshot", "record_count", thing=snapshot)
    if len(known) == len(data):
        yield from claim_agreement("record_count of the snapshot", str(snapshot.id), total, known, "sum")
    for line in list_lines(snapshot) if places.knows("manifest") else ():
        size, path = places.find("manifest", "size_bytes", **line), line["thing"].path
        about = path.rpartition("/")[2]
        yield from claim_agreement("size_bytes of the manifest", about, size, [_measure(path)], "")


def claim_plan(table: Any, plan: Any) -> Iterator[Claim]:
    """Claim the files that a procedure would delete, each with its length, and their bytes."""
    deleted = list(islice(plan.deletes, MOST_THINGS))
    lengths = tuple(_measure(file.path) for file in deleted)
    if 0 < len(deleted) <= MOST_PARTS:
        yield Claim("files that would be deleted, number", len(deleted), lengths, "count")
        yield Claim(
            "files that would be deleted, size_bytes",
            sum(file.size_bytes for file in deleted),
            lengths,
            "sum",
        )
    for file, length in zip(deleted, lengths, strict=True):
        yield Claim(
            "would be deleted, size_bytes", file.size_bytes, (length,), about=file.path.rpartition("/")[2]
        )


def claim_biography(table: Any, life: Any) -> Iterator[Claim]:
    """Claim what metadata says of a file, and when the snapshots of its events were committed."""
    places = Places(table)
    yield from claim_file(places, life.file)
    given: Mapping[Any, None] = dict.fromkeys(event.snapshot_id for event in islice(life.events, MOST_THINGS))
    for number in given:
        if number is not None and table.has_snapshot(number):
            snapshot = table.snapshot(number)
            yield from claim_facts(places, "snapshot", number, says="snapshot of an event", thing=snapshot)
