"""Whether a place is a Paimon table, which snapshot is current, and where its files are."""
