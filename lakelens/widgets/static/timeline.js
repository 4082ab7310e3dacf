/* The timeline of a table. Python says where everything is and what it means; this module draws, and listens to the reader.

   Shown    view      {title, sentence, back, width, height, top, bottom, shapes, items, legend, notes, focus}
                      shapes are [tag, attributes, text, item, lane]; an item is {first, last, count, x, left, right, label} with
                      the keys of its first and last snapshot
            detail    {of, from, to, noun, words, html, more, code, dim}: what Python says of the choice; html is a card of
                      ours, `more` says what the key I shows instead
   Traits   selected  the key of one snapshot, or ""
            range     [key before, key after], or []
            spacing   "time" or "even"
   Messages to Python    {type: "open", item}   a fold            {type: "close"}   back to what was before
                         {type: "card"}         all that is known of the choice, or its facts alone

   Text comes from a lake: it is only ever set as textContent or title. */

const NS = "http://www.w3.org/2000/svg";
const WAIT = 60; // milliseconds: arrows that follow each other quickly ask Python once

function draw(shapes, width, height) {
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("aria-hidden", "true");
  const nodes = shapes.map(([tag, attributes, text]) => {
    const node = document.createElementNS(NS, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
    if (text) node.textContent = text;
    svg.append(node);
    return node;
  });
  return [svg, nodes];
}

class Timeline extends View {
  constructor(model, el, shown) {
    super(model, el, "ll-root ll-tl", shown);
    this.options = [];
    this.nodes = []; // of the shapes
    this.at = -1; // the item that was reached last, and the one that a range began with
    this.from = -1;
    this.rest = 0; // where the tab stop is while nothing is chosen
    this.drag = null;
    this.timer = 0;
    this.head = make("p", "ll-p ll-h");
    this.stage = make("div", "ll-stage");
    this.stage.setAttribute("role", "listbox");
    this.stage.setAttribute("aria-multiselectable", "true");
    this.stage.setAttribute("aria-orientation", "horizontal");
    this.legend = make("p", "ll-p ll-legend");
    this.said = make("p", "ll-p ll-said");
    this.said.setAttribute("role", "status");
    this.card = make("div", "ll-detail");
    this.root.append(this.head, this.stage, this.legend, this.drawKeys(), this.said, this.card);
    this.listen();
    this.show();
  }

  listen() {
    this.on(this.stage, "keydown", (event) => this.press(event));
    this.on(this.stage, "pointerdown", (event) => this.grab(event));
    this.on(this.stage, "pointermove", (event) => this.pull(event));
    this.on(this.stage, "pointerup", (event) => this.drop(event));
    this.on(this.stage, "pointercancel", () => { this.drag = null; });
    this.on(this.root, "click", (event) => this.click(event));
  }

  take({ view }) {
    if (view) this.show();
    else this.describe();
  }

  close() {
    this.flush();
    super.close();
  }

  /* What the drawing itself says of the choice. */
  lose() {
    const [first, last] = [Math.min(this.at, this.from), Math.max(this.at, this.from)];
    const chosen = first < 0 ? [] : this.items.slice(first, last + 1);
    const ends = chosen.length > 1 ? [chosen[0], chosen.at(-1)] : chosen;
    this.said.textContent = ends.map((item) => item.label).join(" … ");
  }

  /* Draw the view again. */
  show() {
    const view = this.shown.view;
    const held = this.stage.contains(document.activeElement);
    this.items = view.items;
    this.at = this.from = -1;
    const [svg, nodes] = draw(view.shapes, view.width, view.height);
    this.nodes = nodes;
    this.band = make("div", "ll-band");
    this.options = this.items.map((item) => this.makeOption(item, view));
    this.stage.replaceChildren(svg, this.band, ...this.options);
    this.stage.style.display = this.items.length ? "" : "none"; // a picture of nothing has a height of its own
    this.stage.setAttribute("aria-label", `${view.title} ${view.sentence}`);
    this.showHead(view);
    this.showLegend(view);
    this.rest = Math.min(Math.max(view.focus, 0), this.items.length - 1);
    this.describe();
    if (held && this.options.length) this.options[this.at < 0 ? this.rest : this.at].focus();
  }

  makeOption(item, view) {
    const option = make("div", "ll-o");
    const percent = (amount, whole) => `${(100 * amount) / whole}%`;
    Object.assign(option.style, {
      left: percent(item.left, view.width),
      width: percent(item.right - item.left, view.width),
      top: percent(view.top, view.height),
      height: percent(view.bottom - view.top, view.height),
    });
    option.setAttribute("role", "option");
    option.setAttribute("aria-label", item.label);
    option.title = item.label;
    option.tabIndex = -1;
    return option;
  }

  showHead(view) {
    this.head.replaceChildren(make("b", "", view.title), view.sentence);
    if (view.back) this.head.append(" ", makeLink("back", view.back), " ", make("small", "", "Escape"));
  }

  showLegend(view) {
    this.legend.replaceChildren();
    if (!view.items.length) return;
    for (const [shape, text] of view.legend) {
      const [sign] = draw([shape], 14, 14);
      const entry = make("span");
      entry.append(sign, ` ${text}`);
      this.legend.append(entry, " ");
    }
    const isEven = this.model.get("spacing") === "even";
    const small = make("small", "", view.notes ? `${view.notes}; ` : "");
    const words = isEven ? "evenly spaced, space them by time" : "spaced by time, space them evenly";
    const [now, other] = words.split(", ");
    small.append(`${now}; `, makeLink("spacing", `S: ${other}`), "; ", makeLink("keys", "?: all keys"));
    this.legend.append(small);
  }

  /* Show what Python says of the choice, and which items it stands for. */
  describe() {
    const detail = this.shown.detail;
    const chosen = [this.model.get("selected"), ...this.model.get("range")].filter(Boolean);
    if (String(detail.of) === String(chosen)) {
      const same = Math.min(this.at, this.from) === detail.from && Math.max(this.at, this.from) === detail.to;
      if (!same) [this.from, this.at] = [detail.from, detail.to];
    }
    this.paint();
    this.said.replaceChildren(...(detail.noun ? [make("b", "", detail.noun), " "] : []), detail.words);
    const parsed = new DOMParser().parseFromString(detail.html, "text/html");
    this.card.replaceChildren(...parsed.body.childNodes);
    if (detail.code) {
      const line = make("p", "ll-p ll-next");
      line.append(make("code", "ll-s", detail.code), " ", makeLink("card", detail.more));
      this.card.append(line);
    }
  }

  paint() {
    const first = Math.min(this.at, this.from);
    const last = Math.max(this.at, this.from);
    const stop = this.at < 0 ? this.rest : this.at;
    this.options.forEach((option, index) => {
      option.setAttribute("aria-selected", String(first >= 0 && index >= first && index <= last));
      option.tabIndex = index === stop ? 0 : -1;
    });
    this.band.hidden = first < 0;
    const view = this.shown.view;
    if (first >= 0) {
      const { left } = this.items[first];
      Object.assign(this.band.style, {
        left: `${(100 * left) / view.width}%`,
        width: `${(100 * (this.items[last].right - left)) / view.width}%`,
        top: `${(100 * view.top) / view.height}%`,
        height: `${(100 * (view.bottom - view.top)) / view.height}%`,
      });
    }
    const dim = new Set((this.shown.detail.dim ?? []).map(String));
    view.shapes.forEach(([, , , item, lane], index) => {
      this.nodes[index].classList.toggle("ll-dim", dim.has(`${item},${lane}`));
    });
  }

  /* Choose an item, or everything from where a range began up to it. */
  pick(index, extend, focus = true) {
    if (index < 0 || index >= this.items.length) return;
    this.at = index;
    if (!extend || this.from < 0) this.from = index;
    const first = this.items[Math.min(this.at, this.from)];
    const last = this.items[Math.max(this.at, this.from)];
    const isOne = first === last && first.count === 1;
    this.model.set("selected", isOne ? first.first : "");
    this.model.set("range", isOne ? [] : [first.first, last.last]);
    this.paint();
    if (focus) this.options[index].focus();
    this.save();
  }

  clear() {
    this.rest = Math.max(this.at, 0);
    this.at = this.from = -1;
    this.model.set("selected", "");
    this.model.set("range", []);
    this.paint();
    this.save();
  }

  save() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), WAIT);
  }

  flush() {
    if (!this.timer) return;
    clearTimeout(this.timer);
    this.timer = 0;
    this.model.save_changes();
  }

  open(index) {
    this.flush();
    this.model.send({ type: "open", item: index });
  }

  back() {
    this.flush();
    this.model.send({ type: "close" });
  }

  openCard() {
    if (!this.shown.detail.more) return;
    this.flush();
    this.model.send({ type: "card" });
  }

  changeSpacing() {
    this.model.set("spacing", this.model.get("spacing") === "even" ? "time" : "even");
    this.model.save_changes();
  }

  press(event) {
    if (!this.items.length) return;
    const here = this.at < 0 ? this.rest : this.at;
    const move = (by) => this.pick(Math.min(this.items.length - 1, Math.max(0, here + by)), event.shiftKey);
    const enter = () => {
      if (this.items[here].count > 1 && !event.shiftKey) this.open(here);
      else this.pick(here, event.shiftKey);
    };
    super.press(event, {
      ArrowRight: () => move(this.at < 0 ? 0 : 1),
      ArrowLeft: () => move(this.at < 0 ? 0 : -1),
      PageDown: () => move(10),
      PageUp: () => move(-10),
      Home: () => move(-this.items.length),
      End: () => move(this.items.length),
      Enter: enter,
      " ": enter,
      Escape: () => (this.shown.view.back ? this.back() : this.clear()),
      i: () => this.openCard(),
      s: () => this.changeSpacing(),
    });
  }

  /* The item at a place of the pointer, or the nearest one. */
  reach(event) {
    const index = this.options.indexOf(event.target.closest?.(".ll-o"));
    if (index >= 0) return index;
    const box = this.stage.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * this.shown.view.width;
    const away = this.items.map((item) => Math.abs(item.x - x));
    return away.indexOf(Math.min(...away));
  }

  grab(event) {
    if (event.button !== 0 || !this.items.length) return;
    const index = this.reach(event);
    this.drag = { index, moved: false, again: index === this.at && this.at === this.from };
    this.stage.setPointerCapture?.(event.pointerId);
    event.preventDefault();
    this.pick(index, event.shiftKey);
  }

  pull(event) {
    if (!this.drag) return;
    const box = this.stage.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * this.shown.view.width;
    const away = this.items.map((item) => Math.abs(item.x - x));
    const index = away.indexOf(Math.min(...away));
    if (index !== this.drag.index) this.drag.moved = true;
    if (this.drag.moved && index !== this.at) this.pick(index, true);
  }

  drop(event) {
    const { drag } = this;
    this.drag = null;
    if (drag && !drag.moved && drag.again && !event.shiftKey && this.items[this.at]?.count > 1) this.open(this.at);
  }

  click(event) {
    const act = event.target.dataset?.act;
    if (act === "back") this.back();
    if (act === "spacing") this.changeSpacing();
    if (act === "card") this.openCard();
  }
}

export default host(Timeline);
