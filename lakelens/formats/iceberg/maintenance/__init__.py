"""What the maintenance procedures of Iceberg for Spark would do, by the rules of Iceberg 1.12."""
