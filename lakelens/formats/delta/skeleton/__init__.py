"""A Delta table written again without its names and values: its log and its deletion vectors."""
