"""Packs the tables that ship with the package: from the folders here to `lakelens/samples`.

    python tests/lakes/make_samples.py

Each becomes one archive, `tables/NAME.zip`, whose bytes depend on the table alone; `samples.json` says what each one
shows and has the script that made it, cut out of the sources here.
"""

from __future__ import annotations

import ast
import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

LAKES = Path(__file__).parent
SAMPLES = LAKES.parent.parent / "lakelens/samples"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that an archive can record


@dataclass(frozen=True)
class Choice:
    """A table to ship: its name in the package, its folder here, what it shows in a word or two, and its story."""

    name: str
    source: str
    feature: str
    story: str

    @property
    def format(self) -> str:
        """The format, as in the name."""
        return self.name.partition("-")[0]


CHOICES = (
    Choice(
        "delta",
        "delta/spark/vectors-prefixed",
        "deletion vectors",
        "Two inserts, two deletes kept as deletion vectors, and a checkpoint of version 3 that stands in for all before it.",
    ),
    Choice(
        "delta-basic",
        "delta/spark/appends",
        "inserts",
        "Three inserts and nothing else: the smallest table that has everything an INSERT writes.",
    ),
    Choice(
        "delta-change-feed",
        "delta/spark/change-feed",
        "change data feed",
        "An update and a delete whose changed rows are kept as files of their own; a delete of a partition needs none.",
    ),
    Choice(
        "delta-checkpoints",
        "delta/spark/v2-checkpoints",
        "V2 checkpoints",
        "Every third version has a checkpoint of the second kind, which names its live files in sidecars.",
    ),
    Choice(
        "delta-column-mapping",
        "delta/spark/mapped-name",
        "column mapping",
        "Columns that were renamed, added and dropped while the files keep the names that they were written with.",
    ),
    Choice(
        "delta-copy-on-write",
        "delta/spark/dml",
        "copy-on-write",
        "A delete, an update and a merge that rewrite whole files; OPTIMIZE; VACUUM, after which the newest alone is whole.",
    ),
    Choice(
        "delta-restored",
        "delta/spark/restored",
        "restore",
        "Two inserts, a delete, and back to the second insert: going back is a new version, which adds removed files again.",
    ),
    Choice(
        "delta-rs",
        "delta/rs/checkpointed",
        "another writer",
        "Written by delta-rs, without Spark: four inserts into two partitions, a checkpoint, a delete and one more insert.",
    ),
    Choice(
        "delta-types",
        "delta/spark/types",
        "types",
        "A column of every type that Spark writes, nested ones too, with statistics where the format keeps them.",
    ),
    Choice(
        "hive",
        "spark/hive/partitioned-hive-format",
        "partitioned Parquet",
        "Three rows in three partitions, written by Spark in two inserts: an escaped value, a null, and no metadata at all.",
    ),
    Choice(
        "hive-bucketed",
        "spark/hive/bucketed",
        "bucketed and sorted",
        "Four buckets, known from the names of the files only: the rows of two inserts fell into two of them.",
    ),
    Choice(
        "hive-orc",
        "spark/hive/orc",
        "ORC",
        "Two rows in ORC files, whose footers record the columns and their statistics.",
    ),
    Choice(
        "hive-text",
        "spark/hive/text",
        "text",
        "Lines with arrays and maps between control characters: nothing but the metastore knew the columns.",
    ),
    Choice(
        "iceberg",
        "spark/iceberg/v3-merge-on-read",
        "deletion vectors",
        "Format version 3, two partitions: an insert, two deletes, an update and a merge, kept as deletion vectors.",
    ),
    Choice(
        "iceberg-basic",
        "spark/iceberg/v2-basic",
        "inserts",
        "Format version 2, three inserts and nothing else: the smallest table that has everything an INSERT writes.",
    ),
    Choice(
        "iceberg-branches",
        "spark/iceberg/v2-branches-and-tags",
        "branches and tags",
        "Format version 2 with branches and tags: one row was only ever written to the branch audit.",
    ),
    Choice(
        "iceberg-copy-on-write",
        "spark/iceberg/v2-copy-on-write",
        "copy-on-write",
        "A delete and an update that rewrite whole files, a delete of a whole partition, an overwrite.",
    ),
    Choice(
        "iceberg-equality-deletes",
        "spark/iceberg/v2-equality-deletes",
        "equality deletes",
        "Rows deleted by value: by one column in a partition, by two columns with a null, then the same key inserted again.",
    ),
    Choice(
        "iceberg-evolution",
        "spark/iceberg/v2-schema-evolution",
        "schema evolution",
        "Format version 2 whose columns were widened, dropped, renamed, added and moved between three inserts.",
    ),
    Choice(
        "iceberg-expired",
        "spark/iceberg/v2-expired",
        "expired snapshots",
        "Four commits of which two are left: the older snapshots were expired, their files are gone.",
    ),
    Choice(
        "iceberg-merge-on-read",
        "spark/iceberg/v2-merge-on-read",
        "position deletes",
        "Format version 2, two partitions: an insert, two deletes, an update and a merge, kept as position delete files.",
    ),
    Choice(
        "iceberg-partition-evolution",
        "spark/iceberg/v2-partition-evolution",
        "partition evolution",
        "Six partitionings in one table: by value, bucket, prefix, day and hour; files stay in the one they came in.",
    ),
    Choice(
        "iceberg-planning",
        "spark/iceberg/v2-planning",
        "pruning",
        "Eight days of orders by day and bucket, the last two by month: what predicates skip; a column without metrics.",
    ),
    Choice(
        "iceberg-rewrite",
        "spark/iceberg/v2-rewrite-data-files",
        "compaction",
        "Small files rewritten into larger ones with deleted rows left out; the delete files stay, and delete nothing now.",
    ),
    Choice(
        "iceberg-rollback",
        "spark/iceberg/v2-rollback",
        "rollback",
        "Three inserts, back to the first one, and another insert: two snapshots are on no branch any more.",
    ),
    Choice(
        "iceberg-statistics",
        "spark/iceberg/v2-statistics",
        "statistics",
        "Distinct counts as theta sketches in a Puffin file, and statistics of each partition in a file of their own.",
    ),
    Choice(
        "iceberg-types",
        "spark/iceberg/v2-types",
        "types",
        "A column of every type that Spark writes, nested ones too, with bounds where the format keeps them.",
    ),
    Choice(
        "iceberg-upgraded",
        "spark/iceberg/v3-from-v1",
        "format upgrade",
        "Begun in format version 1 and continued in 3: old manifests under new metadata, then a deletion vector.",
    ),
    Choice(
        "iceberg-v4",
        "spark/iceberg/v4-evolution",
        "format version 4",
        "The draft of version 4, whose manifests are Parquet: vectors, other columns and partitions, a branch and a tag.",
    ),
    Choice(
        "paimon",
        "spark/paimon/pk-compacted",
        "primary key",
        "A primary-key table: inserts that change and delete earlier rows, a compaction that merges them, one more insert.",
    ),
    Choice(
        "paimon-append",
        "spark/paimon/append",
        "append",
        "No primary key, two inserts: the smallest table that has everything an INSERT writes.",
    ),
    Choice(
        "paimon-blob",
        "paimon-java/2.0.0-blob",
        "blobs",
        "Large values kept in files of their own beside the rows; row ids put the two together.",
    ),
    Choice(
        "paimon-branches",
        "spark/paimon/branches",
        "branches",
        "A primary-key table with a tag, and a branch that was made from it and written to since.",
    ),
    Choice(
        "paimon-changelog",
        "spark/paimon/changelog-lookup",
        "changelog",
        "Every change of a primary-key table kept as changelog files too, looked up when levels are compacted.",
    ),
    Choice(
        "paimon-compaction",
        "paimon-java/2.0.0-append-compaction",
        "compaction",
        "Three inserts of one row each into an append table of Avro files, and a compaction that makes one file of three.",
    ),
    Choice(
        "paimon-deletion-vectors",
        "paimon-java/2.0.0-pk-deletion-vectors",
        "deletion vectors",
        "A primary-key table in two partitions whose compactions mark changed rows in index files.",
    ),
    Choice(
        "paimon-dynamic-bucket",
        "spark/paimon/pk-dynamic-bucket",
        "dynamic bucket",
        "A primary-key table that finds the bucket of a key in hash index files.",
    ),
    Choice(
        "paimon-evolution",
        "spark/paimon/schema-evolution",
        "schema evolution",
        "Columns widened, dropped, renamed, added and moved between three inserts; every schema is a file.",
    ),
    Choice(
        "paimon-expired",
        "spark/paimon/expired",
        "expired snapshots",
        "Five changes of one row, of which the newest snapshots are left; the others and their files are gone.",
    ),
    Choice(
        "paimon-file-index",
        "paimon-java/2.0.0-file-index-in-file",
        "file index",
        "Bloom filters, bitmaps and bit slices of columns in index files beside the data files.",
    ),
    Choice(
        "paimon-global-index",
        "paimon-java/2.0.0-global-index",
        "global index",
        "A B-tree over a column of the whole table, from values to row ids.",
    ),
    Choice(
        "paimon-tags",
        "spark/paimon/tags",
        "tags",
        "Two tags, one of them kept for a day only, that hold snapshots which have expired since.",
    ),
)


