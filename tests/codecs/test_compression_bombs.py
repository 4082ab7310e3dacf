"""Budgets: what is refused early, by which option it is raised, and streams that follow each other by the thousand."""

from __future__ import annotations

import bz2
import gzip

import pytest

from lakelens.codecs.avro.schema import MAX_SIZE, compile_schema, parse_schema
from lakelens.codecs.compression import allow_growth, decompress
from lakelens.errors import Corrupt
from lakelens.io.relocation import Locator
from lakelens.options import Budgets, budgets


def test_many_streams_are_read_one_after_the_other() -> None:
    parts = [bytes([65 + number % 26]) * (number % 40) for number in range(2_000)]
    padding = bytes(9)
    assert decompress("gzip", b"".join(gzip.compress(part, 1) + padding for part in parts)) == b"".join(parts)
    large = [b"a" * 3, bytes(range(256)) * 400, b"z"]
    assert decompress("bzip2", b"".join(map(bz2.compress, large))) == b"".join(large)
    with pytest.raises(Corrupt, match="too early"):
        decompress("gzip", gzip.compress(b"abc") + gzip.compress(bytes(range(256)) * 40)[:-20])
    with pytest.raises(Corrupt, match="at most 5 bytes; seen more, in"):
        decompress("gzip", gzip.compress(b"abc") * 2, 5)


def test_what_the_user_sets_holds_however_little_is_stored() -> None:
    assert allow_growth(1000, 64, "max_file") == Budgets().max_file
    with budgets.using(max_file=1 << 30):
        assert allow_growth(1000, 64, "max_file") == 1 << 30
    with budgets.using(max_file=1 << 10):
        assert allow_growth(1000, 64, "max_file") == 64_000
    for wrong in (0, True, "1 GiB"):
        with pytest.raises(ValueError, match="max_file"):
            budgets.max_file = wrong  # type: ignore[assignment]


def test_schemas_that_are_too_large_are_refused_before_they_are_compiled() -> None:
    with pytest.raises(Corrupt, match=r"too large.*4,194,304"):
        parse_schema(b" " * MAX_SIZE + b'"long"')
    branches = [{"type": "fixed", "name": f"f{number}", "size": 1} for number in range(50_000)]
    with pytest.raises(Corrupt, match="at most 20000 types"):
        compile_schema(branches)


def test_a_path_that_no_store_has_is_left_alone() -> None:
    locator, longest = (
        Locator("/now/t", ["file:/was/t"], folders=("metadata",)),
        "file:/was/t/" + "a/" * 40_000,
    )
    assert locator.locate(longest) == longest and locator.unmapped == [longest]
    assert locator.locate("file:/was/t/a") == "/now/t/a"
