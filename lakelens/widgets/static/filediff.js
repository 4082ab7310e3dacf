/* The files of a diff: removed left, added right, in groups that Python fills when they are opened.

   Shown    view      {version, noun, sentence, said, message, groups, total, rows}; a row has id, kind (group, files, kept,
                      more, end) and depth; a cell is [text, role, title]
            detail    {of, html, code, words}: what Python says of that file; html is a card of ours
   Traits   selected  "added/3": the side and the position of a file, or ""
            order     "size", "rows" or "name"       filter  words       kept  whether kept files are shown
   Messages to Python    {type: "open", id, version}                     what is behind a fold, or what was left out
            from Python  {type: "rows", id, version, rows, message}      its rows, or why there are none

   Text comes from a lake: it is only ever set as textContent, title or value. */

const WAIT = 150; // milliseconds: a filter is asked when the reader pauses
const TONES = { mute: "ll-m", add: "ll-a", del: "ll-r", warn: "ll-w" };
const ORDERS = ["size", "rows", "name"];
const COLUMNS = [
  ["removed", "", "26%"], ["rows −", "ll-n", "11%"], ["bytes −", "ll-n", "11%"], ["", "ll-b", "98px"],
  ["bytes +", "ll-n", "11%"], ["rows +", "ll-n", "11%"], ["added", "", "26%"],
];

/* Text whose long ids are clipped by the sheet alone. */
function makeParts(tag, parts) {
  const node = make(tag, tag === "code" && parts.some(([, isId]) => isId) ? "ll-s" : "");
  for (const [text, isId] of parts) {
    const clipped = isId && tag !== "code" ? makeParts("code", [[text, isId]]) : make("span", "ll-id", text);
    node.append(isId ? clipped : text);
  }
  return node;
}

function fill(cell, [text, role, title]) {
  cell.textContent = text;
  if (TONES[role]) cell.classList.add(TONES[role]);
  if (title) cell.title = title;
}

function makeCells(tag = "td") {
  return COLUMNS.map(([, className]) => {
    const cell = make(tag, className);
    cell.setAttribute("role", "gridcell");
    return cell;
  });
}

/* Sums of a group: four amounts around the bar, then its files. */
function drawSums(cells, sums) {
  [1, 2, 4, 5].forEach((column, index) => fill(cells[column], sums[index]));
  for (const [text, role] of sums.slice(4)) cells[6].append(make("span", TONES[role], text), " ");
}

function drawBar(cell, [gone, came]) {
  const parts = [["", 42 - gone], ["ll-r", gone], ["ll-a", came]];
  for (const [className, width] of parts) {
    if (!width) continue;
    const part = make("i", className);
    part.style.width = `${width}px`;
    cell.append(part);
  }
}

function drawFile(cell, file) {
  cell.append(makeParts("code", file.name));
  cell.title = file.path;
  if (file.note) cell.append(make("small", "", file.note));
}

class Files extends View {
  constructor(model, el, shown) {
    super(model, el, "ll-root ll-fd", shown);
    // this.items are {row, tr, stops, open, loaded, asked}; a stop is a row or a cell that can have the focus
    this.byNode = new Map(); // stop -> [item, index]
    this.opened = new Map(); // id of a group -> whether the reader opened it
    this.stop = null;
    this.timer = 0;
    this.head = make("p", "ll-p ll-h");
    this.bar = make("div", "ll-bar");
    this.table = make("table", "ll-t");
    this.table.setAttribute("role", "treegrid");
    this.table.setAttribute("aria-label", "files removed and added");
    this.box = make("div", "ll-box");
    this.box.append(this.table);
    this.body = make("tbody");
    this.status = make("p", "ll-p ll-said");
    this.status.setAttribute("role", "status");
    this.card = make("div", "ll-detail");
    this.drawBar();
    this.root.append(this.head, this.bar, this.drawKeys(), this.box, this.status, this.card);
    this.listen();
    this.show();
    this.describe();
  }

