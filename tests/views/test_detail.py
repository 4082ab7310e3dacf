"""What each level of detail adds, in text and HTML, and what each kind of card says."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import lakelens as ll
from lakelens.analysis.diff.documents import JsonChange
from lakelens.options import display
from lakelens.views.card.glossary import find_meaning, load_section
from lakelens.views.card.meanings import add_meanings
from lakelens.views.card.model import Card, Cell, Fold, Note, Pairs
from lakelens.views.cards.tree import format_role
from lakelens.views.present import present
from lakelens.views.render.html import render_card
from lakelens.views.render.text import render_text
from tests.formats.hive.test_lakes import open_with_facts
from tests.support import LAKES
from tests.support.fakes import FakeFile, FakeTable
from tests.views.test_lakes import list_unexplained


@pytest.fixture(autouse=True)
def strict() -> Iterator[None]:
    with display.using(strict_views=True):
        yield


def open_lake(name: str) -> ll.Table:
    return ll.open(LAKES / name / "table")


def list_labels(card: Card) -> list[str]:
    return [fold.label for fold in card.folds]


def test_detail_0_is_one_line_and_1_the_folded_card() -> None:
    table = open_lake("spark/iceberg/v2-merge-on-read")
    assert render_text(table, 0) == repr(table)
    lines = render_text(table, 1).splitlines()
    assert [line for line in lines if line.startswith("├─ Changes: ")]
    assert not [line for line in lines if "any two states" in line], "a folded fold shows its answer alone"
    markup = render_card(table, 1)
    assert markup.count("<details open>") == 1
    assert markup.count("<details>") > 4


def test_detail_2_opens_folds_and_reads_footers() -> None:
    found = open_lake("spark/iceberg/v2-merge-on-read").files[0]
    assert list_labels(present(found, 1)) == ["Bounds", "Fields"]
    labels = list_labels(present(found, 2))
    assert labels[:3] == ["Bounds", "Fields", "Footer"]
    assert labels[-2:] == ["JSON", "Meanings"]
    text, markup = render_text(found, 2), render_card(found, 2)
    assert "facts agree with what the metadata claims" in text
    assert "Parquet footer" in text
    assert '"file_path": ' not in text, "the whole record comes with detail 3"
    assert markup.count("<details>") == 2, "the record and the meanings stay folded"


def test_detail_3_opens_everything() -> None:
    found = open_lake("spark/iceberg/v2-merge-on-read").files[0]
    text, markup = render_text(found, 3), render_card(found, 3)
    assert '"file_path": ' in text
    assert find_meaning("split_offsets", ("iceberg.data_file",)) in text
    assert "<details>" not in markup


def test_detail_3_shows_longer_lists() -> None:
    table = FakeTable(lambda: "c", columns=100)
    assert "… 82 more columns" in render_text(table.schema, 2)
    assert "more columns" not in render_text(table.schema, 3)
    assert "more columns" not in render_card(table.schema, 3)


def test_a_footer_that_was_asked_for_is_shown_at_once() -> None:
    found = open_lake("spark/iceberg/v2-merge-on-read").files[0]
    assert "Footer" not in list_labels(present(found, 1))
    assert found.footer.num_rows == found.record_count
    assert "Footer" in list_labels(present(found, 1))


def test_a_meaning_is_told_where_its_label_is_first_met() -> None:
    fold = Fold("a", "b", lambda: [Pairs((("rows", Cell("1")),))])
    card = add_meanings(Card("n", "s", folds=(fold, fold)), 1)
    told = [dict(body.meanings) for fold in card.folds for body in fold.body() if isinstance(body, Pairs)]
    assert told == [{"rows": find_meaning("rows")}, {}]
    markup = render_card(open_lake("spark/iceberg/v2-merge-on-read"), 1)
    titles = re.findall(r'<abbr title="([^"]*)">([^<]*)', markup)
    assert len(titles) > 10
    assert len(titles) == len(set(titles))


def test_files_that_were_only_raised_say_so() -> None:
    table = open_lake("paimon-java/2.0.0-pk-level-upgrade")
    raised = next(s for s in table.snapshots if s.operation == "COMPACT").changes
    assert (len(raised.added), len(raised.removed)) == (1, 1)
    text = render_text(raised, 2)
    assert "1 file moved up from level 0 to 3, none rewritten" in text
    assert "Partitions: no file was added or removed" in text
    assert "ADDED" not in text
    assert "REMOVED" not in text


def test_a_commit_that_only_raised_files_says_so() -> None:
    table = open_lake("paimon-java/2.0.0-pk-level-upgrade")
    history = render_text(table.snapshots)
    assert re.search(r"2 +COMPACT +\S+ \S+ +0 +0 .*1 file moved up from level 0 to 3", history)
    assert re.search(r"4 +COMPACT +\S+ \S+ +\u22122 +\+1 ", history), "files were rewritten"
    told = render_text(table.snapshots[1])
    assert "Changes: 1 file moved up from level 0 to 3, none rewritten" in told


def test_a_list_of_nothing_has_no_empty_fold() -> None:
    base = open_lake("paimon-java/2.0.0-append-types").snapshots[0].manifest_lists[0]
    assert base.role == "base"
    assert not len(base.manifests)
    fold = present(base).folds[0]
    assert (fold.label, fold.answer, list(fold.body())) == (
        "Manifests",
        "none: nothing was there before",
        [],
    )
    assert "<b>Manifests</b> <span>none: nothing was there before</span></div>" in render_card(base)


def test_schema_tells_its_evolution() -> None:
    table = open_lake("spark/iceberg/v2-schema-evolution")
    text = render_text(table.schema)
    for told in (
        "was old_name until schema 6",
        "int until schema 1",
        "added in schema 7",
        "dropped in schema 5",
    ):
        assert told in text
    first = render_text(table.schemas[0])
    assert "until schema" not in first, "a schema knows nothing of what came after it"


def test_ranges_of_partitions_come_from_the_list_alone() -> None:
    files = [FakeFile(lambda: "w")]
    table = FakeTable(lambda: "w", files=files)
    assert "by w(w)" in render_text(table)
    assert [snapshot.manifest.opened for snapshot in table.snapshots] == [0, 0, 0]  # type: ignore[attr-defined]
    evolved = open_lake("spark/iceberg/v2-partition-evolution")
    assert "still in spec" in render_text(evolved)


def test_a_hive_table_says_what_its_metastore_knows() -> None:
    table = open_with_facts("bucketed-hive-format")
    text = render_text(table)
    assert "Apache Hive table, as its metastore knows it" in text
    assert "Catalog: lakes.bucketed_hive_format, MANAGED hive, made by Spark 3.5.9" in text
    assert "Partitioning: not partitioned; 4 buckets by id" in text
    assert "Writes: no snapshots are kept; 1 job by the names of the files" in text
    assert not list(list_unexplained(present(table, 2)))
    bare = render_text(open_lake("spark/hive/bucketed-hive-format"))
    assert "by its directory alone, without a metastore" in bare
    assert "put together from the files and directories" in bare


def test_buckets_are_said_in_words() -> None:
    assert "'a' to 'b'; 1 bucket each" in render_text(open_lake("paimon-java/2.0.0-pk-deletion-vectors"))
    assert "buckets as needed (dynamic)" in render_text(open_lake("paimon-java/2.0.0-pk-dynamic-bucket"))


def test_hashes_of_an_index_file_are_listed_when_it_is_opened() -> None:
    found = open_lake("paimon-java/2.0.0-pk-dynamic-bucket").current.index_files[0]  # type: ignore[union-attr]
    assert "Hashes" not in list_labels(present(found, 1))
    assert "1 key hash" in render_text(found, 2)


def test_a_change_is_said_whole() -> None:
    long = "x" * 5_000
    assert str(JsonChange("$.a", "changed", long, None)) == f'$.a: "{long}" → null'


def test_roles_are_counted_in_words() -> None:
    assert format_role("index manifest", 2) == "2 index manifests"
    assert format_role("hash index", 2) == "2 hash indexes"
    assert format_role("deletion vectors", 1) == "1 deletion vector file"
    assert format_role("manifest list (base)", 7) == "7 manifest lists (base)"


def test_indentation_survives_without_style() -> None:
    tree = open_lake("spark/iceberg/v2-merge-on-read").tree()
    markup = render_card(tree)
    assert re.search(r'<code class="ll-s ll-x">\u00a0\u00a0<span class="ll-id">', markup)


def test_a_note_says_what_to_type() -> None:
    card = Card("n", "s", body=(Note("more of it", "mute", "table.files"),))
    from lakelens.views.render.html import draw
    from lakelens.views.render.text import write_card

    assert "more of it: <code>table.files</code>" in draw(card, 1)
    assert "  more of it: table.files" in list(write_card(card, 1))


def test_glossary_has_every_name_of_the_specifications() -> None:
    from msgspec.structs import fields

    from lakelens.formats.iceberg.metadata import wire as iceberg
    from lakelens.formats.paimon.metadata import wire as paimon

    for section, kind in (
        ("iceberg.table_metadata", iceberg.WireMetadata),
        ("iceberg.snapshot", iceberg.WireSnapshot),
        ("iceberg.ref", iceberg.WireRef),
        ("iceberg.partition_field", iceberg.WirePartitionField),
        ("iceberg.statistics", iceberg.WireStatistics),
        ("paimon.snapshot", paimon.SnapshotDocument),
        ("paimon.schema", paimon.SchemaDocument),
        ("paimon.statistics", paimon.StatisticsDocument),
    ):
        names = {field.encode_name for field in fields(kind)}
        assert names <= set(load_section(section)), (section, names - set(load_section(section)))


def test_glossary_has_every_name_that_logs_of_delta_store() -> None:
    known = set(load_section("delta.data_file"))
    for place in sorted(LAKES.glob("delta/*/*/table")):
        table = open_lake(str(place.parent.relative_to(LAKES)))
        assert set(table.metadata.get("metaData", ())) <= set(load_section("delta.table_metadata"))
        own = (
            name for name in table.properties if name.startswith("delta.")
        )  # others are the table's owner's
        assert {name for name in own if not name.startswith("delta.constraints.")} <= set(
            load_section("delta.table")
        )
        for snapshot in table.snapshots:
            assert set(snapshot.raw) <= set(load_section("delta.snapshot"))
            for manifest in snapshot.manifests:
                assert set(manifest.header["metadata"]) <= set(load_section("delta.manifest"))
                for entry in manifest.entries:
                    (stored,) = entry.raw.values()
                    assert {*stored, *stored.get("deletionVector", ())} <= known


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("spark/iceberg/v1-basic", "iceberg"),
        ("spark/iceberg/v2-merge-on-read", "iceberg"),
        ("spark/iceberg/v3-merge-on-read", "iceberg"),
        ("paimon-java/2.0.0-data-evolution", "paimon"),
        ("spark/paimon/pk-types", "paimon"),
    ],
)
def test_glossary_has_every_name_that_manifests_store(name: str, kind: str) -> None:
    current = open_lake(name).current
    assert current is not None
    for manifest in current.manifests:
        assert set(manifest.raw) <= set(load_section(f"{kind}.manifest_list"))
        for entry in manifest.entries:
            raw = entry.file.raw
            assert {*raw, *raw.get("_FILE", ())} <= set(load_section(f"{kind}.data_file"))
            assert set(entry.raw) <= set(load_section(f"{kind}.entry"))


def test_every_meaning_is_one_short_sentence() -> None:
    from importlib.resources import files

    ours = [file for file in files("lakelens.views.card.glossary").iterdir() if file.name.endswith(".toml")]
    for file in (*ours, files("lakelens.formats.delta").joinpath("glossary.toml")):
        import tomllib

        for section, known in tomllib.loads(file.read_text("utf-8")).items():
            for name, meaning in known.items():
                assert meaning.endswith("."), (file.name, section, name)
                assert 6 <= len(meaning) <= 130, (file.name, section, name)
                assert "\n" not in meaning
