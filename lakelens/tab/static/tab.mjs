// The page: Open, and then the explorer. The fragment says what is shown; links and forms change it, and each change is a
// question to Python, of which the last one asked is shown when it is answered.
import { answerFor, fetchParts, findPicture, keepPicture, Python, Stopped } from "./python.mjs";
import { agree, findAsked, formatFragment, hasAgreed, parseAddress, parseFragment, readEntries, takeChosen, takeEntries, takeZip } from "./source.mjs";
import { describeFar, describeLake, describeRead, describeSize, make, parsePage, Steps } from "./view.mjs";

const known = JSON.parse(document.body.dataset.known);
const at = (id) => document.getElementById(id);
const host = at("lt-page"), start = at("lt-open"), notice = at("lt-notice"), said = at("lt-said");
const OPEN_TITLE = document.title;
const PATIENCE = 400; // milliseconds before a word about waiting
const MANY = 500; // files of a dropped folder, before a word about listing them
const HANDED = 20_000; // files of a folder that Python gets; of a larger one it asks for each
const AT_ONCE = 250; // files that it gets at the same time
const PICTURE_LATER = 3000; // milliseconds: a first page goes before
const total = known.parts.reduce((sum, { size }) => sum + size, 0);
const scrolled = new Map(); // by fragment, where a reader was
const python = new Python();
const page = answerFor(() => lake);
let lake = null; // what is open, or was before it was stopped
let isOpen = false;
let about = null; // what Python said when it started
let read = { files: 0, bytes: 0, looked: 0 };
let asked = 0; // counts what is asked for: of two answers the later question's is shown
let shown = null; // the fragment of the page that is shown
let isLed = false; // a link or a form leads to the next page, which begins at its top

function showOpen(words = null) {
  host.hidden = true;
  host.replaceChildren();
  start.hidden = false;
  document.title = OPEN_TITLE;
  notice.hidden = !words;
  notice.replaceChildren(...(words ? [make("div", { className: "lt-ask", role: "status" }, ...words)] : []));
  shown = null;
}

function showRoot(root, title) {
  host.replaceChildren(root);
  host.hidden = false;
  start.hidden = true;
  document.title = title;
  dispatchEvent(new Event("resize")); // the explorer's script looks at what scrolls
}

// Words in the place of a page, with what can be done.
function showWords(title, words, ...actions) {
  const keys = make("div", { className: "lt-keys" }, ...actions);
  const crumbs = make("ol", { className: "lx-crumbs" }, make("li", {}, make("a", { href: "#" }, "open")), make("li", {}, lake?.name ?? ""));
  const main = make("main", {}, make("div", { className: "ll-p" }, make("h1", {}, title)), ...words.map((text) => make("p", { className: "ll-p" }, text)), keys);
  showRoot(make("div", { className: "ll-root lx-page" }, make("header", { className: "lx-top" }, make("nav", { ariaLabel: "Where you are" }, crumbs)), main), `${title} · lakelens`);
  said.textContent = title;
}

const makeButton = (words, act, isFirst = false) => make("button", { type: "button", className: `lt-btn${isFirst ? " lt-first" : ""}`, onclick: act }, words);

async function startPython(steps, mine) {
  const began = performance.now();
  if (!python.isRunning) {
    const picture = findPicture(known);
    steps.begin(`Fetching ${describeSize(total)}, once`);
    let last = { there: 0, fetched: 0 };
    const parts = await fetchParts(known, (far) => {
      if (mine !== asked) throw new Stopped("stopped");
      last = far;
      steps.update(`Fetching: ${describeSize(far.there)} of ${describeSize(total)}`, far.there / total);
    });
    const seconds = ((performance.now() - began) / 1e3).toFixed(1);
    steps.end(last.fetched ? `Fetched ${describeSize(last.fetched)} in ${seconds} s; kept for next time` : "Nothing to fetch: all of it was kept");
    steps.begin("Starting Python");
    await controlled;
    if (mine !== asked) return;
    const starting = performance.now();
    const clock = setInterval(() => steps.update(`Starting Python: ${((performance.now() - starting) / 1e3).toFixed(1)} s`), 200);
    try {
      about = await startWith(parts, await picture);
    } finally {
      clearInterval(clock);
    }
    steps.end(`Python started in ${((performance.now() - starting) / 1e3).toFixed(1)} s`);
  }
}