def main(target: Path = SAMPLES) -> None:
    """Make the archives and the index below a directory; archives of other names are removed."""
    tables = target / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    index = []
    for choice in CHOICES:
        archive = tables / f"{choice.name}.zip"
        sizes = pack_table(LAKES / choice.source / "table", archive)
        index.append(describe(choice, sizes))
        print(f"{choice.name}: {sum(sizes):,} bytes in {len(sizes)} files, packed {archive.stat().st_size:,}")
    for other in set(tables.iterdir()) - {tables / f"{choice.name}.zip" for choice in CHOICES}:
        other.unlink()
    (target / "samples.json").write_text(json.dumps(index, indent=1, ensure_ascii=False) + "\n", "utf-8")


def pack_table(source: Path, archive: Path) -> list[int]:
    """Pack a directory without the hidden checksums of the local file system; gives the sizes of the files."""
    files = (path for path in source.rglob("*") if path.is_file())
    paths = sorted(path for path in files if not (path.name.startswith(".") and path.suffix == ".crc"))
    with zipfile.ZipFile(archive, "w") as packed:
        for path in paths:
            entry = zipfile.ZipInfo(path.relative_to(source).as_posix(), EPOCH)
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            packed.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED, 9)
    return [path.stat().st_size for path in paths]


def describe(choice: Choice, sizes: list[int]) -> dict[str, str | int]:
    """The line of the index."""
    return {
        "name": choice.name,
        "format": choice.format,
        "feature": choice.feature,
        "story": choice.story,
        "script": find_script(choice.source),
        "size_bytes": sum(sizes),
        "files": len(sizes),
    }


