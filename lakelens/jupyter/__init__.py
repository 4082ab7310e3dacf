"""The explorer in Jupyter: a server behind jupyter-server-proxy, what a cell shows of it, and JupyterLab's own menu entries.

`proxy` is for jupyter-server-proxy, `labextension` what JupyterLab loads, `explored` what `table.explore()` gives.
"""
