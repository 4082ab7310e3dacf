"""Race two commits by Paimon's Java core 1.4.2, and record what the engine said of the second; see `Races.java`.

    python tests/lakes/conflicts/record_core.py

No connector for Spark is needed: messages of commits are made by the core's writers, as Spark's commands make them, and
committed after the other commit. Writes `core.jsonl` and `core.tar.xz`, as `record_paimon.py` does.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pyspark

HERE = Path(__file__).resolve().parent
ROOT = Path("/tmp/lakes/conflicts/core")
VERSION = "1.4.2"


def main() -> int:
    shutil.rmtree(ROOT, ignore_errors=True)
    classes, tables = ROOT / "classes", ROOT / "tables"
    classes.mkdir(parents=True)
    jars = Path("/tmp/lakes/jars")
    command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact=org.apache.paimon:paimon-bundle:{VERSION}"]
    subprocess.run([*command, f"-DoutputDirectory={jars}"], check=True, cwd="/tmp")
    path = f"{classes}:{jars / f'paimon-bundle-{VERSION}.jar'}:{Path(pyspark.__file__).parent / 'jars'}/*"
    subprocess.run(
        ["javac", "-nowarn", "-d", str(classes), "-cp", path, str(HERE / "Races.java")], check=True
    )
    java = [
        "java",
        "-Duser.timezone=UTC",
        "-Dlog4j2.level=ERROR",
        "-Xmx1g",
        "-cp",
        path,
        "Races",
        str(tables),
    ]
    said = subprocess.run(java, check=True, stdout=subprocess.PIPE, text=True).stdout
    with (
        (HERE / "core.jsonl").open("w", encoding="utf-8") as lines,
        tarfile.open(HERE / "core.tar.xz", "w:xz", preset=9) as archive,
    ):
        for line in said.splitlines():
            name, folder, base, error = line.split("\t")
            place = tables / folder
            snapshots = []
            for file in sorted((place / "snapshot").glob("snapshot-*"), key=lambda file: int(file.name[9:])):
                document = json.loads(file.read_text("utf-8"))
                snapshots.append([document["id"], document["commitKind"], document["commitUser"]])
            row = {"pair": name, "folder": folder, "base": int(base), "snapshots": snapshots}
            if not error and len({user for number, _, user in snapshots if number > int(base)}) < 2:
                continue  # no race: one of them makes no commit
            row["error"] = error.replace("\\n", "\n")[:12_000] or None
            lines.write(json.dumps(row, separators=(",", ":")) + "\n")
            for part in ("index", "manifest", "schema", "snapshot"):
                if (place / part).exists():
                    archive.add(place / part, f"{folder}/{part}", filter=_forget)
    return 0


def _forget(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
    info.mtime, info.uid, info.gid, info.uname, info.gname = 0, 0, 0, "", ""
    return None if info.name.endswith(".crc") else info


if __name__ == "__main__":
    sys.exit(main())
