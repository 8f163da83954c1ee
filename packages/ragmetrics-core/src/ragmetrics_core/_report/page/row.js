// One row: what was asked, found, answered and expected, with the evidence of one of its scores marked in the texts.

let currentRow = null;
let currentMetric = null;

/** Show a row in the place of the table. */
async function showRow(row) {
  const record = await evidenceOf(row);
  currentRow = row;
  if (currentMetric === null) currentMetric = worstMetric(row);
  byId("overview").hidden = true;
  byId("top").hidden = true;
  byId("row").hidden = false;
  draw(row, record);
  scrollTo(0, 0);
  byId("row").focus({ preventScroll: true });
}

/** The metric by which the row is worst: the one to look at first. */
function worstMetric(row) {
  let [found, least] = [0, Infinity];
  metrics.forEach((metric, number) => {
    const { value, state } = scoreAt(row, number);
    const share = shareOf(value, metric.scale);
    const good = state === "f" ? -1 : share === null || metric.better === null ? 2 : metric.better ? share : 1 - share;
    if (good < least) [found, least] = [number, good];
  });
  return found;
}

function draw(row, record) {
  const head = [
    el("p", { class: "kicker" }, index.places[row]),
    el("h1", { id: "row-title", dir: "auto" }, nameOf(row)),
  ];
  const parts = record ? [recordParts(row, record)] : [withoutEvidence(row)];
  fill(byId("row"), rowPages(row), head, parts);
}

/** The ways out of a row: to the table, to the rows before and after it there. */
function rowPages(row) {
  const at = shown.indexOf(row);
  const way = (step, text) => {
    const next = at < 0 ? undefined : shown[at + step];
    return next === undefined ? el("span", { class: "open" }, text) : el("a", { href: addressOf(next) }, text);
  };
  const place = at < 0 ? "" : `${at + 1} of ${shown.length.toLocaleString("en")}`;
  return el("nav", { class: "row-pages", "aria-label": "Rows" }, el("a", { href: "#rows" }, "← All rows"), el("span", null, way(-1, "← Previous"), " ", place, " ", way(1, "Next →")));
}

function toNeighbour(step) {
  const at = shown.indexOf(currentRow);
  if (at >= 0 && shown[at + step] !== undefined) location.hash = addressOf(shown[at + step]);
}

function withoutEvidence(row) {
  const notes = index.notes[row] || [];
  const scores = metrics.map((metric, number) => el("div", null, el("dt", { dir: "auto" }, metric.name), el("dd", null, scoreText(scoreAt(row, number), metric.scale), notes[number] ? el("p", { class: "reason", dir: "auto" }, notes[number]) : null)));
  return [
    el("p", { class: "caveat" }, "The evidence of this row did not fit into this file, where that of the worst rows went in first. A larger file has it: max_megabytes of to_html. Texts are cut here."),
    textPart("Question", index.questions[row]),
    textPart("Answer", index.answers[row]),
    el("section", { class: "scores" }, el("h2", null, "Scores"), el("dl", { class: "tree" }, scores)),
  ];
}

function recordParts(row, record) {
  const { sample, scores } = record;
  const score = scores[metrics[currentMetric].name];
  const tables = keyed(claimTables(score.details || {}, sample));
  return el(
    "div",
    { class: "columns" },
    el("div", { class: "texts" }, sampleTexts(sample, tables), metadataPart(sample)),
    el("div", { class: "evidence" }, scoreTabs(row, record), el("div", { id: "panel", role: "tabpanel", tabindex: "0", "aria-labelledby": `tab-${currentMetric}` }, scoreEvidence({ ...score, details: score.details || {} }, tables, sample))),
  );
}

/** The tables with a key for each claim of the first table about each text: those are marked. */
function keyed(tables) {
  const seen = new Set();
  return tables.map((item, number) => {
    const first = !seen.has(item.about);
    seen.add(item.about);
    return first ? { ...item, keys: item.rows.map((_, claim) => `${number}-${claim}`) } : item;
  });
}

function marksOf(tables, about) {
  const table = tables.find((item) => item.keys && item.about === about);
  if (!table) return [];
  return table.rows.map((row, number) => markOf(row, table, number, row.span));
}

