"""The figures that Iceberg's metadata records, compared with what they are about."""
