// Labels of a served page: the server keeps them, and saves each as it is given. Tabs that are looked at again take over what was
// given in others.

const savedLabels = new Map(); // by key, what the server has: the fields of a line
let saving = Promise.resolve();

const fieldsOf = (entry) => JSON.stringify(LABEL_FIELDS.map((name) => entry[name] ?? null));
const isSaved = (key) => (given.labels.has(key) ? fieldsOf(given.labels.get(key)) : undefined) === savedLabels.get(key);

labelServer = { load: takeSaved, save: sendLabels };
if (byId("served").textContent.endsWith(" first")) {
  storeProblem = "Only the first rows are here, so labels given now say nothing about all rows: wait until all are read.";
}
addEventListener("visibilitychange", () => document.visibilityState === "visible" && takeSaved());

/** Take over the labels that the server has, but not in place of what it has yet to save. */
async function takeSaved() {
  try {
    const { labels } = await answerOf(await fetch("labels"));
    const found = new Map(labels.map((line) => checkedLine(line)).map((entry) => [keyOfLabel(entry), entry]));
    for (const key of new Set([...savedLabels.keys(), ...found.keys()])) {
      if (!isSaved(key)) continue;
      if (found.has(key)) given.labels.set(key, found.get(key));
      else given.labels.delete(key);
      if (found.has(key)) savedLabels.set(key, fieldsOf(found.get(key)));
      else savedLabels.delete(key);
    }
  } catch (error) {
    storeProblem = `Labels that were given before cannot be loaded: ${error.message}`;
  }
  if (isLabelling()) whenReleased(drawLabels);
}

/** Send what the server does not have yet; a label that is gone is sent without one. */
function sendLabels() {
  const keys = [...new Set([...given.labels.keys(), ...savedLabels.keys()])].filter((key) => !isSaved(key));
  const lines = keys.map((key) => given.labels.get(key) || goneLabel(key));
  for (const key of keys) {
    if (given.labels.has(key)) savedLabels.set(key, fieldsOf(given.labels.get(key)));
    else savedLabels.delete(key);
  }
  for (let at = 0; at < lines.length; at += 100) {
    const [some, theirs] = [lines.slice(at, at + 100), keys.slice(at, at + 100)];
    saving = saving.then(() => postLabels(some)).catch((error) => {
      theirs.forEach((key) => savedLabels.set(key, "")); // sent again with the next label
      storeProblem = `Labels cannot be saved: ${error.message}`;
      if (isLabelling()) whenReleased(drawLabels);
    });
  }
}

function goneLabel(key) {
  const [annotator, id, metric, claim] = JSON.parse(key);
  return { annotator, id, metric, claim, label: null, note: null };
}

async function postLabels(labels) {
  const lines = labels.map((entry) => Object.fromEntries(LABEL_FIELDS.map((name) => [name, entry[name] ?? null])));
  await answerOf(await fetch("labels", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ labels: lines }) }));
  if (storeProblem.startsWith("Labels cannot be saved")) storeProblem = "";
  notExported = 0;
}
