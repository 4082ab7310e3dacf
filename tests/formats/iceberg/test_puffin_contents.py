"""What Puffin files hold: deleted rows and sketches, decoded when they are asked for, as the engine counts them."""

from __future__ import annotations

import pickle

import pytest

from lakelens.errors import LakeError
from lakelens.formats.iceberg.deletes.puffins import SketchFile, VectorFile
from tests.support.iceberg_lakes import find_lakes


def test_every_puffin_file_of_the_engine_tells_its_contents() -> None:
    vectors = sketches = 0
    for lake in find_lakes():
        if lake.is_view:
            continue
        table = lake.open()
        for file in table.current.index_files if table.current else ():
            if isinstance(file, VectorFile):
                assert {name: len(rows) for name, rows in file.vectors.items()} == {
                    one["data_file"]: one["cardinality"] for one in file.ranges
                }
                vectors += len(file.vectors)
            elif isinstance(file, SketchFile):
                told = {fields: round(sketch.estimate) for fields, sketch in file.sketches.items()}
                assert told == {blob.fields: int(blob.properties["ndv"]) for blob in file.blobs}
                sketches += len(told)
            with pytest.raises(LakeError, match="no open table"):
                alone = pickle.loads(pickle.dumps(strip(file)))
                _ = alone.vectors if isinstance(alone, VectorFile) else alone.sketches
    assert vectors and sketches


def strip(file: object) -> object:
    """The file without its lazily read footer, which belongs to the open table as well."""
    from dataclasses import replace

    assert isinstance(file, VectorFile | SketchFile)
    return replace(file, blobs=(), raw={})
