"""Whether a table is well: its figures against its own limits, and what would help."""