  drawBar() {
    this.input = make("input");
    this.input.type = "search";
    this.input.placeholder = "filter: day=3 level=0";
    this.input.maxLength = 200;
    this.input.setAttribute("aria-label", "filter the files");
    this.input.value = this.model.get("filter");
    this.sorts = make("small", "", "S sorts by");
    this.links = ORDERS.map((order) => makeLink(order, order));
    this.sorts.append(...this.links);
    this.keep = make("small", "", "K");
    this.keepLink = makeLink("kept", "");
    this.keep.append(this.keepLink);
    const keys = make("small");
    keys.append(makeLink("keys", "?: all keys"));
    this.bar.append(this.input, this.sorts, this.keep, keys);
  }

  listen() {
    this.on(this.body, "click", (event) => this.click(event));
    this.on(this.body, "keydown", (event) => this.press(event));
    this.on(this.bar, "click", (event) => this.act(event.target.dataset?.act));
    this.on(this.input, "input", () => this.type());
    this.on(this.input, "keydown", (event) => this.leave(event));
    this.hear({
      "change:filter": () => this.follow(),
      "msg:custom": (message) => this.answer(message),
    });
  }

  take({ view, detail }) {
    if (view) this.show();
    if (detail) this.describe();
  }

  close() {
    clearTimeout(this.timer);
    super.close();
  }

  /* Draw the view again; what the reader opened or closed stays so, and the focus stays in the table. */
  show() {
    const view = this.shown.view;
    const held = this.body.contains(document.activeElement);
    const before = this.stop ? this.keyOf(this.stop) : "";
    this.head.replaceChildren(make("b", "", view.noun), makeParts("span", view.sentence));
    this.table.replaceChildren(this.drawColumns(), this.drawTitles(view), this.body);
    this.body.replaceChildren();
    this.items = [];
    this.byNode.clear();
    this.stop = null;
    this.showBar(view);
    this.insert(view.rows, 0);
    this.reach(this.findStop(before) ?? this.items[0]?.stops[0], held);
    if (held && !this.items.length) this.input.focus();
    this.sayChosen();
  }

  showBar(view) {
    this.links.forEach((link, index) => link.classList.toggle("ll-on", this.model.get("order") === ORDERS[index]));
    this.keepLink.textContent = this.model.get("kept") ? "hides what was kept" : "shows what was kept";
    this.table.setAttribute("aria-label", `${view.sentence.map(([text]) => text).join("")}; sorted by ${this.model.get("order")}`);
  }

  drawColumns() {
    const group = make("colgroup");
    for (const [, , width] of COLUMNS) {
      const column = make("col");
      column.style.width = width;
      group.append(column);
    }
    return group;
  }

  drawTitles(view) {
    const head = make("thead");
    const titles = make("tr");
    for (const [text, className] of COLUMNS) {
      const cell = make(text ? "th" : "td", className, text);
      if (text) cell.scope = "col";
      titles.append(cell);
    }
    const total = make("tr");
    const cells = makeCells();
    cells[0].append(make("span", "ll-all", view.said));
    if (view.groups) cells[0].append(make("small", "", `by ${view.groups}`));
    drawSums(cells, view.total);
    total.append(...cells);
    head.append(titles, total);
    return head;
  }

  drawRow(row) {
    const tr = make("tr");
    tr.setAttribute("role", "row");
    tr.setAttribute("aria-level", String(row.depth + 1));
    const stops = [];
    if (row.kind === "group" || row.kind === "files") {
      const cells = makeCells();
      if (row.kind === "group") this.drawGroup(cells, row);
      else stops.push(...this.drawPair(cells, row.files));
      cells[0].style.paddingLeft = `${row.depth * 12 + (row.kind === "group" ? 18 : 6)}px`;
      tr.append(...cells);
    } else {
      tr.append(...this.drawWide(row, stops));
      tr.firstChild.style.paddingLeft = `${row.depth * 12 + 6}px`;
    }
    if (row.kind === "group" || row.kind === "more") stops.push(tr);
    if (row.kind === "more") tr.classList.add("ll-more");
    return [tr, stops];
  }

  drawGroup(cells, row) {
    cells[0].append(makeParts("code", row.label));
    drawSums(cells, row.cells);
    drawBar(cells[3], row.bar);
  }

