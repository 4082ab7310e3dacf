"""Storage: where bytes come from. Nothing here knows what the bytes mean, and nothing here writes."""
