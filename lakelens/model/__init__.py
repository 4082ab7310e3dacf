"""One vocabulary for every format: table, snapshot, manifest list, manifest, entry, data file, schema, refs, findings."""
