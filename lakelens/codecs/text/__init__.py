"""Text, JSON, gzip and Hadoop's checksum files, with a name for every byte."""
