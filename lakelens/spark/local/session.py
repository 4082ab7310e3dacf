"""One local Spark session for every format, with everything that it writes under one directory.

    WAREHOUSE/hive/                tables of spark_catalog       WAREHOUSE/metastore/   Hive's metastore (Derby)
    WAREHOUSE/iceberg/             tables of iceberg             WAREHOUSE/derby.log    Derby's own log
    WAREHOUSE/iceberg-catalog.db   iceberg's pointers (SQLite)   WAREHOUSE/spark.log    what Spark would print
    WAREHOUSE/paimon/              tables of paimon              WAREHOUSE/tmp/         Spark's and Hive's scratch

pyiceberg opens the same Iceberg tables with
`SqlCatalog("iceberg", uri="sqlite:///WAREHOUSE/iceberg-catalog.db", warehouse="WAREHOUSE/iceberg")`.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lakelens.errors import Unsupported
from lakelens.spark.local import runtime
from lakelens.spark.local.formats import FORMATS, SPARK_FORMATS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WAREHOUSE_KEY = "spark.lakelens.warehouse"
_FORMATS_KEY = "spark.lakelens.formats"
#: A module of Java that Spark asks for since 4.1.
_VECTORS = "jdk.incubator.vector"
_LOGGING = "log4j2.properties"
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_EXTENSIONS = "spark.sql.extensions"
_PLAIN = "/:@!$&'()*+,;=-._~\\"  # what a path component of a URI may hold unencoded


def session(
    warehouse: str | os.PathLike[str] = "warehouse",
    formats: Iterable[str] | None = None,
    config: Mapping[str, object] | None = None,
    *,
    progress: runtime.Progress | None = None,
) -> SparkSession:
    """A local Spark session with all its tables, metastore, logs and scratch files under one directory.

    Catalogs: `spark_catalog` (tables of Hive and of Delta Lake, embedded Derby metastore), `iceberg` (JDBC catalog on a
    SQLite file) and `paimon` (filesystem). Python workers run the caller's interpreter; session and JVM are in UTC. The
    first session on a machine fetches jars; later ones need no network. UPDATE of a Paimon table needs a session without
    iceberg, whose SQL rules fail on it (MERGE and DELETE work).

    Parameters
    ----------
    warehouse
        The directory; it is made where there is none.
    formats
        Which of "hive", "iceberg", "paimon" and "delta" the session knows. By default all whose jars are available; a
        warning says which are not, and why.
    config
        Spark settings that take the place of the defaults; `spark.jars.packages` replaces pinned jars of the same family.
    progress
        Called with lines of text while jars are fetched and Spark starts.

    Returns
    -------
    pyspark.sql.SparkSession
        A new session, or the one that already runs on this warehouse and knows all of the `formats` that were named.

    Raises
    ------
    Unsupported
        Another session runs, a format is unknown, Java is missing, or a jar of a format that was named is not available.

    Examples
    --------
    >>> session(formats=["csv"])
    Traceback (most recent call last):
    lakelens.errors.Unsupported: unknown format 'csv' ...
    """
    wanted = FORMATS if formats is None else _check_formats(formats)
    place = Path(warehouse).expanduser().resolve()
    _check_place(place, wanted)
    running = _running_session(place, () if formats is None else wanted)
    if running is not None:
        return running
    overrides = {key: str(value) for key, value in (config or {}).items()}
    say = progress or runtime.be_silent
    runtime.installed_pyspark()
    java = runtime.find_java()
    if formats is None:
        wanted, jars = _fetch_available(overrides, progress, java)
    else:
        jars = runtime.fetch_jars(wanted, config=overrides, progress=progress, java=java)
    settings = _merge(_defaults(place, wanted, jars), overrides)
    say(f"starting Spark on Java {java.version} ({java.origin})")
    return _start(settings, place, java)


def check_running(spark: Any) -> None:
    """Raises `Unsupported` for a session that was stopped; what PySpark itself raises then does not say so."""
    context = getattr(spark, "_sc", None)
    stopped = getattr(spark, "is_stopped", False) if context is None else getattr(context, "_jsc", 0) is None
    if stopped is True:
        hint = 'start one: spark = lakelens.spark.session("warehouse")'
        raise Unsupported("this Spark session is stopped", hint=hint)


def _fetch_available(
    overrides: Mapping[str, str], progress: runtime.Progress | None, java: runtime.Java
) -> tuple[tuple[str, ...], list[Path]]:
    """Fetch the formats whose jars are available, with these; a warning says which are not, and why."""
    # what was named in the settings has to be there
    parts = tuple(name for name, one in SPARK_FORMATS.items() if one.is_part)
    jars = dict.fromkeys(runtime.fetch_jars(parts, config=overrides, progress=progress, java=java))
    known = list(parts)
    for name in FORMATS[len(parts) :]:
        try:
            found = runtime.fetch_jars((name,), config=overrides, progress=progress, java=java)
        except Unsupported as error:
            warnings.warn(f"this Spark session starts without {name}: {error.reason}", stacklevel=3)
        else:
            known.append(name)
            jars |= dict.fromkeys(found)
    return tuple(known), list(jars)


def _check_formats(formats: Iterable[str]) -> tuple[str, ...]:
    wanted = (formats,) if isinstance(formats, str) else tuple(formats)
    for name in wanted:
        if name not in FORMATS:
            raise Unsupported(f"unknown format {name!r} (known: {', '.join(FORMATS)})")
    return tuple(name for name in FORMATS if name in wanted)


def _check_place(place: Path, wanted: tuple[str, ...]) -> None:
    """Refuse a path that a format would write elsewhere."""
    if quote(place.as_posix(), safe=_PLAIN) == place.as_posix():
        return
    for name in wanted:
        if reason := SPARK_FORMATS[name].refuses_special_characters:
            hint = f"choose another warehouse, or leave {name} out of formats="
            raise Unsupported(reason, path=str(place), hint=hint)


def _running_session(place: Path, wanted: tuple[str, ...]) -> SparkSession | None:
    """The session that runs in this process, if it is ours and fits."""
    if "pyspark" not in sys.modules:
        return None
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context = SparkContext._active_spark_context
    if context is None:
        return None
    conf = context.getConf()
    there = conf.get(_WAREHOUSE_KEY)
    if there is None:
        raise Unsupported(
            "a Spark session that lakelens did not start is running in this process",
            hint="stop it first (spark.stop()), or give it to lakelens.open(..., spark=spark)",
        )
    if there != str(place):
        raise Unsupported(
            f"a Spark session is running on another warehouse ({there}, asked for {place})",
            hint="stop it first (spark.stop()), or use its warehouse",
        )
    known = (conf.get(_FORMATS_KEY) or "").split(",")
    absent = [name for name in wanted if name not in known]
    if absent:
        raise Unsupported(
            f"the running Spark session was started without {', '.join(absent)}",
            hint="stop it first (spark.stop())",
        )
    return SparkSession.builder.getOrCreate()


def _defaults(place: Path, wanted: tuple[str, ...], jars: list[Path]) -> dict[str, str]:
    scratch = place / "tmp"
    logging = (scratch / _LOGGING).as_uri()
    options = {
        "user.timezone": "UTC",
        "log4j2.configurationFile": logging,
        "lakelens.spark.log": str(place / "spark.log"),
        "derby.stream.error.file": str(place / "derby.log"),
        "derby.system.home": str(place),
    }
    settings = {
        "spark.master": "local[2]",
        "spark.app.name": "lakelens",
        "spark.driver.memory": "1g",
        # The machine's own name need not resolve, and nobody else is to connect.
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        _JAVA_OPTIONS: " ".join(_quote(f"-D{key}={value}") for key, value in options.items()),
        "spark.jars": ",".join(str(jar) for jar in jars),
        "spark.local.dir": str(scratch),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.default.parallelism": "2",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(place / "hive"),
        "spark.sql.catalogImplementation": "in-memory",
        _WAREHOUSE_KEY: str(place),
        _FORMATS_KEY: ",".join(wanted),
    }
    known = [SPARK_FORMATS[name] for name in wanted]
    for one in known:
        settings |= one.fill_settings(str(place))
    extensions = [one.extension for one in reversed(known) if one.extension]
    return settings | ({_EXTENSIONS: ",".join(extensions)} if extensions else {})


def _merge(settings: Mapping[str, str], overrides: Mapping[str, str]) -> dict[str, str]:
    """The user's settings take the place of ours; lists of options, extensions and jars are added to, not replaced."""
    merged = {**settings, **overrides}
    merged.pop("spark.jars.packages", None)  # already resolved into spark.jars
    for key, separator in ((_JAVA_OPTIONS, " "), (_EXTENSIONS, ","), ("spark.jars", ",")):
        parts = [part for part in (settings.get(key), overrides.get(key)) if part]
        if parts:
            merged[key] = separator.join(parts)
    return merged


