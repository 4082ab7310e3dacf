/* A list, page by page: Python sorts, filters and words it, the browser shows one page.

   Traits   selected   positions of the chosen rows           order      "bytes", "-bytes" (greatest first) or ""
            filter     SQL or words                            start      place of the first row shown
            page_size  rows of a page
   Python says in `this.shown`
            view    {noun, sentence, said, trouble, asks, example, first, found, sizes, columns, rows}; a column is
                    {key, name, kind, title}, a row {position, cells}, a cell {pieces: [[text, is id, role], …], role,
                    title, bar: [gone, came, kind]}; trouble is what is wrong with the filter
            detail  {html, code, words}: what it says of the chosen rows; html is a card of ours

   Text comes from a lake: it is only ever set as textContent, title or value. */

const TONES = { mute: "ll-m", add: "ll-a", del: "ll-r", warn: "ll-w" };
const TAGS = { small: "small", strong: "b", changed: "u", code: "code", tree: "code" };
const KINDS = { number: "ll-n", short: "ll-o" };
const WAIT = 150; // milliseconds: a filter is asked when the reader pauses
const ZERO = 40; // pixels on each side of the zero line of a bar

function makePiece([text, isId, role]) {
  const tag = TAGS[role] ?? (isId ? "code" : "span");
  const node = make(tag, TONES[role] ?? "", isId ? "" : text);
  if (isId) {
    node.classList.add("ll-s");
    node.append(make("span", "ll-id", text));
  }
  return node;
}

function makeBar(cell, [gone, came, kind]) {
  cell.className = kind === "share" ? "ll-b ll-c" : "ll-b";
  const parts = kind === "share" ? [["ll-m", came]] : [["", ZERO - gone], ["ll-r", gone], ["ll-a", came]];
  for (const [className, width] of parts) {
    if (!width) continue;
    const part = make("i", className);
    part.style.width = `${width}px`;
    cell.append(part);
  }
}

/* A button for the mouse; all it does is a key of the rows as well. */
function makeButton(act, text) {
  const button = make("button", "", text);
  button.type = "button";
  button.dataset.act = act;
  return button;
}

class List extends View {
  constructor(model, el, shown) {
    super(model, el, "ll-root ll-ls", shown);
    this.stop = null; // the row or the title that has the one tab stop
    this.wanted = null; // where the focus goes when the next page is there: "first" or "last"
    this.timer = 0;
    this.head = make("p", "ll-p ll-h");
    this.trouble = make("p", "ll-p ll-trouble");
    this.trouble.setAttribute("role", "alert");
    this.titles = make("tr");
    this.titles.setAttribute("role", "row");
    this.body = make("tbody");
    this.status = make("p", "ll-p ll-said");
    this.status.setAttribute("role", "status");
    this.card = make("div", "ll-detail");
    this.root.append(this.head, this.drawBar(), this.trouble, this.drawTable(), this.drawPages(), this.drawKeys());
    this.root.append(this.status, this.card);
    this.listen();
    this.show();
    this.describe();
  }

  drawBar() {
    const bar = make("div", "ll-bar");
    this.input = make("input");
    this.input.type = "search";
    this.input.maxLength = 2000;
    this.input.spellcheck = false;
    this.input.value = this.model.get("filter");
    const keys = makeLink("keys", "? keys");
    bar.append(this.input, keys);
    return bar;
  }

  drawTable() {
    const box = make("div", "ll-box");
    this.table = make("table", "ll-t");
    this.table.setAttribute("role", "grid");
    this.table.setAttribute("aria-multiselectable", "true");
    const head = make("thead");
    head.append(this.titles);
    this.table.append(head, this.body);
    box.append(this.table);
    return box;
  }

  drawPages() {
    this.pages = make("div", "ll-pages");
    this.buttons = [["first", "first"], ["previous", "‹ previous"], ["next", "next ›"], ["last", "last"]].map((one) => makeButton(...one));
    this.said = make("span", "ll-m");
    this.sizes = make("select");
    const label = make("label");
    label.append(this.sizes, " a page");
    this.pages.append(this.buttons[0], this.buttons[1], this.said, this.buttons[2], this.buttons[3], label);
    return this.pages;
  }

  listen() {
    this.on(this.table, "click", (event) => this.click(event));
    this.on(this.table, "keydown", (event) => this.pressTable(event));
    this.on(this.pages, "click", (event) => this.turn(event.target.dataset?.act));
    this.on(this.sizes, "change", () => this.set({ page_size: Number(this.sizes.value) }));
    this.on(this.input, "input", () => this.type());
    this.on(this.input, "keydown", (event) => this.leave(event));
    this.hear({
      "change:filter": () => this.follow(),
      "change:selected": () => this.mark(),
    });
  }

  take(parts) {
    if (parts.view) this.show();
    if (parts.detail) this.describe();
  }

  close() {
    clearTimeout(this.timer);
    super.close();
  }

