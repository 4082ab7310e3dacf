"""Many manifests by column: the same values as the record path gives, as Arrow tables."""
