"""Tables by their names: what a catalog says of where a table is, and which of its metadata files is the current one.

A catalog is asked for pointers and for credentials, never for data: all reading is ours. `entry` is what it answers with,
`choice` finds out which catalog is meant, `iceberg`, `metastore`, `paimon` and `directory` ask the kinds that there are, and
`trust` says what an answer may lead to.
"""
