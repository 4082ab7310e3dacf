"""Cards of manifest lists, manifests and their entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakelens.model.manifest import Entry, FieldSummary, Manifest, ManifestList
from lakelens.views import cells, wording
from lakelens.views.card import Body, Card, Fact, Fold, Grid
from lakelens.views.file_cards import describe_file, grid_bounds, word_bounds
from lakelens.views.present import describe, one


def grid_manifests(manifests: Sequence[Manifest], how: str = "") -> Grid:
    """Manifests as their list describes them."""
    rows = [
        (
            cells.code(wording.name(m.path)),
            cells.text(m.content),
            cells.number(m.added_files_count),
            cells.number(m.existing_files_count),
            cells.number(m.deleted_files_count),
            cells.text(_word_summary(m.partition_summary), "mute"),
            cells.size(m.size_bytes),
        )
        for m in manifests
    ]
    names = ("manifest", "content!", "added#", "existing#", "deleted#", "partitions", "bytes#")
    return cells.prune(cells.grid(names, rows, how=how, noun="manifest"))


def _word_summary(summary: Sequence[FieldSummary]) -> str | None:
    words = [
        f"{wording.clean(s.name, 40)} {wording.value(s.lower)}"
        + ("" if s.lower == s.upper else f" to {wording.value(s.upper)}")
        for s in summary[:4]
    ]
    return ", ".join(words) or None


@describe.register
def describe_list(found: ManifestList, detail: int = 1) -> Card:
    """Which manifests make up a snapshot."""
    facts = (
        Fact("role", cells.text(found.role), _ROLES.get(found.role, "")),
        Fact("bytes", cells.size(found.size_bytes), "as recorded"),
    )
    title = wording.name(found.path) or "inline in the metadata document"
    manifests = Fold(
        "Manifests",
        "what it names, in order",
        lambda: one(grid_manifests(found.manifests, how=".manifests")),
        opened=True,
    )
    folds = (manifests, *(_fold_header(found) if found.path is not None else ()))
    return Card("Manifest list", title, wording.clean(found.path or ""), facts=facts, folds=folds)


_ROLES = {
    "all": "every manifest of the snapshot",
    "base": "everything before the commit",
    "delta": "what the commit changed",
    "changelog": "the commit's changelog",
}


def _fold_header(found: Manifest | ManifestList) -> tuple[Fold, ...]:
    return (Fold("Header", "the container's own schema and key/values", lambda: _list_header(found.header)),)


def _list_header(header: Mapping[str, Any]) -> list[Body]:
    items = [(name, cells.value(held)) for name, held in header.items() if name not in ("schema", "metadata")]
    bodies: list[Body] = [cells.pairs(items)]
    if header.get("metadata"):
        bodies.append(cells.mapping(header["metadata"], how=".header['metadata']"))
    if header.get("schema"):
        bodies.append(cells.document(header["schema"], most=4_000, how=".header['schema']"))
    return bodies


@describe.register
def describe_manifest(manifest: Manifest, detail: int = 1) -> Card:
    """Which files one manifest adds, keeps and removes."""
    facts = [Fact("content", cells.text(manifest.content))]
    for label in ("added", "existing", "deleted"):
        amount = getattr(manifest, f"{label}_files_count")
        if amount is not None:
            facts.append(Fact(label, cells.number(amount), "files"))
    facts.append(Fact("bytes", cells.size(manifest.size_bytes), "as recorded"))
    entries = Fold(
        "Entries", _word_entries(manifest), lambda: one(grid_entries(manifest.entries)), opened=True
    )
    folds = [entries]
    if manifest.partition_summary:
        answer = _word_summary(manifest.partition_summary) or ""
        folds.append(Fold("Partitions", answer, lambda: one(_grid_summary(manifest.partition_summary))))
    folds.append(
        Fold("Line", "as the manifest list stores it", lambda: one(cells.mapping(manifest.raw, how=".raw")))
    )
    folds += _fold_header(manifest)
    noun = "Manifest"
    return Card(
        noun,
        wording.name(manifest.path),
        wording.clean(manifest.path),
        facts=tuple(facts),
        folds=tuple(folds),
    )


def _word_entries(manifest: Manifest) -> str:
    counts = [
        f"{wording.count(amount)} {label}"
        for label in ("added", "existing", "deleted")
        if (amount := getattr(manifest, f"{label}_files_count"))
    ]
    return f"{', '.join(counts)} by the list's count" if counts else "the list does not count them"


def _grid_summary(summary: Sequence[FieldSummary]) -> Grid:
    rows = [
        (
            cells.code(s.name),
            cells.value(s.lower),
            cells.value(s.upper),
            cells.value(s.contains_null),
            cells.value(s.contains_nan),
        )
        for s in summary
    ]
    return cells.prune(cells.grid(("field", "lower", "upper", "has null", "has NaN"), rows, noun="field"))


def grid_entries(entries: Sequence[Entry], how: str = ".entries") -> Grid:
    """Entries in file order."""
    rows = [
        (
            cells.state(entry.status),
            cells.code(wording.name(entry.file.path)),
            cells.text(entry.file.content),
            cells.code(entry.file.partition or None),
            cells.optional(entry.file.bucket),
            cells.optional(entry.file.level),
            cells.number(entry.file.record_count),
            cells.size(entry.file.size_bytes),
            cells.code(entry.snapshot_id),
            cells.optional(entry.sequence_number),
        )
        for entry in entries
    ]
    names = (
        "status!", "file", "content!", "partition", "bucket#", "level#", "rows#", "bytes#", "snapshot", "sequence#",
    )  # fmt: skip
    return cells.prune(cells.grid(names, rows, how=how, noun=("entry", "entries")))


@describe.register
def describe_entry(entry: Entry, detail: int = 1) -> Card:
    """One line of a manifest: what the commit did with a file, and the file's card."""
    card = describe_file(entry.file, detail)
    facts = (
        Fact("status", cells.state(entry.status), "live" if entry.is_live else "removed"),
        *((Fact("snapshot", cells.code(entry.snapshot_id)),) if entry.snapshot_id is not None else ()),
        *(
            (Fact("sequence", cells.code(entry.sequence_number)),)
            if entry.sequence_number is not None
            else ()
        ),
        *(fact for fact in card.facts if fact.label in ("rows", "bytes", "partition")),
    )
    record = Fold("Entry", "as the manifest stores it", lambda: one(cells.document(entry.raw)))
    kept = tuple(fold for fold in card.folds if fold.label != "Record")
    return Card("Entry", wording.name(entry.file.path), card.place, facts=facts, folds=(*kept, record))


__all__ = ["grid_bounds", "grid_entries", "grid_manifests", "word_bounds"]
