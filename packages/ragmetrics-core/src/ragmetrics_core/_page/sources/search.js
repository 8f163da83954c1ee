// Search in the evidence: contexts, claims, reasons and all else that is known of a row. It lies packed in blocks, so it is unpacked
// and searched in the background, block by block, after the columns of the table, which are searched at once. A block is dropped
// when it has been searched: only the rows that were found are kept, each with the words around the first hit. The page says of
// what the evidence of a row consists: recordsOf(evidence).

const SEARCH_PAUSE = 250; // milliseconds after the last key, as every letter of a word would begin anew
const SEARCH_NEWS = 400; // milliseconds between two views of what was found so far
const AROUND = 40; // characters on each side of a hit
const deep = { key: "", words: [], found: new Map(), done: 0, running: false, timer: 0, run: 0 };

const plain = (text) => text.normalize("NFC").toLowerCase();

/** Search the evidence for these words, unless they are those of the last search. */
function searchEvidence(words) {
  const key = words.join(" ");
  if (key === deep.key) return;
  clearTimeout(deep.timer);
  const run = deep.run + 1;
  const running = words.length > 0 && placeOf.size > 0;
  Object.assign(deep, { key, words, found: new Map(), done: 0, running, run });
  if (running) deep.timer = setTimeout(() => searchBlocks(run), SEARCH_PAUSE);
  tellSearched();
}

async function searchBlocks(run) {
  try {
    let [known, told] = [0, performance.now()];
    for (const [block, rows] of blockRows.entries()) {
      const evidence = blocks.get(block) ?? (await unpacked(`block-${block}`));
      if (run !== deep.run) return; // other words were asked for meanwhile
      rows.forEach((row, position) => searchRow(row, evidence[position]));
      deep.done += rows.length;
      if (performance.now() - told > SEARCH_NEWS) {
        if (deep.found.size > known) showFound();
        tellSearched();
        [known, told] = [deep.found.size, performance.now()];
      }
      await new Promise((done) => setTimeout(done)); // what a reader does meanwhile comes first
      if (run !== deep.run) return;
    }
    deep.running = false;
    showFound();
    tellSearched();
  } catch (error) {
    byId("searched").textContent = `The evidence cannot be searched: ${error.message}`;
    throw error;
  }
}

/** Keep a row if its evidence has the words that its columns lack. */
function searchRow(row, evidence) {
  const missing = deep.words.filter((word) => !searched[row].includes(word));
  if (!missing.length) return;
  const texts = recordsOf(evidence).flatMap(recordTexts);
  const lower = texts.map(plain);
  if (!missing.every((word) => lower.some((text) => text.includes(word)))) return;
  deep.found.set(row, around(texts[lower.findIndex((text) => text.includes(missing[0]))], missing[0]));
}

/** All texts of a record: its sample, and what its scores rest on. */
function recordTexts({ sample, scores }) {
  const judged = Object.values(scores).map(({ reason, error, label, details }) => [reason, error, label, { ...details, prompts: null }]);
  return textsIn([sample, judged]);
}

function textsIn(value) {
  if (typeof value === "string") return [value];
  return value && typeof value === "object" ? Object.values(value).flatMap(textsIn) : [];
}

/** The words around a hit, on one line. */
function around(text, word) {
  const at = plain(text).indexOf(word);
  const [start, end] = [Math.max(0, at - AROUND), at + word.length + AROUND];
  const cut = wholeText(text.slice(start, end)).replace(/\s+/g, " ");
  return `${start ? "…" : ""}${cut}${end < text.length ? "…" : ""}`;
}

/** Where in its evidence a row has the words. */
function hitOf(row) {
  const hit = deep.found.get(row);
  return hit === undefined ? null : el("span", { class: "hit" }, el("b", null, "evidence"), " ", el("bdi", null, hit));
}

/** Show the table with what was found so far; a link that had the focus keeps it. */
function showFound() {
  const focused = document.activeElement?.closest("#table a")?.getAttribute("href");
  showTable();
  if (focused) [...document.querySelectorAll("#table a")].find((item) => item.getAttribute("href") === focused)?.focus({ preventScroll: true });
}

/** Say how far the search is, and what it could not read. */
function tellSearched() {
  const left = rowCount - placeOf.size;
  const without = left ? ` The evidence of ${count(left, "row")} is not in this file and is not searched.` : "";
  const cut = cutRows ? ` Contexts that were left out of ${count(cutRows, "row")} are not searched either.` : "";
  const all = count(placeOf.size, "row");
  const done = `The evidence of ${all} was searched: ${count(deep.found.size, "more row")} found.`;
  const far = deep.running ? `Searching the evidence: ${deep.done.toLocaleString("en")} of ${all}.` : done;
  byId("searched").textContent = deep.words.length ? far + without + cut : "";
}
