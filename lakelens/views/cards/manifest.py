"""Cards of manifest lists, manifests and their entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from lakelens.errors import LakeError, Missing
from lakelens.model.manifest import Entry, FieldSummary, Manifest, ManifestList
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Body, Card, Cell, Fact, Fold, Grid, Pairs, Target
from lakelens.views.describe import card_of_path, describe, one

_ROLES = {
    "all": "every manifest of the snapshot",
    "base": "everything before the commit",
    "delta": "what the commit changed",
    "changelog": "the commit's changelog",
}


def grid_manifests(manifests: Sequence[Manifest], how: str = "", target: Target | None = None) -> Grid:
    """Manifests as their list describes them; `target` leads to all of them."""
    rows = [
        (
            named.place("manifest", m.path),
            cells.text(m.content),
            cells.number(m.added_files_count),
            cells.number(m.existing_files_count),
            cells.number(m.deleted_files_count),
            cells.text(_format_summary(m.partition_summary), "mute"),
            cells.size(m.size_bytes),
        )
        for m in islice(manifests, display.max_rows)
    ]
    names = ("manifest", "content!", "added#", "existing#", "deleted#", "partitions", "bytes#")
    about = ("common.manifest_list",)
    total = len(manifests)
    grid = cells.grid(names, rows, how=how, noun="manifest", total=total, about=about, target=target)
    return cells.prune(grid)


def grid_lists(lists: Sequence[ManifestList], how: str = ".manifest_lists") -> Grid:
    """Manifest lists, one a row."""
    rows = [
        (
            cells.text(manifest_list.role),
            named.place("manifest_list", manifest_list.path, wording.name(manifest_list.path) or "inline"),
            _show_size(manifest_list),
        )
        for manifest_list in islice(lists, display.max_rows)
    ]
    names, about = ("role!", "manifest list", "bytes#"), ("common.manifest_list",)
    return cells.grid(names, rows, how=how, noun="list", total=len(lists), about=about)


def _show_size(found: ManifestList) -> Cell:
    return Cell("not recorded", "mute") if found.size_bytes is None else cells.size(found.size_bytes)


def _format_summary(summary: Sequence[FieldSummary]) -> str | None:
    words = [
        f"{wording.clean(s.name, 40)} {wording.value(s.lower)}"
        + ("" if s.lower == s.upper else f" to {wording.value(s.upper)}")
        for s in summary[:4]
    ]
    return ", ".join(words) or None


@describe.register
def card_of_list(found: ManifestList, detail: int = 1) -> Card:
    """Which manifests make up a snapshot."""
    role = Fact("role", cells.text(found.role), _ROLES.get(found.role, ""))
    facts = (role, Fact("bytes", _show_size(found)))
    title = wording.name(found.path) or "inline in the metadata document"
    folds = [_fold_listed(found)]
    if found.path is not None and not _is_gone(found):
        folds.append(_fold_header(found))
    about = list_sections(found, "manifest_list")
    place = wording.clean(found.path or "")
    target = None if found.path is None else Target("bytes", found.path)
    return Card("Manifest list", title, place, facts=facts, folds=tuple(folds), about=about, target=target)


def _is_gone(found: ManifestList) -> bool:
    """Check whether its file is missing: then it has no header to offer."""
    try:
        found.manifests  # noqa: B018 - read for the card anyway
    except Missing:
        return True
    except LakeError:
        return False
    return False


def _fold_listed(found: ManifestList) -> Fold:
    """Show the manifests; an empty list says so, a damaged one says so where they would stand."""
    try:
        manifests = found.manifests
    except LakeError:
        return Fold(
            "Manifests", "it cannot be read", lambda: one(grid_manifests(found.manifests)), opened=True
        )
    if not manifests:
        answer = "none: nothing was there before" if found.role == "base" else "none: the list is empty"
        return Fold("Manifests", answer)
    target = None if found.path is None else Target("manifest_list", found.path)
    return Fold(
        "Manifests",
        f"{wording.plural(len(manifests), 'manifest')}, in order",
        lambda: one(grid_manifests(manifests, ".manifests, .manifests.widget()", target)),
        opened=True,
    )


def _fold_header(found: Manifest | ManifestList) -> Fold:
    about = list_sections(found, "manifest_header" if isinstance(found, Manifest) else "manifest_list")
    return Fold(
        "Header", "the file's own schema and key-value metadata", lambda: _list_header(found.header, about)
    )


def _list_header(header: Mapping[str, Any], about: tuple[str, ...]) -> list[Body]:
    own = {name: held for name, held in header.items() if name not in ("schema", "metadata")}
    metadata = {**(header.get("metadata") or {})}
    # a key of the file that says the same is left out
    skip = ("avro.schema", *(key for key in metadata if metadata[key] == own.get(key.removeprefix("avro."))))
    shown = cells.fields(metadata, about, how=".header['metadata']", skip=skip)
    first = tuple((name, cells.value(held)) for name, held in own.items())
    # one table, so that all names and all values stand in one column each
    bodies = [
        replace(body, items=(*first, *body.items)) if isinstance(body, Pairs) else body for body in shown
    ]
    schema = header.get("schema")
    if schema:
        document = cells.document(schema, most=4_000, how=".header['schema']")
        fold = Fold("Schema", _format_schema(schema, header.get("format")), lambda: one(document), level=3)
        bodies.append(Card("", "", folds=(fold,)))
    return bodies


def _format_schema(schema: Any, kind: Any) -> str:
    """Format the record of a schema, which is in Avro's JSON for every container, in a line."""
    fields = schema.get("fields") if isinstance(schema, Mapping) else None
    if not isinstance(fields, list):
        return "as stored, in Avro's JSON"
    names = [wording.clean(field.get("name"), 60) for field in fields[:4] if isinstance(field, Mapping)]
    more = f", {wording.count(len(fields) - 4)} more" if len(fields) > 4 else ""
    noun = {"parquet": "Parquet", "orc": "ORC"}.get(kind, "Avro")
    return f"{noun} record of {wording.plural(len(fields), 'field')}: {', '.join(names)}{more}"


