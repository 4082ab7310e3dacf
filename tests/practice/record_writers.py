"""Asks Paimon's and Iceberg's own writers for the bytes of drawn values, and records a digest of them: `drawn.json`.

    python tests/practice/record_writers.py

The values are drawn by `lakelens.practice.draws`, written as text, built in Java (`WriteDrawn.java`, with a JDK) and
encoded by the engines' own classes; none of lakelens's bytes go there. What they wrote is kept as one digest for every
hundred questions, and the first ones in full. The suite writes the same values and compares (`test_drills.py`).
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from lakelens.practice import draws

HERE = Path(__file__).resolve().parent
SEED = 36
QUESTIONS = {"binary-row": 3_500, "bounds": 5_000, "deletion-vector": 1_000, "partition": 3_000}
CHUNK = 100
WHOLE = 10  # questions of each subject that are kept in full
EPOCH = datetime(1970, 1, 1)


def write_text(value: Any) -> str:
    """Write a value as `WriteDrawn.java` reads it."""
    if value is None:
        return "-"
    if isinstance(value, str | bytes):
        return (value.encode() if isinstance(value, str) else value).hex()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return str((value - EPOCH) // timedelta(microseconds=1))
    if isinstance(value, date):
        return str((value - EPOCH.date()).days)
    if isinstance(value, time):
        return str((datetime.combine(EPOCH, value) - EPOCH) // timedelta(milliseconds=1))
    return str(value)


def draw_all(subject: str) -> Iterator[tuple[list[str], bytes, int]]:
    """Draw every question of a subject: what Java is asked, what lakelens writes, and how many values that are."""
    for number in range(1, QUESTIONS[subject] + 1):
        draw = draws.open_draw(subject, SEED, number)
        if subject == "binary-row":
            fields, values = draws.draw_row(draw)
            pairs = zip((kind for _, kind in fields), values, strict=True)
            asked = "\t".join(["row", *(part for kind, value in pairs for part in (kind, write_text(value)))])
            yield [asked], draws.write_row(fields, values), len(values)
        elif subject == "bounds":
            kind, *bounds = draws.draw_bounds(draw)
            asks = [f"bound\t{kind}\t{write_text(bound)}" for bound in bounds]
            yield asks, b"".join(draws.write_bound(kind, bound) for bound in bounds), len(bounds)
        elif subject == "deletion-vector":
            positions, is_wide = draws.draw_positions(draw), draw.random() < 0.5
            asked = "\t".join(["wide" if is_wide else "narrow", *map(str, positions)])
            yield [asked], draws.write_vector(positions, is_wide=is_wide), len(positions)
        else:
            drawn = draws.draw_partition(draw)
            stored = "null" if drawn.stored is None else str(drawn.stored)
            asked = f"partition\t{drawn.type}\t{drawn.transform}\t{write_text(drawn.value)}"
            yield [asked], f"{stored}\t{drawn.directory}".encode(), 1


def digest(written: list[bytes]) -> list[str]:
    """One digest for every hundred questions."""
    chunks = (written[start : start + CHUNK] for start in range(0, len(written), CHUNK))
    return [
        hashlib.sha256("\n".join(data.hex() for data in chunk).encode()).hexdigest()[:16] for chunk in chunks
    ]


def ask_engines(lines: list[str]) -> list[bytes]:
    """What the engines write, a line for each that is asked."""
    import pyspark

    from lakelens.spark.local import runtime

    java = runtime.find_java()
    jars = runtime.fetch_jars(["iceberg", "paimon"], java=java)
    classpath = ":".join([*map(str, jars), f"{Path(pyspark.__file__).parent}/jars/*"])
    command = ["java", "-cp", classpath, str(HERE / "WriteDrawn.java")]
    run = subprocess.run(command, input="\n".join(lines), stdout=subprocess.PIPE, text=True, check=True)
    print("\n".join(Path(jar).name for jar in jars))
    return [bytes.fromhex(line) for line in run.stdout.splitlines()]


def main() -> None:
    drawn = {subject: list(draw_all(subject)) for subject in QUESTIONS}
    answers = iter(
        ask_engines([line for questions in drawn.values() for asks, *_ in questions for line in asks])
    )
    document: dict[str, Any] = {}
    for subject, questions in drawn.items():
        written = [b"".join(next(answers) for _ in asks) for asks, *_ in questions]
        wrong = [
            n
            for n, (data, question) in enumerate(zip(written, questions, strict=True), 1)
            if data != question[1]
        ]
        print(subject, len(written), sum(count for *_, count in questions), "values; differ:", len(wrong))
        for n in wrong[:5]:
            print(
                " ", questions[n - 1][0], questions[n - 1][1].hex(" "), written[n - 1].hex(" "), sep="\n   "
            )
        document[subject] = {
            "questions": len(written),
            "values": sum(count for *_, count in questions),
            "first": [data.hex() for data in written[:WHOLE]],
            "digests": digest(written),
        }
    (HERE / "drawn.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
