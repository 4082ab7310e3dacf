// Compiles modules of an archive with the Python that will run them: node compile.mjs RUNTIME ARCHIVE FIRST
//
// The archive is replaced by one that nothing is compressed in. FIRST has the names of modules, a line each, that a first page
// asks for: these are compiled. The others stay sources, which are a third as long where they are sent, without their
// docstrings and comments; a page that asks for one of them compiles it.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

// the message alone: Node would print the line of the minified runtime that raised it
process.on("uncaughtException", (error) => {
  console.error(error.message);
  process.exit(1);
});
const [runtime, path, first] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${runtime}/pyodide.mjs`));
// without the columns of a traceback, which are a third of a compiled module
const python = await loadPyodide({ env: { HOME: "/home/pyodide", PYTHONNODEBUGRANGES: "1" }, stdout: (line) => process.stderr.write(`${line}\n`) });
python.runPython(`
import ast, io, zipfile
from importlib._bootstrap_external import _code_to_timestamp_pyc
from types import CodeType

def drop_lines(code):
    # nobody sees a traceback in a tab: all of a function is in its first line, in entries for eight units of two bytes each
    units = len(code.co_code) // 2
    lines = b"".join(bytes((0x80 | 13 << 3 | min(8, units - at) - 1, 0)) for at in range(0, units, 8))
    constants = tuple(drop_lines(held) if isinstance(held, CodeType) else held for held in code.co_consts)
    return code.replace(co_linetable=lines, co_consts=constants)

def strip(source):
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
                node.body[:1] = [] if len(node.body) > 1 or isinstance(node, ast.Module) else [ast.Pass()]
    return ast.unparse(tree).encode() + b"\\n"

def compile_archive(content, first):
    wanted, files, made = set(first.split()), [], io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content.to_bytes())) as archive:
        for entry in archive.infolist():
            name, held = entry.filename, archive.read(entry)
            if name.endswith(".py"):
                # the runtime reads its own docstrings
                is_own = name.startswith(("_pyodide/", "pyodide/"))
                module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
                if is_own or module in wanted:
                    code = compile(held, name, "exec", dont_inherit=True, optimize=0 if is_own else 2)
                    name, held = f"{name}c", bytes(_code_to_timestamp_pyc(drop_lines(code), 0, 0))
                else:
                    held = strip(held)
            files.append((name.rpartition(".")[2], name, held))
    with zipfile.ZipFile(made, "w") as compiled:
        for _, name, held in sorted(files):  # compiled modules beside each other are packed to less
            compiled.writestr(zipfile.ZipInfo(name), held, zipfile.ZIP_STORED)
    return made.getvalue()
`);
const compiled = python.globals.get("compile_archive")(new Uint8Array(readFileSync(path)), readFileSync(first, "utf8"));
writeFileSync(path, compiled.toJs());
compiled.destroy();
