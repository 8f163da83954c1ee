// One row of two runs: what changed by one metric, then both answers, both scores with their evidence, and both sets of contexts.

const SIDES = ["Before", "After"];
const chosenRecord = [0, 0]; // where a row stands several times in a run: which of them is shown

/** What a page of two runs has besides the table: links from slices to their rows. */
function startPage(found) {
  runNames = found.names;
  index.order.forEach((row, rank) => { ranks[row] = rank; });
  linkWorse();
  for (const cell of document.querySelectorAll("#slices th[data-slice]")) {
    const { slice, value } = cell.dataset;
    if (!(own(index.metadata, slice) || []).includes(value ?? null)) continue;
    const choose = () => chooseSlice(slice, value ?? null);
    fill(cell, el("button", { type: "button", class: "link", dir: "auto", title: "Show these rows", onclick: choose }, cell.textContent));
  }
}

/** Lead from the sentence to the rows that got worse. */
function linkWorse() {
  if (ranks.every((_, row) => mostOf(row, WORSE) === 0)) return;
  const link = el("a", { href: `#rows&kind=${WORSE}`, onclick: () => byId("rows").scrollIntoView() }, "Show the rows that got worse");
  document.querySelector(".sentence").append(" ", link);
}

const recordsOf = ({ sides }) => sides.flat();
const exportedLine = (row, { sides, claims }) => ({ id: nameOf(row), before: sides[BEFORE], after: sides[AFTER], claims });

const leftOut = (megabytes) =>
  `This file holds at most ${megabytes} MB, so the evidence of ${count(placeOf.size, "row")} is in it, that of the rows that changed most first. ` +
  `The other ${count(rowCount - placeOf.size, "row")} stand in the table with their scores.`;

/** The metric by which the row changed most: the one to look at first. */
function firstMetric(row, among) {
  const sizes = among.map((metric) => Math.abs(changeShare(row, metric) ?? 0));
  return among[sizes.indexOf(Math.max(...sizes))];
}

/** Everything about a row: tabs with the scores, and below them what belongs to the chosen one. */
function rowParts(row, record) {
  const parts = record ? bothSides(row, record) : withoutEvidence(row);
  const panel = el("div", { id: "panel", role: "tabpanel", tabindex: "0", "aria-labelledby": `tab-${currentMetric}` }, whatChanged(row, record), parts);
  return [el("div", { class: "scores-of-pair" }, scoreTabs(row, record)), panel];
}

function withoutEvidence(row) {
  const notes = (index.notes[row] || [])[currentMetric] || [];
  return [
    el("p", { class: "caveat" }, "The evidence of this row did not fit into this file, where that of the rows that changed most went in first. A larger file has it: --max-megabytes, or max_megabytes of to_html. Texts are cut here."),
    textPart("Question", index.questions[row]),
    pairOf((side) => (isThere(row, side) ? [textPart("Answer", index.answers[side][row]), scorePart(row, side, notes[side] ? el("p", { class: "reason", dir: "auto" }, notes[side]) : null)] : null)),
  ];
}

const isThere = (row, side) => index.states[0][side][row] !== "-";

/** The same part of both runs beside each other. */
function pairOf(part, title) {
  const sides = [BEFORE, AFTER].map((side) =>
    el(
      "section",
      { class: "side", "aria-label": `${title || "Row"} ${SIDES[side].toLowerCase()}` },
      el("p", { class: "side-name" }, el("b", null, SIDES[side]), " ", el("bdi", null, runNames[side])),
      part(side) || el("p", { class: "open" }, "This run has not got the row."),
    ),
  );
  return el("div", { class: "sides" }, sides);
}

/** The difference of the chosen metric, its share of all change, and the claims whose support changed. */
function whatChanged(row, record) {
  const metric = metrics[currentMetric];
  const change = difference(row, currentMetric);
  const lines = [differenceLine(row, change, metric), labelLine(row)];
  const claims = record ? claimLists(own(record.claims, metric.name) || []) : null;
  return el("section", { class: "what-changed" }, el("h2", null, "What changed"), lines, claims);
}

function differenceLine(row, change, metric) {
  if (change === null) return el("p", null, whyNoDifference(row, metric));
  if (Math.abs(change) < ROUNDING) return el("p", null, sign("=", ""), "The score is the same in both runs.");
  const share = metric.total > 0 ? Math.abs(change) / metric.total : 0;
  const percent = share < 0.005 ? "less than 1 %" : `${Math.round(share * 100)} %`;
  return el("p", { class: "difference-line" }, changeText(row, currentMetric)[0], el("span", { class: "remark" }, `${percent} of all change by this metric`));
}

function whyNoDifference(row, metric) {
  if (inOneRun(row)) return `Only ${SIDES[isThere(row, BEFORE) ? BEFORE : AFTER] === "Before" ? "the first" : "the second"} run has this row.`;
  if (!metric.credited) return ["Not compared: ", el("bdi", null, metric.why), "."];
  const [before, after] = [BEFORE, AFTER].map((side) => hasValue(row, currentMetric, side));
  if (before) return "The second run has no value here, and the first has one: the value was lost.";
  return after ? "The first run had no value here, and the second has one." : "Neither run has a value here.";
}

