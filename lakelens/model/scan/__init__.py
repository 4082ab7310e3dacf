"""Reading many files by column: the plan that threads and executors share, and Arrow tables of what they read."""
