// Keys of the explorer. Each follows or focuses a link that is on the page, or its filter: whoever has no script has them all.
// The page `help` lists them, and so does a layer over any page, made of LAKELENS_KEYS, which stands before this script.
// None is taken from a field, or with Ctrl, Alt or Meta.
(() => {
  // after g: the last step of the address that a link of the page leads to
  const PAGES = {
    o: "", t: "timeline", s: "snapshots", f: "files", m: "manifests", d: "deletes", b: "metadata", n: "findings",
    c: "check", h: "health", p: "space", e: "explain", r: "refs", y: "schema", i: "row", q: "sql", x: "dry_run",
  };
  const FIELDS = "input, select, textarea, [contenteditable]";
  const all = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility?.() ?? true);
  const one = (selector) => all(selector)[0];
  let chosen = false; // g was pressed
  let line = null;

  function say(text) {
    if (!line?.isConnected) { // a tab puts one page in the place of another
      line = document.createElement("p");
      line.setAttribute("role", "status"); // read out by a screen reader as well
      line.className = "lx-say";
      Object.assign(line.style, {
        position: "sticky", bottom: "0", margin: "12px 0 0", padding: "5px 10px", borderTop: "1px solid",
        background: "Canvas", color: "CanvasText", overflowWrap: "anywhere",
      });
      (document.querySelector(".ll-root") ?? document.body).append(line);
    }
    line.textContent = text;
    line.hidden = !text;
  }

  // The keys over the page, so that what one looks at stays; without scripts the link leads to a page of them.
  let layer = null;
  function showKeys() {
    const page = one("a[rel=help]");
    if (!page) return open(null, "the keys");
    if (!layer?.isConnected) {
      layer = document.createElement("dialog");
      layer.className = "lx-layer";
      layer.setAttribute("aria-label", "Keys");
      const list = document.createElement("dl");
      for (const [key, words] of LAKELENS_KEYS) {
        const name = document.createElement("dt");
        name.append(Object.assign(document.createElement("kbd"), { textContent: key }));
        list.append(name, Object.assign(document.createElement("dd"), { textContent: words }));
      }
      const more = Object.assign(document.createElement("a"), {
        href: page.href, textContent: "as a page, with the life of every file",
      });
      layer.append(Object.assign(document.createElement("h2"), { textContent: "Keys" }), list, more);
      layer.addEventListener("click", (event) => event.target === layer && layer.close());
      (document.querySelector(".ll-root") ?? document.body).append(layer);
    }
    layer.showModal();
    return true;
  }

  // What a browser keeps of a reader's ways: favourites, tables that were looked at last, the last order of a list. It is in
  // localStorage alone; where that is forbidden nothing is kept, and nothing else is missing.
  const kept = {
    read(name, otherwise) {
      try {
        const held = JSON.parse(localStorage.getItem(`lakelens ${name}`));
        return Array.isArray(held) === Array.isArray(otherwise) && held ? held : otherwise;
      } catch {
        return otherwise;
      }
    },
    write(name, held) {
      try {
        localStorage.setItem(`lakelens ${name}`, JSON.stringify(held));
        return true;
      } catch {
        return false;
      }
    },
  };
  const MOST_RECENT = 8;
  const MOST_ORDERS = 200;
  const home = () => one(".lx-crumbs a[href]");
  // the random step of a server's addresses is another one in the next run
  const getBase = () => (home() ? toAddress(home()).pathname.split("?")[0].replace(/\/~[^/]+\//, "/~/") : "");
  const nameList = (kind) => `${kind} ${getBase()}`;

  // the table that a page is about, as its path below all tables; "" for none
  function findTable() {
    const link = one(".lx-nav a[href]");
    if (!link || !home()) return "";
    const path = toAddress(link).pathname.slice(toAddress(home()).pathname.length);
    return path.includes("/@") ? path.slice(0, path.indexOf("/@")).replace(/^\//, "") : "";
  }

  function decode(text) {
    try {
      return decodeURIComponent(text);
    } catch {
      return text; // a name that is not in UTF-8
    }
  }

  function listTables(kind) {
    const held = kept.read(nameList(kind), []).filter((name) => typeof name === "string" && name && !/^[/.]|:/.test(name));
    const base = home().getAttribute("href");
    return held.map((name) => Object.assign(document.createElement("a"), { textContent: decode(name), href: `${base}${name}/` }));
  }

  const makeLine = (words, links) => {
    const line = Object.assign(document.createElement("p"), { className: "ll-p lx-kept" });
    line.append(`${words} `);
    links.forEach((link, at) => line.append(at ? " · " : "", link));
    return line;
  };

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // an address without a secure origin
      const field = Object.assign(document.createElement("textarea"), { value: text });
      document.body.append(field);
      field.select();
      const done = document.execCommand("copy");
      field.remove();
      if (!done) return say(`not copied: the browser forbids it. It is ${text}`);
    }
    say(`copied: ${text}`);
  }

  // Buttons beside the crumbs of a new page, and what is kept of it.
  function furnish() {
    const place = document.querySelector(".lx-pin:not([data-furnished])");
    if (!place || !home()) return;
    place.dataset.furnished = "";
    const makeButton = (words, does) => {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "lx-do", textContent: words });
      button.addEventListener("click", () => does(button));
      place.append(" ", button);
      return button;
    };
    makeButton("copy link", () => copy(location.href));
    const path = one(".ll-root main .ll-g > code:only-child");
    if (path && /[/]/.test(path.textContent)) makeButton("copy path", () => copy(path.textContent.replaceAll("\u200b", "")));
    const table = findTable();
    if (table) {
      const recent = kept.read(nameList("recent"), []);
      const works = kept.write(nameList("recent"), [table, ...recent.filter((name) => name !== table)].slice(0, MOST_RECENT));
      const isKept = () => kept.read(nameList("favourites"), []).includes(table);
      if (works) {
        const star = makeButton("favourite", () => {
          const others = kept.read(nameList("favourites"), []).filter((name) => name !== table);
          kept.write(nameList("favourites"), isKept() ? others : [...others, table]);
          star.setAttribute("aria-pressed", isKept());
        });
        star.setAttribute("aria-pressed", isKept());
      }
    } else {
      const list = one("main .lx-form[role=search]");
      for (const kind of list ? ["favourites", "recent"] : []) {
        const links = listTables(kind);
        if (links.length) list.before(makeLine(kind === "recent" ? "Recent:" : "Favourites:", links));
      }
    }
    const order = new URLSearchParams(toAddress(location).search).get("sort");
    if (order && nameOrder(location) in kept.read(nameList("orders"), {})) {
      const address = new URLSearchParams(toAddress(location).search);
      address.delete("sort");
      address.delete("from");
      const from = location.href.indexOf("?", location.href.indexOf("#") + 1);
      const item = document.createElement("li");
      item.append(Object.assign(document.createElement("a"), {
        href: `${location.href.slice(0, from)}${`${address}` && `?${address}`}`, textContent: "not sorted", className: "lx-unsorted",
      }));
      one(".lx-pager")?.append(item);
    }
  }

  // a list of a table has the order that it had last, at whatever snapshot it is looked at
  const nameOrder = (link) => toAddress(link).pathname.slice(toAddress(home()).pathname.length).replace(/@.*\//, "@/");
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || !home() || !link.closest(".lx-page")) return;
    const orders = kept.read(nameList("orders"), {});
    if (link.closest("th") && toAddress(link).search) {
      const order = new URLSearchParams(toAddress(link).search).get("sort");
      if (!order) return;
      const others = Object.entries(orders).filter(([name]) => name !== nameOrder(link)).slice(1 - MOST_ORDERS);
      kept.write(nameList("orders"), Object.fromEntries([...others, [nameOrder(link), order]]));
    } else if (link.className === "lx-unsorted") {
      delete orders[nameOrder(link)];
      kept.write(nameList("orders"), orders);
    } else if (link.closest(".lx-nav, .lx-crumbs") && Object.hasOwn(orders, nameOrder(link)) && !toAddress(link).search) {
      link.setAttribute("href", `${link.getAttribute("href")}?sort=${encodeURIComponent(orders[nameOrder(link)])}`);
    }
  }, true);

  // A field for the name of a table, over the page: what it finds is asked of the page of all tables.
  let jump = null;
  function showJump() {
    if (!home()) return open(null, "all tables");
    jump?.remove();
    jump = Object.assign(document.createElement("dialog"), { className: "lx-layer" });
    jump.setAttribute("aria-label", "Jump to a table");
    const form = Object.assign(document.createElement("form"), { method: "get", className: "lx-form" });
    form.setAttribute("action", home().getAttribute("href"));
    const label = document.createElement("label");
    const field = Object.assign(document.createElement("input"), { type: "search", name: "q", autocomplete: "off", spellcheck: false });
    label.append(Object.assign(document.createElement("span"), { textContent: "jump to a table" }), " ", field);
    form.append(label, Object.assign(document.createElement("input"), { type: "hidden", name: "jump", value: "yes" }),
      Object.assign(document.createElement("button"), { textContent: "go" }));
    form.addEventListener("submit", () => jump.close());
    jump.append(form);
    for (const [kind, words] of [["favourites", "Favourites:"], ["recent", "Recent:"]]) {
      const links = listTables(kind);
      if (links.length) jump.append(makeLine(words, links));
    }
    jump.addEventListener("click", (event) => (event.target === jump || event.target.closest("a")) && jump.close());
    (document.querySelector(".ll-root") ?? document.body).append(jump);
    jump.showModal();
    field.focus();
    return true;
  }

  function focus(link, text) {
    link.focus({ preventScroll: true });
    link.scrollIntoView({ block: "nearest", inline: "nearest" });
    say(text);
  }

  // The links of one kind in order: the first of each row, or those of a picture.
  const rows = () => all("table tbody tr").map((row) => row.querySelector("a[href]")).filter(Boolean);
  const marks = () => all("svg a[href]");

  function step(links, by, noun, within) {
    if (!links.length) return false;
    const holder = (link) => (within ? link.closest(within) : link);
    let at = links.findIndex((link) => holder(link).contains(document.activeElement));
    const was = at;
    if (at < 0) at = links.findIndex((link) => holder(link).matches("[aria-current]") || link.matches("[aria-current]"));
    if (at < 0) at = by > 0 ? 0 : links.length - 1;
    else at = Math.min(Math.max(at + by, 0), links.length - 1);
    if (was === at && was >= 0 && (at === 0 || at === links.length - 1)) {
      say(`${at ? "last" : "first"} ${noun} of ${links.length} on this page`);
      return true;
    }
    const title = links[at].querySelector("title")?.textContent;
    focus(links[at], `${noun} ${at + 1} of ${links.length}${title ? `: ${title}` : ""} · Enter opens it`);
    return true;
  }

  function open(link, name) {
    if (link) link.click();
    else say(`no link to ${name} on this page`);
    return true;
  }

  // of a page in a tab the fragment is the address
  const toAddress = ({ href }) => (href.includes("#") ? new URL(href.slice(href.indexOf("#") + 1), "file:///") : new URL(href));
  const ends = (link, name) => toAddress(link).search === "" && toAddress(link).pathname.split("/").pop() === name;

  function go(key) {
    chosen = false;
    if (key === "w") return open(one(".lx-crumbs a[href]"), "all tables");
    if (!(key in PAGES)) {
      say("");
      return false;
    }
    const links = all(".lx-nav a[href]");
    return open((links.length ? links : all("a[href]")).find((link) => ends(link, PAGES[key])), PAGES[key] || "overview");
  }

  function turn(word) {
    return open(all(".lx-pager a[href]").find((link) => link.textContent.startsWith(word)), `the ${word} rows`);
  }

  const KEYS = {
    "?": showKeys,
    ",": () => open(null, "what is before it"),
    ".": () => open(null, "what is after it"),
    e: () => open(null, "a record"),
    t: () => showJump(),
    "/": () => {
      const field = one("input[type=search]");
      if (!field) return open(null, "a filter");
      field.focus();
      field.select();
      return true;
    },
    u: () => open(all(".lx-crumbs a[href]:not([aria-current])").at(-1), "what is above"),
    g: () => {
      chosen = true;
      say("g and then: w all tables, " + Object.entries(PAGES).map(([key, name]) => `${key} ${name || "overview"}`).join(", "));
      return true;
    },
    n: () => turn("next"),
    p: () => turn("previous"),
    j: () => step(rows(), 1, "row", "tr"),
    k: () => step(rows(), -1, "row", "tr"),
    ArrowDown: () => inList() && step(rows(), 1, "row", "tr"),
    ArrowUp: () => inList() && step(rows(), -1, "row", "tr"),
    ArrowRight: () => step(marks(), 1, "mark"),
    ArrowLeft: () => step(marks(), -1, "mark"),
    Escape: () => {
      say("");
      // the page of the keys was come to from another
      if (ends(location, "help") && document.referrer.startsWith(location.origin)) history.back();
      return false;
    },
  };
  // arrows scroll a page that is no list, until a row of it is chosen
  const inList = () => Boolean(one(".lx-pager") || document.activeElement?.closest("tbody tr"));

  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (layer?.open || jump?.open) {
      if (key === "?") layer?.close();
      return; // the browser closes it with Escape
    }
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (key === "Escape" && target.matches?.(FIELDS)) target.blur();
    if (target.closest?.(FIELDS) || (event.shiftKey && key !== "?" && key !== "/")) return;
    // what scrolls by itself keeps its arrows
    if (key.startsWith("Arrow") && target.closest?.("[tabindex]") && !target.closest("a")) return;
    let done;
    if (chosen) done = go(key);
    else {
      const named = key.length === 1 && all("a[accesskey]").find((link) => link.accessKey === key);
      done = named ? open(named) : Object.hasOwn(KEYS, key) && KEYS[key]();
    }
    if (done) event.preventDefault();
  });

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[rel=help]");
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (showKeys()) event.preventDefault();
  });

  // A slider over the first field of a form: it stops at the values that there are, and says what each comes to.
  function slide() {
    for (const place of document.querySelectorAll("[data-slides]:empty")) {
      const field = place.closest("form").querySelector("label :is(input, select)");
      const steps = JSON.parse(place.dataset.slides);
      const range = Object.assign(document.createElement("input"), { type: "range", min: 0, max: steps.length - 1 });
      const words = document.createElement("output");
      range.setAttribute("aria-label", field.closest("label").querySelector("span").textContent);
      const set = (at) => {
        range.setAttribute("aria-valuetext", `${steps[at][0]}: ${steps[at][1]}`);
        words.replaceChildren(Object.assign(document.createElement("b"), { textContent: steps[at][0] }), ` ${steps[at][1]}`);
      };
      const known = steps.findIndex(([value]) => value === field.value);
      range.value = known < 0 ? 0 : known;
      if (known >= 0) set(known);
      else words.textContent = "drag to a time";
      range.addEventListener("input", () => {
        field.value = steps[range.value][0];
        set(range.value);
      });
      place.append(range, words);
    }
  }

  // Words for a condition below its field: columns, then operators, then values that the table's bounds have.
  const TOKEN = /("(?:[^"]|"")*"|`(?:[^`]|``)*`|[A-Za-z_][\w.]*)|('(?:[^']|'')*'|[-+]?\d[\w.]*)|(<=|>=|<>|!=|[=<>(),])|['"`].*|\S/gs;
  const bare = (name) => name.replace(/^["`]|["`]$/g, "").toLowerCase();
  const ENDS = { BETWEEN: ["AND"], IN: [")", ","] };

  function findWords(words, text) {
    const tokens = [...text.matchAll(TOKEN)];
    const last = tokens.at(-1);
    const begun = last && !last[3] && last.index + last[0].length === text.length ? tokens.pop()[0] : "";
    const names = words.map(([name]) => name);
    let column = null;
    let next = names;
    let after = ["AND", "OR"];
    for (const [token, name] of tokens) {
      const word = token.toUpperCase();
      if (next === names && name && word !== "NOT") {
        column = words.find(([known]) => bare(known) === bare(token));
        if (!column) return [begun, []];
        next = column[1];
      } else if (column && next === column[1]) {
        if (word === "IS") next = ["NULL", "NOT"];
        else if (word === "NULL") next = ["AND", "OR"];
        else if (word !== "NOT") [next, after] = [column[2], ENDS[word] ?? ["AND", "OR"]];
      } else if (column && next === column[2]) {
        if (word !== "(") next = after;
      } else if (word === "AND" || word === "OR") {
        next = next.length === 1 ? column[2] : names;
        after = ["AND", "OR"];
      } else if (word === "NOT" && next !== names) next = ["NULL"];
      else if (word === ",") next = column?.[2] ?? [];
      else if (word === "NULL" || word === ")") next = ["AND", "OR"];
    }
    const isLower = begun === begun.toLowerCase() && begun !== begun.toUpperCase();
    if (isLower && next !== names && next !== column?.[2]) next = next.map((word) => word.toLowerCase());
    else if (next === names) next = [...names, "NOT"];
    const alike = next.filter((word) => word.toLowerCase().startsWith(begun.toLowerCase()) && word !== begun);
    return [begun, alike.slice(0, 20)];
  }

  function offerWords() {
    for (const field of document.querySelectorAll("input[data-words]:not([role])")) {
      const words = JSON.parse(field.dataset.words);
      const list = Object.assign(document.createElement("ul"), { className: "lx-offer", id: `lx-offer-${field.name}`, hidden: true });
      list.setAttribute("role", "listbox");
      list.setAttribute("aria-label", "words for the condition");
      for (const [name, value] of [["role", "combobox"], ["aria-autocomplete", "list"], ["aria-controls", list.id], ["aria-expanded", "false"]])
        field.setAttribute(name, value);
      field.after(list);
      let begun = "";
      let at = -1;
      const close = () => {
        list.hidden = true;
        field.setAttribute("aria-expanded", "false");
        field.removeAttribute("aria-activedescendant");
      };
      const choose = (number) => {
        at = number;
        [...list.children].forEach((item, i) => item.setAttribute("aria-selected", i === at));
        if (at < 0) return field.removeAttribute("aria-activedescendant");
        field.setAttribute("aria-activedescendant", list.children[at].id);
        list.children[at].scrollIntoView({ block: "nearest" });
      };
      const take = (word) => {
        const end = field.selectionStart;
        field.setRangeText(word + (word.endsWith("(") ? "" : " "), end - begun.length, end, "end");
        show();
      };
      const show = () => {
        let found;
        [begun, found] = findWords(words, field.value.slice(0, field.selectionStart));
        list.replaceChildren(...found.map((word, i) => {
          const item = Object.assign(document.createElement("li"), { textContent: word, id: `${list.id}-${i}` });
          item.setAttribute("role", "option");
          item.addEventListener("pointerdown", (event) => (event.preventDefault(), take(word)));
          return item;
        }));
        choose(-1);
        list.hidden = !found.length;
        field.setAttribute("aria-expanded", !list.hidden);
      };
      field.addEventListener("input", show);
      field.addEventListener("blur", close);
      field.addEventListener("keydown", (event) => {
        const many = list.children.length;
        if (event.key === "ArrowDown" && list.hidden) show();
        else if (event.key === "ArrowDown") choose((at + 1) % many);
        else if (event.key === "ArrowUp" && !list.hidden) choose(at > 0 ? at - 1 : many - 1);
        else if (event.key === "Escape" && !list.hidden) close();
        else if ((event.key === "Enter" || event.key === "Tab") && !list.hidden && at >= 0) take(list.children[at].textContent);
        else return;
        event.preventDefault();
        event.stopPropagation();
      });
    }
  }

  // What scrolls sideways can be reached by Tab, and so scrolled by a keyboard, where nothing in it can.
  function reach() {
    for (const box of all(".ll-root, .ll-root .ll-i")) {
      const scrolls = box.scrollWidth > box.clientWidth + 1 && getComputedStyle(box).overflowX !== "visible";
      if (scrolls) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    }
  }
  reach();
  slide();
  offerWords();
  furnish();
  addEventListener("resize", reach);
  // a tab puts other pages here
  new MutationObserver(() => (slide(), offerWords(), furnish())).observe(document.body, { childList: true, subtree: true });
  document.addEventListener("toggle", reach, true);

  // what a mark of a picture says, also before the browser shows it
  for (const kind of ["pointerover", "focusin"]) {
    document.addEventListener(kind, (event) => {
      const title = event.target.closest?.("svg a")?.querySelector("title");
      if (title && !chosen) say(title.textContent);
    });
  }
})();
