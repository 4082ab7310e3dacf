/* Bytes to change: Python explains them, the browser shows its lines and takes two digits for a byte.

   Python says in `this.shown`
       view    {noun, place, sentence, value, error, lines, changed, first}; a line is {title, at, place, bytes, field,
               meaning, value, isWrong}: bytes are digits, `at` the position of the first, `place` how a reader counts it; first are all bytes as they were, changed positions
   The browser asks for {type: "change", at, byte}, {type: "restore", at}, {type: "reset"}, {type: "undo"}.

   Text comes from a lake: it is only ever set as textContent or title. */

const NAMES = ["at", "bytes", "field", "meaning", "value"];

class Bench extends View {
  constructor(model, el, shown) {
    super(model, el, "ll-root ll-bn", shown);
    this.stop = 0; // the byte that has the one tab stop
    this.digit = ""; // the first digit that was typed of two
    this.head = make("p", "ll-p ll-h");
    this.result = make("p", "ll-p ll-result");
    this.result.setAttribute("role", "status");
    this.table = make("table", "ll-t ll-bench");
    this.table.setAttribute("role", "grid");
    this.table.setAttribute("aria-label", "bytes");
    const head = make("thead");
    const names = make("tr");
    names.setAttribute("role", "row");
    for (const name of NAMES) names.append(this.makeHead(name));
    head.append(names);
    this.body = make("tbody");
    this.table.append(head, this.body);
    const box = make("div", "ll-box");
    box.append(this.table);
    const acts = make("div", "ll-acts");
    acts.append(makeLink("undo", "Z take back"), makeLink("reset", "R reset"), makeLink("keys", "? keys"));
    this.root.append(this.head, this.result, box, acts, this.drawKeys());
    this.on(this.table, "keydown", (event) => this.type(event));
    this.on(this.table, "focusin", (event) => this.follow(event.target));
    this.on(this.root, "click", (event) => this.click(event.target));
    this.show();
  }

  makeHead(name) {
    const cell = make("th", "", name);
    cell.setAttribute("role", "columnheader");
    cell.scope = "col";
    return cell;
  }

  take(parts) {
    if (parts.view) this.show();
  }

  show() {
    const { view } = this.shown;
    const had = this.table.contains(document.activeElement);
    this.digit = "";
    this.head.replaceChildren(make("b", "", view.noun), " ", make("span", "", view.sentence));
    if (view.place) this.head.append(" ", make("small", "ll-m", view.place));
    this.result.className = `ll-p ll-result${view.error ? " ll-w" : ""}`;
    this.result.textContent = view.error ? `ERROR: ${view.error}` : `value: ${view.value}`;
    const changed = new Set(view.changed);
    this.cells = [];
    this.body.replaceChildren(...view.lines.flatMap((line) => [...this.drawTitle(line.title), this.drawLine(line, changed, view.first)]));
    this.stop = Math.min(this.stop, this.cells.length - 1);
    if (this.cells.length) this.cells[this.stop].tabIndex = 0;
    if (had) this.cells[this.stop]?.focus();
  }

  drawTitle(title) {
    if (!title) return [];
    const row = make("tr");
    row.setAttribute("role", "row");
    const cell = make("td", "ll-m", title);
    cell.setAttribute("role", "rowheader");
    cell.colSpan = NAMES.length;
    row.append(cell);
    return [row];
  }

  drawLine(line, changed, first) {
    const row = make("tr", line.isWrong ? "ll-bad" : "");
    row.setAttribute("role", "row");
    const place = make("td", "ll-m", line.place);
    place.setAttribute("role", "rowheader");
    const bytes = make("td");
    bytes.setAttribute("role", "presentation"); // each of its bytes is a cell of the row
    for (let i = 0; i < line.bytes.length / 2; i += 1) {
      const at = line.at + i;
      const digits = line.bytes.slice(2 * i, 2 * i + 2);
      const cell = make("span", "", digits);
      cell.setAttribute("role", "gridcell");
      cell.setAttribute("aria-label", `byte ${at}: ${digits}${changed.has(at) ? `, changed, was ${first.slice(2 * at, 2 * at + 2)}` : ""}`);
      cell.setAttribute("aria-selected", String(changed.has(at)));
      if (changed.has(at)) cell.title = `was ${first.slice(2 * at, 2 * at + 2)}`;
      cell.tabIndex = -1;
      cell.dataset.at = String(at);
      this.cells[at] = cell;
      bytes.append(cell);
    }
    const words = [line.field, line.meaning].map((text) => make("td", "", text));
    const value = make("td");
    if (line.value) value.append(make("code", "", line.value));
    row.append(place, bytes, ...words, value);
    return row;
  }

  follow(node) {
    if (node.dataset?.at === undefined) return;
    const at = Number(node.dataset.at);
    if (at !== this.stop) this.clear();
    this.cells[this.stop].tabIndex = -1;
    this.stop = at;
    this.cells[at].tabIndex = 0;
  }

  /* Half a byte is no change. */
  clear() {
    if (!this.digit) return;
    this.digit = "";
    const { first, lines } = this.shown.view;
    const line = lines.find((one) => one.at <= this.stop && this.stop < one.at + one.bytes.length / 2);
    const digits = line ? line.bytes.slice(2 * (this.stop - line.at), 2 * (this.stop - line.at) + 2) : first.slice(2 * this.stop, 2 * this.stop + 2);
    this.cells[this.stop].textContent = digits;
  }

  move(to) {
    this.clear();
    this.cells[Math.max(0, Math.min(to, this.cells.length - 1))]?.focus();
  }

  /* To the line above or below, at the same place in it as far as that is there. */
  moveLine(step) {
    const { lines } = this.shown.view;
    const here = lines.findIndex((one) => one.at <= this.stop && this.stop < one.at + one.bytes.length / 2);
    const line = lines[here + step];
    if (line) this.move(line.at + Math.min(this.stop - lines[here].at, line.bytes.length / 2 - 1));
  }

  type(event) {
    const isPlain = !event.altKey && !event.ctrlKey && !event.metaKey;
    if (isPlain && /^[0-9a-fA-F]$/.test(event.key)) {
      event.preventDefault();
      this.enter(event.key.toLowerCase());
      return;
    }
    this.press(event, {
      ArrowLeft: () => this.move(this.stop - 1),
      ArrowRight: () => this.move(this.stop + 1),
      ArrowUp: () => this.moveLine(-1),
      ArrowDown: () => this.moveLine(1),
      Home: () => this.move(0),
      End: () => this.move(this.cells.length - 1),
      Escape: () => this.clear(),
      Backspace: () => this.ask({ type: "restore", at: this.stop }),
      Delete: () => this.ask({ type: "restore", at: this.stop }),
      z: () => this.ask({ type: "undo" }),
      r: () => this.ask({ type: "reset" }),
    });
  }

  enter(digit) {
    if (!this.digit) {
      this.digit = digit;
      this.cells[this.stop].textContent = `${digit}_`;
      return;
    }
    const at = this.stop;
    const byte = parseInt(this.digit + digit, 16);
    this.digit = "";
    this.cells[at].textContent = byte.toString(16).padStart(2, "0");
    this.move(at + 1); // before the answer draws all of it again, with the focus where it is then
    this.ask({ type: "change", at, byte });
  }

  ask(content) {
    this.clear();
    this.model.send(content);
  }

  click(node) {
    const act = node.dataset?.act;
    if (act === "undo" || act === "reset") this.ask({ type: act });
    else if (node.dataset?.at !== undefined) this.cells[Number(node.dataset.at)].focus();
  }
}

export default host(Bench);
