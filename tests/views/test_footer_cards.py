"""The card of a footer: the same facts for every format, bounded, and no string of a file is obeyed."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

import lakelens as ll
from lakelens.codecs.orc import footer as orc
from lakelens.codecs.parquet import footer as parquet
from lakelens.model.datafile import Footer
from lakelens.options import display
from lakelens.views.present import present
from lakelens.views.render.html import render_card
from lakelens.views.render.text import render_text
from tests.support import LAKES
from tests.views.test_cards import list_texts, read_markup
from tests.views.test_hostile import HOSTILE, check_markup


def write_parquet(table: pa.Table, **options: object) -> Footer:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return Footer(parquet.decode_footer(sink), "a/data.parquet")


def test_parquet_tells_sizes_and_bounds() -> None:
    table = pa.table({"id": pa.array([1, 7, None]), "name": ["x" * 10_000] * 3})
    footer = write_parquet(table, compression="zstd", row_group_size=2, use_dictionary=False)
    with display.using(strict_views=True):
        texts = list_texts(present(footer))
    assert footer.columns[1].compressed_size < footer.columns[1].uncompressed_size / 2
    for told in ("Parquet footer", "3", "2", "INT64", "BYTE_ARRAY", "ZSTD", "1", "7", "ARROW:schema"):
        assert told in texts, told
    saved = [text for text in texts if text.endswith(" %")]
    assert any(int(text.removesuffix(" %")) >= 90 for text in saved if not text.startswith("−"))


def test_orc_tells_stripes() -> None:
    sink = io.BytesIO()
    pyarrow.orc.write_table(pa.table({"id": [1, 2, 3]}), sink)
    with display.using(strict_views=True):
        texts = list_texts(present(Footer(orc.decode_footer(sink), "data.orc")))
    for told in ("ORC footer", "stripes", "int64", "id", "row_index_stride"):
        assert told in texts, told


@pytest.mark.parametrize(
    ("name", "noun"),
    [
        ("spark/iceberg/v2-types", "Parquet footer"),
        ("spark/iceberg/v2-types-avro", "Avro header and blocks"),
        ("spark/iceberg/v2-types-orc", "ORC footer"),
        ("spark/iceberg/v3-merge-on-read", "Puffin footer"),
        ("paimon-java/2.0.0-data-avro", "Avro header and blocks"),
    ],
)
def test_files_of_engines_have_the_card(name: str, noun: str) -> None:
    footers = [file.footer for file in ll.open(LAKES / name / "table").snapshots[-1].files]
    nouns = set()
    for file, footer in zip(ll.open(LAKES / name / "table").snapshots[-1].files, footers, strict=True):
        with display.using(strict_views=True):
            card = present(footer)
            assert render_text(file, 2).count(card.sentence) >= 1  # the file's own card holds it, opened
        nouns.add(card.noun)
        if footer.format != "puffin":
            assert footer.num_rows == file.record_count
            assert {c.text for c in (row[0] for fold in card.folds[:1] for row in fold.body()[0].rows)} == {
                column.path for column in footer.columns
            }
    assert noun in nouns


@pytest.mark.parametrize("detail", [0, 1, 2, 3])
def test_no_string_of_a_file_is_obeyed(detail: int) -> None:
    hostile = [word for word in HOSTILE if "\ud800" not in word]  # no UTF-8, hence in no Parquet file
    names = [f"{word}{number}"[:2_000] for number, word in enumerate(hostile)]
    table = pa.table({name: [name, None] for name in names}).replace_schema_metadata(
        {name: name for name in names}
    )
    footer = write_parquet(table)
    with display.using(strict_views=True):
        markup, told = render_card(footer, detail), render_text(footer, detail)
    check_markup(markup)
    assert len(markup.encode()) <= display.max_bytes
    assert all(character == "\n" or character.isprintable() for character in told)


def test_many_columns_are_cut_and_said() -> None:
    footer = write_parquet(pa.table({f"c{number}": [number] for number in range(500)}))
    with display.using(strict_views=True, max_rows=10):
        told = render_text(footer, 1)
        assert "… 490 more columns: .columns" in told
        assert "… 490 more columns: .columns".replace(" ", "") in read_markup(render_card(footer, 1))
