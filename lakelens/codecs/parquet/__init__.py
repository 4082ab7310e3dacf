"""Parquet: the facts of a footer, and every byte explained with the names of `parquet.thrift`."""