@describe.register
def card_of_manifest(manifest: Manifest, detail: int = 1) -> Card:
    """Which files one manifest adds, keeps and removes."""
    facts = [Fact("content", cells.text(manifest.content))]
    amounts = [
        (label, getattr(manifest, f"{label}_files_count")) for label in ("added", "existing", "deleted")
    ]
    for label, amount in amounts:
        if amount is not None:
            facts.append(Fact(label, cells.number(amount), "files"))
    facts.append(Fact("bytes", cells.size(manifest.size_bytes), "as recorded"))
    make = lambda: one(grid_entries(manifest.entries, manifest=manifest.path))  # noqa: E731 - reads the manifest when it is opened
    counts = [f"{wording.count(amount)} {label}" for label, amount in amounts if amount]
    listed = (
        f"{', '.join(counts)} according to the manifest list" if counts else "the manifest list has no counts"
    )
    folds = [Fold("Entries", listed, make, opened=True)]
    if manifest.partition_summary:
        answer = _format_summary(manifest.partition_summary) or ""
        folds.append(Fold("Partitions", answer, lambda: one(_grid_summary(manifest.partition_summary))))
    sections = list_sections(manifest, "manifest_list")
    line = lambda: cells.fields(manifest.raw, sections, how=".raw")  # noqa: E731
    folds.append(Fold("Line", f"{wording.plural(len(manifest.raw), 'field')} of the manifest list", line))
    folds.append(_fold_header(manifest))
    return card_of_path("Manifest", manifest.path, facts, folds, list_sections(manifest, "manifest"))


def _grid_summary(summary: Sequence[FieldSummary]) -> Grid:
    rows = [
        (
            cells.code(s.name),
            *cells.values(s.lower, s.upper, s.contains_null, s.contains_nan),
        )
        for s in summary
    ]
    names = ("field", "lower", "upper", "has null", "has NaN")
    return cells.prune(cells.grid(names, rows, noun="field"))


def grid_entries(
    entries: Sequence[Entry], how: str = ".entries, .entries.widget()", manifest: str | None = None
) -> Grid:
    """Entries in file order; of all that a `manifest` has, each is known by its number."""
    rows = [
        (
            named.entry(manifest, number, cells.state(entry.status)),
            named.file(entry.file),
            cells.text(entry.file.content),
            cells.code(entry.file.partition or None),
            cells.optional(entry.file.bucket),
            cells.optional(entry.file.level),
            cells.number(entry.file.record_count),
            cells.size(entry.file.size_bytes),
            named.snapshot(entry.snapshot_id),
            cells.optional(entry.sequence_number),
        )
        for number, entry in enumerate(islice(entries, display.max_rows))
    ]
    names = (
        "status!", "file", "content!", "partition", "bucket#", "level#", "rows#", "bytes#", "snapshot", "sequence#",
    )  # fmt: skip
    total = len(entries)
    more = Target("manifest", manifest) if manifest else None
    grid = cells.grid(names, rows, how=how, noun=("entry", "entries"), total=total, target=more)
    return cells.prune(grid)


@describe.register
def card_of_entry(entry: Entry, detail: int = 1) -> Card:
    """One line of a manifest: what the commit did with a file, and the file's card."""
    from lakelens.views.cards.file import card_of_file

    card = card_of_file(entry.file, detail)
    facts = (
        Fact("status", cells.state(entry.status), "live" if entry.is_live else "removed"),
        *((Fact("snapshot", named.snapshot(entry.snapshot_id)),) if entry.snapshot_id is not None else ()),
        *(
            (Fact("sequence", cells.code(entry.sequence_number)),)
            if entry.sequence_number is not None
            else ()
        ),
        *(fact for fact in card.facts if fact.label in ("rows", "bytes", "partition", "bucket")),
    )
    about = list_sections(entry.file, "entry", "data_file")
    raw = {key: held for key, held in entry.raw.items() if not isinstance(held, Mapping)}
    stored = Fold("Entry", "as the manifest stores it", lambda: cells.fields(raw, about, how=".raw"))
    return Card(
        "Entry",
        wording.name(entry.file.path),
        card.place,
        facts=facts,
        folds=(*card.folds, stored),
        about=about,
        target=named.target_of_file(entry.file),
    )
