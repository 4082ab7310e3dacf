// Python, with what it is asked to look at. The page starts this file from a blob, so that the page's own policy holds in here.
//
// What a folder has stays on the disk: files are read by ranges, where and when Python asks for them. Each message has an id,
// and its answer the same one; while Python is busy it only says what it has read.
import { askForFiles, Gone, mountFolder, readFiles } from "./folder.mjs";
import { loadPyodide } from "./pyodide.mjs";

const ROOT = "/lake";
const TICK = 200; // milliseconds
const PAGE = 65536; // bytes, of WebAssembly's memory
const HERE = new URL(".", import.meta.url).href;
// modules come out of their archives when they are asked for; code for WebAssembly has to be a file
const IMPORTING = `
import importlib, sys, zipfile
with zipfile.ZipFile("/packages.zip") as archive:
    names = archive.namelist()
    native = tuple(name.partition("/")[0] + "/" for name in names if name.endswith(".so"))
    archive.extractall("/native", [name for name in names if name.startswith(native)])
if "/native" not in sys.path:
    sys.path[:0] = ["/native", "/packages.zip", "/lakelens.zip"]
importlib.invalidate_caches()
`;
const plainFetch = self.fetch.bind(self);
const read = { files: new Set(), bytes: 0, looked: 0, said: 0 };
let python, inside, tab, makeTab, lock;
let handed = []; // the files of a folder, some at a time

function unpackGzip(bytes, type = "application/octet-stream") {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream, { headers: { "content-type": type } });
}

function toBase64(hex) {
  return btoa(String.fromCharCode(...hex.match(/../g).map((pair) => parseInt(pair, 16))));
}

// A picture of Python's memory is restored into a memory of its size: the runtime makes one of the least size.
function growFirst(bytes) {
  const plain = WebAssembly.instantiateStreaming;
  WebAssembly.instantiateStreaming = async (...given) => {
    WebAssembly.instantiateStreaming = plain;
    const made = await plain.apply(WebAssembly, given);
    const { memory } = made.instance.exports;
    const missing = Math.ceil((bytes - memory.buffer.byteLength) / PAGE);
    if (missing > 0) memory.grow(missing);
    return made;
  };
}

// With `picture`, what another visit has kept of Python's memory once first pages could be made, it starts in a third of the
// time; without one it says what can be kept.
async function start({ parts, picture }) {
  const own = {
    "pyodide.asm.wasm": () => unpackGzip(parts["pyodide.asm.wasm.packed"], "application/wasm"),
    "python_stdlib.zip": () => unpackGzip(parts["python_stdlib.zip.packed"]),
  };
  self.fetch = (asked, options) => {
    const name = new URL(asked.url ?? asked, HERE).pathname.split("/").at(-1);
    if (own[name]) return Promise.resolve(own[name]());
    const known = Object.values(lock.packages).find((one) => one.file_name === decodeURIComponent(name));
    return plainFetch(asked, known ? { ...options, integrity: `sha256-${toBase64(known.sha256)}` } : options);
  };
  lock = JSON.parse(new TextDecoder().decode(parts["pyodide-lock.json"]));
  const unpacked = Promise.all(["packages.zip", "lakelens.zip"].map(async (name) => [name, await unpackGzip(parts[`${name}.packed`]).arrayBuffer()]));
  if (picture) growFirst(picture.byteLength);
  python = await loadPyodide({
    indexURL: HERE, lockFileContents: JSON.stringify(lock), env: { HOME: "/home/pyodide", PYTHONDONTWRITEBYTECODE: "1" },
    ...(picture ? { _loadSnapshot: new Uint8Array(picture) } : { _makeSnapshot: true }),
  });
  for (const [name, content] of await unpacked) python.FS.writeFile(`/${name}`, new Uint8Array(content), { canOwn: true });
  python.runPython(IMPORTING);
  let made = null;
  if (!picture) {
    python.runPython("from lakelens.tab import inside\ninside.warm_up()\ndel inside");
    try {
      made = python.makeMemorySnapshot().buffer;
    } catch (error) {
      console.warn(`nothing is kept for a faster start: ${error.message}`);
    }
  }
  inside = python.pyimport("lakelens.tab.inside");
  // neither the picture nor what was packed is held any longer
  delete python._api.config._loadSnapshot;
  for (const name of Object.keys(parts)) delete parts[name];
  return { index: python._api.config.cdnUrl, packages: Object.keys(lock.packages).sort(), picture: made };
}

function sayRead(always = false) {
  if (!always && performance.now() - read.said < TICK) return;
  read.said = performance.now();
  self.postMessage({ read: { files: read.files.size, bytes: read.bytes, looked: read.looked } });
}

const told = {
  looked() {
    read.looked++;
    sayRead();
  },
  read(number, count) {
    read.files.add(number);
    read.bytes += count;
    sayRead();
  },
};

