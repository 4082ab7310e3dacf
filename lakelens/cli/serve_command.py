"""`lakelens serve`, `tab`, `mcp`: the explorer from a server or as static files, the questions as tools for agents."""

from __future__ import annotations

import html
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from lakelens.cli.asked import normalise, storage_option, unpack
from lakelens.cli.completing import complete_path
from lakelens.cli.exits import remember_place, write_error
from lakelens.errors import Missing, Unsupported

if TYPE_CHECKING:
    from lakelens.serving.server import Settings

#: The variable of the environment that has the token which a proxy sends; an argument would be seen by every user.
TOKEN = "LAKELENS_TOKEN"


@click.command(epilog="lakelens serve warehouse  ·  lakelens serve sample:iceberg --no-browser --port 8800")
@click.argument("root", default=".", shell_complete=complete_path)
@click.option("--port", type=click.IntRange(0, 65_535), help="the port; without it 8765 or the next free one")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="the address; any other one lets machines in"
)
@click.option("--browser/--no-browser", default=True, help="open a browser, where there is a display")
@click.option("--allow-download", is_flag=True, help="give data files as they are stored to who asks")
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, 600),
    default=20.0,
    show_default=True,
    help="seconds for which a browser waits for a page",
)
@click.option(
    "--base-url", default="", metavar="URL", help="the address that a proxy gives it, or the path of that"
)
@click.option(
    "--proxied",
    is_flag=True,
    help=f"a proxy has checked the user; with --port it sends the token of ${TOKEN}",
)
@click.option("--unix-socket", metavar="PATH", help="listen at a socket that only this user may open")
@storage_option
def serve(root: str, browser: bool, storage: tuple[tuple[str, str], ...], **options: Any) -> None:
    """Walk through the tables below ROOT in a browser, from a warehouse to a byte; Ctrl-C stops it.

    ROOT is a directory or a URL of a warehouse or a table, or sample:NAME. Nothing is written, nothing outside of ROOT is
    read. Who has the address that is printed may look, for as long as it runs.
    """
    serving = _load()
    settings = _make_settings(serving.Settings, options)
    root = unpack(root)
    remember_place(normalise(root))
    if "://" not in root and not Path(root.removeprefix("file:")).is_dir():
        raise Missing("no such directory", path=root, hint="the directory of a warehouse or a table")
    if not settings.is_local:
        write_error(
            f"whoever reaches {settings.host} sees the address's token on its way: nothing is encrypted; try: "
            "without --host, and ssh -L from the other machine"
        )
    with _opening() as open_browser:

        def announce(address: str) -> None:
            click.echo(f"lakelens serves {root} at {address} (Ctrl-C stops it)")
            sys.stdout.flush()
            if browser and not settings.is_proxied and settings.unix_socket is None:
                open_browser(address)

        serving.serve(root, settings, storage_options=dict(storage) or None, announce=announce)
    click.echo("lakelens has stopped")
    sys.stdout.flush()
    if any(thread.name.startswith("lakelens-page") for thread in threading.enumerate()):
        sys.stderr.flush()
        os._exit(0)  # a page is still being made, and nobody waits for it


@click.command(epilog="lakelens tab public/lakelens")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--parts",
    type=click.Path(path_type=Path, file_okay=False),
    help="keep what is fetched here, for the next time; without it nothing is kept",
)
def tab(folder: Path, parts: Path | None) -> None:
    """Write the explorer as static files to FOLDER: a page that opens a folder of its reader's, with no server behind it.

    Any web server may send them, below any path, or the pages of a code host. Python for browsers comes from npm, the
    packages from PyPI, each pinned by its hash: pip install 'lakelens[tab]' brings what fetches them.
    """
    from lakelens.tab.building import build
    from lakelens.tab.parts import gather

    with tempfile.TemporaryDirectory() as unkept:
        made = build(folder, gather(parts or Path(unkept)))
    click.echo(f"{made.path}: {made.size / 1e6:.1f} MB in static files, version {made.version}")
    click.echo("they need a web server, for instance: python -m http.server --directory " + str(made.path))


@click.command(epilog="lakelens mcp warehouse  ·  lakelens mcp sample:iceberg")
@click.argument("root", shell_complete=complete_path)
@click.option("--uncited", is_flag=True, help="also the questions whose answers do not say where they stand")
@storage_option
def mcp(root: str, uncited: bool, storage: tuple[tuple[str, str], ...]) -> None:
    """Offer the questions about the tables below ROOT as tools for agents, over standard input and output.

    It speaks the Model Context Protocol: an agent starts it. Nothing is written, nothing outside of ROOT is read, each claim
    cites where it stands, what comes from the lake is marked as such, and lists are cut. What it needs is brought by
    pip install 'lakelens[agents]'.
    """
    import lakelens as ll
    from lakelens.agents.desk import Desk

    try:
        from lakelens.agents.server import serve_tools
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        hint = "pip install 'lakelens[agents]'"
        raise Unsupported(f"tools for agents need {error.name}, which is not installed", hint=hint) from None
    root = unpack(root)
    remember_place(normalise(root))
    if "://" not in root and not Path(root.removeprefix("file:")).is_dir():
        raise Missing("no such directory", path=root, hint="the directory of a warehouse or a table")
    serve_tools(Desk(root, dict(storage) or None, uncited=uncited), ll.__version__)


def _load() -> Any:
    try:
        from lakelens.serving import server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "h11", "anyio"):
            raise
        hint = "pip install 'lakelens[serve]'"
        raise Unsupported(f"the explorer needs {error.name}, which is not installed", hint=hint) from None
    return server


def _make_settings(make: Callable[..., Settings], options: dict[str, Any]) -> Settings:
    is_proxied, unix_socket = bool(options.pop("proxied")), options["unix_socket"]
    token = os.environ.get(TOKEN, "")
    if is_proxied and unix_socket is None and len(token) < 20:
        raise click.UsageError(
            f"--proxied needs --unix-socket PATH, or --port with a token of 20 characters in ${TOKEN}"
        )
    if unix_socket is not None and options["port"] is not None:
        raise click.UsageError("--unix-socket and --port exclude each other")
    return make(is_proxied=is_proxied, token=token, **options)


@contextmanager
def _opening() -> Iterator[Callable[[str], None]]:
    """Say what opens a browser; the token is not among the arguments of its process, which every user may list."""
    made: list[Path] = []

    def open_address(address: str) -> None:
        if not _has_display():
            return
        import webbrowser

        number, name = tempfile.mkstemp(prefix="lakelens-", suffix=".html")  # for this user alone
        made.append(Path(name))
        held = html.escape(address, quote=True)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(
                f'<!DOCTYPE html><meta http-equiv="refresh" content="0;url={held}"><a href="{held}">lakelens</a>'
            )
        try:
            webbrowser.open(made[-1].as_uri())
        except webbrowser.Error:  # the address was printed
            return

    try:
        yield open_address
    finally:
        for path in made:
            path.unlink(missing_ok=True)


def _has_display() -> bool:
    if os.name != "posix" or sys.platform == "darwin":
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
