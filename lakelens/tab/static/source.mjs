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

// A folder has the paths of its files; `take` gives the file of a number, and `weigh` its size and its time.
//
// Of <input webkitdirectory>: the first part of each path is the folder. No file is asked for its size before somebody wants to
// know it: a browser goes to the disk each time, and so it does for a copy of a file that another thread gets.
export function takeChosen(list) {
  const name = list[0].webkitRelativePath.split("/")[0];
  const paths = Array.from(list, (file) => file.webkitRelativePath.slice(name.length + 1));
  const weigh = async (number) => {
    const file = list[number];
    if (!file.size) await file.slice(0, 1).arrayBuffer(); // one that is gone has no bytes either
    return [file.size, file.lastModified];
  };
  return { source: "folder", name, paths, take: async (number) => list[number], weigh };
}

export function takeZip(file) {
  return { source: "zip", name: file.name, files: [file], bytes: file.size };
}

// What was dropped: its entries are to be taken at once, before anything is waited for.
export function takeEntries(transfer) {
  return [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
}

const TOGETHER = 16; // directories that are listed at the same time

// Of a folder only the names: for each file that is taken a browser keeps some eight kilobytes.
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
      for (const there of some) {
        if (there.isDirectory) directories.push([there, `${path}${there.name}/`]);
        else paths[files.push(there) - 1] = path + there.name;
      }
      report(files.length); // which may throw: the reader has pressed stop
    }
  };
  while (directories.length) await Promise.all(directories.splice(0, TOGETHER).map(list));
  const weigh = async (number) => {
    const entry = files[number];
    if (!entry.getMetadata) return toFile(entry).then((file) => [file.size, file.lastModified]); // not in every browser
    const { size, modificationTime } = await new Promise((done, fail) => entry.getMetadata(done, fail));
    return [size, +modificationTime];
  };
  return { source: "folder", name: entry.name, paths, take: (number) => toFile(files[number]), weigh };
}

const toFile = (entry) => new Promise((done, fail) => entry.file(done, fail));
