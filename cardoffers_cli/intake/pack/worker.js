// Runs the check beside the page, so that the page always answers. Python and the rules come from
// the page itself; nothing is fetched, and the policy of the page would not let it.

const SLICE = 1 << 20;
const NOWHERE = "https://runtime.invalid/";
const ASKED = new Map(); // what Python's loader would fetch, by its URL
let python = null;
let started = null;
let wanted = 0; // the number of the check that goes on; another one cancels it

self.fetch = async (url) => {
  const [bytes, type] = ASKED.get(String(url)) ?? [];
  return bytes
    ? new Response(bytes, { headers: { "content-type": type } })
    : new Response(null, { status: 404 });
};

self.importScripts = () => {
  throw new Error("nothing is imported");
};

self.onmessage = async ({ data }) => {
  try {
    if (data.type === "start") await (started = start(data));
    else if (data.type === "check") await started.then(() => check(data));
    else if (data.type === "cancel") wanted = data.number + 1;
  } catch (error) {
    // Only the kind of an error leaves: its words could hold what stands in a row.
    self.postMessage({ type: "failed", number: data.number, message: String(error.type ?? error.name) });
  }
};

async function start({ wasm, stdlib, rules }) {
  ASKED.set(`${NOWHERE}pyodide.asm.wasm`, [wasm, "application/wasm"]);
  ASKED.set(`${NOWHERE}python_stdlib.zip`, [stdlib, "application/zip"]);
  const loaded = await loadPyodide({
    indexURL: NOWHERE,
    packageBaseUrl: NOWHERE,
    lockFileContents: LOCK,
    createPyodideModule,
    fullStdLib: false,
  });
  ASKED.clear();
  loaded.FS.writeFile("/rules.zip", rules);
  python = loaded.runPython(`
import sys
sys.path.insert(0, "/rules.zip")
from pyodide.ffi import to_js
from cardoffers_cli.intake.pack.checking import Checking

def take(parts):
    """Return the next parts, together some MiB at most, as bytes of JavaScript; None at the end."""
    taken, size = [], 0
    for part in parts:
        taken.append(part)
        size += len(part)
        if size >= 1 << 20:
            break
    return to_js(b"".join(taken)) if taken else None

{"Checking": Checking, "take": take, "version": sys.version.split()[0]}
`);
  self.postMessage({ type: "ready", python: python.get("version") });
}

async function check({ number, file, options }) {
  wanted = number;
  const checking = python.get("Checking")(file.name, JSON.stringify(options));
  try {
    const ended = await read(file, number, (block, at) => {
      const isMoreWanted = checking.feed(block);
      self.postMessage({ type: "progress", number, bytes: at, rows: checking.rows });
      return isMoreWanted;
    });
    if (!ended) return self.postMessage({ type: "cancelled", number });
    const json = checking.finish();
    self.postMessage({ type: "verdict", number, json });
    if (!JSON.parse(json).file_error) await offer(checking, number, file);
    self.postMessage({ type: "ended", number });
  } finally {
    checking.destroy();
  }
}

// What the command writes to files; rows are copied as they come, so the file is read once more.
async function offer(checking, number, file) {
  const errors = new Blob([...taken(checking.errors())], { type: "text/csv" });
  self.postMessage({ type: "errors", number, blob: errors });
  const parts = [];
  await read(file, number, (block) => {
    parts.push(...taken(checking.reject(block)));
  });
  parts.push(...taken(checking.rejected()));
  self.postMessage({ type: "rejected", number, blob: new Blob(parts) });
}

async function read(file, number, each) {
  for (let at = 0; at < file.size; ) {
    const block = new Uint8Array(await file.slice(at, at + SLICE).arrayBuffer());
    if (wanted !== number) return false;
    at += block.length;
    if (each(block, at) === false) break;
  }
  return true;
}

function* taken(parts) {
  const take = python.get("take");
  for (let part; (part = take(parts)); ) yield part;
  parts.destroy();
}
