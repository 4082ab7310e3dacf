"""The site around the tab, made by MkDocs of what the repository says already; docs/website.md describes it.

`python -m website FOLDER` makes it. `repository` knows which file is which page, `shown` runs the examples, `course` turns
notebooks into pages, `reference` words what the package declares, and `hooks` is what MkDocs calls.
"""