  drawPair(cells, [removed, added]) {
    const stops = [];
    for (const [file, [name, rows, bytes]] of [[removed, [0, 1, 2]], [added, [6, 5, 4]]]) {
      if (!file) continue;
      drawFile(cells[name], file);
      fill(cells[rows], file.rows);
      fill(cells[bytes], file.bytes);
      cells[name].dataset.key = file.key;
      cells[name].setAttribute("aria-selected", "false");
      const words = [file.side, file.name.map(([text]) => text).join(""), file.note, `${file.rows[0]} rows`, file.bytes[0]];
      cells[name].setAttribute("aria-label", words.filter(Boolean).join(", "));
      stops.push(cells[name]);
    }
    return stops;
  }

  drawWide(row, stops) {
    const cell = make("td");
    cell.setAttribute("role", "gridcell");
    cell.colSpan = 7;
    if (row.kind !== "kept") {
      cell.append(make("small", "", row.text));
      return [cell];
    }
    const [file] = row.files;
    cell.colSpan = 3;
    drawFile(cell, file);
    cell.dataset.key = file.key;
    cell.setAttribute("aria-selected", "false");
    stops.push(cell);
    const cells = makeCells().slice(3);
    cells[0].className = "ll-m ll-kept";
    cells[0].textContent = "KEPT";
    fill(cells[1], file.bytes);
    fill(cells[2], file.rows);
    return [cell, ...cells];
  }

  insert(rows, index) {
    const items = rows.map((row) => {
      const [tr, stops] = this.drawRow(row);
      const item = { row, tr, stops, open: Boolean(row.open), loaded: Boolean(row.open), asked: false };
      if (row.kind === "group") tr.setAttribute("aria-expanded", String(item.open));
      stops.forEach((stop, at) => {
        stop.tabIndex = -1;
        this.byNode.set(stop, [item, at]);
      });
      return item;
    });
    const before = this.items[index]?.tr ?? null;
    const fresh = document.createDocumentFragment();
    fresh.append(...items.map((item) => item.tr));
    this.body.insertBefore(fresh, before);
    this.items.splice(index, 0, ...items);
    for (const item of items) {
      const wanted = item.row.kind === "group" ? this.opened.get(item.row.id) : undefined;
      if (wanted !== undefined && wanted !== item.open) this.toggle(item, wanted);
    }
    this.fold();
    this.mark();
  }

  toggle(item, open = !item.open) {
    item.open = open;
    this.opened.set(item.row.id, open);
    item.tr.setAttribute("aria-expanded", String(open));
    if (open && !item.loaded) this.ask(item);
    this.fold();
  }

  ask(item) {
    if (item.asked) return;
    item.asked = true;
    this.say("asking the kernel …");
    this.model.send({ type: "open", id: item.row.id, version: this.shown.view.version });
  }

  answer(message) {
    if (message?.type !== "rows" || message.version !== this.shown.view.version) return;
    const index = this.items.findIndex((item) => item.row.id === message.id);
    const item = this.items[index];
    if (!item?.asked || item.loaded) return;
    item.loaded = true;
    this.say(message.message || `${message.rows.length} more rows`);
    if (!message.rows.length) return;
    if (item.row.kind !== "more") {
      this.insert(message.rows, index + 1);
      return;
    }
    const held = this.stop === item.tr;
    const focus = document.activeElement === item.tr;
    item.tr.remove();
    this.byNode.delete(item.tr);
    this.items.splice(index, 1);
    this.insert(message.rows, index);
    if (held) this.reach(this.items[index].stops[0], focus);
  }

  keyOf(stop) {
    return stop.dataset.key ?? this.byNode.get(stop)[0].row.id;
  }

  findStop(key) {
    return [...this.byNode.keys()].find((stop) => this.keyOf(stop) === key);
  }

  /* One tab stop: the row or the file that was reached last. */
  reach(stop, focus = true) {
    if (!stop) return;
    if (this.stop) this.stop.tabIndex = -1;
    this.stop = stop;
    stop.tabIndex = 0;
    if (!focus) return;
    stop.focus({ preventScroll: true });
    stop.scrollIntoView({ block: "nearest" });
  }

