"""A page that hosts the files of a diff as a notebook would: synced traits, events, messages, and Python behind them."""

from __future__ import annotations

import base64
from typing import Any

from lakelens.widgets.filediff import FileDiffWidget

_TRAITS = ("view", "selected", "detail", "order", "filter", "kept")

# traits that JavaScript changed go to Python at save_changes; what Python then has comes back, an event for each change
_HOST = """async ([module, css, state]) => {
  const handlers = {};
  const fire = (name, held) => [...handlers[name] ?? []].forEach(act => act(held));
  const dirty = new Set();
  const take = news => { // what the reader has changed since is newer than what Python tells
    const isNew = name => !dirty.has(name) && JSON.stringify(news[name]) !== JSON.stringify(state[name]);
    const changed = Object.keys(news).filter(isNew);
    changed.forEach(name => { state[name] = news[name]; });
    changed.forEach(name => fire(`change:${name}`));
  };
  const host = { state, handlers, saves: 0, asked: [], waiting: 0 };
  host.model = {
    get: name => state[name],
    set(name, value) { state[name] = value; dirty.add(name); },
    async save_changes() {
      host.saves += 1;
      host.waiting += 1;
      const changed = Object.fromEntries([...dirty].map(name => [name, state[name]]));
      dirty.clear();
      take(await window.save(changed));
      host.waiting -= 1;
    },
    on(name, act) { (handlers[name] ??= []).push(act); },
    off(name, act) { handlers[name] = (handlers[name] ?? []).filter(other => other !== act); },
    async send(content) {
      host.asked.push(content);
      host.waiting += 1;
      (await window.ask(content)).forEach(answer => fire("msg:custom", answer));
      host.waiting -= 1;
    },
  };
  host.take = take;
  host.fire = fire;
  const style = document.createElement("style");
  style.textContent = css;
  document.head.append(style);
  const { default: { render } } = await import(`data:text/javascript;base64,${module}`);
  host.dispose = render({ model: host.model, el: document.getElementById("widget") });
  window.host = host;
}"""


def read_state(widget: FileDiffWidget) -> dict[str, Any]:
    """What Python has."""
    return {name: getattr(widget, name) for name in _TRAITS}


def ask(widget: FileDiffWidget, content: Any) -> list[Any]:
    """Send a message as a browser does; gives the answers."""
    sent: list[Any] = []
    widget.send = lambda answer, buffers=None: sent.append(answer)
    widget._handle_custom_msg(content, [])
    return sent


def host_files(page: Any, widget: FileDiffWidget, scheme: str = "light") -> list[str]:
    """Draw the files of a diff in a page; gives the list in which its errors gather."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)

    def save(changed: dict[str, Any]) -> dict[str, Any]:
        for name, held in changed.items():
            setattr(widget, name, held)
        return read_state(widget)

    page.expose_function("save", save)
    page.expose_function("ask", lambda content: ask(widget, content))
    ground = "#fff" if scheme == "light" else "#111"
    page.set_content(
        f"<!DOCTYPE html><html lang=en style='color-scheme:{scheme};background:{ground}'><title>files</title>"
        "<body style='font-family:sans-serif'>"
        "<main><h1>files</h1><button>before</button><div id=widget></div><button>after</button></main>"
    )
    module = base64.b64encode(widget._esm.encode()).decode()
    page.evaluate(_HOST, [module, widget._css, read_state(widget)])
    return errors


def settle(page: Any) -> None:
    """Wait until Python knows what the browser did, and the browser what Python made of it."""
    page.wait_for_timeout(200)  # longer than the module waits for more letters
    page.wait_for_function("host.waiting === 0")


def push(page: Any, widget: FileDiffWidget) -> None:
    """Give the browser what Python has changed."""
    page.evaluate("state => host.take(state)", read_state(widget))
