"""Steps outside of a table's objects: the command line with and without --json, finding, explaining a file, watching."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.fuzz.walk import Walk

VERBS: dict[str, list[str]] = {
    "show": ["-d", "3"],
    "snapshots": [],
    "manifests": [],
    "files": ["--columns", "all"],
    "history": [],
    "schema": ["--all"],
    "refs": [],
    "findings": [],
    "tree": [],
    "check": [],
    "health": [],
    "space": [],
    "explain": ["TRUE"],
    "dry-run": ["expire_snapshots"],
    "diff": ["main", "main"],
    "biography": ["no such"],
    "row": ["TRUE"],
    "find": [],
    "html": ["@page.html"],
    "skeleton": ["@skeleton"],
    "bytes": [],
}


def walk_outside(walk: Walk, root: Path, touched: list[Path]) -> None:
    """The steps that take a path."""
    import lakelens as ll

    for verb, arguments in VERBS.items():
        for tail in ([], ["--json"]):
            step = f"lakelens {' '.join([verb, *arguments, *tail])}"
            # a process starts with a walk of its own: as rare as a plot
            if (walk.only and step in walk.only) or (not walk.only and walk.rng.random() < walk.share / 4):
                given = [str(walk.scratch / one[1:]) if one.startswith("@") else one for one in arguments]
                place = next(iter(touched), root) if verb == "bytes" else root
                walk.step(
                    step, lambda verb=verb, given=given, tail=tail, place=place: run(verb, place, given, tail)
                )
    for path in touched[:1]:
        walk_file(walk, ll, path)
    walk.step("find", lambda: (found := ll.find(root.parent), found.to_text(2), found.to_arrow()))
    walk.step("watch", lambda: _watch(ll, root))


def walk_file(walk: Walk, ll: Any, path: Path) -> None:
    """What `explain_file` says of a file that was changed."""
    name = f"explain_file({path.name})"
    view = walk.step(name, lambda: ll.explain_file(path))
    if view is None:
        return
    for detail in (1, 3):
        walk.step(f"{name}.to_text({detail})", lambda detail=detail: view.to_text(detail))
    walk.step(f"{name}._repr_html_()", view._repr_html_)
    walk.step(f"{name}.check()", view.check)
    for byte in {walk.rng.randrange(len(view) or 1) for _ in range(2)}:
        inner = walk.step(f"{name}.at({byte})", lambda byte=byte: view.at(byte), "at")
        if inner is not None:
            walk.step(f"{name}.at({byte}).to_text(2)", lambda inner=inner: inner.to_text(2))
        walk.step(f"{name}.unpacked({byte})", lambda byte=byte: view.unpacked(byte).to_text(2), "unpacked")


def _watch(ll: Any, root: Path) -> None:
    with ll.watch(root) as change:
        pass
    change.to_text(1)


def run(verb: str, place: Path, arguments: list[str], tail: list[str]) -> None:
    """A verb of the command line: it ends with 0, 1 or 2, and never with a traceback."""
    import json

    from click.testing import CliRunner

    from lakelens.cli.commands import commands

    result = CliRunner().invoke(commands, [verb, str(place), *arguments, *tail])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code not in (0, 1, 2):
        raise AssertionError(f"ends with {result.exit_code}")
    if tail and result.stdout:  # an error is a line elsewhere
        json.loads(result.stdout)
