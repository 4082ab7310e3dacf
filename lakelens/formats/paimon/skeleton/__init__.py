"""How the documents of a Paimon table are written again without its names and values."""
