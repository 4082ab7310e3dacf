"""The pages about a table, by what they show; each file registers its own with `explorer.page`."""
