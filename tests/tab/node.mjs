// Runs a module of Python in Pyodide: node node.mjs RUNTIME PACKAGES MOUNTS MODULE [ARGUMENT…]
//
// MOUNTS says in JSON which directories of the machine it sees, by the paths where it sees them; the packages are unpacked into
// its memory. The module runs at /checkout, and its exit status is this process's.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

// the message alone: Node would print the line of the minified runtime that raised it
process.on("uncaughtException", error => {
  console.error(error.message);
  process.exit(1);
});
const [runtime, packages, mounts, ...command] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${runtime}/pyodide.mjs`));
const env = { HOME: "/home/pyodide", PYTHONDONTWRITEBYTECODE: "1" };
for (const name of Object.keys(process.env)) if (name.startsWith("LAKELENS_")) env[name] = process.env[name];
const python = await loadPyodide({
  env,
  stdout: line => process.stdout.write(`${line}\n`),
  stderr: line => process.stderr.write(`${line}\n`),
});
python.unpackArchive(new Uint8Array(readFileSync(packages)), "zip", { extractDir: "/packages" });
for (const [path, folder] of Object.entries(JSON.parse(mounts))) python.mountNodeFS(path, folder);
python.globals.set("command", python.toPy(command));
process.exitCode = python.runPython(`
import os, runpy, sys

sys.path[:0] = ["/checkout", "/packages"]
os.chdir("/checkout")
sys.argv = command
status = 0
try:
    runpy.run_module(command[0], run_name="__main__", alter_sys=True)
except SystemExit as end:
    status = end.code if isinstance(end.code, int) else int(end.code is not None)
    if isinstance(end.code, str):
        print(end.code, file=sys.stderr)
sys.stdout.flush()
status
`);
