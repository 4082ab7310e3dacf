"""What a format says of its maintenance procedures: which there are, their options, and what each would do."""
