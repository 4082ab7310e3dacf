"""An answer as plain data, for `--json`, lists and inventories: parts that are declared, and parts that are made."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lakelens.answers.question import Datum, load
from lakelens.model.facts.facts import list_facts
from lakelens.views.card import wording

if TYPE_CHECKING:
    from lakelens.analysis.check.check import Check
    from lakelens.analysis.dry_run import Plan
    from lakelens.analysis.explain.explanation import Explanation
    from lakelens.analysis.explain.judgement import Level
    from lakelens.analysis.health.health import Health
    from lakelens.analysis.life.rows import RowLife
    from lakelens.analysis.space.space import Space
    from lakelens.model.table import Table

_RECLAIMABLE = ("old snapshots", "orphans")


def describe(thing: Any, names: tuple[str | Datum, ...], kinds: Any = None) -> dict[str, Any]:
    """Describe a thing by the parts that are named, as plain data; `kinds` are its facts, where `*` names all of them.

    >>> describe(3 + 4j, ("real", Datum("other", "imag")))
    {'real': 3.0, 'other': 4.0}
    """
    described: dict[str, Any] = {}
    for name in names:
        if name == "*":
            described |= list_facts(kinds, thing)
        else:
            part = name if isinstance(name, Datum) else Datum(name)
            described[part.name] = read_part(thing, part)
    return described


def read_part(thing: Any, part: Datum) -> Any:
    """Read a part of a thing as plain data: of several things a list, of what has facts these."""
    held = find(thing, part.of or part.name)
    if held is None or (isinstance(held, str | Mapping) and not part.names):
        return held
    kinds = getattr(held, "facts", None)
    if isinstance(held, Collection) and not isinstance(held, Mapping | str) and (part.names or kinds):
        return [describe(item, part.names or ("*",), kinds) for item in held]
    return describe(held, part.names) if part.names else held


def find(thing: Any, path: str) -> Any:
    """Find what a path leads to; None where an attribute before its end is None or not there.

    >>> find({"a": [1, 2]}, "a.1"), find({"a": None}, "a.b"), find([5], "3"), find([5], "__len__()")
    (2, None, None, 1)
    """
    if ":" in path:
        return load(path)(thing)
    for step in filter(None, path.split(".")):
        if step.endswith("()"):
            thing = getattr(thing, step[:-2])()
        elif step.isdigit():
            thing = thing[int(step)] if int(step) < len(thing) else None
        else:
            thing = thing[step] if isinstance(thing, Mapping) else getattr(thing, step)
        if thing is None:
            return None
    return thing


def list_writers(check: Check) -> list[str]:
    """List the writers that the table names, with their versions."""
    return [str(writer) for writer in check.defects.writers]


def list_defects(check: Check) -> list[dict[str, Any]]:
    """List the known defects that show, or that the table's writers had."""
    return [
        {
            **describe(tried.rule, ("code", "title", "writers", "thread", "severity")),
            **describe(tried, ("concerns", "shows", "here")),
        }
        for tried in check.defects.tried
        if tried.shows or tried.concerns
    ]


def format_difference(table: Table, check: Check) -> str:
    """Say in a line what a check found and what to run for all of it; nothing where all agrees."""
    if not check.has_differences:
        return ""
    if check.newer is not None:
        return f"{table.location}: {check.newer}; try: lakelens check '{table.location}'"
    first = next((finding for finding in check.findings if finding.severity == "error"), None)
    first = first or next(finding for finding in check.findings if finding.severity == "warning")
    more = len(check.findings) - 1
    others = f" and {more:,} more" if more else ""
    advice = f"lakelens check '{table.location}' --json"
    return f"{first.path}: {check.verdict}: {first.message}{others}; try: {advice}"


def list_buckets(health: Health) -> list[Any]:
    """List the buckets of a table; none where it has none."""
    buckets = health.parts.buckets
    return [] if buckets is None else list(buckets.to_arrow().to_pylist())


def list_totals(explanation: Explanation) -> dict[str, Any]:
    """List how many files, rows and bytes are skipped, kept, and in the snapshot."""
    sums = dict(explanation.sums)
    units = ("files", "record_count", "size_bytes")
    return {name: dict(zip(units, sums[name], strict=True)) for name in ("skipped", "kept", "snapshot")}


def count_reasons(level: Level) -> dict[str, int]:
    """Count what a level of a table left out, by the reason."""
    return dict(level.reasons)


def count_kept(explanation: Explanation, asked: Mapping[str, Any]) -> str:
    """Count the files that a condition reads, in words."""
    return f"{wording.plural(len(explanation.kept), 'file')} read for {wording.clean(asked['where'], 200)}"


def count_skipped(explanation: Explanation, asked: Mapping[str, Any]) -> str:
    """Count the files that a condition does not read, in words."""
    count = wording.plural(len(explanation.skipped), "file")
    return f"{count} not read for {wording.clean(asked['where'], 200)}"


def count_versions(life: RowLife, asked: Mapping[str, Any] | None) -> str:
    """Count the versions of rows, in words; with what was asked where it is said."""
    words = f"{wording.plural(len(life.versions), 'version')}, in a list"
    return words if asked is None else f"{words}: {wording.clean(asked['where'], 200)}"


def find_expiry(space: Space) -> dict[str, Any] | None:
    """Find what expiring frees before the time that was asked; None where none was."""
    if space.before is None:
        return None
    return describe(space.find_freed(space.before), ("*",), space.expiring.facts)


def sum_reclaimable(space: Space) -> int:
    """Sum the bytes that old snapshots and orphans take."""
    return sum(map(space.measure, _RECLAIMABLE))


def list_planned(plan: Plan) -> Iterator[dict[str, Any]]:
    """List the files that a plan touches, one at a time."""
    names = ("action", "role", "path", "relative_path", "size_bytes", "why")
    return ({name: row[name] for name in names} for row in plan.to_arrow().to_pylist())


def list_procedures(table: Table) -> tuple[dict[str, Any], Iterator[str]]:
    """List the maintenance procedures of a table with their options: as data, and one a line."""
    options = ("name", "kind", "meaning", "default", "is_required")
    described = [
        {
            **describe(procedure, ("name", "title", "meaning")),
            "options": [describe(option, options) for option in procedure.options],
        }
        for procedure in table.procedures.values()
    ]
    return {"procedures": described}, _write_procedures(table)


def _write_procedures(table: Table) -> Iterator[str]:
    if not table.procedures:
        yield f"a {table.traits.title} table has no maintenance procedures"
    for procedure in table.procedures.values():
        yield f"{procedure.name}  {procedure.meaning}"
        for option in procedure.options:
            default = (
                "required" if option.is_required else f"default: {option.default}" if option.default else ""
            )
            yield f"  {option.name}={option.kind}  {option.meaning}{f' ({default})' if default else ''}"
