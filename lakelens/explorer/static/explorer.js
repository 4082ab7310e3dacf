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
    if (layer?.open) {
      if (key === "?") layer.close();
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
  addEventListener("resize", reach);
  new MutationObserver(slide).observe(document.body, { childList: true, subtree: true }); // a tab puts other pages here
  document.addEventListener("toggle", reach, true);

  // what a mark of a picture says, also before the browser shows it
  for (const kind of ["pointerover", "focusin"]) {
    document.addEventListener(kind, (event) => {
      const title = event.target.closest?.("svg a")?.querySelector("title");
      if (title && !chosen) say(title.textContent);
    });
  }
})();
