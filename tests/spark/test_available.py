"""What a session starts with: the formats whose jars are available; one that was stopped says so. No Spark is started."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from lakelens.errors import Unsupported
from lakelens.spark.local import runtime
from lakelens.spark.local import session as sessions
from lakelens.spark.local.session import check_running, session


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, str]]:
    """The settings of each session that would start, where repositories have no jar of Paimon."""
    settings: list[Mapping[str, str]] = []

    def resolve(command: Sequence[str], cache: Path, progress: object) -> tuple[int, list[str]]:
        lines = []
        for coordinates in command[command.index("--packages") + 1].split(","):
            group, name, version = coordinates.split(":")
            if name.startswith("paimon"):
                return 1, [f"\t\t:: {group}#{name};{version}: not found"]
            (cache / "jars").mkdir(parents=True, exist_ok=True)
            (cache / "jars" / f"{group}_{name}-{version}.jar").write_bytes(b"PK")
            lines.append(f"\t{group}#{name};{version} from central in [default]")
        return 0, lines

    monkeypatch.setattr(runtime, "_run_ivy", resolve)
    monkeypatch.setattr(runtime, "find_java", lambda: runtime.Java(tmp_path, 17, "a test"))
    monkeypatch.setattr(sessions, "_start", lambda given, place, java: settings.append(given))
    monkeypatch.setattr(sessions, "_running_session", lambda place, wanted: None)
    monkeypatch.setenv("LAKELENS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LAKELENS_JARS", raising=False)
    return settings


def test_a_jar_that_is_missing_stops_its_format_alone(
    started: list[Mapping[str, str]], tmp_path: Path
) -> None:
    with pytest.warns(
        UserWarning, match="starts without paimon: Spark cannot get org.apache.paimon:"
    ) as said:
        session(tmp_path / "warehouse")
    assert len(said) == 1 and said[0].filename == __file__
    (settings,) = started
    assert settings["spark.lakelens.formats"] == "hive,iceberg,delta"
    assert (
        settings["spark.ui.showConsoleProgress"] == "false"
    )  # on a slow machine it would end in a cell's output
    assert "iceberg-spark-runtime" in settings["spark.jars"] and "paimon" not in settings["spark.jars"]
    assert "spark.sql.catalog.iceberg" in settings and "spark.sql.catalog.paimon" not in settings


@pytest.mark.parametrize(
    ("version", "left_out", "known"),
    [
        ("3.5.9", {"paimon"}, "hive,iceberg,delta"),
        ("4.0.2", {"paimon"}, "hive,iceberg,delta"),
        ("4.1.4", {"paimon"}, "hive,iceberg,delta"),
        ("4.2.0", {"iceberg", "paimon", "delta"}, "hive"),
    ],
)
def test_any_pyspark_starts_with_what_there_is(
    version: str,
    left_out: set[str],
    known: str,
    started: list[Mapping[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also one that is newer than every pinned jar: Hive is part of it."""
    monkeypatch.setattr(runtime, "installed_pyspark", lambda: version)
    with pytest.warns(UserWarning, match="this Spark session starts without") as said:
        session(tmp_path / "warehouse")
    assert {str(one.message).split(" without ")[1].partition(":")[0] for one in said} == left_out
    assert started[0]["spark.lakelens.formats"] == known
    with pytest.raises(
        Unsupported, match=r"Spark cannot get org\.apache\.paimon:|no jars are pinned for PySpark 4\.2"
    ):
        session(tmp_path / "warehouse", ("paimon",))


def test_a_format_that_is_named_is_needed(started: list[Mapping[str, str]], tmp_path: Path) -> None:
    for formats in (("hive", "paimon"), "paimon"):
        with pytest.raises(Unsupported, match=r"Spark cannot get org\.apache\.paimon:"):
            session(tmp_path / "warehouse", formats)
    with pytest.raises(Unsupported, match=r"paimon-spark-9:9\.9"):  # a jar that is named too
        session(
            tmp_path / "warehouse", config={"spark.jars.packages": "org.apache.paimon:paimon-spark-9:9.9"}
        )
    assert started == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session(tmp_path / "warehouse", ("iceberg",))
    assert started[0]["spark.lakelens.formats"] == "iceberg"


@pytest.mark.parametrize("connect", [True, False])
def test_a_stopped_session_is_named(connect: bool) -> None:
    class Stopped:
        def __init__(self) -> None:
            if connect:
                self.is_stopped = True
            else:
                self._sc: Any = type("Context", (), {"_jsc": None})()

    with pytest.raises(Unsupported, match=r"this Spark session is stopped; try: start one: spark = "):
        check_running(Stopped())
    check_running(None)
    check_running(object())
