"""What the health of a Hive table is measured against."""
