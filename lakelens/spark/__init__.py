"""Local Spark with Hive, Iceberg and Paimon in one session, and what its catalogs know.

Nothing here imports PySpark until it is used: `import lakelens` stays quick, and opening tables from their files needs
no Spark at all.

>>> import lakelens.spark
>>> lakelens.spark.pinned_jars(("iceberg",), "3.5.9")[0].split(":")[1]
'iceberg-spark-runtime-3.5_2.12'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakelens.spark.catalog import CatalogEntry, locate
    from lakelens.spark.data_source import register_data_source
    from lakelens.spark.frames import entries, files
    from lakelens.spark.inventory_taking import inventory, read_inventory
    from lakelens.spark.inventory_views import Inventory
    from lakelens.spark.local_session import FORMATS, session
    from lakelens.spark.runtime import fetch_jars, find_java, jar_cache, pinned_jars
    from lakelens.spark.spark_types import spark_schema

__all__ = [
    "FORMATS",
    "CatalogEntry",
    "Inventory",
    "entries",
    "fetch_jars",
    "files",
    "find_java",
    "inventory",
    "jar_cache",
    "locate",
    "pinned_jars",
    "read_inventory",
    "register_data_source",
    "session",
    "spark_schema",
]

_HOMES = {
    "CatalogEntry": "catalog",
    "locate": "catalog",
    "register_data_source": "data_source",
    "Inventory": "inventory_views",
    "inventory": "inventory_taking",
    "read_inventory": "inventory_taking",
    "entries": "frames",
    "files": "frames",
    "spark_schema": "spark_types",
    "fetch_jars": "runtime",
    "find_java": "runtime",
    "jar_cache": "runtime",
    "pinned_jars": "runtime",
    "FORMATS": "local_session",
    # The module is not called `session`: importing it would then hide the function of that name.
    "session": "local_session",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