// what comes from elsewhere may be called anything: the name of the directory is only shown
const nameRoot = (name) => `${ROOT}/${name.replace(/[/\0]/g, "_").replace(/^\.+$/, "_") || "_"}`;

// Asks the one host that the reader has named, and waits for it: nobody else is asked, whatever a table says. An answer that
// leads to another host is none (the service worker follows it to no place either).
function makeAsk(host) {
  return (verb, address, range) => {
    const url = new URL(address);
    if (url.origin !== host) throw new Error(`${url.origin} is not asked: ${host} was opened`);
    const request = new XMLHttpRequest();
    request.open(verb, url.href, false);
    request.responseType = "arraybuffer";
    if (range) request.setRequestHeader("Range", range);
    let status = 0;
    try {
      request.send();
      if (new URL(request.responseURL).origin === host) status = request.status;
    } catch { /* no answer that this page may read */ }
    const content = new Uint8Array(status && verb === "GET" ? request.response : 0);
    read.files.add(`request ${read.files.size}`);
    read.bytes += content.length;
    sayRead();
    return { status, headers: status ? request.getAllResponseHeaders() : "", content };
  };
}

// Asks the page for what it alone has, and waits for it: the service worker passes the question on. What a server answers in
// its place has no such header.
function askPage(page, ...question) {
  const request = new XMLHttpRequest();
  request.open("GET", new URL(["asked", page, ...question].join("/"), HERE), false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.getResponseHeader("lakelens-page") !== page) throw new Error("the page does not answer");
  if (request.status === 404) throw new Gone();
  if (request.status !== 200) throw new Error("cannot be read");
  return new Uint8Array(request.response);
}

function canAsk({ page }) {
  try {
    askPage(page, "weigh", 0, 0);
    return { works: true };
  } catch {
    return { works: false };
  }
}

function take({ files }) {
  handed.push(...files);
  return {};
}

// an address has a root of its own scheme: nothing below it is looked for on a disk; what is in a zip is on one
function nameAddress(address) {
  const { pathname } = new URL(address);
  const root = nameRoot(pathname.split("/").findLast(Boolean) ?? "address");
  return /\.zip$/i.test(pathname) ? root : `web:/${root.slice(ROOT.length)}`;
}

function open({ source, host, name, prefix, paths, page, files = handed, root = nameRoot(name) }) {
  if (source === "sample") python.pyimport("lakelens.samples").unpack_table(name, python.pyimport("pathlib").Path(ROOT));
  else if (source === "folder") {
    const ask = (...question) => askPage(page, ...question);
    mountFolder(python.FS, root, paths, page ? askForFiles(ask, paths.length) : readFiles(files), told);
  } else if (source === "zip") {
    mountFolder(python.FS, "/zip", ["dropped.zip"], readFiles(files), told);
    inside.unpack("/zip/dropped.zip", root);
  }
  makeTab = () => (source === "url" ? inside.open_address(makeAsk(host), name, nameAddress(name), prefix) : inside.Tab(root, prefix));
  handed = [];
  tab = makeTab();
  return {};
}

const answer = ({ address }) => {
  const made = JSON.parse(tab.answer(address));
  sayRead(true);
  return made;
};

function write({ what, address }) {
  const held = what === "report" ? tab.write_report(address) : tab.write_skeleton(address);
  const bytes = held.toJs();
  held.destroy();
  return { bytes };
}

// Packages of Pyodide's own index, each with the checksum that is pinned here: see `start`.
async function fetchPackages() {
  const index = python._api.config.cdnUrl;
  await python.loadPackage(Object.values(lock.packages).map((one) => index + one.file_name));
  tab = makeTab(); // what was said without them is forgotten
  return {};
}

const KINDS = { start, canAsk, take, open, answer, write, fetchPackages };

// of a traceback the words of the error itself
function describe(error) {
  const text = String(error?.message ?? error);
  const lines = text.trim().split("\n");
  const first = lines.findLastIndex((line) => /^[\w.]+(Error|Missing|NotATable|Corrupt|Unsupported|NotInstalled)?: /.test(line));
  return (first < 0 ? lines.at(-1) : lines.slice(first).join(" ")).replace(/^lakelens\.[\w.]+: /, "");
}

self.onmessage = async ({ data }) => {
  try {
    const made = await KINDS[data.kind](data);
    self.postMessage({ id: data.id, ...made }, made.picture ? [made.picture] : []);
  } catch (error) {
    const isFatal = Boolean(error?.pyodide_fatal_error) || !(error instanceof (python?.ffi.PythonError ?? Error));
    self.postMessage({ id: data.id, error: describe(error), isFatal });
  }
};
self.postMessage({ isLoaded: true });
