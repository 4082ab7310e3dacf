"""Every table that an engine wrote is the same from a bucket, a web server and an archive as from the disk."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError
from lakelens.model.table import Table
from tests.support import LAKES
from tests.support.far import make_static, serve

TABLES = sorted(
    path.parent / "table" for path in LAKES.glob("**/answers.json") if (path.parent / "table").is_dir()
)
NAMES = [str(path.parent.relative_to(LAKES)) for path in TABLES]
# written by Hive, Iceberg and Paimon: partitioned, with deletes, with an index
SOME = ("spark/hive/partitioned", "spark/iceberg/v2-merge-on-read", "paimon-java/1.4.2-pk-fixed-bucket")


def describe(where: Any, root: str, **options: Any) -> dict[str, str]:
    """Everything that is read of a table, without the place where it is."""
    try:
        table = ll.open(where, **options)
    except LakeError as error:
        return {"error": _strip(f"{type(error).__name__} {error}", root)}
    if not isinstance(table, Table):
        return {"view": _strip(str(table), root)}
    parts = {
        "format": table.format,
        "schema": table.schema,
        "snapshots": list(map(str, table.snapshots)),
        "refs": list(map(str, table.refs)),
        "files": sorted(map(str, _read(table))),
        "count": len(table.files),
        "findings": sorted(map(str, table.findings)),
    }
    return {name: _strip(json.dumps(part, default=str), root) for name, part in parts.items()}


def _read(table: Table) -> list[Any]:
    """All files, but when each was written: a copy is newer."""
    rows: list[dict[str, Any]] = table.files.to_arrow().to_pylist()
    return [{name: value for name, value in row.items() if name != "modified"} for row in rows]


def _strip(text: str, root: str) -> str:
    return text.replace(root, "·")


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[str, str]]]:
    """Of some tables a place on a web server, and in an archive."""
    folder = tmp_path_factory.mktemp("served")
    for name in SOME:
        shutil.copytree(LAKES / name / "table", folder / "w" / name / "table")
    shutil.make_archive(str(folder / "x"), "zip", folder, "w")
    with serve(make_static(folder)) as address:
        yield {
            name: (f"{address}/w/{name}/table", f"zip://w/{name}/table::file://{folder}/x.zip")
            for name in SOME
        }


@pytest.mark.exhaustive(keep=24)
@pytest.mark.parametrize("path", TABLES, ids=NAMES)
def test_a_table_in_a_bucket_is_the_one_on_the_disk(bucket, path: Path) -> None:
    # with what is beside the table: some keep files there
    url = bucket.put(path.parent, f"equal/{path.parent.name}") + "/table"
    root, home = url.removesuffix("/table"), str(path.parent)
    assert describe(url, root, storage_options=bucket.options) == describe(path, home)


@pytest.mark.parametrize("name", SOME)
def test_a_table_of_a_web_server_and_in_an_archive(archives, name: str) -> None:
    path = LAKES / name / "table"
    local = describe(path, str(path))
    site, archive = archives[name]
    assert describe(site, site) == local
    assert describe(archive, archive.partition("::")[0]) == local


@pytest.mark.parametrize("format", ["hive", "iceberg", "paimon"])
def test_the_samples_in_a_bucket(bucket, format: str) -> None:
    path = Path(ll.sample(format).location)
    url = bucket.put(path, f"samples/{format}")
    assert describe(url, url, storage_options=bucket.options) == describe(path, str(path))
