/* What the widgets share; Python puts it before the module of each.

   What is drawn comes from Python in messages, {type: "shown", version, whole, parts}: `parts` are what a widget gave to
   `_draw` (view, detail, …), and `keys`, the list that "?" shows. A module ends with `export default host(Its)`, where
   `class Its extends View` finds them in `this.shown` when it is made, learns of changes by `take(parts)`, and hears every
   other message by `hear({"msg:custom": …})`. Keys that the reader presses inside never reach the notebook; a module
   handles its own with `press`, before they end at the root. */

const LOOKS = [0, 50, 200, 1000, 4000]; // milliseconds: the output that follows may be drawn later than this one
const OUTPUTS = ".jp-OutputArea, .cell_container, .output_area"; // JupyterLab, VS Code, nbclassic
const OUTPUT = ".jp-OutputArea-child";
const PATIENCE = 1000; // milliseconds, until a reader sees that Python does not answer
const SAID = {
  late: "Python has not answered yet: it is busy, or its kernel is gone. Then run the cell again.",
  dead: "The kernel was restarted or is gone: what is shown was read before. Run the cell again.",
};

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined && text !== "") node.textContent = text;
  return node;
}

/* For the mouse: every link is a key as well, so that a widget stays few tab stops. */
function makeLink(act, text) {
  const link = make("span", "ll-link", text);
  link.dataset.act = act;
  return link;
}

/* A model as a view asks it: it is known whether Python answers. */
class Line {
  constructor(model, report) {
    this.model = model;
    this.report = report; // called with "late" or "dead" where what was asked has no answer, and with "" when there is one
    this.timer = 0;
    this.get = (name) => model.get(name);
    this.set = (name, held) => model.set(name, held);
    this.on = (name, act) => model.on(name, act);
    this.off = (name, act) => model.off(name, act);
    this.heard = () => {
      clearTimeout(this.timer);
      this.timer = 0;
      report("");
    };
    model.on("msg:custom", this.heard);
  }

  send(content) {
    this.try(() => this.model.send(content));
  }

  save_changes() {
    this.try(() => {
      this.model.save_changes();
      this.model.send({ type: "hear" });
    });
  }

  try(act) {
    try {
      act();
      this.timer ||= setTimeout(() => this.report("late"), PATIENCE);
    } catch { // JupyterLab closes the line when a kernel is restarted
      this.report("dead");
    }
  }

  close() {
    clearTimeout(this.timer);
    this.model.off("msg:custom", this.heard);
  }
}

/* A view of a model in a page: it listens until it is closed, and leaves nothing behind. */
class View {
  constructor(model, el, className, shown) {
    this.model = new Line(model, (why) => this.report(why));
    this.shown = shown; // what Python says: {view, …}
    this.silence = make("p", "ll-p ll-w");
    this.silence.setAttribute("role", "status");
    this.items = [];
    this.handlers = {};
    this.abort = new AbortController();
    this.root = make("div", className);
    this.keepKeys();
    this.on(this.root, "mousedown", (event) => {
      if (event.target.dataset?.act) event.preventDefault(); // the focus stays where the keys are
    });
    this.on(this.root, "click", (event) => {
      if (event.target.dataset?.act === "keys") this.toggleKeys();
    });
    el.replaceChildren(this.root);
    this.still = null; // the still picture that follows this view, hidden while the view lives
    for (const wait of LOOKS) setTimeout(() => this.hideStill(), wait);
  }

  on(node, type, act) {
    node.addEventListener(type, act, { signal: this.abort.signal });
  }

  hear(handlers) {
    this.handlers = handlers;
    for (const [name, act] of Object.entries(handlers)) this.model.on(name, act);
  }

  /* Some of `this.shown` has changed. */
  take() {}

  /* Say that Python does not answer, or no more. */
  report(why) {
    this.root.classList.toggle("ll-lost", Boolean(why));
    if (!why) {
      this.silence.remove();
      return;
    }
    this.silence.textContent = SAID[why];
    if (!this.silence.isConnected) this.root.prepend(this.silence);
    this.lose();
  }

