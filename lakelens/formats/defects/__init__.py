"""Known defects that any format's files may have, and what all rules look at."""
