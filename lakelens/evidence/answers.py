"""What the answers to questions claim: sums of what is cited, and for each file the fact that decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, islice
from typing import Any

from lakelens.analysis.explain.explanation import Explanation
from lakelens.evidence.claims import ANY, Address, Claim, Kind, Rule
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
from lakelens.model.driver import require_part

#: What two files are that are compared with one another.
_IS_SAME = Rule("=", ANY, "the same", "different", "compared")


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
    files = files if len(files) <= MOST_PARTS else []
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


def _compare_totals(places: Places, snapshot: Any, files: Sequence[Any]) -> Iterator[Claim]:
    """Claim whether the rows that a snapshot records are those of its files, and manifests as long as their list says."""
    data = [file for file in files if file.content == "data" and len(files) <= MOST_PARTS]
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
    yield from claim_file(Places(table), life.file)
    given = dict.fromkeys(event.snapshot_id for event in islice(life.events, MOST_THINGS))
    yield from _claim_commits(table, given, "snapshot of an event")


def claim_lives(table: Any, found: Any) -> Iterator[Claim]:
    """Claim the values that each version of a row has where it is stored, and the commits that brought and ended it."""
    numbers: dict[Any, None] = {}
    for version in islice(found.versions, MOST_THINGS):
        about = f"row {version.row}, version {version.number}"
        for name, value in version.values.items():
            place = Address((version.file,), (version.position, name), "record")
            if value is not None:
                yield Claim("value of a column in the file", value, (place,), about=f"{about}, {name}")
        ends = (end.snapshot_id for end in version.ends)
        numbers.update(
            dict.fromkeys((version.since_id, *(move.snapshot_id for move in version.moves), *ends))
        )
    yield from _claim_commits(table, numbers, "commit that touched a row")


def _claim_commits(table: Any, numbers: Iterable[Any], says: str) -> Iterator[Claim]:
    places = Places(table)
    for number in numbers:
        if number is not None and table.has_snapshot(number):
            yield from claim_facts(places, "snapshot", number, says=says, thing=table.snapshot(number))


def claim_comparison(table: Any, compared: Any) -> Iterator[Claim]:
    """Claim what the current snapshots of both places are, and where each file that is not the same is, and how long."""
    sides = (("a", compared.a), ("b", compared.b))
    for name, side in sides:
        if side.current is not None:
            says = f"current snapshot of {name}"
            yield from claim_facts(Places(side), "snapshot", side.current.id, says=says, thing=side.current)
    for difference in islice(compared.differences, MOST_THINGS):
        there = {"a": difference.a_bytes, "b": difference.b_bytes}
        paths = {name: f"{side.location.rstrip('/')}/{difference.relative_path}" for name, side in sides}
        about = difference.relative_path
        for name, size in there.items():
            if size is None:
                gone = Address((paths[name],), (), "absence")
                yield Claim(f"missing in {name}: no file is there", True, (gone,), "there", about)
            else:
                yield Claim(f"size_bytes in {name}", size, (_measure(paths[name]),), about=about)
        if None not in there.values():
            kind: Kind = "digest" if difference.state == "OTHER BYTES" else "length"
            one, other = (Address((path,), (), kind) for path in paths.values())
            yield Claim(f"{kind} in a and in b", ANY, (one, other), about=about, rule=_IS_SAME)
    if compared.same and compared.a.format == compared.b.format:
        yield from _claim_sameness(compared.a, compared.b)


def _claim_sameness(a: Any, b: Any) -> Iterator[Claim]:
    """Claim of each live file of a that b has one of the same length in the same place."""
    root, other = (side.location.rstrip("/") + "/" for side in (a, b))
    for file in list_files(a)[:MOST_PARTS]:
        if file.path.startswith(root):
            about = file.path.removeprefix(root)
            pair = (_measure(file.path), _measure(other + about))
            yield Claim("length in a and in b", ANY, pair, about=about, rule=_IS_SAME)


def claim_conflict(table: Any, conflict: Any) -> Iterator[Claim]:
    """Claim the commits that came between, and of each file that collides the entry that adds or removes it."""
    numbers = [commit.snapshot_id for commit in islice(conflict.between, MOST_THINGS)]
    if conflict.base is not None:
        yield from _claim_commits(table, [conflict.base.id], "base of the writer")
    yield from _claim_commits(table, numbers, "commit in between")
    places, changes = Places(table), require_part(table, "conflict").changes
    condition = None if conflict.where is None else Explanation(table, conflict.where, conflict.base).known
    for number, files in groupby(islice(conflict.collisions, MOST_THINGS), lambda file: file.snapshot_id):
        if number is None or not table.has_snapshot(number):
            continue
        wanted = {file.path for file in files}
        for noun, changed in zip(("file", "removed"), changes(table.snapshot(number)), strict=True):
            for file in changed:
                if file.path in wanted:
                    says, about = f"file that collides, {noun}", file.path.rpartition("/")[2]
                    yield from claim_facts(places, noun, about, says=says, thing=file)
                    if condition is not None and noun == "file":
                        yield from claim_terms(places, condition, file, "a file that collides")