  /* What was asked last has no answer: what stands there is about something else. The sheet hides cards of a choice. */
  lose() {
    if (this.status) this.status.textContent = "";
  }

  close() {
    this.abort.abort();
    this.model.close();
    for (const [name, act] of Object.entries(this.handlers)) this.model.off(name, act);
    if (this.still) this.still.style.display = "";
    this.root.remove();
  }

  /* A notebook has its own meaning for plain keys (one deletes the cell): none of them leaves a widget. Those with Ctrl or
     Meta go on, so that Ctrl+S saves. JupyterLab sees a key after its element does. Notebook 7 sees it before, and asks the
     element for an attribute, which so must be there before: the window is the first to see a key. */
  keepKeys() {
    const name = "data-lm-suppress-shortcuts";
    const isOurs = (event) => !event.ctrlKey && !event.metaKey;
    this.root.setAttribute(name, "true");
    const mark = (event) => {
      const [node] = event.composedPath();
      if (!this.root.contains(node)) return;
      for (const one of [this.root, node]) {
        if (isOurs(event)) one.setAttribute(name, "true");
        else one.removeAttribute(name);
      }
    };
    window.addEventListener("keydown", mark, { capture: true, signal: this.abort.signal });
    this.on(this.root, "keydown", (event) => {
      if (isOurs(event)) event.stopPropagation();
    });
    this.on(this.root, "focusout", () => this.root.setAttribute(name, "true"));
  }

  /* Do what a key stands for in `acts` (key -> function; a letter in lower case); "?" lists the keys. */
  press(event, acts) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const act = { "?": () => this.toggleKeys(), ...acts }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /* The list of keys, closed, to put where the widget wants it; `makeLink("keys", …)` opens it for the mouse. */
  drawKeys() {
    this.keys = make("dl", "ll-keys");
    this.keys.hidden = true;
    for (const [key, words] of this.shown.keys) {
      const entry = make("div");
      entry.append(make("dt", "", key), make("dd", "", words));
      this.keys.append(entry);
    }
    return this.keys;
  }

  toggleKeys() {
    this.keys.hidden = !this.keys.hidden;
  }

  /* The output after this one holds the same as a picture, for those who open the notebook without its kernel. */
  hideStill() {
    const outputs = this.abort.signal.aborted || this.still ? null : this.root.closest(OUTPUTS);
    const follows = (node) => this.root.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING;
    const found = outputs ? [...outputs.querySelectorAll(".ll-still")].find(follows) : null;
    if (!found) return;
    this.still = found.closest(OUTPUT) ?? found;
    this.still.style.display = "none";
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

/* What Python has said, put together from messages; null until all of it is there. */
class Said {
  constructor() {
    this.version = 0;
    this.parts = null;
  }

  /* The parts that a message changes, null for one that says nothing new. */
  add(message) {
    if (message?.type !== "shown" || message.version <= this.version || !(this.parts || message.whole)) return null;
    this.version = message.version;
    this.parts = { ...this.parts, ...message.parts };
    return message.parts;
  }
}

/* The module of a widget. A view is drawn when Python has said what to draw: at once where that came with the model, else
   when Python answers. Without a kernel nobody answers, and the still picture stays. */
function host(Shown) {
  return () => {
    const first = new Said();
    let models = 0;
    return {
      initialize({ model }) {
        models += 1;
        model.on("msg:custom", (message) => first.add(message));
      },
      render({ model, el }) {
        const said = new Said();
        let view = null;
        const listen = (message) => {
          const parts = said.add(message);
          if (!parts) return;
          if (view) {
            view.shown = said.parts;
            view.take(parts);
          } else view = new Shown(model, el, said.parts);
        };
        model.on("msg:custom", listen);
        if (models === 1 && first.parts) listen({ type: "shown", version: first.version, whole: true, parts: first.parts });
        else model.send({ type: "show" });
        return () => {
          model.off("msg:custom", listen);
          view?.close();
        };
      },
    };
  };
}
