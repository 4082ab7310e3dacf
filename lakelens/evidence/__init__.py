"""Evidence: what an answer claims, each claim with the places in files that say so; what has no place is not said."""
