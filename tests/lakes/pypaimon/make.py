"""Make the Paimon tables of this folder with pypaimon 2.1 and the native writers of the newer file formats.

    pip install pypaimon==2.1.0 pylance==14.0.2 vortex-data==0.93.0 paimon-mosaic==0.2.0
    python tests/lakes/pypaimon/make.py

`row`, `mosaic`, `lance` and `vortex` hold the same three rows, each in that format. `vector` keeps its vectors in a Lance
file of their own, `nested` its arrays and maps of blobs in `.blob` files. An environment of its own: its pins are not ours.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pyarrow as pa
from pypaimon import CatalogFactory, Schema

HERE = Path(__file__).resolve().parent
PLAIN = pa.schema([("id", pa.int32()), ("name", pa.string())])
ROWS = {"id": [1, 2, 3], "name": ["a", "b", None]}
EVOLUTION = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
VECTOR = pa.schema([("id", pa.int32()), ("v", pa.list_(pa.float32(), 2))])
NESTED = pa.schema(
    [("id", pa.int32()), ("a", pa.list_(pa.large_binary())), ("m", pa.map_(pa.string(), pa.large_binary()))]
)
CASES = {
    **{name: (PLAIN, ROWS, {"file.format": name}) for name in ("row", "mosaic", "lance", "vortex")},
    "vector": (VECTOR, {"id": [1, 2], "v": [[1, 2], [3, 4]]}, {**EVOLUTION, "vector.file.format": "lance"}),
    "nested": (
        NESTED,
        {"id": [1, 2], "a": [[b"one", None, b""], None], "m": [[("k", b"xx"), ("l", None)], []]},
        EVOLUTION,
    ),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as root:
        catalog = CatalogFactory.create({"warehouse": root})
        catalog.create_database("lakes", ignore_if_exists=True)
        for name, (schema, columns, options) in CASES.items():
            catalog.create_table(f"lakes.{name}", Schema.from_pyarrow_schema(schema, options=options), False)
            builder = catalog.get_table(f"lakes.{name}").new_batch_write_builder()
            write, commit = builder.new_write(), builder.new_commit()
            write.write_arrow(pa.table(columns, schema=schema))
            commit.commit(write.prepare_commit())
            write.close()
            commit.close()
            shutil.rmtree(HERE / name, ignore_errors=True)
            shutil.copytree(Path(root) / "lakes.db" / name, HERE / name / "table")


if __name__ == "__main__":
    main()
