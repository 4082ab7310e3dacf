"""The explorer: what each address of a warehouse shows, as pages whose names are links; no HTTP in it.

A `Place` is an address, a `Page` the view-model of what is there, `Explorer` makes one from the other. `lakelens.serving`
serves them, `to_html(site=DIR)` writes them.
"""
