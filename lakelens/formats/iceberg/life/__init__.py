"""What Iceberg gives for the lives of files and rows."""
