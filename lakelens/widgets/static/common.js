/* What the widgets share; Python puts it before the module of each. */

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined && text !== "") node.textContent = text;
  return node;
}

/* A view of a model in a page: it listens until it is closed, and leaves nothing behind. */
class View {
  constructor(model, el, className) {
    this.model = model;
    this.items = [];
    this.abort = new AbortController();
    this.root = make("div", className);
    el.replaceChildren(this.root);
  }

  on(node, type, act) {
    node.addEventListener(type, act, { signal: this.abort.signal });
  }

  hear(handlers) {
    this.handlers = handlers;
    for (const [name, act] of Object.entries(handlers)) this.model.on(name, act);
  }

  close() {
    this.abort.abort();
    for (const [name, act] of Object.entries(this.handlers)) this.model.off(name, act);
    this.root.remove();
  }

  /* Rows inside a closed fold are hidden. */
  fold() {
    let closed = Infinity;
    for (const { row, tr, open } of this.items) {
      if (row.depth <= closed) closed = Infinity;
      tr.hidden = row.depth > closed;
      if (["fold", "group"].includes(row.kind) && !open && !tr.hidden) closed = row.depth;
    }
  }
}

function host(Shown) {
  return {
    render({ model, el }) {
      const shown = new Shown(model, el);
      return () => shown.close();
    },
  };
}
