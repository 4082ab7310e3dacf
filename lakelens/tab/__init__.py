"""The explorer as a folder of static files: Python for browsers, lakelens, and a page that opens a folder of its reader's.

`parts` fetches what lakelens does not bring, `building` makes the folder, and `inside` answers in the browser, where
`static/worker.mjs` starts it. `lakelens tab DIR` is all of that.
"""
