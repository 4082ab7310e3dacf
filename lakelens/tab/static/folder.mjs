// A folder of the reader's as a directory of Python's, which is read from and never written to.
//
// Of a hundred thousand files nothing is made before Python asks: a directory is a table of names, and a file's size, for
// which a browser asks the disk each time, is asked for when Python wants to know it. No byte is copied before it is read.
const MISSING = 44, BROKEN = 29, INVALID = 28, READ_ONLY = 69; // ENOENT, EIO, EINVAL, EROFS
const DIRECTORY = 0o40777, FILE = 0o100777;
const BLOCK = 4096;
const TOGETHER = 500; // files whose sizes the page is asked for at once: those beside one are asked for next
const KEPT = 1 << 20; // bytes of a file that is asked for whole: its next part is there already

export class Gone extends Error {}

// Files that were handed to this thread: it reads them by itself.
export function readFiles(files) {
  const reader = new FileReaderSync();
  const read = (number, begin, end) => {
    try {
      return new Uint8Array(reader.readAsArrayBuffer(files[number].slice(begin, end)));
    } catch (error) { // it was there when the folder was opened
      throw error?.name === "NotFoundError" || !files[number] ? new Gone() : error;
    }
  };
  const weigh = (number) => {
    const size = files[number]?.size;
    if (!size) read(number, 0, 1); // one that is gone has no bytes either
    return [size, files[number].lastModified];
  };
  return { weigh, read };
}

// Files that stay with the page, which is asked for what Python wants of them: `ask` waits for the bytes of its answer.
export function askForFiles(ask, count) {
  const known = new Float64Array(2 * count).fill(-1);
  let last = null, content = null;
  const weigh = (number) => {
    if (known[2 * number] === -1) {
      const begin = number - (number % TOGETHER);
      known.set(new Float64Array(ask("weigh", begin, Math.min(begin + TOGETHER, count)).buffer), 2 * begin);
    }
    if (Number.isNaN(known[2 * number])) throw new Gone();
    return [known[2 * number], known[2 * number + 1]];
  };
  const read = (number, begin, end) => {
    const [size] = weigh(number);
    if (size > KEPT) return ask("read", number, begin, end);
    if (last !== number) [last, content] = [number, ask("read", number, 0, size)];
    return content.subarray(begin, end);
  };
  return { weigh, read };
}

// `paths` are those of the files, below the root, each with a number, by which `reach` gives its size and time, and its bytes.
// `told` is told what was looked at, and what was read.
export function mountFolder(FS, root, paths, reach, told) {
  const opened = Date.now();
  const refuse = () => { throw new FS.ErrnoError(READ_ONLY); };

  const attempt = (what, ...given) => {
    try {
      return reach[what](...given);
    } catch (error) {
      throw new FS.ErrnoError(error instanceof Gone ? MISSING : BROKEN);
    }
  };

  const weigh = (node) => {
    if (!node.known) {
      node.known = attempt("weigh", node.number);
      told.looked(node.number);
    }
    return node.known[0];
  };

  const makeNode = (parent, name, mode) => Object.assign(new FS.FSNode(parent, name, mode, 0), { node_ops: nodes, stream_ops: streams });

  const makeDirectory = (parent, name) => Object.assign(makeNode(parent, name, DIRECTORY), { names: new Map() });

  const nodes = {
    getattr(node) {
      const isFile = node.number !== undefined;
      const size = isFile ? weigh(node) : BLOCK;
      const time = new Date(isFile ? node.known[1] : opened);
      return { dev: 1, ino: node.id, mode: node.mode, nlink: 1, uid: 0, gid: 0, rdev: 0, size, atime: time, mtime: time, ctime: time, blksize: BLOCK, blocks: Math.ceil(size / BLOCK) };
    },
    // a file's node lives as long as somebody holds it
    lookup(parent, name) {
      const there = parent.names.get(name);
      if (there === undefined) throw new FS.ErrnoError(MISSING);
      return typeof there === "number" ? Object.assign(makeNode(parent, name, FILE), { number: there }) : there;
    },
    readdir: (node) => [".", "..", ...node.names.keys()],
    setattr: refuse, mknod: refuse, rename: refuse, unlink: refuse, rmdir: refuse, symlink: refuse,
  };

  const streams = {
    read({ node }, buffer, offset, length, position) {
      if (position >= weigh(node)) return 0;
      const content = attempt("read", node.number, position, position + length);
      buffer.set(content, offset);
      told.read(node.number, content.length);
      return content.length;
    },
    write: refuse,
    llseek(stream, offset, whence) {
      const from = whence === 1 ? stream.position : whence === 2 ? weigh(stream.node) : 0;
      if (from + offset < 0) throw new FS.ErrnoError(INVALID);
      return from + offset;
    },
  };

  const find = (steps) => {
    let directory = top;
    for (const step of steps) {
      if (!(directory.names.get(step)?.names)) directory.names.set(step, makeDirectory(directory, step));
      directory = directory.names.get(step);
    }
    return directory;
  };

  const top = makeDirectory(null, "/");
  FS.mkdirTree(root);
  FS.mount({ mount: () => top }, {}, root);
  let before = null, holder = null;
  for (const [place, path] of paths.entries()) {
    const at = path.lastIndexOf("/");
    const directory = path.slice(0, Math.max(at, 0));
    if (directory !== before) [before, holder] = [directory, find(directory.split("/").filter(Boolean))];
    holder.names.set(path.slice(at + 1), place);
  }
}