  set(traits) {
    for (const [name, held] of Object.entries(traits)) this.model.set(name, held);
    this.model.save_changes();
  }

  get rows() {
    return [...this.body.children];
  }

  get heads() {
    return [...this.titles.children].filter((cell) => cell.dataset.key);
  }

  /* Draw the page again; the focus stays where it was, or goes where the reader was going. */
  show() {
    const { view } = this.shown;
    const held = this.table.contains(document.activeElement);
    const before = this.stop ? [this.rows.indexOf(this.stop), this.stop.dataset.key] : [0];
    this.head.replaceChildren(make("b", "", view.noun), view.sentence);
    this.input.placeholder = view.example;
    this.input.setAttribute("aria-label", `${view.asks}, for example ${view.example}`);
    this.titles.replaceChildren(...view.columns.map((column) => this.drawTitle(column)));
    this.body.replaceChildren(...view.rows.map((row, index) => this.drawRow(row, view.first + index)));
    this.table.setAttribute("aria-rowcount", String(view.found + 1));
    this.showPages(view);
    this.showTrouble(view.trouble);
    this.mark();
    this.reach(this.findStop(before), held);
    if (held && !this.stop) this.input.focus();
  }

  findStop([index, key]) {
    const { rows } = this;
    if (this.wanted !== null) {
      const found = this.wanted === "last" ? rows[rows.length - 1] : rows[0];
      this.wanted = null;
      return found;
    }
    return this.heads.find((cell) => key && cell.dataset.key === key) ?? rows[Math.max(0, Math.min(index, rows.length - 1))] ?? this.heads[0];
  }

  drawTitle({ key, name, kind, title }) {
    if (!name) return make("td");
    const cell = make("th", KINDS[kind] ?? "");
    const [order, isDown] = this.readOrder();
    cell.scope = "col";
    cell.dataset.key = key;
    cell.tabIndex = -1;
    cell.setAttribute("role", "columnheader");
    const word = make(title ? "abbr" : "span", "", name);
    if (title) word.title = title;
    const mark = make("span", "ll-sort", order === key ? (isDown ? "▼" : "▲") : "");
    mark.setAttribute("aria-hidden", "true");
    cell.append(...(kind === "number" ? [mark, word] : [word, mark]));
    cell.setAttribute("aria-sort", order === key ? (isDown ? "descending" : "ascending") : "none");
    return cell;
  }

  drawRow({ position, cells }, place) {
    const tr = make("tr");
    tr.setAttribute("role", "row");
    tr.setAttribute("aria-rowindex", String(place + 2));
    tr.dataset.position = String(position);
    tr.tabIndex = -1;
    tr.append(...cells.map((cell, index) => this.drawCell(cell, this.shown.view.columns[index])));
    return tr;
  }

  drawCell({ pieces, role, title, bar }, { kind }) {
    const cell = make("td", KINDS[kind] ?? "");
    cell.setAttribute("role", "gridcell");
    if (bar) makeBar(cell, bar);
    if (TONES[role]) cell.classList.add(TONES[role]);
    if (title) cell.title = title;
    for (const piece of pieces) cell.append(piece[0] === "\n" ? make("br") : makePiece(piece));
    return cell;
  }

  showPages({ said, first, found, sizes, rows }) {
    const size = this.model.get("page_size");
    this.said.textContent = said;
    this.pages.hidden = found <= Math.min(size, sizes[0]) && first === 0;
    const ends = [first === 0, first === 0, first + rows.length >= found, first + rows.length >= found];
    this.buttons.forEach((button, index) => {
      button.disabled = ends[index];
    });
    this.sizes.replaceChildren(...sizes.map((number) => new Option(String(number), String(number), false, number === size)));
  }

  showTrouble({ words, before, wrong, after }) {
    this.trouble.replaceChildren();
    this.trouble.hidden = !words;
    this.input.setAttribute("aria-invalid", String(Boolean(words)));
    if (!words) return;
    this.trouble.append(make("span", "ll-w", words));
    if (!wrong) return;
    const place = make("code", "", before);
    place.append(make("u", "ll-w", wrong), after);
    this.trouble.append(make("br"), place);
  }

  /* The column that the list is sorted by, and whether the greatest comes first. */
  readOrder() {
    const order = this.model.get("order");
    return [order.replace(/^-/, ""), order.startsWith("-")];
  }

  /* Numbers begin with the greatest, words with the first of them; then the other way round; then the list's own order. */
  sort(key) {
    const [order, isDown] = this.readOrder();
    const column = this.shown.view.columns.find((one) => one.key === key);
    const startsDown = column?.kind === "number";
    if (order !== key) this.set({ order: startsDown ? `-${key}` : key });
    else if (isDown === startsDown) this.set({ order: isDown ? key : `-${key}` });
    else this.set({ order: "" });
  }

