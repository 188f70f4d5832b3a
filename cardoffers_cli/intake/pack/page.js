"use strict";
// The page: reads what the reader chooses, hands it to the worker, and shows the verdict. All text
// goes in as text, never as markup: the name of a file is somebody else's.

const told = (id) => JSON.parse(document.getElementById(id).textContent);
const at = (id) => document.getElementById(id);
const ABOUT = told("about-this");
const WORDS = told("words");
const LANGUAGES = Object.keys(WORDS);
const MOST_LINES = 10;

const now = { phase: "preparing", number: 0, file: null, verdict: null, files: {}, message: "" };
let worker = null;
let language = LANGUAGES[0];

// Words and numbers in the language of the reader

const words = () => WORDS[language].page;
const number = (value) => new Intl.NumberFormat(language).format(value);
const percent = (share) =>
  new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 }).format(share);

function say(key, values = {}, count = null) {
  const found = words()[key];
  const form = count === null ? found : found[new Intl.PluralRules(language).select(count)] ?? found.other;
  return form.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

function sentence(text) {
  return /^\S*_/.test(text) ? text : text.charAt(0).toLocaleUpperCase(language) + text.slice(1);
}

function advice(code, found) {
  return WORDS[language].codes[code] ?? { summary: code, fix: found.fix ?? "" };
}

// Parts of the page

function element(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

// Names of fields, options and values are set as code.
const CODED = /(--[a-z-]+|`[^`]+`|\b[a-z]+(?:_[a-z]+)+\b)/;
const coded = (text) =>
  text.split(CODED).map((part, place) =>
    place % 2 ? element("code", {}, part.replaceAll("`", "")) : part);

function fact(name, text, note = "") {
  const made = element("div", {}, element("dt", {}, name), element("dd", {}, text));
  if (note) made.append(element("dd", { class: "beside" }, note));
  return made;
}

function show() {
  document.documentElement.lang = language;
  document.title = say("title");
  for (const each of document.querySelectorAll("[data-text]")) {
    each.textContent = say(each.dataset.text);
  }
  at("institution").textContent = ABOUT.institution ? say("institution", ABOUT) : "";
  const busy = now.phase === "checking";
  at("file").disabled = ["preparing", "unsupported"].includes(now.phase) || busy;
  at("cancel").hidden = at("progress").hidden = at("read").hidden = !busy;
  at("state").textContent = stateText();
  showVerdict();
  showAbout();
}

function stateText() {
  const name = now.file ? now.file.name : "";
  if (now.phase === "done") return "";
  return say(now.phase, { name, message: now.message });
}

function showProgress(bytes, rows) {
  const share = now.file.size ? bytes / now.file.size : 1;
  at("progress").value = share;
  at("read").textContent = say("progress", { percent: percent(share), rows: number(rows) });
}

function showVerdict() {
  const verdict = now.verdict;
  at("verdict").hidden = !verdict;
  if (!verdict) return;
  at("answer").textContent = answer(verdict);
  const error = verdict.file_error;
  at("said").replaceChildren(...(error ? saidOf(error) : []));
  at("facts").hidden = Boolean(error);
  at("facts").replaceChildren(
    fact(say("received"), number(verdict.received)),
    fact(say("valid"), number(verdict.valid)),
    fact(say("invalid"), number(verdict.invalid)),
    fact(say("duplicates"), number(verdict.duplicates), verdict.conflicts
      ? say("conflicts", { count: number(verdict.conflicts) }, verdict.conflicts) : ""),
  );
  at("nothing").hidden = Boolean(error) || verdict.findings.length > 0;
  at("findings").hidden = !verdict.findings.length;
  const ordered = [...verdict.findings].sort((one, other) =>
    (one.level !== "error") - (other.level !== "error"));
  at("rows").replaceChildren(...ordered.map((found) => findingRow(found, verdict)));
  at("lines-title").textContent = linesTitle(verdict);
  showFiles(verdict);
}

const linesTitle = (verdict) => say(verdict.kind === "json" ? "items" : "lines");

function answer(verdict) {
  const { name } = now.file;
  if (verdict.file_error) {
    const { summary } = advice(verdict.file_error.code, verdict.file_error);
    return say("unusable", { name, meaning: summary });
  }
  const wrong = verdict.invalid + verdict.conflicts;
  const values = { name, rows: number(verdict.received), wrong: number(wrong) };
  if (!verdict.received) return say("empty", values);
  if (!verdict.ok) return say("bad", values, wrong);
  const purchases = verdict.can_be_taken - (verdict.refunds?.can_be_taken ?? 0);
  const earns = verdict.can_earn !== 0 || !purchases;
  return say(earns ? "good" : "cannot_earn", values, verdict.received);
}

function saidOf(error) {
  const { fix } = advice(error.code, error);
  const parts = [element("p", {}, ...coded(`${sentence(fix)}.`))];
  const place = error.line === null ? "" : `${say("line", { line: number(error.line) })} `;
  const own = element("span", { lang: "en" }, [error.message, error.hint].filter(Boolean).join(" "));
  return [...parts, element("p", { class: "about" }, `${place}${say("said")} `, own)];
}

function findingRow(found, verdict) {
  const { summary, fix } = advice(found.code, found);
  const meaning = element("th", { role: "rowheader", scope: "row" }, ...coded(sentence(summary)));
  if (found.message) {
    meaning.append(element("p", { class: "note", lang: "en" }, found.message));
  }
  const style = { error: "alarm", warning: "warn" }[found.level] ?? "";
  return element("tr", { role: "row" },
    meaning,
    cell(say("level"), "w", element("span", { class: `state ${style}` }, say(found.level))),
    cell(say("rows"), "n", found.rows ? number(found.rows) : ""),
    cell(linesTitle(verdict), "", linesOf(found)),
    cell(say("fix"), "", ...coded(sentence(fix))),
    cell(say("code"), "", element("code", {}, found.code)));
}

function cell(title, style, ...inside) {
  return element("td", { role: "cell", "data-of": title, class: style }, ...inside);
}

function linesOf(found) {
  const shown = found.lines.slice(0, MOST_LINES).map(String).join(", ");
  const more = found.rows - Math.min(found.lines.length, MOST_LINES);
  return shown && more > 0 ? say("more", { lines: shown, count: number(more) }) : shown;
}

function showFiles(verdict) {
  const names = { errors: "errors.csv", rejected: `rejected.${verdict.kind ?? "csv"}`, verdict: "verdict.json" };
  for (const [key, name] of Object.entries(names)) {
    const link = at(`take-${key}`);
    link.parentElement.hidden = !now.files[key];
    link.textContent = link.download = name;
    if (now.files[key]) link.href = now.files[key];
  }
}

function showAbout() {
  const verdict = now.verdict;
  const facts = [
    ...(verdict && verdict.sha256
      ? [["file", now.file.name], ["size", number(verdict.bytes)], ["sha256", verdict.sha256]] : []),
    ["version", `cardoffers ${ABOUT.version}`],
    ["rules", ABOUT.rules_sha256],
    ["currency", ABOUT.currency ?? say("any_currency")],
    ["delimiter", ABOUT.profile ? null : ABOUT.delimiter],
    ["assumed", ABOUT.assume_timezone],
    ["profile", ABOUT.profile],
    ["profile_digest", ABOUT.profile_sha256],
    ["runtime", `Pyodide ${ABOUT.pyodide}`],
  ];
  at("about").replaceChildren(
    ...facts.filter(([, text]) => text).map(([key, text]) => fact(say(key), text)));
}

// The check

async function unpacked(id) {
  const holder = at(id);
  const text = atob(holder.textContent.trim());
  holder.remove();
  const bytes = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place += 1) bytes[place] = text.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

const parts = {};

async function prepare() {
  try {
    for (const id of ["worker", "wasm", "stdlib", "rules"]) parts[id] = await unpacked(id);
    start();
  } catch {
    unsupported();
  }
}

function start() {
  const script = new Blob([parts.worker], { type: "text/javascript" });
  worker = new Worker(URL.createObjectURL(script));
  worker.onmessage = ({ data }) => heard(data);
  worker.onerror = unsupported;
  const { wasm, stdlib, rules } = parts;
  worker.postMessage({ type: "start", wasm, stdlib, rules });
}

function unsupported() {
  now.phase = "unsupported";
  show();
}

function check(file) {
  if (!["ready", "done", "cancelled", "failed"].includes(now.phase)) return;
  forget();
  Object.assign(now, { phase: "checking", file, verdict: null, number: now.number + 1 });
  const options = { ...ABOUT.options, now: new Date().toISOString().slice(0, 19) };
  worker.postMessage({ type: "check", number: now.number, file, options });
  at("files").setAttribute("aria-busy", "true");
  showProgress(0, 0);
  show();
  at("cancel").focus();
}

function forget() {
  for (const url of Object.values(now.files)) URL.revokeObjectURL(url);
  now.files = {};
}

function heard(data) {
  if (data.type === "ready") return now.phase === "preparing" ? became("ready") : undefined;
  if (data.type === "failed" && data.number === undefined) return unsupported();
  if (data.number !== now.number) return undefined;
  if (data.type === "progress") return showProgress(data.bytes, data.rows);
  if (data.type === "verdict") return judged(data.json);
  if (data.type === "ended") return at("files").setAttribute("aria-busy", "false");
  if (data.type === "cancelled") return became("cancelled", at("file"));
  if (data.type === "failed") return failed(data.message);
  now.files[data.type] = URL.createObjectURL(data.blob);
  return showFiles(now.verdict);
}

// A Python that ran out of memory answers no more, so another one is started.
function failed(message) {
  worker.terminate();
  start();
  now.message = message;
  now.verdict = null;
  became("failed", at("file"));
}

function judged(json) {
  now.verdict = JSON.parse(json);
  now.files.verdict = URL.createObjectURL(new Blob([json], { type: "application/json" }));
  became("done", at("answer"));
}

function became(phase, focused = null) {
  now.phase = phase;
  show();
  if (focused) focused.focus();
}

// The reader

function speak(chosen) {
  language = chosen;
  at("language").value = chosen;
  show();
}

function begin() {
  const select = at("language");
  for (const each of LANGUAGES) {
    select.append(element("option", { value: each, lang: each }, WORDS[each].page.language));
  }
  select.closest("p").hidden = LANGUAGES.length < 2;
  select.addEventListener("change", () => speak(select.value));
  at("file").addEventListener("change", ({ target }) => {
    if (target.files.length) check(target.files[0]);
  });
  at("file").addEventListener("click", ({ target }) => {
    target.value = ""; // or the same file could not be chosen again
  });
  at("cancel").addEventListener("click", () =>
    worker.postMessage({ type: "cancel", number: now.number }));
  at("print").addEventListener("click", () => window.print());
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
    document.addEventListener(kind, (event) => {
      event.preventDefault();
      document.body.classList.toggle("over", kind === "dragenter" || kind === "dragover");
    });
  }
  document.addEventListener("drop", ({ dataTransfer }) => {
    if (dataTransfer.files.length) check(dataTransfer.files[0]);
  });
  const first = (tag) => LANGUAGES.find((each) => each.split("-")[0] === tag.split("-")[0]);
  speak(navigator.languages.map(first).find(Boolean) ?? LANGUAGES[0]);
  prepare();
}

begin();
