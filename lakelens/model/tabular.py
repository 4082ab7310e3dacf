"""Tabular: what can be had as an Arrow table, and so in every library that takes one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class Tabular:
    """Gives an object that has `to_arrow` the other ways out: pandas, polars, and Arrow's C stream by name."""

    __slots__ = ()

    def to_arrow(self) -> pa.Table:
        """This object as an Arrow table."""
        raise NotImplementedError

    def to_pandas(self) -> pd.DataFrame:
        """`to_arrow` as a pandas DataFrame."""
        frame: pd.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> Any:
        """`to_arrow` as a polars DataFrame; needs polars."""
        import polars

        return polars.from_arrow(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)
