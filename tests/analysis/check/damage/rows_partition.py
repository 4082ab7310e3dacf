"""A file is recorded in a partition that its rows are not in: readers of that partition get them."""

from tests.support.damage import Iceberg, Records

LAKE = "spark/iceberg/v2-partition-bucket"
CODE, PATH, SAYS, DATA = "partition-value", ".parquet", "bucket[", True


def damage(lake: Iceberg) -> None:
    def edit(entries: Records) -> None:
        for entry in entries:
            partition = entry["data_file"]["partition"]
            for name, value in partition.items():
                if isinstance(value, int):
                    partition[name] = value + 1

    lake.edit_manifest(lake.manifest_path(), edit)
