"""Skeletons: a redacted copy of a table's metadata elsewhere, and the smallest one that still shows a fault."""
