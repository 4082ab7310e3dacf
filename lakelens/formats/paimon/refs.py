"""Branches, tags and consumers of a Paimon table: each is a file or a folder of its own.

tag/tag-NAME               a snapshot document, with `tagCreateTime` and `tagTimeRetained` when it may expire
branch/branch-NAME/…       schemas, snapshots and tags of their own; `main` is the table itself
consumer/consumer-ID       {"nextSnapshot": N}
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

from lakelens.errors import AccessDenied, LakeError, Missing, list_nearest, say_value
from lakelens.formats.paimon.context import TableContext
from lakelens.formats.paimon.discovery import HINTS
from lakelens.formats.paimon.metadata.layout import MAIN, TableLayout, list_keys
from lakelens.formats.paimon.metadata.wire import ConsumerDocument, parse_document, parse_json
from lakelens.formats.paimon.snapshot import PaimonSnapshot, read_snapshot
from lakelens.io.ahead import fetch
from lakelens.io.store import find_info
from lakelens.model.finding import Findings
from lakelens.model.snapshot import Ref

if TYPE_CHECKING:
    from lakelens.formats.paimon.table import PaimonTable

_EXACT = Context(prec=100)


def read_tags(table: PaimonTable) -> dict[str, PaimonSnapshot]:
    """Read the snapshots that tags keep, by the tag's name; unreadable tags are findings."""
    context = table.context
    names = table.context.tag_names
    fetch(context.store, documents=[context.layout.document("tag", name) for name in names])
    read = {name: read_snapshot(table, context.layout.document("tag", name)) for name in names}
    return {name: snapshot for name, snapshot in read.items() if snapshot is not None}


def read_changelogs(table: PaimonTable) -> tuple[PaimonSnapshot, ...]:
    """Read the documents of snapshots that are kept for their changelogs; unreadable ones are findings."""
    context, numbers = table.context, table.context.changelog_numbers
    paths = [context.layout.document("changelog", number) for number in numbers]
    fetch(context.store, documents=paths)
    found = (read_snapshot(table, path, number) for path, number in zip(paths, numbers, strict=True))
    return tuple(snapshot for snapshot in found if snapshot is not None)


def make_tag(name: str, snapshot: PaimonSnapshot) -> Ref:
    """Make a tag as a `Ref`; `created_at` is the wall clock of its maker, without a zone."""
    document = snapshot.document
    return Ref(
        name,
        "tag",
        snapshot.id,
        max_ref_age_ms=parse_duration(document.tag_time_retained),
        created_at=parse_local_time(document.tag_create_time),
        path=snapshot.path,
        raw=snapshot.raw,
        _source=snapshot.context.source(),
    )


def make_branch(table: PaimonTable, name: str) -> Ref:
    """Make a branch as a `Ref` to its latest snapshot; None where it has none."""
    context = table.context
    layout = TableLayout(context.layout.root, name)
    if name == table.branch_name:
        latest = table.context.pointer.latest
    else:
        folder = layout.folder("snapshot")
        # what is odd about another branch's hints is found when that branch is opened
        latest = context.access.attempt(lambda: context.find_pointer(name).latest, folder, None)
    return Ref(name, "branch", latest, path=layout.home, _source=context.source())


def enter_branch(context: TableContext, branch: str) -> TableContext:
    """Enter a branch of the same table, with what is known of its current snapshot.

    Raises `Missing` where there is no such branch.
    """
    layout = TableLayout(context.layout.root, branch)
    pointer, findings = context.pointers.get(branch, (None, Findings()))
    if branch != MAIN and pointer is None:
        fetch(
            context.store,
            infos=[layout.home],
            listings=[layout.folder(name) for name in ("schema", "snapshot", "tag")],
            documents=[f"{layout.folder('snapshot')}/{hint}" for hint in HINTS],
        )
        if not _may_be_there(context, layout.home):
            hint = list_nearest(str(branch), context.branch_names)
            raise Missing(f"no branch {say_value(branch)}", path=layout.home, hint=hint)
    own = TableContext(context.store, layout.root, branch, context.find_bytes)
    if pointer is not None:
        own.pointer = pointer
    for finding in findings:
        own.findings.add(finding.severity, finding.code, finding.path, finding.message, finding.snapshots)
    return own


def _may_be_there(context: TableContext, folder: str) -> bool:
    """Check whether there is a folder; one that may not be looked at may be there, and its hints are asked for."""
    try:
        return find_info(context.store, folder) is not None
    except AccessDenied:
        if not context.store.is_far:
            raise
        return True


def read_consumers(table: PaimonTable) -> Mapping[str, int]:
    """Read the next snapshot of each consumer; unreadable ones are findings."""
    context = table.context
    consumers: dict[str, int] = {}
    names = list_keys(context.list_folder(context.layout.folder("consumer")), "consumer")
    fetch(context.store, documents=[context.layout.document("consumer", name) for name in names])
    for name in names:
        path = context.layout.document("consumer", name)
        try:
            raw = parse_json(context.store.read(path), path)
            document, _ = parse_document(ConsumerDocument, raw, path)
        except LakeError as error:
            context.findings.add_error(error, path)
        else:
            consumers[name] = document.next_snapshot
    return consumers


def parse_local_time(value: Any) -> datetime | None:
    """Read a Java LocalDateTime from its JSON array; trailing zero parts may be missing. None for anything else.

    >>> parse_local_time([2024, 1, 2, 3, 4, 5, 600000000]), parse_local_time([2024, 1, 2, 3, 4])
    (datetime.datetime(2024, 1, 2, 3, 4, 5, 600000), datetime.datetime(2024, 1, 2, 3, 4))
    """
    try:
        if isinstance(value, str):
            return datetime.fromisoformat(value)
        if not isinstance(value, list) or not 3 <= len(value) <= 7:
            return None
        if not all(type(part) is int for part in value):
            return None
        year, month, day, hour, minute, second, nanos = [*value, 0, 0, 0, 0][:7]
        return datetime(year, month, day, hour, minute, second, nanos // 1000)
    except (ValueError, OverflowError):
        return None


def parse_duration(value: Any) -> int | None:
    """Parse a Java Duration as JSON (decimal seconds) in milliseconds; None for anything else.

    >>> parse_duration(172800.0), parse_duration("1.5"), parse_duration(None)
    (172800000, 1500, None)
    """
    try:
        return int(_EXACT.scaleb(Decimal(str(value)), 3)) if isinstance(value, int | float | str) else None
    except (ArithmeticError, ValueError):
        return None
