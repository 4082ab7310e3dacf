"""Position deletes are not sorted: readers that merge them with the rows miss some."""

from io import BytesIO

import pyarrow.compute as pc
import pyarrow.parquet as pq

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v2-position-deletes-by-partition"
CODE, PATH, SAYS, DATA, SEVERITY = "row-order", ".parquet", "position deletes are sorted", True, "warning"


def damage(lake: Iceberg) -> None:
    sizes: dict[str, int] = {}
    for path in lake.root.glob("data/**/*-deletes.parquet"):
        rows = pq.read_table(path)
        target = BytesIO()
        order = pc.sort_indices(rows, sort_keys=[("file_path", "descending"), ("pos", "descending")])
        pq.write_table(rows.take(order), target)
        path.write_bytes(target.getvalue())
        sizes[path.name] = path.stat().st_size

    def edit(entries: Records) -> None:
        for entry in entries:
            name = entry["data_file"]["file_path"].rpartition("/")[2]
            entry["data_file"]["file_size_in_bytes"] = sizes[name]

    for number in range(sum(line["content"] == 1 for line in lake.lines())):
        lake.edit_manifest(lake.manifest_path(number, content=1), edit)
