"""How the documents of an Iceberg table are written again without its names and values."""
