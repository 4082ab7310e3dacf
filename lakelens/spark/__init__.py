"""Local Spark with tables of every format in one session, and what its catalogs know.

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
    from lakelens.catalogs.entry import CatalogEntry
    from lakelens.spark.frames.data_source import register_data_source
    from lakelens.spark.frames.dataframes import entries, files
    from lakelens.spark.frames.types import spark_schema
    from lakelens.spark.local.catalog import locate
    from lakelens.spark.local.formats import FORMATS
    from lakelens.spark.local.runtime import fetch_jars, find_java, jar_cache, pinned_jars
    from lakelens.spark.local.session import session
    from lakelens.spark.warehouse.inventory import Inventory, inventory, read_inventory

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
    "CatalogEntry": "local.catalog",
    "locate": "local.catalog",
    "register_data_source": "frames.data_source",
    "Inventory": "warehouse.views",
    "inventory": "warehouse.inventory",
    "read_inventory": "warehouse.inventory",
    "entries": "frames.dataframes",
    "files": "frames.dataframes",
    "spark_schema": "frames.types",
    "fetch_jars": "local.runtime",
    "find_java": "local.runtime",
    "jar_cache": "local.runtime",
    "pinned_jars": "local.runtime",
    "FORMATS": "local.formats",
    # No module here is called `session` or `files`: importing it would hide the function of that name.
    "session": "local.session",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