function labelLine(row) {
  const [before, after] = [BEFORE, AFTER].map((side) => sideAt(row, currentMetric, side).label);
  if (before === after || inOneRun(row)) return null;
  const shownLabel = (text) => (text === null ? el("i", null, "none") : el("span", { class: "label", dir: "auto" }, text));
  return el("p", null, "label: ", shownLabel(before), " → ", shownLabel(after));
}

const CLAIM_KINDS = {
  lost: ["▼", "bad", "Lost support"],
  gained: ["▲", "good", "Gained support"],
  new: ["+", "open", "New"],
  gone: ["−", "open", "Gone"],
};

/** The claims that gained or lost support, that are new, and that are gone. */
function claimLists(claims) {
  const lists = Object.entries(CLAIM_KINDS).map(([kind, [mark, tone, title]]) => {
    const found = claims.filter((item) => item.kind === kind);
    if (!found.length) return null;
    return el("div", { class: `claim-change ${tone}` }, el("h3", null, sign(mark, ""), `${title} (${found.length})`), el("ul", null, found.map((item) => claimLine(item, kind))));
  });
  return lists.some(Boolean) ? el("div", { class: "claim-changes" }, lists) : null;
}

/** A claim of which only one run knows says whether it was supported there. */
function claimLine(item, kind) {
  const held = kind === "new" ? item.after : kind === "gone" ? item.before : null;
  const verdict = held === null ? null : VERDICTS[held ? "supported" : "not supported"];
  return el("li", null, el("bdi", null, item.text), verdict ? el("span", { class: verdict.kind }, " ", sign(verdict.mark, ""), held ? "supported" : "not supported") : null);
}

/** The texts of both runs: what is the same stands once. */
function bothSides(row, record) {
  const metric = metrics[currentMetric].name;
  const views = record.sides.map((records, side) => sideView(records, side, metric));
  const samples = views.filter(Boolean).map((view) => view.sample);
  const one = samples[0];
  const same = (part) => samples.every((sample) => JSON.stringify(part(sample)) === JSON.stringify(part(one)));
  const marks = views.some((view) => view && marksOf(view.tables, "reference").length); // claims of a reference stand on their side
  const shared = { question: same((sample) => [sample.history, sample.user_input]), reference: same((sample) => sample.reference) && !marks, rest: same(restOf) };
  return [
    shared.question ? questionParts(one) : null,
    shared.reference ? textPart("Reference", one.reference, []) : null,
    pairOf((side) => views[side] && answerPart(row, record, views[side], shared), "Answer and score"),
    pairOf((side) => views[side] && sourcesPart(views, side, shared), "Contexts"),
    shared.rest ? metadataPart(one) : null,
  ];
}

/** What is shown of one side: its record, and the claims of the chosen score, with keys of their own. */
function sideView(records, side, metric) {
  if (!records.length) return null;
  const at = Math.min(chosenRecord[side], records.length - 1);
  const { sample, scores } = records[at];
  sample[SIDE] = `${SIDES[side].toLowerCase()}-`;
  const score = { ...scores[metric], details: scores[metric].details || {} };
  const shownOf = viewOf(score, sample);
  return { sample, score, side, at, count: records.length, shownOf, tables: shownOf.tables };
}

function answerPart(row, record, { sample, score, side, at, count: records, shownOf, tables }, shared) {
  return [
    records > 1 ? recordChoice(row, record, side, at, records) : null,
    shared.question ? null : questionParts(sample),
    textPart("Answer", sample.response, marksOf(tables, "response")),
    shared.reference ? null : textPart("Reference", sample.reference, marksOf(tables, "reference")),
    scorePart(row, side, scoreEvidence(score, shownOf, sample)),
  ];
}

function scorePart(row, side, evidence) {
  const { name } = metrics[currentMetric];
  return el("section", { class: "side-score" }, el("h2", null, el("bdi", null, name)), el("p", { class: "side-value" }, sideText(sideAt(row, currentMetric, side))), evidence);
}

/** A row that stands several times in a run counts with its mean; here they are one by one. */
function recordChoice(row, record, side, at, records) {
  const id = `record-${side}`;
  const choose = (event) => {
    chosenRecord[side] = Number(event.target.value);
    draw(row, record);
    byId(id).focus({ preventScroll: true });
  };
  const options = Array.from({ length: records }, (_, number) => option(number, `${number + 1} of ${records}`, number === at));
  return el("p", { class: "record-choice" }, el("label", { for: id }, "This row stands several times in the run; shown is "), el("select", { id, onchange: choose }, options));
}

/** The contexts of one side; each says where the other side has it. */
function sourcesPart(views, side, shared) {
  const { sample, tables } = views[side];
  const other = views[1 - side];
  const there = other ? contextsOf(other.sample) : [];
  const list = contextList(sample, tables);
  const heads = [...list.querySelectorAll("li > h3")];
  contextsOf(sample).forEach((text, number) => {
    const at = there.indexOf(text);
    if (other) heads[number].append(" ", el("span", { class: at < 0 ? "only-here" : "limits" }, at < 0 ? "only here" : `also ${SIDES[1 - side].toLowerCase()}, as context ${at + 1}`));
  });
  return [list, shared.rest ? null : metadataPart(sample)];
}
