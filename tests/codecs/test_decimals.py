"""Decimals of 38 digits stay as they are, whatever the thread's context is: Python's own rounds to 28 digits, and a
reader may have set one of three digits that raises when anything is rounded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Clamped, Context, Decimal, FloatOperation, Inexact, InvalidOperation, Rounded, setcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import orc, parquet

import lakelens as ll
from lakelens.codecs.avro.record_spans import format_logical
from lakelens.codecs.avro.types import FixedType
from lakelens.codecs.iceberg.transforms import Transform
from lakelens.codecs.iceberg.types import IcebergType
from lakelens.codecs.iceberg.value import decode_value
from lakelens.codecs.iceberg.value_json import parse_json_value
from lakelens.codecs.orc.footer import OrcTail
from lakelens.codecs.orc.statistics import list_leaves, read_statistics
from lakelens.codecs.paimon.binary_row import decode_binary_row
from lakelens.codecs.paimon.row_hash import encode_row
from lakelens.codecs.paimon.types import PaimonField, PaimonType
from lakelens.codecs.parquet.thrift_schema import decode_statistic
from lakelens.codecs.variant import Variant
from lakelens.formats.iceberg.metadata.partitions import convert_stored
from lakelens.formats.paimon.life.living import PaimonMerge
from lakelens.formats.paimon.manifests.index_proofs import decode_key
from lakelens.formats.paimon.metadata.logical_types import find_promotion
from lakelens.formats.paimon.metadata.partitions import format_float, format_value
from lakelens.formats.paimon.metadata.schemas import PaimonSchema
from lakelens.formats.paimon.refs import parse_duration
from lakelens.model.facts.json_values import make_plain
from lakelens.model.life.living import Record
from lakelens.model.schema import DataType
from lakelens.model.skeleton.ordinals import to_ordinal, write_literal
from lakelens.views.card.wording import value as show_value
from tests.support.binary_row_encoder import encode_row as encode_binary_row
from tests.support.iceberg_builder import SCHEMA, Builder, avro_field

UNSCALED = int("12345678901234567890123456789012345678")
NUMBERS = [
    Decimal("1234567890123456789012345678.9012345678"),
    Decimal("-9999999999999999999999999999.9999999999"),
    Decimal("0.0000000001"),
    Decimal("0E-10"),
]
ICEBERG = IcebergType("decimal", precision=38, scale=10)
PAIMON = PaimonType("DECIMAL", precision=38, scale=10)
KIND = DataType("decimal(38, 10)", "decimal", precision=38, scale=10)


@pytest.fixture(params=[28, 3])
def narrow(request: pytest.FixtureRequest) -> Iterator[None]:
    """A context that raises where a value would be rounded."""
    before = Context(prec=28)
    traps = [Clamped, FloatOperation, Inexact, InvalidOperation, Rounded]
    setcontext(Context(prec=request.param, traps=traps))
    yield
    setcontext(before)


pytestmark = pytest.mark.usefixtures("narrow")


def unscale(number: Decimal) -> int:
    sign, digits, _ = number.as_tuple()
    return int("".join(map(str, digits))) * (-1 if sign else 1)


def to_bytes(number: Decimal) -> bytes:
    return unscale(number).to_bytes(16, "big", signed=True)


@pytest.mark.parametrize("number", NUMBERS, ids=str)
def test_decoders(number: Decimal) -> None:
    text = format(number, "f")
    assert str(decode_value(to_bytes(number), ICEBERG)) == str(number)
    assert parse_json_value(text, ICEBERG) == number
    logical = "Decimal(precision=38, scale=10)"
    assert decode_statistic(to_bytes(number), "FIXED_LEN_BYTE_ARRAY", logical) == number
    assert decode_key(unscale(number), PAIMON) == number
    assert convert_stored(to_bytes(number), ICEBERG) == number
    fields = [("a", "DECIMAL(38, 10)")]
    assert decode_binary_row(encode_binary_row([PAIMON], [number]), fields)["a"] == number
    assert encode_row([PAIMON], [number]) == encode_binary_row([PAIMON], [number])[4:]
    avro = FixedType("fixed", size=16)
    avro.logical, avro.scale = "decimal", 10
    assert format_logical(avro, to_bytes(number)) == text
    variant = bytes([10 << 2, 10]) + unscale(number).to_bytes(16, "little", signed=True)
    assert Variant(variant, b"\1\0\0").to_python() == number


@pytest.mark.parametrize("number", NUMBERS, ids=str)
def test_writers(number: Decimal) -> None:
    text = format(number, "f")
    assert make_plain(number) == format_value(number, PAIMON, legacy=False) == text
    assert show_value(number) == str(number)
    assert write_literal(to_ordinal(number, KIND), KIND) == text
    assert to_ordinal(number, KIND) == unscale(number)


def test_counts_of_partitions_and_indexes() -> None:
    assert convert_stored(10**18 + 1, ICEBERG) == Decimal("100000000.0000000001")
    assert decode_key(UNSCALED, PAIMON) == NUMBERS[0]


@pytest.mark.parametrize("width", [1, 7, 10**9])
@pytest.mark.parametrize("number", NUMBERS, ids=str)
def test_truncating(number: Decimal, width: int) -> None:
    found = Transform.parse(f"truncate[{width}]").apply(number, ICEBERG)
    assert unscale(found) == unscale(number) - unscale(number) % width
    assert found.as_tuple().exponent == -10


def test_promotion_keeps_all_digits() -> None:
    promote = find_promotion(PaimonType("DECIMAL", precision=20, scale=10), PAIMON)
    whole = find_promotion(PaimonType("BIGINT"), PaimonType("DECIMAL", precision=38, scale=19))
    assert promote is not None and whole is not None
    assert promote(Decimal("9999999999.9999999999")) == Decimal("9999999999.9999999999")
    assert str(whole(2**63 - 1)) == "9223372036854775807.0000000000000000000"


def make_merge(**options: str) -> PaimonMerge:
    columns = (PaimonField(0, "id", PaimonType("INT")), PaimonField(1, "sum", PAIMON))
    options = {"merge-engine": "aggregation", "fields.sum.aggregate-function": "sum", **options}
    schema = PaimonSchema(0, (), options=options, columns=columns, primary_keys=("id",))
    return PaimonMerge(schema, {0: 0, 1: 1}, skips_level_0=False)


def test_sums_of_an_aggregate_are_exact() -> None:
    one, other = NUMBERS[0], Decimal("0.0000000001")
    merged = make_merge().merge([Record(0, 0, (1, one), 1), Record(0, 1, (1, other), 2)])
    assert merged.values == (1, Decimal("1234567890123456789012345678.9012345679"))
    back = make_merge().merge([Record(0, 0, (1, one), 1), Record(0, 1, (1, other), 2, kind=3)])
    assert back.values == (1, Decimal("1234567890123456789012345678.9012345677"))
    first = make_merge().merge([Record(0, 0, (1, one), 1, kind=3)])
    assert first.values == (1, one.copy_negate())


def test_a_sum_that_the_column_does_not_hold_is_unknown() -> None:
    most = NUMBERS[1].copy_abs()
    assert make_merge().merge([Record(0, 0, (1, most), 1), Record(0, 1, (1, most), 2)]).unknown == (1,)


def test_floats_of_paths_and_durations() -> None:
    assert format_float(0.1234567890123456, single=False) == "0.1234567890123456"
    assert format_float(1.234567890123456e300, single=False) == "1.234567890123456E300"
    assert parse_duration("1234567.891") == 1_234_567_891
    assert parse_duration("1e999999") is None or parse_duration("1e99999999999999999999") is None


def write_rows(folder: Path, write: Any, suffix: str) -> str:
    table = pa.table({"id": [1, 2, 3, 4], "wide": pa.array(NUMBERS, pa.decimal128(38, 10))})
    place = folder / f"part-0.{suffix}"
    folder.mkdir(exist_ok=True)
    write(table, place)
    return str(folder)


def test_statistics_of_orc(tmp_path: Path) -> None:
    write_rows(tmp_path, orc.write_table, "orc")
    data = (tmp_path / "part-0.orc").read_bytes()
    tail = OrcTail(data, 0, len(data))
    leaf = next(leaf for leaf in list_leaves(tail) if leaf.names == ("wide",))
    (found,) = read_statistics(tail, leaf)
    assert (found.lower, found.upper) == (NUMBERS[1], NUMBERS[0])


@pytest.mark.parametrize(("suffix", "write"), [("parquet", parquet.write_table), ("orc", orc.write_table)])
def test_a_table_of_files_alone(tmp_path: Path, suffix: str, write: Any) -> None:
    table = ll.open(write_rows(tmp_path / "t", write, suffix), format="hive")
    assert table.files[0].preview().to_arrow()["wide"].to_pylist() == NUMBERS
    for predicate, count in (
        (f"wide = {NUMBERS[0]}", 1),
        (f"wide > {NUMBERS[0]}", 0),
        (f"wide < {NUMBERS[1]}", 0),
    ):
        found = table.explain(predicate, row_groups=True).to_arrow().to_pylist()
        decided = [line["decision"] for line in found if line["level"] == "row_group"]
        assert decided == ["kept" if count else "skipped"], predicate
    if suffix == "parquet":  # of ORC only stripes have statistics
        assert str(NUMBERS[0]) in table.files[0].bounds.to_text(2)


def write_iceberg(place: Path) -> Path:
    kind = {
        "type": "fixed",
        "size": 16,
        "name": "wide_trunc",
        "logicalType": "decimal",
        "precision": 38,
        "scale": 10,
    }
    column = {"id": 3, "name": "wide", "required": False, "type": "decimal(38, 10)"}
    schema = SCHEMA | {"fields": [*SCHEMA["fields"], column]}
    field = {"name": "wide_trunc", "transform": "truncate[1000]", "source-id": 3, "field-id": 1000}
    builder = Builder(place, specs=[{"spec-id": 0, "fields": [field]}])
    for number in (NUMBERS[0], NUMBERS[0].copy_negate()):
        cut = unscale(number) - unscale(number) % 1000
        file = builder.data_file(
            partition={"wide_trunc": cut.to_bytes(16, "big", signed=True)},
            lower_bounds=[{"key": 3, "value": to_bytes(number)}],
            upper_bounds=[{"key": 3, "value": to_bytes(number)}],
            value_counts=[{"key": 3, "value": 1}],
            null_value_counts=[{"key": 3, "value": 0}],
        )
        header = {
            "schema": json.dumps(schema),
            "partition-spec": json.dumps([field]),
            "partition-spec-id": "0",
        }
        builder.snapshot(
            [builder.manifest([file], header=header, partition=[avro_field("wide_trunc", 1000, kind)])]
        )
    return builder.write_metadata(schemas=[schema])


def test_an_iceberg_table(tmp_path: Path) -> None:
    table = ll.open(write_iceberg(tmp_path / "t"))
    first, last = table.snapshots
    for snapshot, number in ((first, NUMBERS[0]), (last, NUMBERS[0].copy_negate())):
        (file,) = snapshot.files
        assert file.bounds["wide"].lower == number
        cut = unscale(number) - unscale(number) % 1000
        assert unscale(file.partition["wide_trunc"]) == cut
        assert snapshot.files.to_arrow()["lower_bounds"].to_pylist()[0]["wide"] == number
        shown = format(number, "f")
        assert shown in file.to_text(3) and shown in file.bounds.to_text(2)
        for predicate, count in ((f"wide = {shown}", 1), (f"wide > {shown}", 0), (f"wide < {shown}", 0)):
            assert len(table.explain(predicate, snapshot=snapshot).kept) == count, predicate
        asked = (
            f"select count(*) as n from files where lower_bounds['wide'] = cast('{shown}' as decimal(38, 10))"
        )
        assert table.sql(asked, snapshot=snapshot).to_arrow()["n"].to_pylist() == [1]
    assert len(table.diff(first, last).added) == 1
    assert table.diff(first, last).to_text(3)
