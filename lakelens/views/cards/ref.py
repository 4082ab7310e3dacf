"""Cards of branches and tags."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context
from itertools import islice
from typing import Any

from lakelens.errors import LakeError
from lakelens.model.snapshot import Ref, Refs
from lakelens.model.table import Table
from lakelens.options import display
from lakelens.views.card import cells, named, wording
from lakelens.views.card.meanings import list_sections
from lakelens.views.card.model import Card, Cell, Fact, Fold, Grid, Target
from lakelens.views.describe import describe

_DAY = 86_400_000
_WIDE = Context(prec=28)  # not the context of the thread, which is the reader's


def format_refs(refs: Refs) -> str:
    """Which branches and tags there are; where they point when there is only one."""
    if len(refs) == 1:
        return f"{refs[0].type} {wording.clean(refs[0].name, 60)} at {refs[0].snapshot_id}"
    return "; ".join(filter(None, (_list_names("branch", refs.branches), _list_names("tag", refs.tags))))


def _list_names(kind: str, refs: Sequence[Ref]) -> str:
    if not refs:
        return ""
    names = ", ".join(wording.clean(ref.name, 60) for ref in refs[:4])
    more = f" and {wording.count(len(refs) - 4)} more" if len(refs) > 4 else ""
    several = "branches" if kind == "branch" else "tags"
    return f"{kind if len(refs) == 1 else several} {names}{more}"


def grid_refs(refs: Refs, table: Table | None = None) -> Grid:
    """Branches and tags, with the snapshot of each where the table is at hand."""
    rows = [
        (
            cells.code(ref.name) if ref.snapshot_id is None else named.ref(ref.name),
            cells.text(ref.type),
            _name_snapshot(ref),
            *_target_row(ref, table),
            cells.moment(ref.created_at) if ref.created_at else cells.ABSENT,
            _format_age(ref.max_ref_age_ms),
            _format_keeping(ref),
        )
        for ref in islice(refs, display.max_rows)
    ]
    names = ("ref", "kind!", "snapshot", "rows#", "committed, UTC!", "made!", "kept for", "snapshots kept")
    about = ("common.ref",)
    return cells.prune(
        cells.grid(
            names,
            rows,
            how="table.refs.to_pandas()",
            noun="ref",
            total=len(refs),
            about=about,
            target=named.page("refs"),
        )
    )


def _name_snapshot(ref: Ref) -> Cell:
    """Its snapshot; where each branch is a directory of its own, the same id is another snapshot in another branch."""
    cell = cells.code(ref.snapshot_id)
    if ref.snapshot_id is None:
        return cell
    is_apart = ref.type == "branch" and ref.path is not None
    return named.lead(cell, Target("ref", ref.name)) if is_apart else named.snapshot(ref.snapshot_id)


def _target_row(ref: Ref, table: Table | None) -> tuple[Cell, Cell]:
    if table is None:
        return cells.ABSENT, cells.ABSENT
    try:
        found = table.snapshot(ref.name)
    except LakeError:
        return cells.ABSENT, Cell("not there", "warn")
    return cells.optional_number(found.record_count), cells.moment(found.committed_at)


def _format_age(milliseconds: int | None) -> Cell:
    if milliseconds is None:
        return cells.ABSENT
    return Cell(_format_days(milliseconds), title=wording.clean(f"{milliseconds:,} ms"))


def _format_days(milliseconds: int) -> str:
    """Days with four digits; a tag may say any number."""
    return f"{_WIDE.divide(milliseconds, _DAY):,.4g} days"


def _format_keeping(ref: Ref) -> Cell:
    words = []
    if ref.min_snapshots_to_keep is not None:
        words.append(f"at least {wording.count(ref.min_snapshots_to_keep)}")
    if ref.max_snapshot_age_ms is not None:
        words.append(_format_days(ref.max_snapshot_age_ms))
    return Cell(", ".join(words)) if words else cells.ABSENT


@describe.register
def card_of_refs(refs: Refs, detail: int = 1) -> Card:
    """Branches and tags."""
    branches, tags = len(refs.branches), len(refs.tags)
    sentence = f"{wording.plural(branches, 'branch', 'branches')}, {wording.plural(tags, 'tag')}"
    body = (grid_refs(refs),) if len(refs) else ()
    return Card("Refs", sentence if len(refs) else "none", body=body, about=list_sections(refs, "ref"))


@describe.register
def card_of_ref(ref: Ref, detail: int = 1) -> Card:
    """One name for a snapshot."""
    facts = [Fact("kind", Cell(ref.type)), Fact("snapshot", _name_snapshot(ref))]
    for label, cell in (
        ("kept for", _format_age(ref.max_ref_age_ms)),
        ("snapshots kept", _format_keeping(ref)),
    ):
        if cell is not cells.ABSENT:
            facts.append(Fact(label, cell))
    if ref.created_at is not None:
        facts.append(Fact("made", cells.moment(ref.created_at)))
    raw: Any = ref.raw
    about = list_sections(ref, "ref", "snapshot")
    folds = []
    if isinstance(raw, dict) and raw:
        folds.append(Fold("Document", "as stored, key by key", lambda: cells.fields(raw, how=".raw")))
    place = wording.clean(ref.path or "")
    sentence = f"{ref.type} at snapshot {ref.snapshot_id}"
    return Card(
        wording.clean(ref.name),
        sentence,
        place,
        facts=tuple(facts),
        folds=tuple(folds),
        about=about,
        linked=named.sentence(f"{ref.type} at snapshot ", _name_snapshot(ref))
        if ref.snapshot_id is not None
        else (),
        target=Target("bytes", ref.path) if ref.path else None,
    )
