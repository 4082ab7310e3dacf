// Python, with what it is asked to look at. The page starts this file from a blob, so that the page's own policy holds in here.
//
// What a folder has stays on the disk: files are read by ranges, where and when Python asks for them. Each message has an id,
// and its answer the same one; while Python is busy it only says what it has read.
import { loadPyodide } from "./pyodide.mjs";

const ROOT = "/lake";
const MISSING = 44, BROKEN = 29; // ENOENT, EIO
const TICK = 200; // milliseconds
const HERE = new URL(".", import.meta.url).href;
// modules come out of their archives when they are asked for; code for WebAssembly has to be a file
const IMPORTING = `
import sys, zipfile
with zipfile.ZipFile("/packages.zip") as archive:
    names = archive.namelist()
    native = tuple(name.partition("/")[0] + "/" for name in names if name.endswith(".so"))
    archive.extractall("/native", [name for name in names if name.startswith(native)])
sys.path[:0] = ["/native", "/packages.zip", "/lakelens.zip"]
`;
const plainFetch = self.fetch.bind(self);
const read = { files: new Set(), bytes: 0, said: 0 };
let python, inside, tab, makeTab, lock;

function unpackGzip(bytes, type = "application/octet-stream") {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream, { headers: { "content-type": type } });
}

function toBase64(hex) {
  return btoa(String.fromCharCode(...hex.match(/../g).map((pair) => parseInt(pair, 16))));
}

async function start({ parts }) {
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
  python = await loadPyodide({
    indexURL: HERE, lockFileContents: JSON.stringify(lock), env: { HOME: "/home/pyodide", PYTHONDONTWRITEBYTECODE: "1" },
  });
  for (const name of ["packages.zip", "lakelens.zip"]) {
    python.FS.writeFile(`/${name}`, new Uint8Array(await unpackGzip(parts[`${name}.packed`]).arrayBuffer()), { canOwn: true });
  }
  python.runPython(IMPORTING);
  inside = python.pyimport("lakelens.tab.inside");
  watchReads(python.FS);
  return { index: python._api.config.cdnUrl, packages: Object.keys(lock.packages).sort() };
}

function watchReads(FS) {
  const operations = FS.filesystems.WORKERFS.stream_ops;
  const plainRead = operations.read;
  operations.read = (stream, ...rest) => {
    let count;
    try {
      count = plainRead(stream, ...rest);
    } catch (error) { // it was there when the folder was opened
      throw new FS.ErrnoError(error?.name === "NotFoundError" ? MISSING : BROKEN);
    }
    read.files.add(stream.node.id);
    read.bytes += count;
    sayRead();
    return count;
  };
}

function sayRead(always = false) {
  if (!always && performance.now() - read.said < TICK) return;
  read.said = performance.now();
  self.postMessage({ read: { files: read.files.size, bytes: read.bytes } });
}

// A tree of nodes, one for each file, which hold no byte of it. `files` has paths below the root.
function mount(root, files) {
  const { FS } = python;
  const { WORKERFS } = FS.filesystems;
  FS.mkdirTree(root);
  FS.mount(WORKERFS, {}, root);
  const known = new Map([["", FS.lookupPath(root, { follow_mount: true }).node]]);
  const find = (path) => {
    if (!known.has(path)) {
      const at = path.lastIndexOf("/");
      known.set(path, WORKERFS.createNode(find(path.slice(0, Math.max(at, 0))), path.slice(at + 1), WORKERFS.DIR_MODE, 0));
    }
    return known.get(path);
  };
  for (const { path, file } of files) {
    const at = path.lastIndexOf("/");
    const holder = find(path.slice(0, Math.max(at, 0)));
    WORKERFS.createNode(holder, path.slice(at + 1), WORKERFS.FILE_MODE, 0, file, new Date(file.lastModified));
  }
}

// what comes from elsewhere may be called anything: the name of the directory is only shown
const nameRoot = (name) => `${ROOT}/${name.replace(/[/\0]/g, "_").replace(/^\.+$/, "_") || "_"}`;

function open({ source, name, prefix, files, root = nameRoot(name) }) {
  if (source === "sample") python.pyimport("lakelens.samples").unpack_table(name, python.pyimport("pathlib").Path(ROOT));
  else if (source === "folder") mount(root, files);
  else if (source === "zip") {
    mount("/zip", files);
    inside.unpack(`/zip/${files[0].path}`, root);
  }
  makeTab = () => inside.Tab(root, prefix);
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

const KINDS = { start, open, answer, write, fetchPackages };

// of a traceback the words of the error itself
function describe(error) {
  const text = String(error?.message ?? error);
  const lines = text.trim().split("\n");
  const first = lines.findLastIndex((line) => /^[\w.]+(Error|Missing|NotATable|Corrupt|Unsupported|NotInstalled)?: /.test(line));
  return (first < 0 ? lines.at(-1) : lines.slice(first).join(" ")).replace(/^lakelens\.[\w.]+: /, "");
}

self.onmessage = async ({ data }) => {
  try {
    self.postMessage({ id: data.id, ...(await KINDS[data.kind](data)) });
  } catch (error) {
    const isFatal = Boolean(error?.pyodide_fatal_error) || !(error instanceof (python?.ffi.PythonError ?? Error));
    self.postMessage({ id: data.id, error: describe(error), isFatal });
  }
};
self.postMessage({ isLoaded: true });
