"""Whether a place is an Iceberg table, which metadata file is current, and where recorded locations are now."""
