// Starts Pyodide from files beside this one, unpacks packages and code into its memory, and walks the samples.
import { loadPyodide } from "./runtime/pyodide.mjs";

const fetchBytes = async name => {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return response.arrayBuffer();
};

const walk = async ({ directory, names }) => {
  const [python, packages, code] = await Promise.all([
    loadPyodide({ env: { HOME: "/home/pyodide", LAKELENS_STRICT_VIEWS: "1" } }),
    fetchBytes("packages.zip"),
    fetchBytes("code.zip"),
  ]);
  python.unpackArchive(packages, "zip", { extractDir: "/packages" });
  python.unpackArchive(code, "zip", { extractDir: "/checkout" });
  python.globals.set("directory", directory);
  python.globals.set("names", python.toPy(names));
  return python.runPython(`
import sys

sys.path[:0] = ["/checkout", "/packages"]
from tests.tab.walk import walk_samples

walk_samples(directory, names)
`);
};

self.onmessage = ({ data }) => {
  walk(data).then(answers => self.postMessage({ answers }), error => self.postMessage({ error: String(error) }));
};
