// Which rows are to be labelled, in which order, and what of a row: the row as a whole, and its claims.

const ORDERS = {
  random: "in random order",
  input: "as in the data",
  table: "as in the table",
  drawn: "those of the imported file",
  done: "those with a label",
};

let labelNames = []; // what labels call each row: its id, else where it stands
let rowsOfName = new Map();

function takeNames(others) {
  labelNames = index.ids.map((id, row) => others[row] ?? id);
  rowsOfName = new Map();
  labelNames.forEach((name, row) => rowsOfName.set(name, [...(rowsOfName.get(name) || []), row]));
}

/** The metric that is labelled. */
const labelMetric = () => Math.max(0, metrics.findIndex((metric) => metric.name === given.options.metric));
const annotatorNow = () => given.options.annotator.trim() || null;
const entryOf = (row, claim) => ({ id: labelNames[row], metric: metrics[labelMetric()].name, claim, annotator: annotatorNow() });
const labelOf = (row, claim) => given.labels.get(keyOfLabel(entryOf(row, claim)));
const hasLabel = (row, claim) => (labelOf(row, claim)?.label ?? null) !== null;

/** The grades of a metric: its ends, and the whole numbers between them where they are few; null where it passes or fails. */
function gradesOf(metric) {
  if (!metric.scale || (metric.scale[0] === 0 && metric.scale[1] === 1)) return null;
  const [low, high] = metric.scale;
  const few = Number.isInteger(low) && Number.isInteger(high) && high - low <= 10;
  return { low, high, steps: few ? Array.from({ length: high - low + 1 }, (_, step) => low + step) : null };
}

/** Rows that can be labelled: their name tells which row is meant, and their texts are in this file. */
const hasOwnName = (row) => rowsOfName.get(labelNames[row]).length === 1;
const canLabel = (row) => hasOwnName(row) && placeOf.has(row);

/** The rows to label, in order. */
function rowsToLabel(digest) {
  const all = Array.from({ length: rowCount }, (_, row) => row).filter(canLabel);
  if (given.options.order === "table") return shown.filter(canLabel);
  if (given.options.order === "drawn") return given.drawn.filter(canLabel);
  if (given.options.order === "done") return all.filter((row) => hasLabel(row, null));
  return given.options.order === "random" ? shuffled(all, digest) : all;
}

/** The items in an order that looks random and is the same for everybody who has this report. */
function shuffled(items, seed) {
  let state = 0;
  for (const letter of seed) state = (Math.imul(state, 31) + letter.charCodeAt(0)) | 0;
  const chance = () => {
    state = (state + 0x6d2b79f5) | 0; // mulberry32
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const found = [...items];
  for (let at = found.length - 1; at > 0; at -= 1) {
    const other = Math.floor(chance() * (at + 1));
    [found[at], found[other]] = [found[other], found[at]];
  }
  return found;
}

/** Whether the rows stand there because of their scores, so that nobody is blind to those. */
const orderTells = () =>
  given.options.order === "table" && (view.sort !== INPUT || wanted.below !== null || wanted.state !== "" || wanted.label !== "");

/** What is labelled of a row: each claim by its text, then null for the row as a whole. */
function targetsOf(record) {
  const { details } = scoreOf(record, metrics[labelMetric()]);
  const judgements = [details, ...(Array.isArray(details.repeats) ? details.repeats.map((item) => item.details || {}) : [])];
  const rows = judgements.flatMap((item) => claimTables(item, record.sample)).flatMap((table) => table.rows);
  const texts = rows.filter((row) => row.verdict).map((row) => row.text);
  return [...(given.options.claims ? new Set(texts) : []), null];
}

/** What keeps rows from being labelled, and what labels of the others would not say. */
function labelCaveats() {
  const all = Array.from({ length: rowCount }, (_, row) => row);
  const shared = all.filter((row) => !hasOwnName(row)).length;
  const left = rowCount - placeOf.size;
  return [
    storeProblem,
    shared ? `${count(shared, "row")} cannot be labelled: they share their ids, by which labels name rows. Give every row an id of its own, and score them again.` : "",
    left ? `The texts of ${count(left, "row")} are not in this file, which holds those with the worst scores first. So labels given here say nothing about all rows: a larger file has them (--max-megabytes, or max_megabytes of to_html).` : "",
    cutRows ? `Of ${count(cutRows, "row")}, contexts that no claim cites are not in this file, which is only so large: a note says so in their place.` : "",
  ].filter(Boolean);
}
