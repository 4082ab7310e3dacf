// What a reader opens: a folder, dropped or chosen, a zip, a sample, or an address; and how the fragment of the page names it.
//
// #sample/iceberg/@81/files?from=50 has the kind, the name, and the address of a page of the explorer. The name of what is at
// an address is that address, encoded.

const KINDS = new Set(["sample", "folder", "zip", "url"]);

export function parseFragment(hash) {
  const [, kind, name, address] = /^#([a-z]+)\/([^/?]+)\/?(.*)$/s.exec(hash) ?? [];
  if (!KINDS.has(kind)) return null;
  try {
    return { source: kind, name: decodeURIComponent(name), address, prefix: `${kind}/${name}` };
  } catch {
    return null; // no UTF-8
  }
}

export function formatFragment(source, name, address = "") {
  return `#${source}/${encodeURIComponent(name)}/${address}`;
}

// An address as a reader types it; null for what is none, or says more than where something public is.
export function parseAddress(text) {
  const url = URL.parse(text.trim());
  const isPublic = url && /^https?:$/.test(url.protocol) && !url.username && !url.password && !url.search && !url.hash;
  return isPublic ? url : null;
}

// The one host that is asked for what is at an address: of Google's buckets the one that answers for all of them.
export function findAsked(url) {
  return url.hostname.endsWith(".storage.googleapis.com") ? "https://storage.googleapis.com" : url.origin;
}

// What a reader has pressed Open for, in this tab of the browser: a link alone, from whomever it is, asks nobody.
const AGREED = "lakelens-agreed";
const agreed = new Set();
try {
  for (const url of JSON.parse(sessionStorage.getItem(AGREED) ?? "[]")) agreed.add(url);
} catch { /* nothing is kept here */ }

export function agree(url) {
  agreed.add(url);
  try {
    sessionStorage.setItem(AGREED, JSON.stringify([...agreed]));
  } catch { /* nothing is kept here */ }
}

export const hasAgreed = (url) => agreed.has(url);

// of <input webkitdirectory>: the first part of each path is the folder. No file is asked for its size, for which a browser
// goes to the disk each time.
export function takeChosen(list) {
  const files = [...list];
  const name = files[0].webkitRelativePath.split("/")[0];
  return { source: "folder", name, paths: files.map((file) => file.webkitRelativePath.slice(name.length + 1)), files };
}

export function takeZip(file) {
  return { source: "zip", name: file.name, files: [file], bytes: file.size };
}

// What was dropped: its entries are to be taken at once, before anything is waited for.
export function takeEntries(transfer) {
  return [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
}

const TOGETHER = 16; // directories that are listed at the same time

export async function readEntries(entries, report) {
  const entry = entries.length === 1 ? entries[0] : null;
  if (entry?.isFile && /\.zip$/i.test(entry.name)) return takeZip(await toFile(entry));
  if (!entry?.isDirectory) throw new Error("Drop one folder, or one zip.");
  const paths = [], files = [];
  const directories = [[entry, ""]];
  const list = async ([directory, path]) => {
    const reader = directory.createReader();
    for (;;) {
      const some = await new Promise((done, fail) => reader.readEntries(done, fail));
      if (!some.length) break;
      const there = some.filter((one) => one.isFile);
      const taken = await Promise.all(there.map((one) => toFile(one).catch(() => null))); // one may be gone already
      for (const [at, file] of taken.entries()) {
        if (!file) continue;
        paths.push(path + there[at].name);
        files.push(file);
      }
      for (const one of some) if (one.isDirectory) directories.push([one, `${path}${one.name}/`]);
      report(files.length); // which may throw: the reader has pressed stop
    }
  };
  while (directories.length) await Promise.all(directories.splice(0, TOGETHER).map(list));
  return { source: "folder", name: entry.name, paths, files };
}

const toFile = (entry) => new Promise((done, fail) => entry.file(done, fail));
