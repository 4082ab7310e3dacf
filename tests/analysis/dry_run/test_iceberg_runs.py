"""Plans for Iceberg tables against what the engine's own run of the same procedure did to the same table."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lakelens.errors import LakeError
from tests.support.maintenance import Run, list_groups, load_runs

RUNS = [run for group in list_groups() for run in load_runs(group)]
_ROLES = {
    "data": "data",
    "position_deletes": "position delete",
    "deletion_vector": "deletion vectors",
    "manifest": "manifest",
    "manifest list": "manifest list",
    "table metadata": "table metadata",
}


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run.record['procedure']}-{run.name}")
def test_plan_equals_the_engines_run(run: Run, tmp_path: Path) -> None:
    record = run.record
    table = run.open(tmp_path)
    try:
        plan = table.dry_run(record["procedure"], **run.options(table.location))
    except LakeError as error:
        assert "error" in record, f"{error}, but the engine ran it"
        return
    assert (plan.refusal is not None) == ("error" in record), (plan.refusal, record.get("error"))
    assert {one.relative_path for one in plan.deletes} == set(record["deleted"])
    place = Path(table.location)
    assert plan.freed_bytes == sum((place / name).stat().st_size for name in record["deleted"])
    if "branch" in record["options"] and "result" in record:  # `files` are those of main
        assert len(plan.reads) == record["result"].get("rewritten_data_files_count", 0)
    else:
        assert Counter(one.relative_path for one in plan.replaced) == count_gone(record)
    doubted = any(name.endswith(".metadata.json") for name in record["planted"])
    expected = {"plan-doubt"} if doubted else set()
    assert {found.code for found in plan.findings} <= expected or plan.refusal is not None
    check_states(plan, table, record)
    check_outputs(plan, record)
    check_call(plan, record)


@pytest.mark.parametrize(
    ("group", "role", "limit"),
    [
        ("rewrite_data_files", "data", 0.06),
        ("rewrite_data_files", "table metadata", 0.04),
        ("rewrite_manifests", "manifest", 0.03),
        ("rewrite_manifests", "manifest list", 0.04),
        ("rewrite_position_delete_files", "position delete", 0.02),
        ("expire_snapshots", "table metadata", 0.04),
    ],
)
def test_estimates_are_half_the_time_within_a_few_percent(group: str, role: str, limit: float) -> None:
    """The median of the errors, as the documentation of `sizes` states it."""
    errors = sorted(abs(estimated / size - 1) for estimated, size in _list_sizes(group, role))
    assert len(errors) >= 5
    assert errors[len(errors) // 2] <= limit, errors


def _list_sizes(group: str, role: str) -> list[tuple[int, int]]:
    """Estimated and true bytes of the files of a role, where any came out."""
    pairs = []
    for run in load_runs(group)[::2]:
        if "error" in run.record:
            continue
        plan = run.open(Path()).dry_run(run.record["procedure"], **run.options(""))
        estimated = sum(one.size_bytes or 0 for one in plan.writes if one.role == role)
        size = sum(bytes_ for bytes_, kind in run.record["added"].values() if _ROLES.get(kind) == role)
        if estimated and size:
            pairs.append((estimated, size))
    return pairs


def count_gone(record: dict[str, Any]) -> Counter[str]:
    """What left the current state: manifests where these are what is rewritten."""
    if record["procedure"] == "rewrite_manifests":
        return Counter(record["manifests"]["gone"])
    if record["procedure"].startswith("rewrite") or record["procedure"] == "cherrypick_snapshot":
        return Counter(line.partition("#")[0] for line in record["files"]["gone"])
    return Counter()


def check_states(plan: Any, table: Any, record: dict[str, Any]) -> None:
    """Which snapshots are left, and which is the current one."""
    before = {snapshot.id for snapshot in table.snapshots}
    lost = {fate.id for fate in plan.snapshots_lost}
    assert before - lost == before & set(record["snapshots"])
    if record["procedure"] == "expire_snapshots" and plan.refusal is None:
        assert {fate.id for fate in plan.kept} == set(record["snapshots"])
    if plan.becomes is not None and plan.becomes.isdigit():
        assert int(plan.becomes) == record["current"]
    elif plan.becomes is None and record["procedure"] in ("expire_snapshots", "fast_forward"):
        assert record["current"] == (None if table.current is None else table.current.id)


def check_outputs(plan: Any, record: dict[str, Any]) -> None:
    """How many files of each role came out, of how many bytes, within what the plan says."""
    count: Counter[str] = Counter()
    size: Counter[str] = Counter()
    for path, (bytes_, kind) in record["added"].items():
        if path == "metadata/version-hint.text":
            continue
        if kind == "other":  # of a commit between, or of another branch
            kind = "manifest" if path.startswith("metadata/") else "data"
        role = _ROLES[kind]
        count[role] += 1
        size[role] += bytes_
    lines: dict[str, list[Any]] = {}
    for output in plan.writes:
        lines.setdefault(output.role, []).append(output)
    assert set(count) <= set(lines), (count, list(plan.writes))
    for role, outputs in lines.items():
        least, most = sum(one.least_files or 0 for one in outputs), [one.most_files for one in outputs]
        assert least <= count[role], (role, outputs)
        assert None in most or count[role] <= sum(most), (role, count, outputs)
        if count[role] and all(one.least is not None for one in outputs):
            assert sum(one.least for one in outputs) <= size[role], (role, size[role], outputs)
        if all(one.most is not None for one in outputs):
            assert size[role] <= sum(one.most for one in outputs), (role, size[role], outputs)


def check_call(plan: Any, record: dict[str, Any]) -> None:
    """The statement to copy is the one that was run."""
    inner = re.sub(r"^CALL <catalog>\.system\.\w+\(\s*table => '[^']*',?|\)$", "", plan.call)

    def simplify(text: str) -> Any:
        text = re.sub(r"(\.\d*?)0+'", r"\1'", text.replace(" UTC'", "'"))
        text = re.sub(r"\.'", "'", re.sub(r"\s+", " ", text.strip()))
        text = re.sub(r"map\(([^)]*)\)", lambda found: f"map({sorted_pairs(found[1])})", text)
        return sorted(re.split(r", (?=\w+ =>)", text))

    wanted = record["arguments"]
    if "/" in wanted:  # a location: where the table was then
        return
    assert simplify(inner) == simplify(wanted)


def sorted_pairs(text: str) -> str:
    words = [word.strip() for word in text.split(",")]
    return str(sorted(zip(words[::2], words[1::2], strict=True)))
