"""Encrypted Iceberg tables: key ids are shown, what is encrypted is named with its key, and none of it is damage."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import Unsupported

KEYS = [
    {
        "key-id": "k1",
        "encrypted-key-metadata": base64.b64encode(bytes(40)).decode(),
        "encrypted-by-id": "kek",
    },
    {
        "key-id": "kek",
        "encrypted-key-metadata": base64.b64encode(bytes(60)).decode(),
        "encrypted-by-id": "kms/1",
    },
]


def encrypt(content: bytes, block: int = 1 << 20) -> bytes:
    """An AES GCM stream by the specification; its ciphertext is noise of the same length."""
    stream = b"AGS1" + block.to_bytes(4, "little")
    for start in range(0, len(content) or 1, block):
        size = len(content[start : start + block])
        stream += hashlib.shake_256(content[:64] + start.to_bytes(8, "big")).digest(12 + size + 16)
    return stream


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A sample whose document names keys, and whose manifest lists are encrypted."""
    root = ll.sample()["iceberg"].unpack(tmp_path)
    table: Any = ll.open(root)
    path = Path(table.metadata_path)
    document = json.loads(path.read_text())
    document["encryption-keys"] = KEYS
    for snapshot in document["snapshots"]:
        snapshot["key-id"] = "k1"
    for snapshot in table.snapshots:
        listed = Path(snapshot.manifest_lists[0].path)
        listed.write_bytes(encrypt(listed.read_bytes(), 1 << 10))
    path.write_text(json.dumps(document))
    return root


def test_keys_and_what_is_in_the_clear(place: Path) -> None:
    table: Any = ll.open(place)
    assert [
        (key.id, key.encrypted_by, key.size_bytes, len(key.snapshots)) for key in table.encryption_keys
    ] == [
        ("k1", "kek", 40, 5),
        ("kek", "kms/1", 60, 0),
    ]
    assert "manifest lists are encrypted with k1" in str(table)
    assert "In the clear: the metadata document" in table.to_text(2)
    assert table.current.summary and table.schema.fields and len(table.snapshots) == 5
    assert not len(ll.sample("iceberg").encryption_keys)


def test_an_encrypted_manifest_list_is_named_with_its_key(place: Path) -> None:
    table: Any = ll.open(place)
    with pytest.raises(Unsupported, match=r"encrypted \(AES-GCM stream, AGS1\), key k1"):
        _ = table.current.manifest_lists[0].manifests
    assert len(table.files) == 0
    (finding,) = table.findings
    assert (finding.severity, finding.code, finding.snapshots) == (
        "error",
        "unsupported",
        (table.current.id,),
    )
    assert "key k1" in finding.message
    view = table.current.manifest_lists[0].bytes_view()
    view.check()
    assert [part.label for part in view.children[:2]] == ["magic", "plain block length"]


def test_a_check_does_not_call_it_damage(place: Path) -> None:
    check = ll.open(place).check()
    assert check.verdict == "not readable here" and not check.ok
    assert {found.code for found in check.findings if found.severity == "error"} == {"unsupported"}
    text = str(check)
    assert "5 files are not readable here" in text and "damaged" not in text.lower()


def test_encrypted_manifests_and_files(tmp_path: Path) -> None:
    root = ll.sample()["iceberg"].unpack(tmp_path)
    table: Any = ll.open(root)
    file = table.current.files[0]
    manifest = table.current.manifests[0]
    for path in (file.path, manifest.path):
        Path(path).write_bytes(encrypt(Path(path).read_bytes()))
    table = ll.open(root)
    with pytest.raises(Unsupported, match="AES-GCM stream"):
        _ = table.current.manifests[0].entries
    with pytest.raises(Unsupported, match="AES-GCM stream"):
        file.preview()
    assert {found.code for found in table.findings} <= {"unsupported", "manifest-length"}


def test_a_key_that_the_table_lacks_and_odd_records(place: Path) -> None:
    path = Path(ll.open(place).metadata_path)  # type: ignore[attr-defined]
    document = json.loads(path.read_text())
    document["encryption-keys"] = [{"key-id": 7, "encrypted-key-metadata": "no base64!"}, {}]
    path.write_text(json.dumps(document))
    keys = ll.open(place).encryption_keys
    assert [(key.id, key.size_bytes, len(key.snapshots)) for key in keys] == [
        ("7", None, 0),
        ("", None, 0),
        ("k1", None, 5),
    ]


def test_a_parquet_footer_that_is_encrypted(tmp_path: Path) -> None:
    root = ll.sample()["iceberg"].unpack(tmp_path)
    table: Any = ll.open(root)
    file = next(file for file in table.files if file.content == "data")
    data = Path(file.path).read_bytes()
    Path(file.path).write_bytes(b"PARE" + data[4:-4] + b"PARE")
    with pytest.raises(Unsupported, match="encrypted footer"):
        _ = next(one for one in ll.open(root).files if one.path == file.path).footer
    check = ll.open(root).check()
    assert any("encrypted footer" in gap.why for gap in check.not_looked_at)
