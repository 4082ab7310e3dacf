"""What is claimed of a table's own things: columns, properties, snapshots, manifests and files, each fact with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from lakelens.evidence.claims import ANY, Claim
from lakelens.evidence.places import Places

#: A sum or a count of more parts than this is not said: all of its places are read again.
MOST_PARTS = 2_000
#: Things of a list that are claimed of, one by one: as many as show that there are too many to be summed.
MOST_THINGS = MOST_PARTS + 1
#: Facts that are said as they are stored, whatever became of them since: names, and what stands in words.
_AS_STORED = ("recorded_path", "name", "type", "doc", "file_format", "content", "operation")


def claim_facts(
    places: Places, noun: str, about: Any = None, *, says: str = "", skips: Sequence[str] = (), **things: Any
) -> Iterator[Claim]:
    """Claim each fact of a thing that has a place: with the value that the thing has, or what the place says.

    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> claims = claim_facts(Places(table), "snapshot", thing=table.current)
    >>> [(claim.says, claim.value) for claim in claims][2:4]
    [('sequence_number of the snapshot', 5), ('committed_at of the snapshot', datetime.datetime(2026, ...))]
    """
    for fact in places.list_facts(noun):
        place = None if fact in skips else places.find(noun, fact, **things)
        held = things.get("field" if noun == "column" else "thing")
        value = ANY if fact in _AS_STORED or noun in ("figures", "property") else getattr(held, fact, ANY)
        if place is not None and value is not None:
            yield Claim(f"{fact} of the {says or noun}", value, (place,), about=about)


def claim_table(table: Any) -> Iterator[Claim]:
    """Claim what a table is: versions, columns, properties, refs, and its current snapshot."""
    places = Places(table)
    for fact in places.list_facts("table"):
        if (place := places.find("table", fact)) is not None:
            yield Claim(
                f"{fact} of the table",
                getattr(table, fact, None) if fact == "format_version" else ANY,
                (place,),
            )
    if table.current is not None:
        yield from claim_facts(
            places, "snapshot", table.current.id, says="current snapshot", thing=table.current
        )
        yield from claim_totals(table, table.current)
    for field in islice(table.schema, MOST_THINGS):
        yield from claim_facts(places, "column", field.id, schema=table.schema, field=field)
    for key in islice(table.properties, MOST_THINGS):
        yield from claim_facts(places, "property", key, key=key)
    yield from claim_refs(table)


def claim_totals(table: Any, snapshot: Any = None) -> Iterator[Claim]:
    """Claim how many files are live, their bytes and rows: each from what it is the sum of."""
    yield from sum_files(Places(table), list_files(table, snapshot), "live files")


def list_files(table: Any, snapshot: Any = None) -> list[Any]:
    """List the files of a snapshot, of the current one by default; deletes among them."""
    return list(islice(table.files if snapshot is None else snapshot.files, MOST_THINGS))


def sum_files(places: Places, files: Sequence[Any], noun: str, fact_of: str = "file") -> Iterator[Claim]:
    """Claim the number, the bytes and the rows of some files."""
    if not 0 < len(files) <= MOST_PARTS:
        return
    counted = "status" if "status" in places.list_facts(fact_of) else places.list_facts(fact_of)[0]
    yield from _sum(f"{noun}, number", "count", places, files, fact_of, counted, len(files))
    data = [file for file in files if file.content == "data" and file.record_count is not None]
    for fact, of in (("size_bytes", files), ("record_count", data)):
        if fact in places.list_facts(fact_of) and of:
            values = [getattr(file, fact) for file in of]
            if all(isinstance(value, int) for value in values):
                says = f"{noun}, {fact}" + (" of data files" if fact == "record_count" else "")
                yield from _sum(says, "sum", places, of, fact_of, fact, sum(values))


def _sum(
    says: str, how: str, places: Places, files: Iterable[Any], noun: str, fact: str, value: Any
) -> Iterator[Claim]:
    found = [places.find(noun, fact, thing=file) for file in files]
    known = [place for place in found if place is not None]
    if known and len(known) == len(found):
        yield Claim(says, value, tuple(known), how)


def claim_snapshots(table: Any) -> Iterator[Claim]:
    """Claim the facts of every snapshot, the newest first, and what its commit changed."""
    places = Places(table)
    for snapshot in islice(reversed(table.snapshots), MOST_THINGS):
        yield from claim_facts(places, "snapshot", snapshot.id, thing=snapshot)
        yield from claim_facts(places, "figures", snapshot.id, says="commit", thing=snapshot)


def claim_history(table: Any) -> Iterator[Claim]:
    """Claim when each commit was made, what it was called, and its figures: from the first on."""
    places = Places(table)
    for snapshot in islice(table.snapshots, MOST_THINGS):
        skips = ("id", "sequence_number", "schema_id", "record_count")
        yield from claim_facts(places, "snapshot", snapshot.id, says="commit", skips=skips, thing=snapshot)
        yield from claim_facts(places, "figures", snapshot.id, says="commit", thing=snapshot)


def claim_refs(table: Any) -> Iterator[Claim]:
    """Claim the facts of branches and tags."""
    places = Places(table)
    for ref in islice(table.refs, MOST_THINGS):
        noun = ref.type if places.knows(ref.type) else "ref"
        yield from claim_facts(places, noun, ref.name, says=ref.type, thing=ref)


def list_lines(snapshot: Any) -> list[dict[str, Any]]:
    """List the manifests of a snapshot, each with the list that names it and its place there."""
    return [
        {"list": listed, "position": position, "thing": manifest}
        for listed in snapshot.manifest_lists
        for position, manifest in enumerate(listed.manifests)
    ][:MOST_THINGS]


def claim_manifests(table: Any, snapshot: Any = None) -> Iterator[Claim]:
    """Claim the facts of each manifest, as its list has them, and how many files they count."""
    places, chosen = Places(table), table.current if snapshot is None else snapshot
    if chosen is None or not places.knows("manifest"):
        return
    lines = list_lines(chosen)
    for fact in ("added_files_count", "existing_files_count", "deleted_files_count"):
        found = [places.find("manifest", fact, **line) for line in lines[:MOST_PARTS]]
        known = tuple(place for place in found if place is not None)
        if known and len(known) == len(lines):
            yield Claim(
                f"{fact} of all manifests",
                sum(getattr(line["thing"], fact) or 0 for line in lines),
                known,
                "sum",
            )
    for line in lines:
        name = line["thing"].path.rpartition("/")[2]
        yield from claim_facts(places, "manifest", name, **line)


def claim_files(table: Any, snapshot: Any = None) -> Iterator[Claim]:
    """Claim the totals of the live files, and the facts of each."""
    places, files = Places(table), list_files(table, snapshot)
    yield from claim_totals(table, snapshot)
    for file in files:
        yield from claim_file(places, file)


def claim_file(places: Places, file: Any) -> Iterator[Claim]:
    """Claim the facts of a live file, its partition, and how long it is where it is stored."""
    name = file.path.rpartition("/")[2]
    yield from claim_facts(places, "file", name, skips=("status",), thing=file)
    yield from claim_partition(places, file, name)


def claim_partition(places: Places, file: Any, about: Any) -> Iterator[Claim]:
    """Claim the values of a file's partition."""
    kinds = {field.name: field.type.logical for field in places.table.schema}
    for name, value in dict(file.partition or {}).items():
        kind = {"kind": kinds[name]} if name in kinds else {}
        place = places.find("partition", "value", thing=file, name=name, **kind)
        if place is not None and value is not None:
            yield Claim("partition value of the file, as stored", ANY, (place,), about=about)


def claim_diff(table: Any, diff: Any) -> Iterator[Claim]:
    """Claim the files that a change added and removed, and the facts of both of its states."""
    places = Places(table)
    for side, snapshot in (("before", diff.before), ("after", diff.after)):
        if snapshot is not None:
            yield from claim_facts(places, "snapshot", snapshot.id, says=f"snapshot {side}", thing=snapshot)
    yield from claim_facts(places, "figures", diff.after.id, says="commit", thing=diff.after)
    added = list(islice(diff.added, MOST_THINGS))
    waiting = {file.path for file in diff.removed}
    removed = [
        entry.file
        for manifest in diff.manifests.new
        for entry in manifest.entries
        if entry.status in ("DELETED", "DELETE") and entry.file.path in waiting
    ]
    yield from sum_files(places, added, "added files")
    if len(removed) == len(diff.removed):
        yield from sum_files(places, removed, "removed files", "removed")
    for noun, files in (("file", added), ("removed", removed)):
        for file in files:
            about = file.path.rpartition("/")[2]
            says = "added file" if noun == "file" else "removed file"
            yield from claim_facts(places, noun, about, says=says, thing=file)
