"""Lives: what happened to a file or to a row, from the commit that brought it to what ended it."""
