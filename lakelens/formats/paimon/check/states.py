"""What a check of a Paimon table reads of entries."""

from __future__ import annotations

#: Columns of entries that the checks of Paimon need beside those of every format.
COLUMNS = (
    *("bucket", "level", "schema_id", "first_row_id", "min_sequence_number", "max_sequence_number"),
    *("delete_row_count", "total_buckets"),
)
