"""The server of the explorer: HTTP, who may ask, how much and how long. What a page shows is `lakelens.explorer`."""
