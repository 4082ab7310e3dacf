"""Reading the live files of a version by column: the actions of checkpoints as Arrow has them, statistics parsed in bulk."""
