/* The annotated hex dump, drawn row by row into one table.

   Shown    view      {noun, sentence, place, details, alert, width, widths, value, rows}; a row has id, kind (line, title, fold, more)
                      and depth; value is the width of the column of values, 0 where values stand before their meaning
   Traits   selected  {start, end, label, code} or null; code is the call that leads to decompressed bytes
   Messages to Python    {type: "open", id}                        what is behind a fold, or what was left out
                         {type: "find", words, again}              the next hit
                         {type: "go", text, origin}                the row of an offset; a sign counts from the origin
                         {type: "value", start, end, label, code}  what to copy
            from Python  {type: "rows", id, rows, message}         its rows, or why there are none
                         {type: "reveal", opened, row, message}    folds with their rows, the outermost first; the row to reach
                         {type: "copy", text}                      {type: "said", message}   why there is nothing

   A row's `at` counts from its `origin`; start and end count from the first byte, `base` is where that is in the file.

   Text comes from a lake: it is only ever set as textContent or title. */

const COLUMNS = ["at", "#", "field", "bytes", "ASCII", "meaning", "value"];

function plural(count) {
  return count === 1 ? "1 byte" : `${count.toLocaleString("en-US")} bytes`;
}

/* Where bytes are, as the column "at" counts; and, where that is not from the first byte of all, from there. */
function describePlace(row, start, end) {
  const at = (position) => {
    if (!row.origin) return String(position);
    return position < row.origin ? `−${row.origin - position}` : `+${position - row.origin}`;
  };
  const run = (write, first, last) => (first === last ? write(first) : `${write(first)} to ${write(last)}`);
  const last = Math.max(start, end - 1);
  const where = [`at ${run(at, start, last)}, ${plural(end - start)}`];
  const noun = start === last ? "byte" : "bytes";
  if (row.base) where.push(`in the file ${run((position) => (row.base + position).toLocaleString("en-US"), start, last)}`);
  else if (row.origin) where.push(`${noun} ${run(String, start, last)} of all`);
  return `${row.code ? `${row.code} ` : ""}${where.join("; ")}`;
}

function drawHead(view, root) {
  const head = make("p", "ll-p ll-h");
  head.append(make("b", "", view.noun), " ", view.sentence);
  if (view.alert) head.append(" — ", make("span", "ll-w", view.alert));
  root.append(head);
  for (const [text, tag] of [[view.place, "code"], [view.details, "small"]]) {
    if (!text) continue;
    const line = make("p", "ll-p");
    line.append(make(tag, "", text));
    root.append(line);
  }
}

function drawPieces(row) {
  const code = make("code");
  if (row.lead) code.append("   ".repeat(row.lead));
  row.pieces.forEach(([hex, muted, start, end, tip], index) => {
    if (index) code.append(" ");
    const piece = make("span", muted ? "ll-m" : row.number === null ? "" : "ll-k", hex);
    piece.dataset.p = index;
    if (tip) piece.title = tip;
    code.append(piece);
  });
  return code;
}

function drawMeaning(cell, row) {
  const words = row.role === "damage" ? make("span", "ll-w") : cell;
  for (const [text, isCode] of row.meaning) words.append(isCode ? make("code", "", text) : text);
  if (words !== cell) cell.append(words);
  if (row.aside) cell.append(row.meaning.length ? "; " : "", make("span", "ll-m", row.aside));
}