def find_script(source: str) -> str:
    """What made a table: the command, and the text of the case in the sources."""
    maker, *_, case = source.split("/")
    if maker == "spark":
        kind = source.split("/")[1]
        return f"# python tests/lakes/spark/make.py {kind}/{case}\n{find_python_case(kind, case)}\n"
    if maker == "delta":
        engine = source.split("/")[1]
        return f"# python tests/lakes/delta/make_{engine}.py {case}\n{find_delta_case(engine, case)}\n"
    version, _, case = case.partition("-")
    return f"// python tests/lakes/paimon-java/make.py {version} {case}\n{find_java_case(case)}\n"


def find_python_case(kind: str, case: str) -> str:
    """The function that is registered for a case, or the call that registers it with the function that is called."""
    plain = re.sub(r"^v\d-", "", case)
    for path in sorted((LAKES / "spark").glob(f"{kind}*_cases.py")):
        text = path.read_text("utf-8")
        body = ast.parse(text).body
        functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
        for node in body:
            if isinstance(node, ast.FunctionDef) and any(_names(one, plain) for one in node.decorator_list):
                return _cut_python(text, node)
            if isinstance(node, ast.Expr) and _names(node.value, plain):
                assert isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name)
                called = functions[node.value.func.id]
                return f"{_cut_python(text, called)}\n\n\n{_cut_python(text, node)}"
    raise LookupError(f"no case {case!r} for {kind}")


def find_delta_case(engine: str, case: str) -> str:
    """The function that is called as the case, or its line among the statements, below what the script says them with."""
    text = (LAKES / "delta" / f"make_{engine}.py").read_text("utf-8")
    body = ast.parse(text).body
    functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    made = functions.get(case.replace("-", "_"))
    if made is not None:
        return f"{_cut_python(text, functions['number_rows'])}\n\n\n{_cut_python(text, made)}"
    helpers = [_cut_python(text, functions[name]) for name in ("create", "numbers")]
    for node in body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict):
            for key, value in zip(node.value.keys, node.value.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == case:
                    assert value.end_lineno is not None
                    lines = text.splitlines()[key.lineno - 1 : value.end_lineno]
                    return "\n\n\n".join([*helpers, "\n".join(line.removeprefix("    ") for line in lines)])
    raise LookupError(f"no case {case!r} of {engine}")


def _names(node: ast.expr, case: str) -> bool:
    """Whether an expression is a call whose first argument is the name of the case."""
    first = node.args[:1] if isinstance(node, ast.Call) else []
    return any(isinstance(one, ast.Constant) and one.value == case for one in first)


def _cut_python(text: str, node: ast.stmt) -> str:
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    return "\n".join(text.splitlines()[first - 1 : node.end_lineno])


def find_java_case(case: str) -> str:
    """The line that registers a case, and the method that it names."""
    for path in sorted((LAKES / "paimon-java").glob("*Cases.java")):
        text = path.read_text("utf-8")
        registered = re.search(rf'MakeLakes\.add\("{re.escape(case)}", (.*)\);', text)
        if registered:
            named = re.search(r"::(\w+)|-> (\w+)\(", registered[1])
            assert named is not None
            return f"{registered[0]}\n\n{_cut_method(text, named[1] or named[2])}"
    raise LookupError(f"no case {case!r}")


def _cut_method(text: str, name: str) -> str:
    """The lines of a method, which end with a brace at its own indentation."""
    lines = text.splitlines()
    first = next(n for n, line in enumerate(lines) if re.match(rf"    (private )?static \w+ {name}\(", line))
    last = next(n for n, line in enumerate(lines) if n > first and line == "    }")
    return "\n".join(line.removeprefix("    ") for line in lines[first : last + 1])


if __name__ == "__main__":
    main()
