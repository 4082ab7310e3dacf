"""Tables whose files are encrypted (version 3): which keys the metadata names, and what is in the clear.

    metadata document   in the clear; "encryption-keys": each key, encrypted by another or by a key management service
    snapshot            "key-id": the key of its manifest list
    manifest list       AES GCM stream; `key_metadata` of each line has the key of the manifest
    manifest            AES GCM stream; `key_metadata` of each entry has the key of the file
    data file           Parquet with its own encryption (PARE, or a footer in the clear), or an AES GCM stream

Follows "Encryption Keys" of the Iceberg table specification and its "AES GCM Stream file format extension". lakelens has no
keys: an encrypted file is `Unsupported`, never damage. The bytes of `key_metadata` may be a key in the clear: no message
repeats them.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lakelens.errors import Unsupported
from lakelens.model.storage import EncryptionKey, EncryptionKeys

if TYPE_CHECKING:
    from lakelens.formats.iceberg.metadata.wire import WireMetadata

MAGIC = b"AGS1"


def list_keys(typed: WireMetadata) -> EncryptionKeys:
    """List the keys of a table with the snapshots that they are for; last come those that only snapshots name."""
    if not typed.encryption_keys:
        return EncryptionKeys()  # the snapshots of a table without keys are not looked through
    users: dict[str, list[int]] = {}
    for wire in typed.snapshots:
        if wire.key_id is not None:
            users.setdefault(wire.key_id, []).append(wire.snapshot_id)
    found = [_describe_key(raw, users) for raw in typed.encryption_keys]
    known = {key.id for key in found}
    lost = [EncryptionKey(one, None, None, tuple(ids)) for one, ids in users.items() if one not in known]
    return EncryptionKeys((*found, *lost))


def _describe_key(raw: Mapping[str, Any], users: Mapping[str, list[int]]) -> EncryptionKey:
    number, by = str(raw.get("key-id", "")), raw.get("encrypted-by-id")
    stored = raw.get("encrypted-key-metadata")
    try:
        size = len(base64.b64decode(stored, validate=True)) if isinstance(stored, str) else None
    except (binascii.Error, ValueError):
        size = None
    return EncryptionKey(number, None if by is None else str(by), size, tuple(users.get(number, ())))


def refuse_encrypted(data: bytes, path: str, key_id: str | None = None, *, has_own_key: bool = False) -> None:
    """Raises `Unsupported` for an AES GCM stream, saying which key it is encrypted with, as far as that is recorded.

    >>> refuse_encrypted(b"Obj\\x01...", "/t/m0.avro")
    >>> refuse_encrypted(b"AGS1...", "/t/snap-1.avro", "k1")
    Traceback (most recent call last):
    lakelens.errors.Unsupported: /t/snap-1.avro: encrypted (AES-GCM stream, AGS1), key k1: it cannot be read ...
    """
    if data[:4] != MAGIC:
        return
    named = f", key {key_id}" if key_id is not None else ""
    if has_own_key:
        named = ", its key is in the key_metadata of its line"
    raise Unsupported(
        f"encrypted (AES-GCM stream, AGS1){named}: it cannot be read without that key",
        path=path,
        hint="bytes_view() shows what is in the clear; table.encryption_keys lists the keys",
    )
