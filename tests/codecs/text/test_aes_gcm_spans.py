"""AES GCM streams: what is in the clear, block by block, and damage that names the place."""

from __future__ import annotations

import pytest

from lakelens.codecs.kinds import choose_kind, explain
from lakelens.codecs.text.envelopes import explain_aes_gcm_stream
from lakelens.errors import Corrupt
from tests.support.span_checks import assert_survives, assert_tiles, find_error


def stream(length: int, *blocks: int) -> bytes:
    """A stream of blocks of these many plain bytes, as the specification lays it out."""
    return b"AGS1" + length.to_bytes(4, "little") + b"".join(bytes(12 + size + 16) for size in blocks)


@pytest.mark.parametrize(
    ("data", "plain"),
    [(stream(16, 16, 3), 19), (stream(16, 0), 0), (stream(16, 16), 16), (stream(1 << 20, 5), 5)],
)
def test_streams(data: bytes, plain: int) -> None:
    assert choose_kind(data) == "aes_gcm_stream"
    root = explain(data, "aes_gcm_stream")
    assert_tiles(root, 0, len(data))
    root.check()
    assert root.value == plain
    blocks = [part for part in root.children if part.label.startswith("block")]
    assert (
        sum(len(part) for block in blocks for part in block.children if part.label == "ciphertext") == plain
    )
    assert all([part.label for part in block.children][:1] == ["nonce"] for block in blocks)
    assert_survives(explain_aes_gcm_stream, data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"AGS1", "plain block length"),
        (stream(16), "no cipher block"),
        (stream(0, 4), "not a length"),
        (stream(16, 16)[:-20] + bytes(3), "last block that is cut"),
        (stream(16, 16, 1)[:-2], "last block that is cut"),
    ],
)
def test_damage_names_its_place(data: bytes, words: str) -> None:
    root = explain_aes_gcm_stream(data)
    assert_tiles(root, 0, len(data))
    error = find_error(root)
    assert isinstance(error, Corrupt) and words in str(error) and error.offset is not None


def test_many_blocks_come_in_groups() -> None:
    root = explain_aes_gcm_stream(stream(1, *[1] * 3000))
    assert [part.label for part in root.children[2:]] == [
        "blocks 0 to 1023",
        "blocks 1024 to 2047",
        "blocks 2048 to 2999",
    ]
