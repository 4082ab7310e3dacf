"""Record the parameters of the engines' maintenance procedures, in the engines' own order.

    python tests/lakes/maintenance/parameters.py

`parameters.json` has, for each format and procedure, the names of the parameters as a call without names takes them.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2]))

from lakelens.opening import open_table  # noqa: E402
from lakelens.samples import unpack_table  # noqa: E402
from lakelens.spark import session  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BUILDERS = {
    "iceberg": "org.apache.iceberg.spark.procedures.SparkProcedures",
    "paimon": "org.apache.paimon.spark.SparkProcedures",
}


def main() -> None:
    """Ask each format's runtime for the procedures that `dry_run` knows."""
    with tempfile.TemporaryDirectory() as scratch:
        spark = session(Path(scratch) / "warehouse", formats=tuple(BUILDERS))
        recorded = {
            name: dict(list_parameters(spark, name, builder, Path(scratch)))
            for name, builder in BUILDERS.items()
        }
        spark.stop()
    text = json.dumps(recorded, indent=1) + "\n"
    (HERE / "parameters.json").write_text(text, "utf-8")


def list_parameters(
    spark: SparkSession, name: str, builder: str, scratch: Path
) -> Iterator[tuple[str, list[str]]]:
    """List the procedures of a format that its runtime builds, each with the names of its parameters in their order."""
    catalog = spark._jsparkSession.sessionState().catalogManager().catalog(name)
    builders = spark._jvm
    for part in builder.split("."):
        builders = getattr(builders, part)
    for procedure in open_table(str(unpack_table(name, scratch))).procedures:
        known = builders.newBuilder(procedure)
        if known is None:
            continue
        parameters = known.withTableCatalog(catalog).build().parameters()
        yield procedure, [parameter.name() for parameter in parameters]


if __name__ == "__main__":
    main()
