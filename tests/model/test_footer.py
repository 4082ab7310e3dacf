"""A footer gives every fact of the file as an attribute, whatever the format."""

from __future__ import annotations

import copy
import io
import pickle
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakelens.codecs.parquet.footer import decode_footer
from lakelens.model.datafile import Footer


def make_footer() -> Footer:
    sink = io.BytesIO()
    pq.write_table(pa.table({"id": [1, 2], "name": ["a", None]}), sink)
    return Footer(decode_footer(sink, "data.parquet"), "data.parquet")


def test_every_fact_is_an_attribute() -> None:
    footer = make_footer()
    for name in (
        "format",
        "num_rows",
        "num_columns",
        "columns",
        "row_groups",
        "serialized_size",
        "key_values",
    ):
        assert getattr(footer, name) == getattr(footer.facts, name)
        assert name in dir(footer)
    assert [column.max for column in footer.columns] == [2, "a"]
    assert repr(footer) == "<Footer parquet: 2 rows, 2 columns>"


def test_a_fact_that_the_format_has_not_is_named() -> None:
    with pytest.raises(AttributeError, match="footer of a parquet file has no 'num_stripes'"):
        _ = make_footer().num_stripes


def test_copies_and_pickles_are_equal() -> None:
    footer = make_footer()
    assert copy.copy(footer) == footer == pickle.loads(pickle.dumps(footer))
    assert footer != Footer(SimpleNamespace(format="parquet"))


def test_the_line_says_what_is_told() -> None:
    assert repr(Footer(SimpleNamespace(format="puffin", blobs=(1,)))) == "<Footer puffin: 1 blob>"
    assert (
        repr(Footer(SimpleNamespace(format="avro", num_rows=1, columns=())))
        == "<Footer avro: 1 row, 0 columns>"
    )
