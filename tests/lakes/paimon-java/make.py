"""Make the tables of this folder anew with Paimon's Java core (needs a JDK, Maven and pyspark's jars).

    python tests/lakes/paimon-java/make.py [VERSION] [CASE...]

Jars are fetched by Maven into its own cache, classes and tables are made under /tmp, and the tables are copied here.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pyspark

HERE = Path(__file__).parent
JARS = {"1.4.2": "org.apache.paimon:paimon-bundle:1.4.2", "2.0.0": "org.apache.paimon:paimon-flink-2.0:2.0.0"}
OLDER = [  # the cases worth having from the older engine as well
    *[
        "pk-types",
        "pk-types-as-keys",
        "partition-types-sql-names",
        "stats-not-dense",
        "manifest-orc",
        "manifest-parquet",
    ],
    *[
        "pk-fixed-bucket",
        "pk-dynamic-bucket",
        "pk-postpone-bucket",
        "pk-deletion-vectors-bitmap64",
        "changelog-lookup",
    ],
    *[
        "append-deletion-vectors",
        "row-tracking",
        "data-evolution",
        "blob",
        "global-index",
        "file-index-embedded",
    ],
    *["schema-evolution-not-dense", "branches", "tags", "statistics", "external-paths"],
]
ROOT = Path("/tmp/lakes/paimon-java")  # recorded by tables with external paths, so the same on every machine


def fetch_jar(version: str) -> Path:
    """The engine's jar, copied out of Maven's cache."""
    group, artifact, number = JARS[version].split(":")
    target = Path("/tmp/lakes/jars")
    jar = target / f"{artifact}-{number}.jar"
    if not jar.exists():
        command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={group}:{artifact}:{number}"]
        subprocess.run([*command, f"-DoutputDirectory={target}"], check=True, cwd="/tmp")
    return jar


def run_maker(version: str, cases: list[str]) -> None:
    """Compile the sources against one engine and let them write its tables below ROOT."""
    spark_jars = Path(pyspark.__file__).parent / "jars"
    classes = Path(f"/tmp/lakes/classes-{version}")
    shutil.rmtree(classes, ignore_errors=True)
    path = f"{classes}:{fetch_jar(version)}:{spark_jars}/*"
    sources = [str(source) for source in sorted(HERE.glob("*.java"))]
    subprocess.run(["javac", "-nowarn", "-d", str(classes), "-cp", path, *sources], check=True)
    java = ["java", "-Duser.timezone=UTC", "-Dfile.encoding=UTF-8", "-Dlog4j2.level=ERROR", "-Xmx2g"]
    subprocess.run([*java, "-cp", path, "MakeLakes", str(ROOT), version, *cases], check=True)


def copy_tables(version: str) -> None:
    """Replace the committed tables of one engine by those just made; checksum files of Hadoop are left behind."""
    for made in sorted(ROOT.glob(f"{version}-*")):
        target = HERE / made.name
        if made.is_file():
            shutil.copy(made, HERE / "binary_rows.json")
            continue
        shutil.rmtree(target, ignore_errors=True)
        if (made / "answers.json").exists():
            shutil.copytree(made, target, ignore=shutil.ignore_patterns(".*.crc"))


def main(arguments: list[str]) -> None:
    versions = [argument for argument in arguments if argument in JARS] or list(JARS)
    cases = [argument for argument in arguments if argument not in JARS]
    for version in versions:
        for old in ROOT.glob(f"{version}-*"):
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        run_maker(version, cases or (OLDER if version == "1.4.2" else []))
        copy_tables(version)


if __name__ == "__main__":
    main(sys.argv[1:])
