// Pages in this document: the explorer's own markup, without anything that runs, and what a tab says beside it.

const BANNED = "script, style, link, meta, base, iframe, frame, object, embed, template, portal";

export function make(tag, given = {}, ...inner) {
  const { data, ...properties } = given;
  const node = Object.assign(document.createElement(tag), properties);
  Object.assign(node.dataset, data);
  node.append(...inner);
  return node;
}

// A page as Python rendered it. Every text in it is escaped there; here it is taken as a tree in which nothing can run: a
// document that is parsed so has no scripts, the policy allows no attribute that is one, and links stay in this page.
export function parsePage(markup) {
  const parsed = new DOMParser().parseFromString(markup, "text/html");
  for (const node of parsed.querySelectorAll(BANNED)) node.remove();
  for (const node of parsed.querySelectorAll("*")) {
    for (const { name, value } of [...node.attributes]) {
      const isLink = ["href", "xlink:href", "src", "action", "formaction", "data"].includes(name);
      if (name.startsWith("on") || (isLink && !value.startsWith("#") && !value.startsWith("data:image/"))) node.removeAttribute(name);
    }
  }
  return { title: parsed.title, root: parsed.querySelector(".ll-root") };
}

const size = (bytes) => (bytes < 1e6 ? `${(bytes / 1e3).toFixed(bytes < 1e4 ? 1 : 0)} KB` : bytes < 1e9 ? `${(bytes / 1e6).toPrecision(3)} MB` : `${(bytes / 1e9).toPrecision(3)} GB`);
const count = (number) => number.toLocaleString("en");
const countFiles = (number) => (number === 1 ? "1 file" : `${count(number)} files`);
export const describeSize = size;

export function describeLake({ source, paths, bytes }) {
  if (source === "sample") return "a sample, written by the engine itself";
  if (source === "zip") return `${size(bytes)}`;
  if (source === "url") return "at an address; its host alone is asked";
  return `${countFiles(paths.length)}, read where they are`;
}

export function describeRead(lake, read) {
  if (lake.source === "sample") return "sample, from this page";
  if (lake.source === "zip") return `zip of yours, ${size(lake.bytes)}; nothing was sent`;
  if (lake.source === "url") return `${new URL(lake.name).host}: ${count(read.files)} requests, ${size(read.bytes)}; nobody else was asked`;
  return `folder of yours: read ${count(read.files)} of ${countFiles(lake.paths.length)}, ${size(read.bytes)}; nothing was sent`;
}

// How far Python is while it says nothing else.
export function describeFar({ source, paths }, read) {
  if (source === "url") return `${count(read.files)} requests, ${size(read.bytes)}`;
  const looked = source === "folder" ? `looked at ${count(read.looked)} of ${countFiles(paths.length)}, ` : "";
  return `${looked}read ${count(read.files)}, ${size(read.bytes)}`;
}

// The steps of a beginning: done, now, then.
export class Steps {
  constructor(lake, words, stop) {
    this.list = make("ol", { className: "lt-steps" });
    this.button = make("button", { className: "lt-btn", type: "button", onclick: stop, accessKey: "s" }, "stop");
    const crumbs = make("ol", { className: "lx-crumbs" }, make("li", {}, make("a", { href: "#" }, "open")), make("li", {}, lake.name));
    this.root = make("div", { className: "ll-root lx-page" },
      make("header", { className: "lx-top" }, make("nav", { ariaLabel: "Where you are" }, crumbs)),
      make("main", {}, make("div", { className: "ll-p" }, make("h1", {}, lake.name), ` ${words}`), this.list, this.button));
  }

  begin(words) {
    this.end();
    this.line = make("span", {}, words);
    this.item = make("li", { className: "lt-now" }, make("span", {}, "now"), this.line);
    this.list.append(this.item);
  }

  update(words, share = null) {
    if (!this.item) return;
    this.line.replaceChildren(words);
    if (share !== null) {
      const bar = make("i");
      bar.style.width = `${Math.round(share * 100)}%`;
      this.line.append(" ", make("span", { className: "lt-bar" }, bar));
    }
  }

  end(words = null) {
    if (!this.item) return;
    this.item.className = "";
    this.item.firstChild.textContent = "done";
    if (words !== null) this.line.replaceChildren(words);
    this.item = null;
  }
}
