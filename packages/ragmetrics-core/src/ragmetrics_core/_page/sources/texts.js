// The texts of a row: what was asked, found, answered and expected, with claims marked where they come from.

/** Under this key a sample tells which side of a comparison it is; names of elements on either side differ by it. */
const SIDE = Symbol("side");
const contextId = (sample, number) => `context-${sample[SIDE] || ""}${number}`;

/** The tables with a key for each claim of the first table about each text: those are marked. */
function keyed(tables, sample) {
  const seen = new Set();
  return tables.map((item, number) => {
    const first = !seen.has(item.about);
    seen.add(item.about);
    return first ? { ...item, keys: item.rows.map((_, claim) => `${sample[SIDE] || ""}${number}-${claim}`) } : item;
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
      const judged = [...row.by, ...row.against].includes(number);
      const cites = !judged && citedPassages(row).includes(number);
      for (const [here, verdict] of [[row.by.includes(number), "supported"], [row.against.includes(number), "contradicted"], [cites, "cited"]]) {
        const span = here && (nearestSentence(row.text, text) || (judged && [0, Array.from(text).length]));
        if (span) found.push(markOf(row, table, claim, span, verdict));
      }
    });
  }
  return found;
}

function sampleTexts(sample, tables) {
  return [
    questionParts(sample),
    textPart("Answer", sample.response, marksOf(tables, "response")),
    textPart("Reference", sample.reference, marksOf(tables, "reference")),
  ];
}

/** The question, below the turns that it follows. */
const questionParts = (sample) => [historyPart(sample.history), textPart("Question", sample.user_input)];

function historyPart(history) {
  const turns = Array.isArray(history) ? history : [history ?? []].flat();
  if (!turns.length) return null;
  return el("details", { class: "part" }, el("summary", null, `Earlier turns (${turns.length})`), el("ol", { class: "contexts" }, turns.map(turnItem)));
}

function turnItem(turn) {
  const known = turn && typeof turn === "object" ? turn : { content: turn };
  const { role, content, ...rest } = known;
  const text = typeof content === "string" ? content : JSON.stringify(content) ?? "";
  return el("li", null, el("p", { class: "limits" }, String(role ?? "")), el("p", { class: "text", dir: "auto" }, text), Object.keys(rest).length ? tree(rest, true) : null);
}

function contextList(sample, tables) {
  const contexts = contextsOf(sample).map((text, number) =>
    el(
      "li",
      { id: contextId(sample, number + 1), tabindex: "-1" },
      el("h3", null, `Context ${number + 1}`, contextSource(sample, number)),
      textBox(text, contextMarks(tables, number + 1, text)),
    ),
  );
  const none = hasContexts(sample) ? "nothing was retrieved" : "the data has no contexts for this row";
  const list = contexts.length ? el("ol", { class: "contexts" }, contexts) : el("p", { class: "open" }, none);
  return el("section", { class: "part" }, el("h2", null, "Contexts, in order"), list);
}

/** Whether the row says what was retrieved, be it nothing: an empty list is not a missing one. */
const hasContexts = (sample) => (sample.retrieved_contexts ?? sample.retrieved_documents ?? null) !== null;

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
  return el("section", { class: "part" }, el("h2", null, title), textBox(whole, marks));
}

const TOLD = new Set(["user_input", "response", "reference", "retrieved_contexts", "id", "history"]);
const restOf = (sample) => Object.fromEntries(Object.entries(sample).filter(([name]) => !TOLD.has(name)));

/** All that the row holds besides: metadata, documents, reference contexts, rubric. */
function metadataPart(sample) {
  const rest = restOf(sample);
  if (!Object.keys(rest).length) return null;
  return el("details", { class: "part", open: "metadata" in rest && Object.keys(rest).length === 1 }, el("summary", null, "Everything else in the row"), tree(rest, true));
}
