"""Damage: every metadata file of an engine-written table cut, emptied or overwritten gives a `LakeError` or a finding."""

from __future__ import annotations

import gzip
import json
import random
import shutil
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.codecs.avro.container import decode_header, encode_header, encode_long
from lakelens.errors import Corrupt, LakeError
from lakelens.formats.iceberg.metadata.document import decompress_document
from lakelens.formats.iceberg.table import IcebergTable
from lakelens.opening import open_table
from lakelens.samples import unpack_table
from tests.support import LAKES, zstd
from tests.support.iceberg_builder import Builder

CASES = ("v1-types", "v2-merge-on-read", "v3-merge-on-read", "v2-gzip-metadata", "v4-types")


def walk(table: IcebergTable) -> int:
    """Asks a table for everything; gives the number of files it met."""
    _ = table.schema, table.specs, table.refs, table.snapshot_log, table.metadata_log, table.sort_orders
    count = 0
    for snapshot in table.snapshots:
        for manifest in snapshot.manifests:
            _ = manifest.partition_summary, manifest.schema_id, manifest.spec_id
        for file in snapshot.files:
            _ = file.bounds, file.partition, file.deletes, repr(file)  # type: ignore[attr-defined]
            count += 1
        _ = snapshot.index_files, snapshot.statistics
        snapshot.files.to_arrow()
    assert list(table.list_files())
    return count


