"""Notebooks of the course in JupyterLite: a notebook and its kernel in the reader's browser, all of it from this folder.

`python -m website.lab FOLDER PARTS` makes it. JupyterLite and its kernel are packages of PyPI, Python for browsers is the
tab's, and the kernel's packages are pinned in `packages.lock`. Nothing is asked of Pyodide's index, so that there is no
numpy and no Arrow.
"""

#: The chapters that run without numpy and Arrow, which are on no registry for browsers, but for a few cells.
CHAPTERS = (
    "00-start",
    "04-binary-row",
    "09-why-was-this-file-read",
    "14-your-own-reader",
    "16-tour",
)
