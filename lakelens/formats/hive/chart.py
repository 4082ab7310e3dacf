"""The map of a Hive table: its directories and files as a tree, and the metastore beside it.

Nothing in the directory names a file: what is there is the table. Without a trace the files of the newest write job are new,
where their names say which job that is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.formats.hive.datafile import HiveFile
from lakelens.model.charts import Beside, Branch, Chart, Since, State, count_noun, last_name
from lakelens.model.facts.traits import format_size

if TYPE_CHECKING:
    from lakelens.formats.hive.listing import HiveTable

_MOST_NEW, _MOST_FILES = 3, 3  # partitions that the change touched, files of each
_OUTDATED = "may be old; ANALYZE counts again"
_ELSEWHERE = (
    ("table", ("columns and types, serde, properties",)),
    ("location", ("the directory, as a URI",)),
    ("partitions", ("each with its location; may be elsewhere, or missing until MSCK REPAIR TABLE",)),
    ("statistics", (_OUTDATED,)),
)
_NOBODY = (
    "Nothing here or there names a file:",
    ("what is in the directory is the table, half of a running INSERT too.",),
)


class HiveMap:
    """Draws the tree of a listing, with what the change made new."""

    def __init__(self, table: HiveTable, since: Since) -> None:
        self.table, self.since = table, since
        self.files: list[HiveFile] = [one for one in table.files if isinstance(one, HiveFile)]
        self.job = None if since.touched is not None else _find_newest_job(self.files)
        #: what the state before had, where there is one: paths with sizes and times
        self.known: set[object] | None = None
        if since.before is not None:
            listed = since.before.files
            self.known = {(file.path, file.size_bytes, getattr(file, "modified", None)) for file in listed}

    def draw(self) -> Chart:
        """Draw the chart."""
        states = {file.path: self._find_state(file) for file in self.files}
        new = [file for file in self.files if states[file.path] == "new"]
        tree = [
            Branch(f"{last_name(self.table.location)}/", "kept", 0, "no log, no snapshot, no schema file")
        ]
        others, changed = self._draw_others()
        tree += [*self._draw_partitions(states), *others]
        counted = (("data file", len(new)),)
        subject = f"the newest write job ({self.job})" if self.job is not None else ""
        changed += sum(state == "changed" for state in states.values())
        gone = sum(state == "removed" for state in (self.since.touched or {}).values())
        return Chart(
            tree=tuple(tree),
            beside=self._draw_metastore(),
            counted_new=counted,
            changed=changed,
            gone=gone,
            subject=subject,
        )

    def _find_state(self, file: HiveFile) -> State:
        if self.since.touched is not None:
            return self.since.state_of(file.path, "kept")
        if self.known is not None:
            return "kept" if (file.path, file.size_bytes, file.modified) in self.known else "new"
        return "new" if self.job is not None and file.write_id == self.job else "kept"

    def _draw_partitions(self, states: Mapping[str, State]) -> list[Branch]:
        """Draw the partitions that the change touched with their files, then one that it did not, for all of those."""
        groups: dict[str, list[HiveFile]] = {}
        for file in self.files:
            groups.setdefault(file.relative_path.rpartition("/")[0], []).append(file)
        touched = {name: some for name, some in groups.items() if any(states[f.path] != "kept" for f in some)}
        kept = {name: some for name, some in groups.items() if name not in touched}
        found: list[Branch] = []
        for name, some in list(touched.items())[-_MOST_NEW:]:
            found += self._draw_partition(name, some, states)
        if len(touched) > _MOST_NEW:
            found.append(Branch(f"{len(touched) - _MOST_NEW:,} more directories", "changed", 1, "with new files",
                                count=len(touched) - _MOST_NEW))  # fmt: skip
        if not kept:
            return found
        name, some = next(reversed(kept.items()))
        if not name:
            return [*found, *_draw_files(some, states, 1)]
        words = f"{count_noun(len(some), 'file')}, {format_size(sum(f.size_bytes or 0 for f in some))}"
        more = f"; {len(kept) - 1:,} more like this" if len(kept) > 1 else ""
        return [*found, Branch(f"{name}/", "kept", 1, words + more, count=len(kept))]

    def _draw_partition(
        self, name: str, some: Sequence[HiveFile], states: Mapping[str, State]
    ) -> list[Branch]:
        if not name:
            return _draw_files(some, states, 1)
        state: State = "new" if all(states[one.path] == "new" for one in some) else "changed"
        size = format_size(sum(one.size_bytes or 0 for one in some))
        words = f"{count_noun(len(some), 'file')}, {size}" + (
            ": all are rows of the table" if len(some) > 1 else ""
        )
        return [Branch(f"{name}/", state, 1, words), *_draw_files(some, states, 2)]

    def _draw_others(self) -> tuple[list[Branch], int]:
        """Say what is in the directory and no rows of the table, by role."""
        roles: dict[str, list[Any]] = {}
        for file in self.table.list_files():
            if not file.referenced_by:
                roles.setdefault(file.role, []).append(file)
        found, changed = [], 0
        for role, some in sorted(roles.items())[:4]:
            states = [self.since.state_of(one.path, "kept") for one in some]
            state = next((state for state in ("new", "changed") if state in states), "kept")
            changed += states.count("changed")
            name = last_name(some[0].path) if len(some) == 1 else f"{len(some):,} × {last_name(some[0].path)}"
            found.append(Branch(name, state, 1, role, True, len(some)))  # type: ignore[arg-type]
        return found, changed

    def _draw_metastore(self) -> Beside:
        facts = self.table.catalog
        if facts is None:
            return Beside("metastore", "elsewhere: not given", "absent", (*_ELSEWHERE, _NOBODY))
        storage = facts.get("storage")
        place = (
            str(storage.get("Location", "not recorded")) if isinstance(storage, Mapping) else "not recorded"
        )
        partitions, columns = facts.get("partitions") or (), facts.get("columns") or ()
        placed = (
            f"{len(partitions):,} with a location each"
            if self.table.partitioning
            else "none: not partitioned"
        )
        # what the metastore has counted, by the table's parameters; `DESCRIBE` words it where it leaves those out
        properties, described = self.table.properties, facts.get("table")
        counted = [key for key in ("numFiles", "numRows", "totalSize") if key in properties]
        counts = [f"{key} {properties[key]}" for key in counted]
        words = str(described.get("Statistics", "")) if isinstance(described, Mapping) else ""
        parts = (
            ("table", (f"{count_noun(len(columns), 'column')}, serde, properties",)),
            ("location", (place,)),
            ("partitions", (placed,)),
            ("statistics", (", ".join(counts) or words or "none recorded", _OUTDATED)),
            _NOBODY,
        )
        return Beside("metastore", "as it was given", "kept", parts)


def _draw_files(some: Sequence[HiveFile], states: Mapping[str, State], depth: int) -> list[Branch]:
    """Draw the files of a directory: the new ones first, then by name without the job's made-up id; of many only some."""

    def rank(one: HiveFile) -> tuple[bool, str, str]:
        name = last_name(one.path)
        return states[one.path] == "kept", name.replace(one.write_id or "/", ""), name

    order = sorted(some, key=rank)
    shown = order[:_MOST_FILES] if len(order) > _MOST_FILES + 1 else order
    found = [Branch(last_name(one.path), states[one.path], depth, is_file=True) for one in shown]
    rest = order[len(shown) :]
    if rest:
        state: State = "kept" if all(states[one.path] == "kept" for one in rest) else "new"
        found.append(Branch(f"{len(rest):,} more files", state, depth, count=len(rest)))
    return found


def _find_newest_job(files: Sequence[HiveFile]) -> str | None:
    """Find the job that wrote last, by the times of its files; None where names say no job, or two wrote at one time."""
    times: dict[str, Any] = {}
    for file in files:
        if file.write_id is None or file.modified is None:
            return None
        times[file.write_id] = max(times.get(file.write_id, file.modified), file.modified)
    last = max(times.values(), default=None)
    newest = [job for job, at in times.items() if at == last]
    return newest[0] if len(newest) == 1 and len(times) > 1 else None


def draw_chart(table: HiveTable, since: Since) -> Chart:
    """Draw the chart of a table."""
    return HiveMap(table, since).draw()
