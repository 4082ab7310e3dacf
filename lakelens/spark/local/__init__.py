"""A local Spark session with the three formats, the jars and the Java it needs, and what its catalogs know."""
