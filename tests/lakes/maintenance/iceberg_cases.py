"""Which maintenance of which Iceberg table is recorded: the options of `dry_run`, and what the engine is called with.

`s` are the ids of the table's snapshots in commit order, `t` their times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

FAR = "2100-01-01"
NOW = "older_than => TIMESTAMP '2100-01-01 00:00:00'"

Make = Callable[[list[int], list[str]], tuple[str, dict[str, Any]]]


@dataclass(frozen=True)
class Case:
    """One call: the table's folder, the procedure, and what makes its arguments (SQL) and its options (of `dry_run`).

    `planted` are files that are written into the copy first, by path below the table, with their age in days.
    """

    table: str
    procedure: str
    make: Make
    planted: Mapping[str, float] = field(default_factory=dict)


def fixed(arguments: str = "", **options: Any) -> Make:
    """Arguments that do not depend on the table."""
    return lambda s, t: (arguments, options)


def mapped(extra: str = "", given: Mapping[str, Any] | None = None, /, **options: Any) -> Make:
    """Options of an action as a map, and further arguments before it."""
    pairs = ", ".join(f"'{name}', '{str(value).lower()}'" for name, value in options.items())
    arguments = ", ".join(filter(None, (extra, f"options => map({pairs})" if pairs else "")))
    plain = {name.replace("-", "_").replace(".", "_"): value for name, value in options.items()}
    return lambda s, t: (arguments, {**(given or {}), **plain})


def _expire() -> list[Case]:
    everything = """v1-basic v1-branches-and-tags v2-branches-and-tags v1-copy-on-write v2-copy-on-write v2-emptied
        v3-emptied
        v1-rewrite-manifests v2-rewrite-data-files v3-rewrite-data-files v2-rewrite-position-deletes v2-merge-on-read
        v3-merge-on-read v3-deletion-vectors v2-statistics v3-statistics v2-rollback v2-cherry-pick v2-fast-forward
        v2-short-log v2-manifest-merge v2-hadoop v2-equality-deletes-evolved v2-partition-evolution v2-expired
        v2-no-snapshot v2-imported v3-from-v2 v2-gzip-metadata v2-replaced v2-object-storage v1-gzip-metadata"""
    cases = [Case(name, "expire_snapshots", fixed(NOW, older_than=FAR)) for name in everything.split()]
    for name, keep in (
        *(("v2-basic", 2), ("v3-branches-and-tags", 2), ("v3-copy-on-write", 3), ("v2-planning", 4)),
        *(("v2-rewrite-manifests", 2), ("v2-rollback", 2), ("v3-hadoop", 2)),
    ):
        make = fixed(f"{NOW}, retain_last => {keep}", older_than=FAR, retain_last=keep)
        cases.append(Case(name, "expire_snapshots", make))
    for name, at in (("v2-merge-on-read", 3), ("v2-branches-and-tags", 2), ("v2-cherry-pick", 2)):
        cases.append(Case(name, "expire_snapshots", _older(at)))
    recent = fixed("older_than => TIMESTAMP '2020-01-01 00:00:00'", older_than="2020-01-01")
    chosen: Make = lambda s, t: (  # noqa: E731
        f"older_than => TIMESTAMP '2020-01-01 00:00:00', snapshot_ids => ARRAY({s[1]}, {s[2]})",
        {"older_than": "2020-01-01", "snapshot_ids": [s[1], s[2]]},
    )
    current: Make = lambda s, t: (f"snapshot_ids => ARRAY({s[-1]})", {"snapshot_ids": [s[-1]]})  # noqa: E731
    return [
        *cases,
        Case("v2-basic", "expire_snapshots", recent),
        Case("v2-rollback", "expire_snapshots", chosen),
        Case("v2-short-log", "expire_snapshots", current),
        Case(
            "v2-basic", "expire_snapshots", fixed(f"{NOW}, retain_last => 0", older_than=FAR, retain_last=0)
        ),
    ]


def _older(at: int) -> Make:
    return lambda s, t: (
        f"older_than => TIMESTAMP '{t[at]}'",
        {"older_than": f"{t[at].replace(' ', 'T')}+00:00"},
    )


_STRAYS = {
    "data/stray.parquet": 10,
    "data/_temporary/0/part-0.parquet": 10,
    "data/.hidden/part-1.parquet": 10,
    "data/_SUCCESS": 10,
    "data/p=9/stray.orc": 4,
    "data/young.parquet": 1,
    "metadata/stray-m0.avro": 10,
    "metadata/99999-stray.metadata.json": 10,
    "metadata/snap-1-1-stray.avro": 10,
    "metadata/.stray.crc": 10,
    "stray.txt": 10,
    "elsewhere/deep/er/and/deeper/stray.parquet": 10,
}


def _orphans() -> list[Case]:
    names = """v2-basic v1-partition-identity v2-hadoop v2-partition-text v3-deletion-vectors v2-expired v2-statistics
        v2-object-storage v1-copy-on-write v2-no-snapshot v2-equality-deletes v3-gzip-metadata v2-imported v2-short-log"""
    cases = [Case(name, "remove_orphan_files", fixed(), _STRAYS) for name in names.split()]
    below: Make = lambda s, t: (  # noqa: E731
        "location => '{location}/data'",
        {"location": "{location}/data"},
    )
    return [
        *cases,
        Case("v2-basic", "remove_orphan_files", below, _STRAYS),
        Case(
            "v2-cherry-pick",
            "remove_orphan_files",
            fixed("older_than => TIMESTAMP '2024-01-01 00:00:00'", older_than="2024-01-01"),
            {**_STRAYS, "data/ancient.parquet": 2000},
        ),
        Case("v2-basic", "remove_orphan_files", fixed(NOW, older_than=FAR), _STRAYS),
    ]


def _data() -> list[Case]:
    all_of = {"rewrite-all": True}
    two = {"min-input-files": 2}
    plain = """v2-short-log v2-planning v1-partition-time v2-basic v2-no-snapshot"""
    of_two = """v1-basic v2-sort-order v2-merge-on-read v3-merge-on-read v3-deletion-vectors v2-equality-deletes
        v1-partition-void v2-position-deletes-by-partition v2-rewrite-manifests v2-position-deletes-avro v2-from-v1
        v2-position-deletes-orc v2-types-orc v3-from-v2 v2-types-avro v2-hadoop v2-schema-evolution"""
    whole = """v2-partition-evolution v3-partition-evolution v2-emptied v2-equality-deletes-evolved v2-partition-text
        v1-types v3-equality-deletes v2-statistics v2-imported v2-partition-bucket"""
    chosen: list[tuple[str, Make]] = [
        *((name, mapped()) for name in plain.split()),
        *((name, mapped(**two)) for name in of_two.split()),
        *((name, mapped(**all_of)) for name in whole.split()),
        ("v2-merge-on-read", mapped(**{"delete-file-threshold": 1})),
        ("v2-planning", mapped(**{"delete-ratio-threshold": 0.01})),
        ("v2-planning", mapped(**all_of, **{"max-file-group-size-bytes": 5000})),
        ("v2-short-log", mapped(**all_of, **{"max-file-group-input-files": 2})),
        (
            "v1-partition-time",
            mapped(**all_of, **{"partial-progress.enabled": True, "partial-progress.max-commits": 2}),
        ),
        ("v2-planning", mapped(**all_of, **{"target-file-size-bytes": 3000})),
        ("v2-merge-on-read", mapped(**all_of, **{"remove-dangling-deletes": True})),
        ("v2-partition-evolution", mapped(**all_of, **{"remove-dangling-deletes": True})),
        ("v2-equality-deletes", mapped(**all_of, **{"use-starting-sequence-number": False})),
        ("v2-basic", mapped("where => 'id > 1'", {"where": "id > 1"}, **all_of)),
        ("v2-partition-identity", mapped("where => 'id = 1'", {"where": "id = 1"}, **all_of)),
        ("v2-planning", mapped("where => 'id < 10'", {"where": "id < 10"}, **all_of)),
        ("v2-branches-and-tags", mapped("branch => 'audit'", {"branch": "audit"}, **all_of)),
        ("v2-branches-and-tags", mapped(**all_of)),
        ("v3-rewrite-data-files", mapped(**all_of)),
    ]
    return [Case(name, "rewrite_data_files", make) for name, make in chosen]


def _deletes() -> list[Case]:
    names = """v2-merge-on-read v2-position-deletes-avro v2-position-deletes-orc v2-position-deletes-untidy v2-from-v1
        v2-position-deletes-by-partition v2-rewrite-position-deletes v2-planning v3-from-v2 v3-from-v1 v3-merge-on-read
        v2-partition-evolution v2-basic v2-statistics v2-equality-deletes v2-rewrite-data-files"""
    plain = ("v2-merge-on-read", "v2-planning", "v2-position-deletes-untidy", "v3-from-v2")
    return [
        *(
            Case(name, "rewrite_position_delete_files", mapped(**{"rewrite-all": True}))
            for name in names.split()
        ),
        *(Case(name, "rewrite_position_delete_files", mapped(**{"min-input-files": 2})) for name in plain),
    ]


def _manifests() -> list[Case]:
    names = """v1-basic v2-basic v1-partition-time v2-merge-on-read v2-planning v3-merge-on-read v1-partition-void
        v2-partition-evolution v2-manifest-merge v2-equality-deletes-evolved v1-schema-evolution v2-copy-on-write
        v2-emptied v2-no-snapshot v2-short-log v3-deletion-vectors v3-basic v2-from-v1 v2-hadoop v2-statistics
        v2-rewrite-data-files v3-rewrite-data-files v3-from-v2 v2-equality-deletes-typed"""
    return [
        *(Case(name, "rewrite_manifests", fixed()) for name in names.split()),
        Case("v2-partition-evolution", "rewrite_manifests", fixed("spec_id => 0", spec_id=0)),
        Case("v1-partition-void", "rewrite_manifests", fixed("spec_id => 1", spec_id=1)),
    ]


def _refs() -> list[Case]:
    def to(place: int) -> Make:
        return lambda s, t: (f"snapshot_id => {s[place]}", {"snapshot_id": s[place]})

    def at(place: int) -> Make:
        return lambda s, t: (
            f"timestamp => TIMESTAMP '{t[place]}'",
            {"timestamp": f"{t[place].replace(' ', 'T')}+00:00"},
        )

    def forward(branch: str, target: str) -> Make:
        return fixed(f"branch => '{branch}', to => '{target}'", branch=branch, to=target)

    back, current, pick = "rollback_to_snapshot", "set_current_snapshot", "cherrypick_snapshot"
    return [
        Case("v2-basic", back, to(0)),
        Case("v2-basic", back, to(-1)),
        Case("v2-rollback", back, to(1)),
        Case("v1-branches-and-tags", back, to(1)),
        Case("v3-merge-on-read", back, to(1)),
        Case("v2-basic", back, fixed("snapshot_id => 7", snapshot_id=7)),
        Case("v2-rollback", current, to(1)),
        Case("v2-branches-and-tags", current, to(1)),
        Case("v2-branches-and-tags", current, fixed("ref => 'audit'", ref="audit")),
        Case("v2-basic", "rollback_to_timestamp", at(1)),
        Case("v2-basic", "rollback_to_timestamp", at(0)),
        Case("v2-fast-forward", "fast_forward", forward("audit", "main")),
        Case("v2-branches-and-tags", "fast_forward", forward("main", "audit")),
        Case("v2-branches-and-tags", "fast_forward", forward("empty-handed", "main")),
        Case("v2-branches-and-tags", "fast_forward", forward("newborn", "audit")),
        Case("v2-branches-and-tags", "fast_forward", forward("first", "main")),
        Case("v2-cherry-pick", pick, to(1)),
        Case("v2-rollback", pick, to(1)),
        Case("v2-rollback", pick, to(2)),
        Case("v2-branches-and-tags", pick, to(1)),
        Case("v2-basic", pick, to(1)),
        Case("v2-copy-on-write", pick, to(1)),
        Case("v2-cherry-pick", pick, fixed("snapshot_id => 7", snapshot_id=7)),
    ]


CASES: dict[str, list[Case]] = {
    "expire_snapshots": _expire(),
    "remove_orphan_files": _orphans(),
    "rewrite_data_files": _data(),
    "rewrite_position_delete_files": _deletes(),
    "rewrite_manifests": _manifests(),
    "refs": _refs(),
}
