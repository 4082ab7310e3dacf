"""What the health of an Iceberg table is measured against, and the figures that only Iceberg has."""
