"""One table by two formats: a mirror (UniForm, Paimon's Iceberg export, XTable) beside its source.

Files decide, and neither's word: the mirror shows the newest state of its source whose files it has. They are the same by
name, for a mirror may stand in a directory of its own. A mirror may leave files out by a rule, as one without levels has
those of the highest level alone: then what it has are all files of a state but for those of other levels.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from lakelens.analysis.compare import (
    Comparison,
    Difference,
    Differences,
    Likeness,
    Likenesses,
    Name,
    State,
    walk_back,
)

if TYPE_CHECKING:
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table

_MOST_STATES = 1_000  # older states of the source that are compared with the mirror
_FACTS = ("path", "content", "record_count", "level", "size_bytes")


class Match(NamedTuple):
    """The state of a source that its mirror shows: how many commits ago it was, and its live data files."""

    age: int
    state: Snapshot | None
    files: Mapping[str, Mapping[str, Any]]


def compare_mirror(a: Table, b: Table) -> Comparison:
    """Compare two tables of two formats: see `lakelens.compare`."""
    of_a, of_b = _list_live(a.current), _list_live(b.current)
    match = _find_state(a, of_b)
    is_b_source = match is None and (match := _find_state(b, of_a)) is not None
    source, mirror = (b, of_a) if is_b_source else (a, of_b)
    is_known = match is not None
    age, state, shown = match or Match(0, a.current, of_a)
    at = state.id if is_known and state is not None else None
    left_out = {name: shown[name] for name in shown if name not in mirror}
    rule = _find_rule(shown, mirror)
    sides: tuple[Name, Name] = ("b", "a") if is_b_source else ("a", "b")
    differences = [
        _differ(sides[0], name, facts, f"{sides[1]} leaves it out{rule and f': {rule}'}")
        for name, facts in left_out.items()
    ]
    differences += [
        _differ(sides[1], name, facts, f"no file of {sides[0]}'s newest state")
        for name, facts in mirror.items()
        if name not in shown
    ]
    when = f", at {at}" if is_known else ""
    pair = (mirror, shown) if is_b_source else (shown, mirror)
    rows = [
        _compare_columns(a, b),
        _liken(
            "live files",
            len(pair[0]),
            len(pair[1]),
            is_known and not left_out,
            f"names and lengths{when}",
        ),
        _liken(
            "rows of data files",
            _count_rows(pair[0]),
            _count_rows(pair[1]),
            is_known and not left_out,
            f"recorded counts of each file{when}",
        ),
    ]
    deletes = [_count_deletes(state if table is source else table.current) for table in (a, b)]
    if any(deletes):
        rows.append(
            _liken("delete files and vectors", deletes[0], deletes[1], is_known, f"how many there are{when}")
        )
    if age:
        newest = [str(table.current.id) if table.current else "" for table in (a, b)]
        rows.append(Likeness("current state", newest[0], newest[1], "BEHIND", "files of older states"))
    return Comparison(
        a,
        b,
        Likenesses(rows),
        Differences(differences),
        at,
        behind=0 if is_b_source else age,
        ahead=age if is_b_source else 0,
        files=len(of_a.keys() | of_b.keys()),
        notes=(f"Left out of {sides[1]}: {rule}.",) if rule and left_out else (),
    )


def _list_live(state: Snapshot | None) -> Mapping[str, Mapping[str, Any]]:
    """List the live data files of a state by name: the last step of their paths."""
    if state is None:
        return {}
    rows = state.files.to_arrow(stats=False, columns=list(_FACTS)).to_pylist()
    return {row["path"].rpartition("/")[2]: row for row in rows if row["content"] == "data"}


def _find_state(source: Table, mirror: Mapping[str, Mapping[str, Any]]) -> Match | None:
    """Find which state of the source a mirror shows: the newest that has all its files."""
    for age, state in enumerate(islice(walk_back(source), _MOST_STATES)):
        shown = _list_live(state)
        is_part = all(
            name in shown and facts["size_bytes"] == shown[name]["size_bytes"]
            for name, facts in mirror.items()
        )
        if is_part and (len(shown) == len(mirror) or (mirror and _find_rule(shown, mirror))):
            return Match(age, state, shown)
    return None


def _find_rule(shown: Mapping[str, Mapping[str, Any]], mirror: Mapping[str, Any]) -> str:
    """Find the rule by which files of a state are left out of its mirror: by their level; empty where there is none."""
    kept = {facts["level"] for name, facts in shown.items() if name in mirror}
    left = {facts["level"] for name, facts in shown.items() if name not in mirror}
    if not left or None in left or kept & left:
        return ""
    levels = ", ".join(map(str, sorted(left)))
    return f"files of level {levels}, whose rows are merged when they are read"


def _count_deletes(state: Snapshot | None) -> int:
    """Count the delete files and deletion vectors of a state."""
    contents = () if state is None else (content for (content,) in state.files.pick("content"))
    return sum(content not in ("data", "changelog") for content in contents)


def _count_rows(files: Mapping[str, Mapping[str, Any]]) -> int:
    return sum(facts["record_count"] or 0 for facts in files.values())


def _liken(name: str, a: int, b: int, is_same: bool, by: str) -> Likeness:
    state: State = "SAME" if is_same and a == b else "DIFFERENT"
    return Likeness(name, f"{a:,}", f"{b:,}", state, by)


def _compare_columns(a: Table, b: Table) -> Likeness:
    """Compare the columns by name: each format has its own words for types."""
    names = [[field.name for field in table.schema.fields] for table in (a, b)]
    state: State = "SAME" if names[0] == names[1] else "DIFFERENT"
    return Likeness("columns", str(len(names[0])), str(len(names[1])), state, "names, in their order")


def _differ(side: Name, name: str, facts: Mapping[str, Any], why: str) -> Difference:
    size = facts["size_bytes"]
    return Difference(
        "ONLY",
        side,
        "data",
        name,
        size if side == "a" else None,
        size if side == "b" else None,
        True,
        (),
        why,
    )
