"""A local Spark session with its formats, the jars and the Java it needs, and what its catalogs know."""
