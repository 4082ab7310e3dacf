"""A page that hosts one widget as a notebook would: a model with traits, events and messages, and Python behind it."""

from __future__ import annotations

import base64
from typing import Any

from lakelens.widgets.bytes import BytesWidget

_HOST = """async ([module, css, view]) => {
  const state = { view, selected: null };
  const handlers = {};
  const fire = (name, held) => (handlers[name] ?? []).forEach(act => act(held));
  const model = {
    get: name => state[name],
    set(name, value) { state[name] = value; fire(`change:${name}`); },
    save_changes() { window.saved(state.selected); },
    on(name, act) { (handlers[name] ??= []).push(act); },
    off(name, act) { handlers[name] = (handlers[name] ?? []).filter(other => other !== act); },
    send(content) { window.ask(content).then(answers => answers.forEach(answer => fire("msg:custom", answer))); },
  };
  const style = document.createElement("style");
  style.textContent = css;
  document.head.append(style);
  const { default: { render } } = await import(`data:text/javascript;base64,${module}`);
  const dispose = render({ model, el: document.getElementById("widget") });
  window.host = { model, handlers, dispose, state };
}"""


def host_widget(page: Any, widget: BytesWidget, scheme: str = "light") -> list[str]:
    """Draw a widget in a page; gives the list in which its errors gather."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)

    def ask(content: Any) -> list[Any]:
        sent: list[Any] = []
        widget.send = lambda answer, buffers=None: sent.append(answer)
        widget._handle_custom_msg(content, [])
        return sent

    def save(selected: Any) -> None:
        widget.selected = selected

    page.expose_function("ask", ask)
    page.expose_function("saved", save)
    ground = "#fff" if scheme == "light" else "#111"
    page.set_content(
        f"<!DOCTYPE html><html lang=en style='color-scheme:{scheme};background:{ground}'><title>widget</title>"
        "<main><h1>widget</h1><button>before</button><div id=widget></div><button>after</button></main>"
    )
    module = base64.b64encode(widget._esm.encode()).decode()
    page.evaluate(_HOST, [module, widget._css, widget.view])
    return errors
