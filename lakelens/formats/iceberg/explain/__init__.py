"""The bytes behind the objects of an Iceberg table, and what nests in them."""
