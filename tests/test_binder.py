"""The `binder/` folder: what repo2docker makes of it, and that its pins are those of the project."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

ROOT = Path(__file__).parent.parent
BINDER = ROOT / "binder"
SCRIPTS = ("postBuild", "start")


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def normalize(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read_pins() -> dict[str, list[tuple[str, str]]]:
    """Every pin of the lock: by package its versions, each with its marker (a universal lock may hold several)."""
    pins: dict[str, list[tuple[str, str]]] = {}
    for line in (ROOT / "requirements.lock").read_text().splitlines():
        found = re.match(r"([A-Za-z0-9_.\-]+)==([^\s;\\]+)\s*(?:;\s*([^\\]+))?", line)
        if found:
            pins.setdefault(normalize(found[1]), []).append((found[2], (found[3] or "").strip()))
    return pins


def pinned_python() -> Version:
    found = re.fullmatch(r"python-(\d+\.\d+(\.\d+)?)", (BINDER / "runtime.txt").read_text().strip())
    assert found, "runtime.txt names a Python"
    return Version(found[1])


def test_python_is_pinned_to_one_that_the_project_runs_on(project):
    assert pinned_python() in SpecifierSet(project["project"]["requires-python"])
    assert f"--python-version {pinned_python()}" in (ROOT / "Makefile").read_text(), (
        "what the lock is made for"
    )


def test_pins_satisfy_the_project(project):
    pins = read_pins()
    extras = project["project"]["optional-dependencies"]
    pinned = [lines for name, lines in extras.items() if name not in ("gs", "abfs")]  # as in test_release
    wanted = [*project["project"]["dependencies"], *(line for lines in pinned for line in lines)]
    environment = {"python_version": str(pinned_python()), "sys_platform": "linux"}
    for text in wanted:
        requirement = Requirement(text)
        if requirement.name == project["project"]["name"]:
            continue  # one of its own extras, which is looked at too
        if requirement.marker is not None and not requirement.marker.evaluate(environment):
            continue
        found = pins.get(normalize(requirement.name))
        assert found, f"{requirement.name} is not pinned"
        for version, marker in found:
            whole = {**environment, "python_full_version": f"{pinned_python()}.0"}
            if not marker or Marker(marker).evaluate(whole):
                assert Version(version) in requirement.specifier, f"{requirement} is pinned to {version}"


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_bash_that_stops_at_the_first_error(name):
    path = BINDER / name
    lines = path.read_text().splitlines()
    assert lines[0] == "#!/bin/bash"
    assert "set -euo pipefail" in lines
    assert path.stat().st_mode & stat.S_IXUSR
    subprocess.run(["bash", "-n", str(path)], check=True)


def test_start_hands_over_to_the_command_with_its_arguments():
    done = subprocess.run(
        [str(BINDER / "start"), "printf", "%s|", "a b", "c"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "a b|c|"


def test_start_keeps_spark_and_python_of_the_image():
    environment = {**os.environ, "SPARK_HOME": "elsewhere", "PYSPARK_PYTHON": "elsewhere"}
    done = subprocess.run(
        [str(BINDER / "start"), "env"], env=environment, capture_output=True, text=True, check=True
    )
    assert "elsewhere" not in done.stdout


def test_repo2docker_builds_the_image_from_the_folder():
    pytest.importorskip("repo2docker", reason="repo2docker is not installed")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "repo2docker",
            "--no-build",
            "--debug",
            "--user-id",
            "1000",
            "--user-name",
            "jovyan",
            str(ROOT),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    dockerfile = done.stdout + done.stderr
    assert "RUN ./binder/postBuild" in dockerfile
    assert 'ENV R2D_ENTRYPOINT="${REPO_DIR}/binder/start"' in dockerfile
    assert f"py-2d{pinned_python()}".replace(".", "-2e") in dockerfile, "the pinned Python's environment"
    assert dockerfile.index("COPY --chown=1000:1000 src/") < dockerfile.index("RUN ./binder/postBuild")


@pytest.mark.exhaustive
def test_the_explorer_is_behind_the_proxy_of_the_server_that_start_runs(tmp_path):
    import shutil

    import lakelens as ll

    shutil.copytree(ll.sample("hive").location, tmp_path / "wh" / "clicks")
    command = [str(BINDER / "start"), sys.executable, "-m", "tests.jupyter.ask_proxy", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "/user/ada/lakelens/" in done.stdout
    assert "tests.jupyter.ask_proxy" in (ROOT / "tests" / "binder_check.sh").read_text()


def test_notebooks_ask_for_settings_that_a_small_container_holds():
    from lakelens.spark.local.session import _defaults

    settings = _defaults(Path("/warehouse"), (), [])
    assert settings["spark.master"] == "local[2]"
    assert settings["spark.driver.memory"] == "1g"
    assert settings["spark.ui.enabled"] == "false"
