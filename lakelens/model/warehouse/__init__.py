"""What `find` finds in a warehouse: tables, each with its outline, views, and directories that are none of these."""
