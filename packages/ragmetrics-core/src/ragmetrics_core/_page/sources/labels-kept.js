// Labels that a person gives, as this browser keeps them: one store per report, named by the report's digest. Where the browser keeps
// nothing (a private window, no room left), they live as long as the page, and the page says so. Nothing here draws anything.

const LABEL_FIELDS = ["id", "metric", "claim", "label", "annotator", "note", "blind", "weight", "digest"];
const given = {
  labels: new Map(), // by whom and what they are about: what an exported line holds
  seen: new Set(), // rows whose scores were on the screen
  weights: new Map(), // of rows that were drawn for labelling, by row and metric, as an imported file has them
  drawn: [], // those rows
  options: { annotator: "", metric: "", order: "random", claims: false, further: true, keys: true },
};
const labelSteps = []; // what can be undone: the last thing is the last one here
let labelServer = null; // a served page saves its labels there: load() and save()
let storeName = null;
let storeProblem = "";
let notExported = 0;

const keyOfLabel = ({ annotator, id, metric, claim }) => JSON.stringify([annotator, id, metric, claim]);
const keyOfWeight = (id, metric) => JSON.stringify([id, metric]);

/** Begin with what this browser has kept for this report. */
function loadLabels(digest) {
  const name = `ragmetrics labels ${digest}`;
  try {
    localStorage.setItem(`${name} test`, "");
    localStorage.removeItem(`${name} test`);
  } catch {
    if (labelServer) return;
    storeProblem = "This browser keeps nothing for this file, as in a private window. Your labels live as long as this page is open: export them before you close it.";
    return;
  }
  storeName = name;
  readStore(localStorage.getItem(name));
  addEventListener("storage", (event) => {
    if (event.key !== storeName) return; // the same report in another tab
    readStore(event.newValue);
    if (isLabelling()) whenReleased(drawLabels);
  });
}

function readStore(text) {
  try {
    takeStored(text);
  } catch {
    storeName = null;
    storeProblem = "What this browser has kept for this report cannot be read, and is left as it is. New labels live as long as this page is open: export them before you close it.";
  }
}

/** Take over what was stored; every line is checked, as other files may write into the same store. */
function takeStored(text) {
  const stored = text ? JSON.parse(text) : {};
  const labels = (stored.labels || []).map((line) => checkedLine(line));
  if (!labelServer) given.labels = new Map(labels.map((entry) => [keyOfLabel(entry), entry])); // else the server has them
  given.seen = new Set((stored.seen || []).filter((row) => Number.isInteger(row)));
  given.weights = new Map((stored.weights || []).filter((item) => typeof item[1] === "number"));
  given.drawn = (stored.drawn || []).filter((row) => Number.isInteger(row) && row >= 0 && row < rowCount);
  for (const [name, value] of Object.entries(stored.options || {})) {
    if (typeof given.options[name] === typeof value) given.options[name] = value;
  }
}

/** Write down what there is. */
function keepLabels() {
  labelServer?.save();
  if (!storeName) return;
  const { labels, seen, weights, drawn, options } = given;
  const stored = { labels: labelServer ? [] : [...labels.values()], seen: [...seen], weights: [...weights], drawn, options };
  try {
    localStorage.setItem(storeName, JSON.stringify(stored));
    storeProblem = "";
  } catch {
    storeProblem = "This browser has no room left for more labels. The latest live as long as this page is open: export them before you close it.";
  }
}

/** Change labels, as one step that can be undone. A change is a key and what is there from now on, or null. */
function changeLabels(changes, place) {
  labelSteps.push({ before: changes.map(([key]) => [key, given.labels.get(key) || null]), place });
  putLabels(changes);
}

function putLabels(changes) {
  for (const [key, entry] of changes) {
    if (entry === null || (entry.label === null && !entry.note)) given.labels.delete(key);
    else given.labels.set(key, entry);
  }
  notExported += changes.length;
  keepLabels();
}

/** Take the last step back; where it was made, or null. */
function undoLabels() {
  const step = labelSteps.pop();
  if (!step) return null;
  putLabels(step.before);
  return step.place;
}

/** Note that the scores of rows were seen: labels that are given to them from now on are not blind. */
function noteSeen(rows) {
  const before = given.seen.size;
  rows.forEach((row) => given.seen.add(row));
  if (given.seen.size > before) keepLabels();
}

/** Labels that were given without a name belong to who names themself first. How many there are. */
function adoptLabels(name) {
  const nameless = [...given.labels].filter(([, entry]) => entry.annotator === null);
  const taken = [...given.labels.values()].some((entry) => entry.annotator === name);
  if (!name || taken || !nameless.length) return 0;
  for (const [key, entry] of nameless) {
    given.labels.delete(key);
    const named = { ...entry, annotator: name };
    given.labels.set(keyOfLabel(named), named);
  }
  labelSteps.length = 0; // its steps speak of labels without a name
  notExported += nameless.length;
  return nameless.length;
}