function markOf(row, table, number, span, verdict) {
  const shownVerdict = verdict || row.verdict;
  const { mark, kind } = VERDICTS[shownVerdict] || { mark: "", kind: "open" };
  const name = numberOf(table, number);
  return { span, kind, mark, number: name, key: table.keys[number], word: `claim ${name}: ${shownVerdict || "no verdict"}` };
}

/** Where a context speaks for claims, and against them: the sentence whose words are nearest. */
function contextMarks(tables, number, text) {
  const found = [];
  for (const table of tables.filter((item) => item.keys && item.by === "contexts")) {
    table.rows.forEach((row, claim) => {
      for (const [passages, verdict] of [[row.by, "supported"], [row.against, "contradicted"]]) {
        if (!passages.includes(number)) continue;
        const span = nearestSentence(row.text, text) || [0, Array.from(text).length];
        found.push(markOf(row, table, claim, span, verdict));
      }
    });
  }
  return found;
}

function sampleTexts(sample, tables) {
  const contexts = contextsOf(sample).map((text, number) =>
    el("li", { id: `context-${number + 1}`, tabindex: "-1" }, el("h3", null, `Context ${number + 1}`, contextSource(sample, number)), el("p", { class: "text", dir: "auto" }, marked(text, contextMarks(tables, number + 1, text)))),
  );
  return [
    textPart("Question", sample.user_input),
    textPart("Answer", sample.response, marksOf(tables, "response")),
    textPart("Reference", sample.reference, marksOf(tables, "reference")),
    el("section", { class: "part" }, el("h2", null, "Contexts, in order"), contexts.length ? el("ol", { class: "contexts" }, contexts) : el("p", { class: "open" }, "nothing was retrieved")),
  ];
}

function contextsOf(sample) {
  const given = sample.retrieved_contexts ?? (sample.retrieved_documents || []).map((item) => (item && typeof item === "object" ? item.content ?? item.id ?? "" : item));
  return Array.isArray(given) ? given.map((item) => (typeof item === "string" ? item : JSON.stringify(item))) : [];
}

function contextSource(sample, number) {
  const document = (sample.retrieved_documents || [])[number];
  const name = document && typeof document === "object" ? document.id : null;
  return name === null || name === undefined ? null : el("span", { class: "limits", dir: "auto" }, ` ${name}`);
}

function textPart(title, text, marks) {
  if (text === undefined || text === null) return null;
  const whole = typeof text === "string" ? text : JSON.stringify(text);
  const body = whole.trim() ? marked(whole, marks || []) : el("span", { class: "open" }, "blank");
  return el("section", { class: "part" }, el("h2", null, title), el("p", { class: "text", dir: "auto" }, body));
}

/** All that the row holds besides: metadata, documents, reference contexts, rubric. */
function metadataPart(sample) {
  const told = new Set(["user_input", "response", "reference", "retrieved_contexts", "id"]);
  const rest = Object.fromEntries(Object.entries(sample).filter(([name]) => !told.has(name)));
  if (!Object.keys(rest).length) return null;
  return el("details", { class: "part", open: "metadata" in rest && Object.keys(rest).length === 1 }, el("summary", null, "Everything else in the row"), tree(rest));
}

/** The scores of the row; the chosen one is the one whose evidence is shown. */
function scoreTabs(row, record) {
  const tabs = metrics.map((metric, number) => {
    const chosen = number === currentMetric;
    return el(
      "button",
      { type: "button", role: "tab", id: `tab-${number}`, "aria-selected": chosen ? "true" : "false", "aria-controls": "panel", tabindex: chosen ? "0" : "-1", onclick: () => chooseMetric(row, record, number) },
      el("bdi", { class: "name" }, metric.name),
      scoreText(scoreAt(row, number), metric.scale),
    );
  });
  return el("div", { role: "tablist", class: "tabs", "aria-label": "Scores of this row", onkeydown: (event) => tabKeys(event, row, record) }, tabs);
}

function chooseMetric(row, record, number) {
  currentMetric = number;
  draw(row, record);
  byId(`tab-${number}`).focus({ preventScroll: true });
}

function tabKeys(event, row, record) {
  const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
  const to = event.key === "Home" ? 0 : event.key === "End" ? metrics.length - 1 : step && (currentMetric + step + metrics.length) % metrics.length;
  if (to === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  chooseMetric(row, record, to);
}
