"""The core in a browser's Python: Pyodide, started by Node and by Chromium, with no package that has no wheel for it.

`make tab-test` runs all of it; `make test` runs a fixed part. What is needed is fetched once by npm and pip, as pinned here:

* `lakelens/tab/pyodide.toml`: the runtime, with npm's hash of it;
* `packages.in`, `packages.lock`: the packages, with the hashes of their wheels (`make lock`);
* `needs.toml`: which tests of the core need something that is not there, and what.
"""