  choose(stop) {
    const [item] = this.byNode.get(stop);
    if (item.row.kind === "group") this.toggle(item);
    else if (item.row.kind === "more") this.ask(item);
    else this.select(stop.dataset.key);
  }

  select(key) {
    this.model.set("selected", key);
    this.model.save_changes();
    this.mark();
  }

  mark() {
    const chosen = this.model.get("selected");
    for (const stop of this.byNode.keys()) {
      if (stop.dataset.key) stop.setAttribute("aria-selected", String(stop.dataset.key === chosen));
    }
  }

  /* Show what Python says of the chosen file. */
  describe() {
    const detail = this.shown.detail;
    this.mark();
    const parsed = new DOMParser().parseFromString(detail.html, "text/html");
    this.card.replaceChildren(...parsed.body.childNodes);
    this.sayChosen();
  }

  /* What is chosen and the code that leads to it; else how many files there are. */
  sayChosen() {
    const view = this.shown.view;
    const detail = this.shown.detail;
    const said = [view.message, detail.of ? detail.words : view.message ? "" : view.said];
    this.say(said.filter(Boolean).join("; "));
    if (detail.of) this.status.append(" ", make("code", "ll-s", detail.code));
  }

  say(text) {
    this.status.textContent = text;
  }

  /* Arrows go between lines, staying on one side; right and left open and close, and cross from side to side. */
  press(event) {
    if (!this.stop) return;
    super.press(event, {
      ArrowDown: () => this.step(1),
      ArrowUp: () => this.step(-1),
      PageDown: () => this.step(10),
      PageUp: () => this.step(-10),
      Home: () => this.step(-Infinity),
      End: () => this.step(Infinity),
      ArrowRight: () => this.enter(),
      ArrowLeft: () => this.back(),
      Enter: () => this.choose(this.stop),
      " ": () => this.choose(this.stop),
      Escape: () => this.escape(),
      s: () => this.act(ORDERS[(ORDERS.indexOf(this.model.get("order")) + 1) % ORDERS.length]),
      k: () => this.act("kept"),
      "/": () => this.input.select(),
    });
  }

  step(by) {
    const shown = this.items.filter((item) => !item.tr.hidden && item.stops.length);
    const [item] = this.byNode.get(this.stop);
    const at = Math.min(shown.length - 1, Math.max(0, shown.indexOf(item) + by));
    const isRight = this.stop.cellIndex === 6;
    const { stops } = shown[at];
    this.reach(isRight ? stops[stops.length - 1] : stops[0]);
  }

  enter() {
    const [item, at] = this.byNode.get(this.stop);
    if (item.row.kind !== "group") this.reach(item.stops[at + 1]);
    else if (item.open) this.step(1);
    else this.toggle(item, true);
  }

  back() {
    const [item, at] = this.byNode.get(this.stop);
    if (at > 0) this.reach(item.stops[at - 1]);
    else if (item.row.kind === "group" && item.open) this.toggle(item, false);
    else this.reach(this.findParent(item)?.tr);
  }

  findParent(item) {
    const above = this.items.slice(0, this.items.indexOf(item)).reverse();
    return above.find((other) => other.row.kind === "group" && other.row.depth < item.row.depth);
  }

  escape() {
    if (this.model.get("selected")) this.select("");
    else this.back();
  }

  act(name) {
    if (!name || name === "keys") return;
    if (name === "kept") this.model.set("kept", !this.model.get("kept"));
    else this.model.set("order", name);
    this.say("asking the kernel …");
    this.model.save_changes();
  }

  click(event) {
    const node = event.target.closest("td");
    const stop = this.byNode.has(node) ? node : node?.closest("tr");
    if (!this.byNode.has(stop)) return;
    this.reach(stop);
    this.choose(stop);
  }

  type() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), WAIT);
  }

  flush() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.input.value === this.model.get("filter")) return;
    this.model.set("filter", this.input.value);
    this.model.save_changes();
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
      this.reach(this.stop);
    }
  }
}

export default host(Files);