/* Code that may be broken after the separators of a long text, as in the card. */
function makeBreakable(text) {
  const code = make("code");
  const parts = text.length < 16 ? [text] : text.split(/(?<=[/=_.,:;(-](?=[^/=_.,:;(-]{3}))/);
  parts.forEach((part, index) => code.append(...(index ? [make("wbr")] : []), part));
  return code;
}

function drawLine(row, tr, wide) {
  const tint = row.number === null ? "" : ` ll-k${row.number % 6}`;
  if (row.role === "mute") tr.classList.add("ll-m");
  const cells = COLUMNS.slice(0, wide ? 6 : 7).map(() => make("td"));
  const [at, number, field, octets, ascii, meaning, value] = cells;
  at.className = "ll-n";
  at.textContent = row.at;
  at.title = row.tip;
  number.className = "ll-n";
  if (row.number !== null) number.append(make("b", `ll-k${tint}`, String(row.number)));
  field.className = "ll-g";
  meaning.className = "ll-e";
  if (value) value.className = "ll-v";
  if (row.field) field.append(make("code", "", row.field));
  octets.className = `ll-x${tint}`;
  ascii.className = "ll-x ll-m";
  if (row.role === "more") {
    octets.classList.add("ll-m");
    octets.textContent = row.meaning.map(([text]) => text).join("");
  } else {
    octets.append(drawPieces(row));
    ascii.append(make("code", "", row.ascii));
    const shown = row.value ? makeBreakable(row.value) : null;
    if (shown && row.role === "null") shown.style.fontStyle = "italic";
    if (shown && wide) meaning.append(shown, " ");
    else if (shown) value.append(shown);
    drawMeaning(meaning, row);
  }
  tr.append(...cells);
}

function drawWide(row, tr, wide) {
  const cell = make(row.kind === "title" ? "th" : "td");
  cell.colSpan = wide ? 6 : 7;
  cell.style.paddingLeft = `${row.depth * 10 + (row.kind === "fold" ? 14 : 0)}px`;
  if (row.kind === "title") {
    cell.scope = "rowgroup";
    cell.textContent = row.text;
  } else if (row.kind === "fold") {
    cell.append(make("b", "", row.label), row.answer, " ", make("small", "", row.place));
  } else {
    cell.append(make("small", "", row.text));
    tr.classList.add("ll-more");
  }
  tr.append(cell);
}

/* Whether two rows are about the same field: a row has its number in its slot and in its variable part. */
function isSame(one, other) {
  if (one.kind !== "line" || other.kind !== "line" || one.code !== other.code) return false;
  if (one.start === other.start && one.end === other.end) return true;
  return one.group !== "" && one.group === other.group;
}

class Dump extends View {
  constructor(model, el, shown) {
    super(model, el, "ll-root", shown);
    // this.items are {row, tr, open, loaded}, in the order of the table
    this.current = null;
    this.piece = -1; // the leaf of the current line that the keyboard is on
    const { view } = shown;
    this.wide = !view.value;
    this.byRow = new Map(); // tr -> item
    this.hinted = "";
    this.root.style.maxWidth = `${view.width}px`;
    drawHead(view, this.root);
    this.table = make("table", "ll-t ll-y");
    this.table.setAttribute("role", "treegrid");
    this.table.setAttribute("aria-label", `${view.noun}, bytes with their names`);
    this.body = make("tbody");
    this.table.append(this.drawColumns(), this.drawTitles(), this.body);
    this.status = make("p", "ll-p ll-q");
    this.status.setAttribute("role", "status");
    this.prompt = new Prompt(this, () => this.reach(this.current, true, this.piece));
    this.words = ""; // that were searched for
    const box = make("div", "ll-box"); // the status and what is typed stay in sight below it
    box.append(this.table);
    this.root.append(box, this.drawLinks(), this.drawKeys(), this.prompt.node, this.status);
    this.insert(view.rows, 0);
    if (this.items.length) this.reach(this.items.find((item) => item.row.kind !== "title"), false);
    this.listen();
    this.showSelected();
  }

  drawLinks() {
    const line = make("p", "ll-p ll-acts");
    const links = [["find", "/: search"], ["go", "G: go to an offset"], ["copy", "C: copy the value"], ["keys", "?: all keys"]];
    for (const [act, text] of links) line.append(makeLink(act, text), " ");
    return line;
  }

  drawColumns() {
    const group = make("colgroup");
    const { widths, value } = this.shown.view;
    for (const width of [...widths, 0, ...(value ? [value] : [])]) {
      const column = make("col");
      if (width) column.style.width = `${width}px`;
      group.append(column);
    }
    return group;
  }

  drawTitles() {
    const head = make("thead");
    const tr = make("tr");
    COLUMNS.slice(0, this.wide ? 6 : 7).forEach((name, index) => {
      const cell = make("th", index < 2 ? "ll-n" : "", name);
      cell.scope = "col";
      if (name === "#") cell.title = "number of the field";
      tr.append(cell);
    });
    head.append(tr);
    return head;
  }

  listen() {
    this.on(this.table, "mouseover", (event) => this.hint(...this.findTarget(event.target)));
    this.on(this.table, "mouseleave", () => this.hint(this.piece >= 0 || this.hasFocus() ? this.current : null, this.piece));
    this.on(this.table, "focusin", (event) => this.hint(this.findTarget(event.target)[0], this.piece));
    this.on(this.table, "click", (event) => this.click(...this.findTarget(event.target)));
    this.on(this.table, "keydown", (event) => this.press(event));
    this.on(this.root, "click", (event) => this.acts()[event.target.dataset?.act]?.());
    this.hear({ "msg:custom": (message) => this.answer(message), "change:selected": () => this.showSelected() });
  }

  hasFocus() {
    return this.table.contains(document.activeElement);
  }

  /* The item and the leaf that a node of the table belongs to. */
  findTarget(node) {
    const tr = node.closest("tr");
    const item = this.byRow.get(tr) ?? null;
    const piece = node.closest("[data-p]");
    return [item, piece ? Number(piece.dataset.p) : -1];
  }

  insert(rows, index) {
    const items = rows.map((row) => {
      const tr = make("tr");
      if (row.kind === "line") drawLine(row, tr, this.wide);
      else drawWide(row, tr, this.wide);
      if (row.kind !== "title") {
        tr.setAttribute("role", "row");
        tr.setAttribute("aria-level", String(row.depth + 1));
        tr.tabIndex = -1;
      }
      if (row.kind === "fold") tr.setAttribute("aria-expanded", String(row.opened));
      const leaves = [...tr.querySelectorAll("[data-p]")];
      const item = { row, tr, leaves, open: Boolean(row.opened), loaded: Boolean(row.loaded), asked: false };
      this.byRow.set(tr, item);
      return item;
    });
    const before = this.items[index]?.tr ?? null;
    for (const item of items) this.body.insertBefore(item.tr, before);
    this.items.splice(index, 0, ...items);
    this.fold();
  }

  toggle(item, open) {
    if (item.row.kind === "more") {
      this.ask(item);
      return;
    }
    if (item.row.kind !== "fold") return;
    item.open = open ?? !item.open;
    item.tr.setAttribute("aria-expanded", String(item.open));
    if (item.open && !item.loaded) this.ask(item);
    this.fold();
  }

  ask(item) {
    if (item.asked) return;
    item.asked = true;
    this.status.textContent = "asking the kernel …";
    this.model.send({ type: "open", id: item.row.id });
  }

  acts() {
    return {
      find: () => this.prompt.open("search", "a name, a value, 0x5041", (words) => this.find(words)),
      go: () => this.prompt.open("go to", "28, 0x1c, +24", (text) => this.go(text)),
      copy: () => this.copyValue(),
    };
  }

  /* What this view asked for; another view of the same widget goes on as it was. */
  request(content) {
    this.asking = true;
    this.status.textContent = "asking the kernel …";
    this.model.send(content);
  }

  find(words) {
    const again = words === this.words;
    this.words = words;
    this.request({ type: "find", words, again });
  }

  findAgain() {
    if (this.words) this.find(this.words);
    else this.acts().find();
  }

  /* In decompressed bytes an offset counts there, and leads to what is shown of them. */
  go(text) {
    const { code, origin } = this.current.row;
    if (!code) {
      this.request({ type: "go", text, origin: origin ?? 0 });
      return;
    }
    const number = Number(text.replace("−", "-"));
    const offset = /^[+−-]/.test(text) ? number + origin : number;
    const found = this.items.find(({ row }) => row.kind === "line" && row.code === code && row.start <= offset && offset < row.end);
    if (found) this.showItem(found, "");
    else this.status.textContent = `${code} ${text} is not shown here`;
  }

  copyValue() {
    const { row } = this.current;
    if (row.kind !== "line") {
      this.status.textContent = "a fold has no value of its own";
      return;
    }
    const leaf = row.pieces[this.piece];
    const [start, end, label] = leaf ? [leaf[2], leaf[3], leaf[5] || row.name] : [row.start, row.end, row.name];
    this.request({ type: "value", start, end, label, code: row.code });
  }

  async copy(text) {
    const shown = text.length > 80 ? `${text.slice(0, 80)}… (${text.length.toLocaleString("en-US")} characters)` : text;
    try {
      await navigator.clipboard.writeText(text);
      this.status.textContent = `copied: ${shown}`;
    } catch {
      this.status.textContent = `the browser does not let this page copy; select it, and widget.span.value is: ${shown}`;
    }
  }

  /* Open what leads to a row, and reach it; the focus stays where the reader types. */
  reveal({ opened, row, message }) {
    for (const [id, rows] of opened) {
      const item = this.items.find((one) => one.row.id === id);
      if (item && !item.loaded) this.fill(item, rows);
    }
    const found = this.items.find((one) => one.row.id === row);
    if (found) this.showItem(found, message);
    else this.status.textContent = "this row is no longer shown";
  }

  showItem(item, message) {
    let { depth } = item.row;
    for (const above of this.items.slice(0, this.items.indexOf(item)).reverse()) {
      if (above.row.kind !== "fold" || above.row.depth >= depth) continue;
      depth = above.row.depth;
      this.toggle(above, true);
    }
    const isTyping = !this.prompt.node.hidden;
    this.reach(item, !isTyping);
    if (isTyping) this.hint(item);
    item.tr.scrollIntoView({ block: "nearest" });
    this.status.textContent = [message, this.describe(item.row, null)].filter(Boolean).join(": ");
  }

  answer(message) {
    const mine = { reveal: () => this.reveal(message), copy: () => this.copy(message.text) };
    mine.said = () => { this.status.textContent = message.message; };
    if (this.asking && mine[message?.type]) {
      this.asking = false;
      mine[message.type]();
    }
    if (!message || message.type !== "rows") return;
    const index = this.items.findIndex((item) => item.row.id === message.id);
    const item = this.items[index];
    if (!item || !item.asked || item.loaded) return;
    this.status.textContent = message.message || `${message.rows.length} rows`;
    this.fill(item, message.rows);
  }

  /* Rows behind a fold, or in the place of what was left out. */
  fill(item, rows) {
    const index = this.items.indexOf(item);
    item.loaded = true;
    if (!rows.length) return;
    if (item.row.kind === "more") {
      const wasCurrent = this.current === item;
      item.tr.remove();
      this.byRow.delete(item.tr);
      this.items.splice(index, 1);
      this.insert(rows, index);
      if (wasCurrent) this.reach(this.items.slice(index).find((one) => one.row.kind !== "title"), this.prompt.node.hidden);
    } else {
      this.insert(rows, index + 1);
    }
    const said = this.status.textContent;
    this.showSelected();
    this.status.textContent = said;
  }

  /* One tab stop: the row that was reached last. */
  reach(item, focus, piece = -1) {
    if (!item) return;
    if (this.current) this.current.tr.tabIndex = -1;
    this.current = item;
    this.piece = piece;
    item.tr.tabIndex = 0;
    if (focus) item.tr.focus();
    this.hint(focus ? item : null, piece);
  }

  hint(item, piece = -1) {
    const row = item?.row ?? null;
    const key = `${row?.id} ${piece}`;
    if (row && key === this.hinted) return;
    this.hinted = key;
    const leaf = row?.kind === "line" ? row.pieces[piece] ?? null : null;
    for (const other of this.items) {
      const same = row !== null && isSame(row, other.row);
      other.tr.classList.toggle("ll-same", same);
      other.leaves.forEach((node, index) => {
        const held = other.row.pieces[index];
        node.classList.toggle("ll-on", same && leaf !== null && held[2] === leaf[2] && held[3] === leaf[3]);
      });
    }
    if (row) this.status.textContent = this.describe(row, leaf);
    else this.tellSelected();
  }

  describe(row, leaf) {
    if (row.kind === "title" || row.kind === "more") return row.text;
    const [start, end] = leaf ? [leaf[2], leaf[3]] : [row.start, row.end];
    const where = end > start ? describePlace(row, start, end) : "no bytes";
    const name = leaf ? leaf[4] || leaf[5] : row.kind === "fold" ? row.answer : "";
    return [row.name, name === row.name ? "" : name, where].filter(Boolean).join(" · ");
  }

  click(item, piece) {
    if (!item || item.row.kind === "title") return;
    this.reach(item, true, piece);
    if (item.row.kind === "line") this.select(item.row, piece);
    else this.toggle(item);
  }

  select(row, piece) {
    const leaf = row.pieces[piece];
    const chosen = leaf
      ? { start: leaf[2], end: leaf[3], label: leaf[5] || row.name, code: row.code }
      : { start: row.start, end: row.end, label: row.name, code: row.code };
    this.model.set("selected", chosen);
    this.model.save_changes();
    this.showSelected();
  }

  clear() {
    this.model.set("selected", null);
    this.model.save_changes();
    this.showSelected();
  }

  showSelected() {
    const chosen = this.model.get("selected");
    for (const { row, tr, leaves } of this.items) {
      const here = chosen && row.kind === "line" && row.code === chosen.code;
      const held = here && row.start <= chosen.start && chosen.end <= row.end;
      if (row.kind === "line") tr.setAttribute("aria-selected", String(Boolean(held)));
      leaves.forEach((node, index) => {
        const [, , start, end] = row.pieces[index];
        node.classList.toggle("ll-sel", Boolean(held) && start < chosen.end && end > chosen.start);
      });
    }
    this.tellSelected();
  }

  tellSelected() {
    const chosen = this.model.get("selected");
    const holds = ({ row }) => row.kind === "line" && row.code === chosen.code && row.start <= chosen.start && chosen.end <= row.end;
    const row = (chosen && this.items.find(holds)?.row) ?? { code: chosen?.code, origin: 0, base: 0 };
    const words = chosen ? [chosen.label, describePlace(row, chosen.start, chosen.end)].filter(Boolean).join(" · ") : "";
    this.status.textContent = words && `selected: ${words}`;
  }

  press(event) {
    if (!this.current) return;
    super.press(event, {
      ArrowDown: () => this.step(1),
      ArrowUp: () => this.step(-1),
      Home: () => this.edge(1),
      End: () => this.edge(-1),
      ArrowRight: () => this.enter(),
      ArrowLeft: () => this.leave(),
      Enter: () => this.choose(),
      " ": () => this.choose(),
      Escape: () => this.escape(),
      "/": this.acts().find,
      n: () => this.findAgain(),
      g: this.acts().go,
      c: () => this.copyValue(),
    });
  }

  visible() {
    return this.items.filter((item) => !item.tr.hidden && item.row.kind !== "title");
  }

  step(by) {
    const shown = this.visible();
    this.reach(shown[shown.indexOf(this.current) + by], true);
  }

  edge(by) {
    const shown = this.visible();
    this.reach(by > 0 ? shown[0] : shown[shown.length - 1], true);
  }

  enter() {
    const { row, open } = this.current;
    if (row.kind === "fold" && !open) this.toggle(this.current, true);
    else if (row.kind === "fold") this.step(1);
    else if (row.kind === "line" && this.piece + 1 < row.pieces.length) this.reach(this.current, true, this.piece + 1);
  }

  leave() {
    const { row, open } = this.current;
    if (this.piece >= 0) this.reach(this.current, true, this.piece - 1);
    else if (row.kind === "fold" && open) this.toggle(this.current, false);
    else this.reach(this.findParent(), true);
  }

  findParent() {
    const index = this.items.indexOf(this.current);
    const above = this.items.slice(0, index).reverse();
    return above.find((item) => item.row.kind === "fold" && item.row.depth < this.current.row.depth);
  }

  choose() {
    if (this.current.row.kind === "line") this.select(this.current.row, this.piece);
    else this.toggle(this.current);
  }

  escape() {
    if (this.piece >= 0) this.reach(this.current, true);
    else if (this.model.get("selected")) this.clear();
    else this.reach(this.findParent(), true);
  }
}

export default host(Dump);
