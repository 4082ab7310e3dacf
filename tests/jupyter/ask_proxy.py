"""Ask a Jupyter server below a base URL, as on Binder, for the explorer of its directory, with its token and without.

    python -m tests.jupyter.ask_proxy [DIRECTORY]

Exits with an error where the explorer does not answer, or answers somebody whom Jupyter does not know.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, Request, build_opener

from tests.browser.lab import find_port

_PATIENCE = 60.0
_BASE = "/user/ada/"


def main(folder: Path) -> int:
    """Start a server, ask, stop it; 0 when the answers are right."""
    token, port = secrets.token_urlsafe(24), find_port()
    url = f"http://127.0.0.1:{port}{_BASE}"
    with tempfile.TemporaryDirectory() as home:
        options = [
            f"--ServerApp.root_dir={folder}",
            f"--ServerApp.base_url={_BASE}",
            f"--ServerApp.port={port}",
            "--ServerApp.port_retries=0",
            "--ServerApp.open_browser=False",
            "--ServerApp.allow_root=True",
        ]
        places = {
            f"JUPYTER_{name}_DIR": str(Path(home, name.lower())) for name in ("CONFIG", "DATA", "RUNTIME")
        }
        with Path(home, "log").open("w") as log:
            server = subprocess.Popen(
                [sys.executable, "-m", "jupyter_server", *options],
                env={**os.environ, **places, "JUPYTER_TOKEN": token},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            try:
                wrong = _find_wrong(url, token, server)
            finally:
                server.terminate()
                server.wait(20)
        if wrong:
            print(f"lakelens: {wrong}\n{Path(home, 'log').read_text()[-3000:]}", file=sys.stderr)
            return 1
    print(f"lakelens: the explorer answers at {_BASE}lakelens/ to those whom Jupyter knows")
    return 0


def _find_wrong(url: str, token: str, server: subprocess.Popen[bytes]) -> str:
    """What is wrong with the answers, in words; empty for nothing."""
    until = time.monotonic() + _PATIENCE
    while _ask(f"{url}api", token)[0] != 200:
        if time.monotonic() > until or server.poll() is not None:
            return "Jupyter does not start"
        time.sleep(0.2)
    if _ask(f"{url}lakelens/", "")[0] == 200:
        return "the explorer answers without Jupyter's token"
    status, address, text = _ask(f"{url}lakelens/", token)
    if status != 200 or "lakelens</title>" not in text or not address.startswith(f"{url}lakelens/"):
        return f"the explorer does not answer: {status} at {address}: {text[:500]}"
    status, _, text = _ask(f"{url}lakelens/-/explorer.css", token)
    return "" if status == 200 and ".lx" in text else f"its style sheet is not there: {status}"


def _ask(url: str, token: str) -> tuple[int, str, str]:
    request = Request(url, headers={"Authorization": f"token {token}"} if token else {})
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=40) as answer:
            is_login = "/login" in answer.url
            return 403 if is_login else answer.status, answer.url, answer.read().decode()
    except HTTPError as error:
        return error.code, url, error.read().decode(errors="replace")
    except (URLError, OSError) as error:
        return 0, url, str(error)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
