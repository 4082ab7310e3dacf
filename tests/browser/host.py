"""A page that hosts a widget as a notebook would: synced traits, events, messages, and Python behind them."""

from __future__ import annotations

import base64
from typing import Any

import anywidget

# traits that JavaScript changed go to Python at save_changes; what Python then has comes back, an event for each change
_HOST = """async ([module, css, state]) => {
  const handlers = {};
  const fire = (name, held) => [...handlers[name] ?? []].forEach(act => act(held));
  const dirty = new Set();
  const take = news => { // what the reader has changed since is newer than what Python says
    const isNew = name => !dirty.has(name) && JSON.stringify(news[name]) !== JSON.stringify(state[name]);
    const changed = Object.keys(news).filter(isNew);
    changed.forEach(name => { state[name] = news[name]; });
    changed.forEach(name => fire(`change:${name}`));
  };
  const host = { state, handlers, take, fire, saves: 0, asked: [], waiting: 0 };
  const wait = async (name, held) => {
    host.waiting += 1;
    try {
      const [news, answers] = await window[name](held);
      take(news);
      answers.forEach(answer => fire("msg:custom", answer));
    } finally { // what went wrong is among the page's errors; nobody waits for it
      host.waiting -= 1;
    }
  };
  host.wait = wait;
  host.model = {
    get: name => state[name],
    set(name, value) { state[name] = value; dirty.add(name); fire(`change:${name}`, value); },
    save_changes() {
      host.saves += 1;
      const changed = Object.fromEntries([...dirty].map(name => [name, state[name]]));
      dirty.clear();
      wait("save", changed);
    },
    on(name, act) { (handlers[name] ??= []).push(act); },
    off(name, act) { handlers[name] = (handlers[name] ?? []).filter(other => other !== act); },
    send(content) { host.asked.push(content); wait("ask", content); },
  };
  const style = document.createElement("style");
  style.textContent = css;
  document.head.append(style);
  const { default: define } = await import(`data:text/javascript;base64,${module}`);
  window.host = host;
  host.dispose = (await define()).render({ model: host.model, el: document.getElementById("widget") });
  while (host.waiting) await new Promise(done => setTimeout(done, 10)); // the view asks what to draw
}"""


def read_state(widget: Any) -> dict[str, Any]:
    """What Python has."""
    own = widget.traits(sync=True).keys() - anywidget.AnyWidget.class_traits(sync=True).keys()
    return {name: getattr(widget, name) for name in own if not name.startswith("_")}


def collect(widget: Any) -> list[Any]:
    """The list in which what a widget sends from now on gathers."""
    sent: list[Any] = []
    widget.send = lambda answer, buffers=None: sent.append(answer)
    return sent


def ask(widget: Any, content: Any) -> list[Any]:
    """Send a message as a browser does; gives the answers, without what is drawn anew, and without that it was heard."""
    sent = collect(widget)
    widget._handle_custom_msg(content, [])
    return [answer for answer in sent if answer["type"] not in ("shown", "heard")]


def host_widget(page: Any, widget: Any, scheme: str = "light") -> list[str]:
    """Draw a widget in a page; gives the list in which its errors gather."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)

    sent = collect(widget)

    def take() -> tuple[dict[str, Any], list[Any]]:
        """What Python has, and what it sent since it was asked last."""
        answers, sent[:] = sent[:], []
        return read_state(widget), answers

    def save(changed: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
        with widget.hold_trait_notifications():
            for name, held in changed.items():
                setattr(widget, name, held)
        return take()

    def answer(content: Any) -> tuple[dict[str, Any], list[Any]]:
        widget._handle_custom_msg(content, [])
        return take()

    page.expose_function("save", save)
    page.expose_function("ask", answer)
    page.expose_function("look", take)
    ground = "#fff" if scheme == "light" else "#111"
    page.set_content(
        f"<!DOCTYPE html><html lang=en style='color-scheme:{scheme};background:{ground}'><title>widget</title>"
        "<body style='font-family:sans-serif'>"
        "<main><h1>widget</h1><button>before</button><div id=widget></div><button>after</button></main>"
    )
    module = base64.b64encode(widget._esm.encode()).decode()
    page.evaluate(_HOST, [module, widget._css, read_state(widget)])
    return errors


def settle(page: Any) -> None:
    """Wait until Python knows what the browser did, and the browser what Python made of it."""
    # a timer of the page itself, longer than any by which a module waits for more keys: those before it fire first
    page.evaluate("new Promise(done => setTimeout(done, 200))")
    page.wait_for_function("host.waiting === 0")


def push(page: Any) -> None:
    """Give the browser what Python has changed."""
    page.evaluate("host.wait('look')")
