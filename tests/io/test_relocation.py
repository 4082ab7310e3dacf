"""Recorded locations and where they lie now."""

from __future__ import annotations

import pytest

from lakelens.io.relocation import Locator, split_location

FOLDERS = ("metadata", "data")


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/wh/t", ("", "/wh/t")),
        ("file:/wh/t", ("file", "/wh/t")),
        ("file://host/wh/t", ("file", "/wh/t")),
        ("file:///wh/t/", ("file", "/wh/t")),
        ("file:wh/t", ("file", "wh/t")),
        ("FILE:///wh//t", ("file", "/wh/t")),
        ("s3a://b/t", ("s3", "/b/t")),
        ("s3n://b/t", ("s3", "/b/t")),
        ("hdfs://nn:8020/t", ("hdfs", "/nn:8020/t")),
        ("wh/t", ("", "wh/t")),
        ("/wh/k=a:b/f", ("", "/wh/k=a:b/f")),
        ("", ("", "")),
    ],
)
def test_split_location(location, expected):
    assert split_location(location) == expected


@pytest.mark.parametrize(
    "recorded",
    [
        "file:/was/t/data/f",
        "file:///was/t/data/f",
        "/was/t/data/f",
        "file://host/was/t/data/f",
        "s3a://bucket/t/data/f",
        "hdfs://elsewhere/some/t/data/f",
        "/nobody/knows/data/f",
        "data/f",
    ],
)
def test_every_wording_of_a_moved_file_is_found(recorded):
    locator = Locator("/now/t", ["file:/was/t", "s3://bucket/t"], folders=FOLDERS)
    assert locator.locate(recorded) == "/now/t/data/f"
    assert locator.unmapped == []


def test_the_longest_recorded_root_wins():
    locator = Locator("/now/t", ["/was", "/was/inner/t"], folders=FOLDERS)
    assert locator.locate("/was/inner/t/data/f") == "/now/t/data/f"


def test_a_root_is_a_whole_component():
    locator = Locator("/now/x", ["/was/t"], folders=FOLDERS)
    assert locator.locate("/was/t2/f") == "/was/t2/f"
    assert locator.unmapped == ["/was/t2/f"]


def test_a_table_that_never_moved_maps_to_itself():
    locator = Locator("/wh/t", ["file:/wh/t"], folders=FOLDERS)
    assert locator.locate("file:/wh/t/data/f") == "/wh/t/data/f"
    assert locator.mapping == []


def test_a_file_outside_the_table_stays_and_is_named():
    locator = Locator("/now/t", ["/was/t"], folders=FOLDERS)
    assert locator.locate("file:/external/f.parquet") == "/external/f.parquet"
    assert locator.unmapped == ["file:/external/f.parquet"]


def test_partition_texts_are_taken_to_the_letter():
    locator = Locator("/now/t", ["/was/t"], folders=FOLDERS)
    assert locator.locate("/was/t/data/k=a%2Fb +c/f") == "/now/t/data/k=a%2Fb +c/f"
