"""What a format gives so that the lives of its files and rows can be followed."""
