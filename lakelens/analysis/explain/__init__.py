"""Why a file was read: a predicate against the metadata of a snapshot."""
