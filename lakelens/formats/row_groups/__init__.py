"""The row groups of Parquet and the stripes of ORC, for every format whose data files they are."""
