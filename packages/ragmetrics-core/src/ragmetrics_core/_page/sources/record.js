// One row of one run: its texts on the left, the evidence of one of its scores on the right.

let problems = {}; // by metric, why messages and replies are not in the file

function startPage(found) {
  problems = found.problems;
  startSlices(found.slices);
  startLabels(found.labelling);
}

const recordsOf = (record) => [record];
const exportedLine = (row, { exchanges, digests, cut, ...line }) => line; // as a file of scores has it

const leftOut = (megabytes) =>
  `This file holds at most ${megabytes} MB, so the evidence of ${count(placeOf.size, "row")} is in it, that of the worst ones first. ` +
  `The other ${count(rowCount - placeOf.size, "row")} stand in the table with their scores.`;

/** The metric by which the row is worst: the one to look at first, unless it has no value of any row. */
function firstMetric(row, among) {
  let [found, least] = [among[0], Infinity];
  among.forEach((number) => {
    const metric = metrics[number];
    const { value, state } = scoreAt(row, number);
    const share = shareOf(value, metric.scale);
    const says = index.values[number].some((other) => other !== null);
    const good = state === "f" ? (says ? -1 : 3) : share === null || metric.better === null ? 2 : metric.better ? share : 1 - share;
    if (good < least) [found, least] = [number, good];
  });
  return found;
}

const rowParts = (row, record) => (record ? recordParts(row, record) : withoutEvidence(row));

function withoutEvidence(row) {
  const notes = index.notes[row] || [];
  const scores = metrics.map((metric, number) => el("div", null, el("dt", { dir: "auto" }, metric.name), el("dd", null, scoreCell(row, number), notes[number] ? el("p", { class: "reason", dir: "auto" }, notes[number]) : null)));
  return [
    el("p", { class: "caveat" }, "The evidence of this row did not fit into this file, where that of the worst rows went in first. A larger file has it: --max-megabytes, or max_megabytes of to_html. Texts are cut here."),
    textPart("Question", index.questions[row]),
    textPart("Answer", index.answers[row]),
    el("section", { class: "scores" }, el("h2", null, "Scores"), el("dl", { class: "tree" }, scores)),
  ];
}

/** A score of a row with all that is known of it. */
function scoreOf({ scores, exchanges }, { name }) {
  return { ...scores[name], details: scores[name].details || {}, exchanges: own(exchanges, name), problem: own(problems, name) };
}

/** The texts and the evidence of the chosen score; in this order they are read aloud, and stand on a phone. */
function recordParts(row, record) {
  const { sample } = record;
  const score = scoreOf(record, metrics[currentMetric]);
  const view = viewOf(score, sample);
  const panel = el("div", { id: "panel", role: "tabpanel", tabindex: "0", "aria-labelledby": `tab-${currentMetric}` }, scoreEvidence(score, view, sample));
  return el(
    "div",
    { class: "columns" },
    el("div", { class: "texts" }, sampleTexts(sample, view.tables)),
    el("div", { class: "evidence" }, scoreTabs(row, record), panel),
    el("div", { class: "sources" }, contextList(sample, view.tables), metadataPart(sample)),
  );
}
