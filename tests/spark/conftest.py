"""Sessions for the tests of DataFrames: the suite's own, or, under PySpark 4 (see `make spark4`), one without jars."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def any_spark(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A local Spark session of whatever PySpark is installed; what is tested with it reads no table of Spark's own."""
    import pyspark

    if pyspark.__version__ < "4":
        yield request.getfixturevalue("spark")
        return
    from lakelens.spark import session

    pushes = {"spark.sql.python.filterPushdown.enabled": "true"}
    started = session(tmp_path_factory.mktemp("warehouse"), formats=(), config=pushes)
    yield started
    started.stop()
