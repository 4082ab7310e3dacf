"""Files and entries as Spark DataFrames: planned on the driver, decoded on the executors."""
