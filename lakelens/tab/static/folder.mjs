// A folder of the reader's as a directory of Python's, which is read from and never written to.
//
// Of a hundred thousand files nothing is made before Python asks: a directory is a table of names, and a file's size, for
// which a browser asks the disk each time, is asked for when Python wants to know it. No byte is copied before it is read.
const MISSING = 44, BROKEN = 29, INVALID = 28, READ_ONLY = 69; // ENOENT, EIO, EINVAL, EROFS
const DIRECTORY = 0o40777, FILE = 0o100777;
const BLOCK = 4096;

// `paths` are those of `files`, below the root. `told` is told what was looked at, and what was read.
export function mountFolder(FS, root, paths, files, told) {
  const reader = new FileReaderSync();
  const opened = Date.now();
  const refuse = () => { throw new FS.ErrnoError(READ_ONLY); };

  const read = (file, begin, end) => {
    try {
      return new Uint8Array(reader.readAsArrayBuffer(file.slice(begin, end)));
    } catch (error) { // it was there when the folder was opened
      throw new FS.ErrnoError(error?.name === "NotFoundError" ? MISSING : BROKEN);
    }
  };

  // a file that is gone has no bytes either
  const weigh = (node) => {
    if (node.bytes === undefined) {
      node.bytes = node.file.size;
      if (!node.bytes) read(node.file, 0, 1);
      told.looked(node.file);
    }
    return node.bytes;
  };

  const makeNode = (parent, name, mode) => Object.assign(new FS.FSNode(parent, name, mode, 0), { node_ops: nodes, stream_ops: streams });

  const makeDirectory = (parent, name) => Object.assign(makeNode(parent, name, DIRECTORY), { names: new Map() });

  const nodes = {
    getattr(node) {
      const size = node.file ? weigh(node) : BLOCK;
      const time = new Date(node.file?.lastModified ?? opened);
      return { dev: 1, ino: node.id, mode: node.mode, nlink: 1, uid: 0, gid: 0, rdev: 0, size, atime: time, mtime: time, ctime: time, blksize: BLOCK, blocks: Math.ceil(size / BLOCK) };
    },
    // a file's node lives as long as somebody holds it
    lookup(parent, name) {
      const there = parent.names.get(name);
      if (there === undefined) throw new FS.ErrnoError(MISSING);
      return typeof there === "number" ? Object.assign(makeNode(parent, name, FILE), { file: files[there] }) : there;
    },
    readdir: (node) => [".", "..", ...node.names.keys()],
    setattr: refuse, mknod: refuse, rename: refuse, unlink: refuse, rmdir: refuse, symlink: refuse,
  };

  const streams = {
    read({ node }, buffer, offset, length, position) {
      if (position >= weigh(node)) return 0;
      const content = read(node.file, position, position + length);
      buffer.set(content, offset);
      told.read(node.file, content.length);
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