// From what an earlier visit has kept of Python's memory, or from the beginning: also where what was kept is of no use.
async function startWith(parts, picture) {
  if (picture) {
    const again = Object.fromEntries(Object.entries(parts).map(([name, bytes]) => [name, bytes.slice(0)]));
    try {
      return await python.start(again, picture);
    } catch (error) {
      if (error instanceof Stopped) throw error;
      python.stop();
      await keepPicture(known, null);
    }
  }
  const { picture: made, ...answer } = await python.start(parts);
  if (made) {
    const kept = new Blob([made]); // which a browser holds outside of the page
    made.transfer(0);
    setTimeout(() => keepPicture(known, kept), PICTURE_LATER);
  }
  return answer;
}

// Open a lake, and go on at an address of it.
async function open(next, address) {
  const mine = ++asked;
  if (python.isRunning && (isOpen || lake)) python.stop(); // another one, or the same again: Python forgets what it had
  [lake, isOpen, read] = [next, false, { files: 0, bytes: 0, looked: 0 }];
  const steps = new Steps(next, describeLake(next), stop);
  showRoot(steps.root, `${next.name} · lakelens`);
  shown = null;
  try {
    await startPython(steps, mine);
    if (mine !== asked) return;
    const isHanded = next.source === "folder" && (await handFiles(next, steps, mine));
    if (mine !== asked) return;
    const began = performance.now();
    const words = next.source === "zip" ? "Unpacking" : "Looking for tables";
    steps.begin(words);
    python.onread = (far) => {
      read = far;
      const seconds = ((performance.now() - began) / 1e3).toFixed(1);
      if (mine === asked) steps.update(`${words}: ${describeFar(next, far)}, ${seconds} s`);
      else sayBusy();
    };
    const prefix = formatFragment(next.source, next.name).slice(1, -1);
    const host = next.source === "url" ? findAsked(new URL(next.name)) : null;
    await python.ask({ kind: "open", source: next.source, name: next.name, host, prefix, paths: next.paths, files: next.files, page: isHanded ? null : page });
    isOpen = true;
    await showPage(address, mine);
  } catch (error) {
    if (mine === asked) showFailure(error);
  }
}

// The files that Python has it reads by itself. But a browser keeps some ten kilobytes for each, and goes to the disk for each:
// of a large folder Python gets none and asks this page, where it can; then this is false.
async function handFiles({ paths, take }, steps, mine) {
  const { length } = paths;
  if (length > HANDED && page && (await python.ask({ kind: "canAsk", page })).works) return false;
  if (length > MANY) steps.begin("Taking the files");
  for (let begin = 0; begin < length && mine === asked; begin += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, length - begin) }, (_, at) => begin + at);
    const files = await Promise.all(numbers.map((number) => take(number).catch(() => null))); // one may be gone already
    await python.ask({ kind: "take", files });
    steps.update(`Taking the files: ${(begin + files.length).toLocaleString("en")} of ${length.toLocaleString("en")}`);
  }
  steps.end();
  return true;
}

function showFailure(error) {
  shown = null;
  if (error instanceof Stopped) return showStopped();
  showWords("Cannot be shown", [error.message], makeButton("try again", () => { isOpen = false; route(); }, true), makeButton("open something else", () => { location.hash = ""; }));
}

function showStopped() {
  isOpen = false;
  showWords("Stopped", [`What was fetched is kept, and ${lake.name} too: Python starts again when you go on.`],
    makeButton("go on", route, true), makeButton("open something else", () => { location.hash = ""; }));
}

function stop() {
  asked++;
  python.stop();
  endBusy();
  shown = null;
  showStopped();
}

