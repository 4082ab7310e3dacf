// Compiles the modules of archives with the Python that will run them: node compile.mjs RUNTIME ARCHIVE…
//
// Each archive is replaced by one with the compiled modules in the place of the sources; nothing in it is compressed.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

// the message alone: Node would print the line of the minified runtime that raised it
process.on("uncaughtException", (error) => {
  console.error(error.message);
  process.exit(1);
});
const [runtime, ...archives] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${runtime}/pyodide.mjs`));
// without the columns of a traceback, which are a third of a compiled module
const python = await loadPyodide({ env: { HOME: "/home/pyodide", PYTHONNODEBUGRANGES: "1" }, stdout: (line) => process.stderr.write(`${line}\n`) });
python.runPython(`
import io, zipfile
from importlib._bootstrap_external import _code_to_timestamp_pyc

def compile_archive(content):
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content.to_bytes())) as archive, zipfile.ZipFile(made, "w") as compiled:
        for entry in archive.infolist():
            name, held = entry.filename, archive.read(entry)
            if name.endswith(".py"):
                # the runtime reads its own docstrings
                level = 0 if name.startswith(("_pyodide/", "pyodide/")) else 2
                code = compile(held, name, "exec", dont_inherit=True, optimize=level)
                name, held = f"{name}c", bytes(_code_to_timestamp_pyc(code, 0, 0))
            compiled.writestr(zipfile.ZipInfo(name, entry.date_time), held, zipfile.ZIP_STORED)
    return made.getvalue()
`);
const compileArchive = python.globals.get("compile_archive");
for (const path of archives) {
  const compiled = compileArchive(new Uint8Array(readFileSync(path)));
  writeFileSync(path, compiled.toJs());
  compiled.destroy();
}
