"""Bytes to values: decoders of every file format met in a table. No I/O, no paths, no clocks."""
