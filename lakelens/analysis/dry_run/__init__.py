"""What maintenance would do, before anyone runs it."""
