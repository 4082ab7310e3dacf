"""What a file says of its own bytes: which part of them each column takes."""