def damages(data: bytes, seed: int) -> Iterator[bytes]:
    """Ways in which a file breaks."""
    chance = random.Random(seed)
    yield b""
    yield from (data[: len(data) * part // 8] for part in (1, 4, 7))
    yield data[:-1]
    yield b"\x00" * len(data)
    yield bytes(chance.randrange(256) for _ in range(300))
    yield b"PAR1" + data[4:]
    yield b"{}"
    for _ in range(12):
        broken = bytearray(data)
        for _ in range(chance.randrange(1, 4)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        yield bytes(broken)


@pytest.mark.exhaustive(keep=2)
@pytest.mark.parametrize("case", CASES)
def test_damage_is_one_error_or_a_finding(case: str, tmp_path: Path) -> None:
    copy = shutil.copytree(LAKES / "spark" / "iceberg" / case / "table", tmp_path / "table")
    whole = walk(open_table(copy))  # type: ignore[arg-type]
    assert whole > 0
    current = open_table(copy).metadata_path  # type: ignore[attr-defined]
    lists, manifests = (sorted((copy / "metadata").glob(form)) for form in ("snap-*", "*-m?.*"))
    targets = [Path(current), *lists[-2:], *manifests[-4:]]
    assert len(targets) > 2
    told = 0
    for seed, target in enumerate(targets):
        data = target.read_bytes()
        for broken in damages(data, seed):
            target.write_bytes(broken)
            try:
                table = open_table(copy)
                assert isinstance(table, IcebergTable)
                walk(table)
                told += any(finding.severity in ("error", "warning") for finding in table.findings)
            except LakeError as error:
                assert target.name in str(error), str(error)
                told += 1
        target.write_bytes(data)
    assert told > len(targets) * 8  # every cut and every overwriting is told; single bytes may be harmless


def make(root: Path) -> tuple[Path, Path, Path]:
    """A table of two manifests: its list and its manifests."""
    builder = Builder(root)
    lines = [builder.manifest([builder.data_file()]), builder.manifest([builder.data_file()])]
    listed = builder.snapshot(lines)["manifest-list"]
    builder.write_metadata()
    names = [listed, *(line["manifest_path"] for line in lines)]
    first, second, third = (root / "metadata" / name.rsplit("/", 1)[-1] for name in names)
    return first, second, third


def test_a_broken_manifest_is_a_finding_while_walking_and_an_error_when_asked(tmp_path: Path) -> None:
    _, broken, _ = make(tmp_path)
    broken.write_bytes(b"Obj\x01garbage")
    table = open_table(tmp_path)
    assert table.current is not None and len(table.files) == 1
    assert [(f.severity, f.path) for f in table.findings] == [
        ("warning", str(broken)),
        ("error", str(broken)),
    ]
    with pytest.raises(Corrupt, match=broken.name):
        _ = table.current.manifests[0].entries
    assert len(table.current.manifests[1].entries) == 1


def test_entries_before_the_damage_are_kept(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    rows = [builder.data_file(f"data/{i:05d}-{'x' * 200}.parquet") for i in range(1000)]
    line = builder.manifest(rows, codec="null")
    builder.snapshot([line])
    builder.write_metadata()
    path = tmp_path / "metadata" / line["manifest_path"].rsplit("/", 1)[-1]
    path.write_bytes(path.read_bytes()[:-100])
    table = open_table(tmp_path)
    assert 0 < len(table.files) < 1000 and table.findings[-1].severity == "error"


def test_a_broken_list_is_an_error_when_asked(tmp_path: Path) -> None:
    listed, _, _ = make(tmp_path)
    listed.write_bytes(b"")
    table = open_table(tmp_path)
    assert table.current is not None and len(table.files) == 0
    with pytest.raises(Corrupt, match=r"snap-.*empty"):
        _ = table.current.manifest_lists[0].manifests


def test_a_manifest_where_a_list_should_be(tmp_path: Path) -> None:
    listed, manifest, _ = make(tmp_path)
    listed.write_bytes(manifest.read_bytes())
    table = open_table(tmp_path)
    assert table.current is not None
    with pytest.raises(Corrupt, match="name no manifest"):
        _ = table.current.manifest_lists[0].manifests
    manifest_data = manifest.read_bytes()
    make(tmp_path)
    manifest.write_bytes(listed.read_bytes())
    table = open_table(tmp_path)
    assert table.current is not None
    with pytest.raises(Corrupt, match="no data_file"):
        _ = table.current.manifests[0].entries
    assert manifest_data


def test_encrypted_manifests_are_named(tmp_path: Path) -> None:
    _, manifest, _ = make(tmp_path)
    manifest.write_bytes(b"AGS1" + bytes(100))
    table = open_table(tmp_path)
    assert len(table.files) == 1 and any("encrypted" in f.message for f in table.findings)


@pytest.mark.parametrize(
    ("document", "place"),
    [
        (b'{"format-version": 2, "schemas": [', "at byte"),
        (b"\x1f\x8bnot gzip", "gzip"),
        (b"[1]", r"at \$"),
        (b'{"format-version": 2}', r"\$\.schemas"),
        (b'{"format-version": 2, "schemas": [{"fields": [{"id": 1}]}]}', r"\$\.schemas\[0\]\.fields\[0\]"),
        (
            b'{"format-version": 2, "schemas": [{"fields": []}], "snapshots": [{"snapshot-id": "x", "timestamp-ms": 1}]}',
            r"\$\.snapshots\[0\]\.snapshot-id",
        ),
        (b'{"format-version": 2, "schemas": [{"fields": []}], "refs": {"main": {}}}', "snapshot-id"),
        (b'{"format-version": "two", "schemas": []}', r"\$\.format-version"),
        (b"[" * 100_000, "nested|truncated"),  # Python 3.14 goes as deep as its stack allows
        (b'{"a":' * 600 + b"1" + b"}" * 600, r"\$"),
        (b'"\xff"', "UTF-8"),
        (b'{"format-version": 9, "schemas": [{"fields": []}]}', "version 9"),
    ],
)
def test_a_broken_document_names_the_place_and_the_other_versions(
    tmp_path: Path, document: bytes, place: str
) -> None:
    builder = Builder(tmp_path)
    builder.write_metadata("v1.metadata.json")
    builder.write("metadata/v2.metadata.json", document)
    with pytest.raises(LakeError, match=place) as caught:
        open_table(tmp_path)
    assert "v2.metadata.json" in str(caught.value)
    if isinstance(caught.value, Corrupt):
        assert "v1.metadata.json" in str(caught.value)


def places(value: object, place: tuple[object, ...] = ()) -> Iterator[tuple[object, ...]]:
    """The place of every value in a JSON document."""
    yield place
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*place, key))


WRONG = (None, 7, -1, "x", 1.5, True, [], {}, [1], {"a": 1}, [{}], 2**70, "é" * 300)


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("case", ["v1-types", "v3-statistics", "v3-partition-evolution"])
def test_wrong_values_anywhere_in_the_document(case: str, tmp_path: Path) -> None:
    copy = shutil.copytree(LAKES / "spark" / "iceberg" / case / "table", tmp_path / "table")
    path = Path(open_table(copy).metadata_path)  # type: ignore[attr-defined]
    whole = json.loads(decompress_document(path.read_bytes()))
    chance = random.Random(case)
    everywhere = [place for place in places(whole) if place]
    for place in chance.sample(everywhere, min(80, len(everywhere))):
        for wrong in chance.sample(WRONG, 3):
            document = json.loads(json.dumps(whole))
            holder = document
            for key in place[:-1]:
                holder = holder[key]
            holder[place[-1]] = wrong
            path.write_text(json.dumps(document))
            try:
                walk(open_table(copy))  # type: ignore[arg-type]
            except LakeError as error:
                assert path.name in str(error) or "metadata" in str(error), (place, wrong, str(error))


def test_wrong_bytes_in_records_that_are_not_compressed(tmp_path: Path) -> None:
    builder = Builder(tmp_path)
    bounds = [{"key": 1, "value": bytes(8)}, {"key": 2, "value": b"abc"}]
    files = [builder.data_file(lower_bounds=bounds, upper_bounds=bounds) for _ in range(3)]
    line = builder.manifest(files, codec="null")
    builder.snapshot([line])
    builder.write_metadata()
    path = tmp_path / "metadata" / line["manifest_path"].rsplit("/", 1)[-1]
    data = path.read_bytes()
    chance = random.Random(5)
    for _ in range(400):
        broken = bytearray(data)
        for _ in range(chance.randrange(1, 6)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        path.write_bytes(bytes(broken))
        walk(open_table(tmp_path))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_document_that_claims_to_be_huge_is_refused_unless_the_user_allows_it(kind: str) -> None:
    compress = gzip.compress if kind == "gzip" else zstd.compress
    large = b" " * (1 << 20)
    with ll.options.budgets.using(max_document=1 << 16):
        with pytest.raises(
            Corrupt, match=r"too large \(at byte 0; expected at most .* bytes; seen more, in .*max_document"
        ):
            decompress_document(compress(large))
        assert decompress_document(compress(large[: 1 << 16])) == large[: 1 << 16]
    assert decompress_document(compress(large)) == large


def test_a_manifest_that_grows_to_gigabytes_is_refused_early_and_not_kept(tmp_path: Path) -> None:
    table = Path(unpack_table("iceberg", tmp_path))
    block = zstd.compress(bytes(255 << 20))
    for manifest in ll.open(table).current.manifests:
        path = Path(manifest.path)
        header = decode_header(path.read_bytes())
        body = encode_long(1) + encode_long(len(block)) + block + header.sync_marker
        path.write_bytes(
            encode_header({**header.metadata, "avro.codec": b"zstandard"}, header.sync_marker) + body
        )
    tracemalloc.start()
    try:
        opened = ll.open(table)
        assert not len(opened.current.files)
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 20 << 20 and peak < 200 << 20
    found = [finding.message for finding in opened.findings if "too large" in finding.message]
    assert len(found) == len(opened.current.manifests)


@pytest.mark.parametrize("pack", [lambda data: gzip.compress(data, 6), zstd.compress], ids=["gzip", "zstd"])
def test_a_document_that_is_a_bomb_is_refused_early(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    table = Path(unpack_table("iceberg", tmp_path))
    newest = max(table.glob("metadata/*.metadata.json"))
    content = newest.read_bytes()
    newest.write_bytes(pack(content[:1] + b" " * (90 << 20) + content[1:]))
    with pytest.raises(Corrupt, match=r"compressed content is too large.*expected at most"):
        ll.open(newest)
    newest.write_bytes(pack(content[:1] + b" " * (8 << 20) + content[1:]))
    assert ll.open(newest).current is not None
