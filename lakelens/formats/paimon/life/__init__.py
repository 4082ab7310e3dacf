"""What Paimon gives for the lives of files and rows."""
