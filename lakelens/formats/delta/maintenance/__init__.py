"""What Delta's maintenance would do, as delta-spark 3.3 does it."""
