"""The pages of one table as a folder of files: the walk over them, the folder, and an explorer of one open table."""
