"""What `RESTORE` would do: bring back the files of an older version, and take out those that are not of it.

A file is one with its deletion vector: where the vector alone is another one, it comes back and leaves. The engine looks
whether the data files are there that come back, not whether their vectors are. Follows `RestoreTableCommand` of
delta-spark 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from lakelens.codecs.numbers import read_number
from lakelens.errors import LakeError
from lakelens.formats.delta.action_file import make_file
from lakelens.formats.delta.actions import Action
from lakelens.formats.delta.maintenance.commits import Commits, assume, read_now, refuse, write_name
from lakelens.formats.delta.vectors import place_vector
from lakelens.io.store import find_info
from lakelens.model.facts.traits import format_size
from lakelens.model.fileset import FileSet
from lakelens.model.maintenance import Assumption, Piece, Proposal

if TYPE_CHECKING:
    from lakelens.formats.delta.log_table import DeltaTable

_MOST_NAMED = 3


def find_version(table: DeltaTable, values: Mapping[str, Any]) -> tuple[int | None, str]:
    """Find the version that is restored, or why there is none: the newest one that is not later than the time."""
    version: int | None = values.get("version")
    known = table._versions
    if version is None:
        moment: datetime = values["timestamp"]
        for number in reversed(known):
            stored = table._make(number).committed_at
            if stored is not None and stored <= moment:
                version = number
                break
        else:
            return None, f"no version is as old as {moment:%Y-%m-%d %H:%M:%S} UTC"
    if version > table.newest.id:
        return None, f"there is no version {version}: the newest one is {table.newest.id}"
    if version not in known:
        return None, f"version {version} cannot be read: there are {known[0]} to {known[-1]}"
    return version, ""


def plan_restore(table: DeltaTable, values: Mapping[str, Any]) -> Proposal:
    """See the module. Raises `LakeError` where not exactly one of version and timestamp is given."""
    if ("version" in values) == ("timestamp" in values):
        raise LakeError("restore needs either a version or a timestamp", hint="version=…, or timestamp=…")
    call = f"RESTORE TABLE {write_name(table)} TO "
    if "version" in values:
        call += f"VERSION AS OF {values['version']}"
    else:
        call += f"TIMESTAMP AS OF '{values['timestamp']:%Y-%m-%d %H:%M:%S}'"
    version, why = find_version(table, values)
    if version is None:
        return refuse(table, call, why)
    if version == table.newest.id:
        return Proposal("Nothing changes: that is the newest version.", call, assumptions=assume(table))
    context = table._context
    old, new = table._make(version).state.files, table.newest.state.files
    back = [action for key, action in old.items() if key not in new]
    out = [action for key, action in new.items() if key not in old]
    missing = [
        action.fields["path"]
        for action in back
        if find_info(context.store, context.locate(action.key[0])) is None
    ]
    if missing:
        shown = ", ".join(missing[:_MOST_NAMED]) + (", …" if len(missing) > _MOST_NAMED else "")
        words = f"{len(missing):,} of the files of version {version} are gone, and spark.sql.files.ignoreMissingFiles is off"
        return refuse(table, call, f"{words}: {shown}", fails=True)
    files = [make_file(action, context) for action in back]
    both = len({action.key[0] for action in back} & {action.key[0] for action in out})
    size = format_size(sum(read_number(action.fields, "size") or 0 for action in back))
    came = f"{len(back):,} files of {size} come back, {len(out):,} leave"
    came += f"; {both:,} of them are the same with another deletion vector." if both else "."
    commits, why = Commits(table, 1, read_now(values), is_large=True), "not of the version that is restored"
    return Proposal(
        changes=f"Readers see version {version} again, as a new version: its files, schema and properties.",
        call=call,
        reads=FileSet(lambda: files, lambda: context.file_columns) if files else (),
        replaces=[
            Piece(context.locate(action.key[0]), "data", read_number(action.fields, "size") or 0, why)
            for action in out
        ],
        writes=commits.writes,
        deletes=commits.deletes,
        lost=commits.lost,
        assumptions=[
            *assume(table),
            Assumption("The protocol stays: what readers have to know is never taken back."),
        ],
        notes=[came, *commits.describe(), *_list_lost_vectors(back, table)],
        becomes=str(table.newest.id + 1),
    )


def _list_lost_vectors(back: list[Action], table: DeltaTable) -> list[str]:
    """Say which vectors of files that come back are gone: the engine does not look, and fails when rows are read."""
    gone = 0
    for action in back:
        if action.vector is None:
            continue
        place = place_vector(action, table._context)
        gone += place.inline is None and find_info(table._context.store, place.path) is None
    words = f"{gone:,} deletion vectors of files that come back are gone: their rows cannot be read."
    return [words] if gone else []