def _start(settings: Mapping[str, str], place: Path, java: runtime.Java) -> SparkSession:
    from pyspark.sql import SparkSession

    for folder in (place, place / "tmp", place / "iceberg"):
        folder.mkdir(parents=True, exist_ok=True)
    # a file for Java, wherever this package is: in a zip file too
    (place / "tmp" / _LOGGING).write_bytes(files(__package__).joinpath(_LOGGING).read_bytes())
    _end_idle_jvm()
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    python = sys.executable
    with _environment(JAVA_HOME=str(java.home), PYSPARK_PYTHON=python, PYSPARK_DRIVER_PYTHON=python):
        try:
            return builder.getOrCreate()
        except Exception as error:
            lines = (line.strip()[:300] for line in str(error).splitlines() if line.strip())
            raise Unsupported(
                f"Spark did not start ({next(lines, type(error).__name__)})",
                path=str(place),
                hint=find_hint(java, runtime.installed_pyspark()),
            ) from error


def find_hint(java: runtime.Java, pyspark: str) -> str:
    """Find what to try where Spark does not start: PySpark 4.1 asks for a module that not every Java has.

    >>> find_hint(runtime.Java(Path("nowhere"), 17, "a test"), "3.5.9")
    "is another process using this warehouse? Derby's metastore admits one at a time"
    """
    parts = tuple(int(part) for part in re.findall(r"\d+", pyspark)[:2])
    if parts >= (4, 1):
        asked = [str(java.home / "bin" / "java"), "--list-modules"]
        try:
            found = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=True).stdout
        except (OSError, subprocess.SubprocessError):
            found = _VECTORS
        if _VECTORS not in found:
            return (
                f"PySpark {pyspark} needs the module {_VECTORS}, which this Java ({java.origin}) does not have: "
                "set JAVA_HOME to a whole JDK 17 or 21, or install pyspark<4.1 on Python before 3.14"
            )
    return "is another process using this warehouse? Derby's metastore admits one at a time"


def _end_idle_jvm() -> None:
    """End the JVM that a stopped session left behind: Java options, jars and Derby's place are fixed when it starts."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is None:
        return
    gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        if process.stdin is not None:
            process.stdin.close()
        process.wait(timeout=60)
    SparkContext._gateway = None
    SparkContext._jvm = None


@contextlib.contextmanager
def _environment(**values: str) -> Iterator[None]:
    """Set environment variables for as long as Spark starts: it reads them once, and the JVM inherits them."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _quote(option: str) -> str:
    """Quote one Java option as Spark's command line splits them: double quotes around, inner ones escaped."""
    return '"' + option.replace("\\", "\\\\").replace('"', '\\"') + '"' if " " in option else option