let busy = null;
function beginBusy() {
  const began = performance.now();
  busy = make("div", { className: "lt-busy", role: "status" }, make("span"), make("button", { type: "button", className: "lt-btn", accessKey: "s", onclick: stop }, "stop"));
  busy.began = began;
  busy.clock = setInterval(sayBusy, 250);
  host.querySelector(".ll-root")?.append(busy);
  host.classList.add("lt-wait");
  sayBusy();
}

function sayBusy() {
  if (!busy) return;
  const seconds = ((performance.now() - busy.began) / 1e3 + PATIENCE / 1e3).toFixed(1);
  const far = lake.source === "folder" ? `; ${describeFar(lake, read)} so far` : "";
  busy.firstChild.textContent = `This page takes a while: ${seconds} s${far}`;
}

function endBusy() {
  clearInterval(busy?.clock);
  busy?.remove();
  busy = null;
  host.classList.remove("lt-wait");
}

async function showPage(address, mine) {
  const waiting = setTimeout(() => mine === asked && shown !== null && !busy && beginBusy(), PATIENCE);
  try {
    let made = await python.ask({ kind: "answer", address });
    if (mine !== asked) return;
    for (let leads = 0; made.location !== undefined && leads < 5; leads++) {
      history.replaceState(null, "", `#${made.location}`);
      made = await python.ask({ kind: "answer", address: parseFragment(location.hash).address });
      if (mine !== asked) return;
    }
    const { title, root } = parsePage(made.markup);
    if (made.needs || made.lacks) askForPackages(root, made);
    addLine(root, made);
    showRoot(root, title);
    said.textContent = title;
    shown = location.hash;
    if (known.isEmbed) parent.postMessage({ lakelensHeight: document.documentElement.scrollHeight }, "*");
    scrollTo(0, isLed ? 0 : (scrolled.get(shown) ?? 0));
    isLed = false;
  } finally {
    clearTimeout(waiting);
    if (mine === asked) endBusy();
  }
}

// One line below the crumbs: what was read, and what can be taken away.
function addLine(root, made) {
  const home = known.isEmbed ? make("a", { href: `wide.html${location.hash}`, target: "_blank", rel: "noopener" }, "open in a tab") : make("a", { href: "#" }, "open something else");
  const right = make("span", {}, home);
  if (made.table) {
    const write = (what, name) => make("button", { type: "button", className: "lt-link", onclick: (event) => save(event.target, what, name) }, what === "report" ? "report as one page" : "skeleton as a zip");
    const plain = made.table.split("/").at(-1);
    right.prepend(write("report", `${plain}.html`), " · ", write("skeleton", `${plain}-skeleton.zip`), " · ");
  }
  root.querySelector(".lx-top").after(make("aside", { className: "lt-read", ariaLabel: "What was read" }, make("span", {}, describeRead(lake, read)), right));
}

