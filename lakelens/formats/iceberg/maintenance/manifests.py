"""What `rewrite_manifests` would do.

    manifests   those of the current snapshot that follow one spec (`spec_id`, today's by default), data and deletes apart
    number      their bytes together, divided by `commit.manifest.target-size-bytes` (8 MiB), rounded up
    left alone  where one manifest would become one

Entries of deleted files are left out. Files are put in order of their partition. Follows `RewriteManifestsSparkAction` and
`BaseRewriteManifests` of Iceberg 1.12.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.formats.iceberg.maintenance.commits import (
    assume,
    estimate_document,
    estimate_list,
    find_unread,
    list_dropped_documents,
    read_number,
    refuse,
    write_call,
)
from lakelens.formats.iceberg.maintenance.packing import estimate_manifests
from lakelens.model.maintenance import Assumption, Group, Output, Piece, Proposal
from lakelens.model.measures.measure import Call
from lakelens.model.measures.rules import Rewriting, quote

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.manifest import IcebergManifest
    from lakelens.formats.iceberg.snapshot import IcebergSnapshot
    from lakelens.formats.iceberg.table import IcebergTable

_TARGET = "commit.manifest.target-size-bytes"


@dataclass(frozen=True)
class ManifestGroup:
    """Manifests of one content that are rewritten together into at most `outputs`."""

    content: str
    manifests: Sequence[IcebergManifest]
    outputs: int

    @property
    def live(self) -> int:
        """How many entries are left."""
        return sum(
            (manifest.added_files_count or 0) + (manifest.existing_files_count or 0)
            for manifest in self.manifests
        )


def plan_manifests(table: IcebergTable, values: Mapping[str, Any]) -> Proposal:
    """See the module."""
    spec_id = values.get("spec_id", table._context.typed.default_spec_id or 0)
    known = [spec.id for spec in table.specs]
    if spec_id not in known:
        raise LakeError(
            f"option spec_id: there is no spec {spec_id}", hint=f"one of {', '.join(map(str, known))}"
        )
    call = write_call(table.name, "rewrite_manifests", dict(values))
    ref = table.refs.get("main")
    snapshot = None if ref is None or ref.snapshot_id is None else table.find_by_id(ref.snapshot_id)
    found: list[IcebergManifest] = [] if snapshot is None else list(snapshot.manifests)
    chosen = [one for one in found if one.partition_spec_id == spec_id]
    unread = find_unread(table, snapshot)
    if unread is not None:
        return refuse(table, call, unread, fails=True)
    counts = ((one.added_files_count, one.existing_files_count, one.deleted_files_count) for one in chosen)
    if any(None in three for three in counts):
        refusal = "the manifest list counts no files, as lists of early writers do not: the engine refuses to rewrite these"
        return refuse(table, call, refusal)
    target = read_number(table, _TARGET, 8 << 20)
    groups = [group for content in ("data", "deletes") if (group := _plan_content(chosen, content, target))]
    manifests = [manifest for group in groups for manifest in group.manifests]
    notes = []
    if groups:
        notes.append("Nothing is deleted: older snapshots keep these manifests until they expire.")
    if len(table.specs) > 1:
        notes.append(f"Only manifests of partition spec {spec_id} are rewritten.")
    return Proposal(
        changes="The data does not change, nor which files hold it." if groups else "Nothing is rewritten.",
        call=call,
        reads=[_make_piece(manifest) for manifest in manifests],
        replaces=[_make_piece(manifest) for manifest in manifests],
        writes=_list_outputs(table, snapshot, groups, len(found)) if groups else (),
        deletes=list_dropped_documents(table) if groups else (),
        groups=[
            Group(
                group.content,
                len(group.manifests),
                _measure(group.manifests),
                f"{len(group.manifests):,} would be {group.outputs:,}",
                group.outputs,
            )
            for group in groups
        ],
        assumptions=(
            *assume(table),
            *([Assumption("Every manifest can be read: they were not opened.")] if groups else []),
        ),
        notes=notes,
    )


def _plan_content(manifests: Sequence[IcebergManifest], content: str, target: int) -> ManifestGroup | None:
    chosen = [manifest for manifest in manifests if (manifest.content == "data") == (content == "data")]
    outputs = -(-_measure(chosen) // max(target, 1))
    if not chosen or (outputs == 1 and len(chosen) == 1):
        return None
    return ManifestGroup(content, chosen, outputs)


def find_rewriting(table: IcebergTable, snapshot: IcebergSnapshot | None) -> Rewriting | None:
    """Find what the procedure would do with the data manifests of a state, if that is the one it rewrites."""
    ref, spec = table.refs.get("main"), table.partitioning
    if snapshot is None or ref is None or ref.snapshot_id != snapshot.id or not len(spec):
        return None
    chosen = [manifest for manifest in snapshot.manifests if manifest.partition_spec_id == spec.id]
    group = _plan_content(chosen, "data", read_number(table, _TARGET, 8 << 20))
    if group is None or not group.live:
        return None
    statement = f"CALL <catalog>.system.rewrite_manifests(table => {quote(table.name)})"
    call = Call(statement, "sorts the entries of manifests by partition", "rewrite_manifests")
    return Rewriting(group.manifests, group.live, min(group.outputs, group.live), spec, call)


def _measure(manifests: Sequence[IcebergManifest]) -> int:
    return sum(manifest.manifest_length or 0 for manifest in manifests)


def _make_piece(manifest: IcebergManifest) -> Piece:
    alive = (manifest.added_files_count or 0) + (manifest.existing_files_count or 0)
    gone = manifest.deleted_files_count or 0
    why = f"{alive:,} entries, and {gone:,} of deleted files" if gone else f"{alive:,} entries"
    return Piece(manifest.path, "manifest", manifest.manifest_length, why)


def _list_outputs(
    table: IcebergTable, snapshot: IcebergSnapshot | None, groups: Sequence[ManifestGroup], held: int
) -> list[Output]:
    outputs, left = [], held
    for group in groups:
        count = min(group.outputs, group.live)
        size = estimate_manifests(group.manifests, count)
        least = min(count, 1)
        outputs.append(
            Output(
                "manifest", count, size.size, True, size.least, size.most, least, count, f"of {group.content}"
            )
        )
        left += count - len(group.manifests)
    outputs.append(estimate_list(snapshot, left))
    outputs.append(estimate_document(table, snapshots=1))
    return outputs