  sortNext() {
    const keys = this.heads.map((cell) => cell.dataset.key);
    const next = keys[(keys.indexOf(this.readOrder()[0]) + 1) % keys.length];
    if (next) this.sort(next);
  }

  turnRound() {
    const [order, isDown] = this.readOrder();
    if (order) this.set({ order: isDown ? order : `-${order}` });
  }

  turn(act, wanted = "first") {
    const { first, found } = this.shown.view;
    const size = this.model.get("page_size");
    const places = { first: 0, previous: first - size, next: first + size, last: Math.floor((found - 1) / size) * size };
    if (!(act in places)) return;
    const start = Math.max(0, places[act]);
    if (start === first || start >= found) {
      this.reach(wanted === "last" ? this.rows[this.rows.length - 1] : this.rows[0]);
      return;
    }
    this.wanted = wanted;
    this.set({ start });
  }

  /* One tab stop: the row or the title that was reached last. */
  reach(stop, focus = true) {
    if (this.stop) this.stop.tabIndex = -1;
    this.stop = stop ?? null;
    if (!stop) return;
    stop.tabIndex = 0;
    if (!focus) return;
    stop.focus({ preventScroll: true });
    stop.scrollIntoView({ block: "nearest" });
  }

  get chosen() {
    return this.model.get("selected");
  }

  choose(row, isMore = false) {
    const position = Number(row.dataset.position);
    const { chosen } = this;
    const others = chosen.filter((one) => one !== position);
    if (isMore) this.set({ selected: chosen.includes(position) ? others : [...chosen, position] });
    else this.set({ selected: [position] });
    this.mark();
  }

  mark() {
    const { chosen } = this;
    for (const row of this.rows) row.setAttribute("aria-selected", String(chosen.includes(Number(row.dataset.position))));
  }

  /* Show what Python says of the chosen rows. */
  describe() {
    const { html, code, words } = this.shown.detail;
    const parsed = new DOMParser().parseFromString(html, "text/html");
    this.card.replaceChildren(...parsed.body.childNodes);
    this.status.replaceChildren(words);
    this.status.hidden = !words;
    if (code) this.status.append(" ", make("code", "ll-s", code));
  }

  click(event) {
    const cell = event.target.closest("th,td");
    const row = cell?.closest("tr");
    if (cell?.dataset.key) {
      this.reach(cell);
      this.sort(cell.dataset.key);
    } else if (row?.dataset.position) {
      if (!window.getSelection().isCollapsed) return; // the reader marks text to copy it
      this.reach(row);
      this.choose(row, event.ctrlKey || event.metaKey);
    }
  }

  pressTable(event) {
    const isTitle = Boolean(this.stop?.dataset.key);
    this.press(event, {
      ArrowDown: () => this.step(1),
      ArrowUp: () => this.step(-1),
      ArrowRight: () => isTitle && this.cross(1),
      ArrowLeft: () => isTitle && this.cross(-1),
      PageDown: () => this.turn("next"),
      PageUp: () => this.turn("previous"),
      Home: () => this.turn("first"),
      End: () => this.turn("last", "last"),
      Enter: () => (isTitle ? this.sort(this.stop.dataset.key) : this.choose(this.stop)),
      " ": () => (isTitle ? this.sort(this.stop.dataset.key) : this.choose(this.stop, true)),
      Escape: () => this.set({ selected: [] }),
      "/": () => this.input.select(),
      s: () => this.sortNext(),
      r: () => this.turnRound(),
    });
  }

  /* Row by row; at the top to the titles or back a page, at the end on to the next one. */
  step(by) {
    const { rows } = this;
    const { first, found } = this.shown.view;
    const at = this.stop.dataset.key ? -1 : rows.indexOf(this.stop);
    if (at + by >= 0 && at + by < rows.length) this.reach(rows[at + by]);
    else if (by > 0 && first + rows.length < found) this.turn("next");
    else if (by < 0 && first > 0 && at === 0) this.turn("previous", "last");
    else if (by < 0 && at === 0) this.reach(this.heads.find((cell) => cell.dataset.key === this.readOrder()[0]) ?? this.heads[0]);
  }

  cross(by) {
    const { heads } = this;
    this.reach(heads[Math.max(0, Math.min(heads.length - 1, heads.indexOf(this.stop) + by))]);
  }

  type() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), WAIT);
  }

  flush() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.input.value !== this.model.get("filter")) this.set({ filter: this.input.value });
  }

  /* Python may set the filter too; what is being typed is newer. */
  follow() {
    if (!this.timer && this.input.value !== this.model.get("filter")) this.input.value = this.model.get("filter");
  }

  leave(event) {
    if (event.key === "Escape" && this.input.value) {
      event.preventDefault();
      this.input.value = "";
      this.flush();
    } else if (["ArrowDown", "Enter", "Escape"].includes(event.key)) {
      event.preventDefault();
      this.flush();
      if (event.key !== "Enter") this.reach(this.stop ?? this.heads[0]);
    }
  }
}

export default host(List);