async function save(button, what, name) {
  const words = button.textContent;
  button.disabled = true;
  button.textContent = `making the ${what}…`;
  try {
    const { bytes } = await python.ask({ kind: "write", what, address: parseFragment(location.hash).address });
    const type = what === "report" ? "text/html" : "application/zip";
    const url = URL.createObjectURL(new Blob([bytes], { type }));
    make("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
    button.textContent = words;
  } catch (error) {
    button.textContent = error instanceof Stopped ? words : `no ${what}: ${error.message}`;
  }
  button.disabled = false;
}

// Where a package is missing, for the page or for a part of it: what would be fetched and from where. Nothing is, before the
// button is pressed.
function askForPackages(root, { needs, lacks }) {
  const names = about.packages.join(", ");
  const words = make("p", {}, `${needs ?? lacks} is not part of this page. It can be fetched from `, make("b", {}, "Pyodide’s own index"), `, ${about.index}, together with what it goes with: ${names}.`);
  const fine = make("small", {}, "That site sees your address and the names of the packages, nothing of your table; each file must have the checksum that this page was made with. ");
  if (!known.isWide) fine.append(`This page may ask no other site: the button opens one that may${lake.source === "sample" ? "" : ", where you choose the folder again"}.`);
  const act = async () => {
    if (!known.isWide) return location.assign(`wide.html${location.hash}`);
    button.disabled = true;
    button.textContent = "fetching…";
    try {
      await python.ask({ kind: "fetchPackages" });
      route();
    } catch (error) {
      button.textContent = `not fetched: ${error.message}`;
    }
  };
  const button = makeButton(known.isWide ? "fetch them from there" : "go to the page that may fetch them", act, true);
  const block = make("div", { className: "lt-ask" }, words, make("p", {}, button), make("p", {}, fine), make("p", {}, make("small", {}, "This part is not tested by the project. Where lakelens is installed, all of it is there: ", make("code", {}, "pip install 'lakelens[tables]'"))));
  const main = root.querySelector("main");
  if (lacks) return main.append(make("details", { className: "lt-lacks" }, make("summary", {}, `Some of this page needs ${lacks}, which is not part of it`), block));
  const page = root.querySelector(".lx-crumbs [aria-current]").textContent;
  [...main.querySelectorAll("section")].find((section) => section.textContent.trim().startsWith("NotInstalled"))?.remove();
  main.prepend(make("div", { className: "ll-p" }, make("h1", {}, page), " needs what this page does not bring"), block);
}

// What the fragment says is what is shown.
function route() {
  const wanted = parseFragment(location.hash);
  endBusy();
  if (!wanted) {
    asked++;
    if (python.isRunning && !isOpen) python.stop();
    return showOpen();
  }
  const { source, name, address } = wanted;
  if (lake?.source === source && lake.name === name) {
    if (!isOpen) return open(lake, address);
    const mine = ++asked;
    return showPage(address, mine).catch((error) => mine === asked && showFailure(error));
  }
  if (source === "sample") return open({ source, name, files: [], bytes: 0 }, address);
  asked++;
  const place = decodeURIComponent(address.replace(/\?.*$/s, "").replace(/%(?![0-9a-f]{2})/gi, "%25")).replace(/\/$/, "");
  if (source === "url") return openAddress(name, address);
  const kind = source === "zip" ? "zip" : "folder";
  showOpen([
    make("p", {}, make("b", {}, `This address is a page of a ${kind} of yours: `), make("code", {}, name), `. A page may not open it again by itself${place ? "; it goes on at " : "."}`, ...(place ? [make("code", {}, place), "."] : [])),
    make("p", {}, makeButton(`choose the ${kind} again`, () => at(`lt-${kind}-input`).click(), true)),
  ]);
}

// What is at an address is asked for once the reader has pressed Open: in this tab, or what frames this page for them.
function openAddress(name, address) {
  const url = parseAddress(name);
  if (!url) return showOpen([make("p", {}, make("b", {}, "This is no address of something public: "), make("code", {}, name), ". It begins with https:// and has neither a user nor parameters.")]);
  if (!known.isWide) return location.replace(`wide.html${location.hash}`);
  const isFramed = known.isEmbed && parent !== self;
  if (isFramed || hasAgreed(name)) return open({ source: "url", name, files: [], bytes: 0 }, address);
  const host = new URL(findAsked(url)).host;
  showOpen([
    make("p", {}, "This link leads to a lake at ", make("b", {}, host), ": ", make("code", {}, name), ". Nothing was asked yet."),
    make("p", {}, makeButton(`open it: ask ${host}`, () => { agree(name); route(); }, true)),
    make("p", {}, make("small", {}, `${host} then sees your network address and which of its files are read. Nobody else is asked, whatever the table says.`)),
  ]);
}

// A folder or a zip that was chosen: at the place of the fragment, where that is of the same name.
function take(next) {
  if (next.paths?.length === 0) return showOpen([make("p", {}, make("b", {}, `${next.name} has no files.`), " Choose the directory of a table, or of a warehouse.")]);
  const wanted = parseFragment(location.hash);
  const goesOn = wanted?.source === next.source && wanted.name === next.name;
  const fragment = goesOn ? location.hash : formatFragment(next.source, next.name);
  isOpen = false;
  if (location.hash !== fragment) history.pushState(null, "", fragment);
  open(next, goesOn ? wanted.address : "");
}

function listen() {
  addEventListener("hashchange", (event) => {
    if (location.hash === "#content") return;
    scrolled.set(new URL(event.oldURL).hash, departed);
    if (location.hash === shown) return;
    route();
  });
  let departed = 0;
  addEventListener("scroll", () => { if (!busy && location.hash === shown) departed = scrollY; }, { passive: true });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    const target = link.getAttribute("href") ?? link.getAttributeNS("http://www.w3.org/1999/xlink", "href");
    if (target === "#content") {
      event.preventDefault();
      const content = document.querySelector("#lt-page main");
      content.tabIndex = -1;
      content.focus();
    } else if (target?.startsWith("#")) {
      departed = scrollY;
      isLed = true;
      if (target === location.hash) { event.preventDefault(); route(); }
    }
  });
  host.addEventListener("submit", (event) => {
    event.preventDefault();
    const target = event.target.getAttribute("action") || location.hash;
    const given = new URLSearchParams(new FormData(event.target, event.submitter)).toString();
    isLed = true;
    location.hash = target.split("?")[0] + (given ? `?${given}` : "");
  });
  for (const kind of ["folder", "zip"]) {
    const input = at(`lt-${kind}-input`);
    if (!input) continue; // a framed page opens what it is told
    at(`lt-${kind}`).addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      const { files } = input;
      input.files = new DataTransfer().files; // a browser would keep the names of all in the history; the list stays as it is
      if (files.length) take(kind === "folder" ? takeChosen(files) : takeZip(files[0]));
    });
  }
  if (known.isEmbed) return;
  at("lt-address").addEventListener("submit", (event) => {
    event.preventDefault();
    const url = parseAddress(at("lt-url").value);
    at("lt-url").setCustomValidity(url ? "" : "https://HOST/…, without a user and parameters");
    if (!at("lt-url").reportValidity()) return;
    agree(url.href);
    const fragment = formatFragment("url", url.href);
    if (!known.isWide) location.assign(`wide.html${fragment}`);
    else if (location.hash === fragment) route();
    else location.hash = fragment;
  });
  at("lt-url").addEventListener("input", () => at("lt-url").setCustomValidity(""));
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
    addEventListener(kind, (event) => {
      event.preventDefault();
      document.body.classList.toggle("lt-over", kind === "dragenter" || kind === "dragover");
    });
  }
  addEventListener("drop", async (event) => {
    const entries = takeEntries(event.dataTransfer);
    if (!entries.length) return;
    const mine = ++asked;
    let steps = null;
    const report = (number) => {
      if (mine !== asked) throw new Stopped("stopped");
      if (!steps && number > MANY) {
        steps = new Steps({ name: entries[0].name }, "a folder that was dropped; its files are listed, none is read", () => { asked++; location.hash === "" ? showOpen() : location.hash = ""; });
        showRoot(steps.root, `${entries[0].name} · lakelens`);
        steps.begin("Listing");
      }
      steps?.update(`Listing: ${number.toLocaleString("en")} files so far`);
    };
    try {
      take(await readEntries(entries, report));
    } catch (error) {
      if (error instanceof Stopped) return;
      history.replaceState(null, "", "#");
      showOpen([make("p", {}, error.message)]);
    }
  });
  at("lt-all").addEventListener("click", (event) => {
    at("lt-more").hidden = false;
    event.target.closest("p").remove();
  });
}

// Kept for offline use where the browser can: then the worker's own files come from what is kept too.
async function keep() {
  if (!navigator.serviceWorker) return;
  navigator.serviceWorker.addEventListener("message", ({ data }) => {
    if (data.version && data.version !== known.version) said.textContent = "A newer version is there: reload the page.";
  });
  await navigator.serviceWorker.register("sw.js");
  await navigator.serviceWorker.ready;
  if (navigator.serviceWorker.controller) return;
  await new Promise((done) => navigator.serviceWorker.addEventListener("controllerchange", done, { once: true }));
}
const controlled = Promise.race([keep().catch(() => null), new Promise((done) => setTimeout(done, 3000))]);

history.scrollRestoration = "manual";
listen();
route();
