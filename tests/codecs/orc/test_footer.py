"""ORC tails: every fact against what was written, and damage that names the place."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.orc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.orc.footer import decode_footer, read_rows
from lakelens.errors import Corrupt, Unsupported

ROWS = [{"id": i, "tags": [i], "st": {"x": i / 2}, "m": [("k", i)]} for i in range(10)]
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("tags", pa.list_(pa.int32())),
        ("st", pa.struct([("x", pa.float64())])),
        ("m", pa.map_(pa.string(), pa.int32())),
    ]
)


def written(**options: object) -> bytes:
    sink = io.BytesIO()
    pyarrow.orc.write_table(pa.Table.from_pylist(ROWS, SCHEMA), sink, **options)
    return sink.getvalue()


WHOLE = written(compression="zlib")


def test_every_fact_of_a_tail() -> None:
    footer = decode_footer(io.BytesIO(WHOLE), "a.orc")
    assert (footer.format, footer.num_rows, footer.num_stripes, footer.num_columns) == ("orc", 10, 1, 5)
    assert [column.path for column in footer.columns] == ["id", "tags.element", "st.x", "m.key", "m.value"]
    assert (footer.compression, footer.file_version, footer.file_length) == ("ZLIB", "0.12", len(WHOLE))
    assert footer.postscript_length == WHOLE[-1]
    assert footer.created_by.startswith("ORC C++")
    assert footer.schema_arrow.names == SCHEMA.names


@pytest.mark.parametrize("count", [0, 1, 10, 100])
def test_the_first_rows(count: int) -> None:
    assert read_rows(io.BytesIO(WHOLE), count).to_pylist() == ROWS[:count]


@pytest.mark.parametrize(
    ("data", "message", "offset"),
    [
        (b"", "empty", 0),
        (b"PAR1", "not an ORC", 0),
        (b"ORC", "cut", 0),
        (WHOLE[: len(WHOLE) // 2], "cut", len(WHOLE) // 2 - 4),
        (b"ORC\xff", "longer than the file", 3),
    ],
)
def test_damage_names_the_place(data: bytes, message: str, offset: int) -> None:
    for decode in (decode_footer, lambda file, path: read_rows(file, 1, path)):
        with pytest.raises(Corrupt, match=message) as caught:
            decode(io.BytesIO(data), "x.orc")
        assert (caught.value.path, caught.value.offset) == ("x.orc", offset)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_damage_of_the_tail_gives_facts_or_an_error_of_ours(data: st.DataObject) -> None:
    """Only the tail: inside a stripe rare damage crashes pyarrow itself, and ORC has no checksum that would tell."""
    damaged = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(len(WHOLE) - 200, len(WHOLE) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    try:
        footer = decode_footer(io.BytesIO(bytes(damaged)), "x.orc")
        assert footer.num_columns == len(footer.columns)
    except (Corrupt, Unsupported) as error:
        assert error.path == "x.orc"


def test_timestamps_beyond_nanoseconds_are_unsupported_not_corrupt() -> None:
    sink = io.BytesIO()
    table = pa.table({"t": pa.array([-62_135_596_800_000_000], pa.timestamp("us"))})
    pyarrow.orc.write_table(table, sink)
    assert decode_footer(sink).num_rows == 1
    with pytest.raises(Unsupported, match="nanoseconds"):
        read_rows(sink, 1)
