"""Variant: the binary JSON that Paimon, Spark, Parquet and Iceberg share."""
