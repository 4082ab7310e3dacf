"""The log of a Delta table as a map: checkpoint, sidecars and commits that lead to a version, its data files and vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakelens.model.charts import Box, Chart, Since, State, Tier, choose_boxes, count_noun, last_name

if TYPE_CHECKING:
    from lakelens.formats.delta.log_table import DeltaTable

_TIERS = {
    "checkpoint": ("a version,", "reconciled"),
    "sidecar": ("files of a", "V2 checkpoint"),
    "commit": ("JSON, an action", "a line"),
    "compacted commit": ("several commits,", "reconciled"),
    "data file": ("Parquet",),
    "vector file": ("rows that are", "deleted"),
}


def draw_log(table: DeltaTable, since: Since) -> Chart:
    """Draw what leads to a version, and what the change made new."""
    snapshot: Any = since.after
    if snapshot is None:
        return Chart((Tier("table", (Box(table.name, "absent", ("nothing was committed yet",)),)),))
    context, is_first = table._context, since.before is None and since.is_known
    last = -1 if is_first else snapshot.id - 1 if since.before is None else since.before.id or 0
    sides: dict[str, set[str]] = {"add": set(), "remove": set()}
    for version in range(last + 1, snapshot.id + 1) if not is_first else ():
        for action in table._make(version).commit.actions if version in context.log.commits else ():
            if action.kind in sides:
                sides[action.kind] |= {context.locate(action.key[0]), action.key[1]}
    things: dict[str, dict[State, list[tuple[str, str, str]]]] = {noun: {} for noun in _TIERS}

    def put(noun: str, path: str, words: str, state: State, source: str = "") -> None:
        things[noun].setdefault(since.state_of(path, state), []).append((path, words, source))

    for file in snapshot.manifests:
        noun = f"{file.kind} commit" if file.kind == "compacted" else file.kind
        said = table._make(file.version).operation if noun == "commit" else None
        put(noun, file.path, said or f"version {file.version}", "new" if file.version > last else "kept")
    for path, rows, source in snapshot.files.pick("path", "record_count", "manifest"):
        is_changed = path in sides["add"] and path in sides["remove"]
        state: State = "changed" if is_changed else "new" if is_first or path in sides["add"] else "kept"
        said = "another vector" if is_changed else "" if rows is None else count_noun(rows, "row")
        put("data file", path, said, state, source)
    for index in snapshot.index_files:
        state = "new" if is_first or index.recorded_path in sides["add"] else "kept"
        put("vector file", index.path, count_noun(index.row_count or 0, "deleted row"), state)
    tiers, above = list[Tier](), dict[str, int]()  # the box of each file of the tier above
    for noun, states in things.items():
        groups, boxes, places = list(states.items()), list[Box](), dict[str, int]()
        for number, start, end in choose_boxes([held for _, held in groups]):
            state, held = groups[number]
            path, words, _ = held[start]
            one = end - start == 1
            places |= dict.fromkeys((file for file, _, _ in held[start:end]), len(boxes))
            parents = {above[source] for _, _, source in held[start:end] if source in above}
            named = tuple(sorted(parents)) or ((0,) if noun == "sidecar" else ())
            name = last_name(path) if one else count_noun(end - start, noun)
            lines, place = (words,) if one and words else (), path if one else None
            boxes.append(Box(name, state, lines, end - start, names_files=one, path=place, parents=named))
        tiers += [Tier(f"{noun}s", tuple(boxes), _TIERS[noun])] if boxes else []
        above = places or above
    counted = tuple((noun, len(things[noun].get("new", ()))) for noun in _TIERS)
    changed = sum(len(states.get("changed", ())) for states in things.values())
    gone = len({path for path in sides["remove"] - sides["add"] if "/" in path})
    return Chart(tuple(tiers), counted_new=counted, changed=changed, gone=gone)
