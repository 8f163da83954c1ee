// Label mode: a person marks rows and claims right or wrong, by keyboard if they like, and blind: no score, verdict, reason or mark is
// shown unless they ask. It stands in the place of everything else while the address is #labelling.

let reportDigest = "";
let labelAsks = []; // what each metric asks, in words
const now = { rows: [], at: 0, record: null, targets: [null], target: 0, open: false };
let labelsRead = null; // settled once the labels that a server keeps are here
let letterTyped = -Infinity; // when a letter last chose in a list

const isLabelling = () => document.documentElement.dataset.view === "labels";
const rowNow = () => now.rows[now.at];
const claimNow = () => now.targets[now.target];

/** Begin, once the index is there: what was kept, the way in, and what watches which scores are seen. */
function startLabels(found) {
  reportDigest = found.digest;
  labelAsks = found.asks;
  takeNames(found.names);
  loadLabels(reportDigest);
  labelsRead = labelServer?.load();
  byId("row").after(el("article", { id: "labels", hidden: true, tabindex: "-1", "aria-labelledby": "labels-title" }));
  const way = el("a", { href: "#labelling", title: "right or wrong, without seeing their scores" }, "Label rows");
  byId("sections").append(way);
  watchScores();
  addEventListener("hashchange", routeLabels);
  addEventListener("keydown", labelKeys);
  addEventListener("pagehide", () => document.activeElement?.blur()); // a note is taken when its field is left
  addEventListener("beforeunload", (event) => {
    if (storeProblem && notExported) event.preventDefault();
  });
  return routeLabels();
}

/** Note which rows have their scores on the screen: in the table, or opened. */
function watchScores() {
  const watcher = new IntersectionObserver(
    (items) => noteSeen(items.filter((item) => item.isIntersecting).map((item) => rowAt(item.target.querySelector("th a").getAttribute("href")))),
    { threshold: 0.5 },
  );
  new MutationObserver(() => {
    watcher.disconnect();
    document.querySelectorAll("#table tbody tr").forEach((item) => watcher.observe(item));
  }).observe(byId("table"), { childList: true });
}

/** Show label mode where the address asks for it, and leave it where it does not. */
async function routeLabels() {
  if (location.hash === "#labelling") {
    if (!isLabelling()) await openLabels();
    return;
  }
  const row = rowAt(location.hash);
  if (row !== null) noteSeen([row]);
  if (!isLabelling()) return;
  delete document.documentElement.dataset.view;
  fill(byId("labels")).hidden = true;
  if (row === null) byId("rows").scrollIntoView();
}

async function openLabels() {
  document.documentElement.dataset.view = "labels";
  fill(byId("row"));
  byId("labels").hidden = false;
  await labelsRead; // or the first row without a label is not known
  if (!isLabelling()) return;
  if (given.options.order === "drawn" && !given.drawn.length) given.options.order = "random";
  await beginRows();
  scrollTo(0, 0);
  byId("labels").focus({ preventScroll: true });
}

/** Take the rows in the chosen order, and begin with the first that has no label. */
async function beginRows() {
  now.rows = rowsToLabel(reportDigest);
  now.at = Math.max(0, now.rows.findIndex((row) => !hasLabel(row, null)));
  await takeRow();
  drawLabels();
}

/** Unpack the row; nothing can be labelled until it is there. */
async function takeRow(claim) {
  const row = rowNow();
  now.record = null;
  if (byId("labels-told")) tellLabels(""); // what was told of the row before
  const record = now.rows.length ? await evidenceOf(row) : null;
  if (row !== rowNow()) return; // another one was asked for meanwhile
  now.record = record;
  now.targets = now.record ? targetsOf(now.record) : [null];
  now.target = Math.max(0, claim === undefined ? 0 : now.targets.indexOf(claim));
  now.open = false;
}

/** Go to a row of the queue, and say which it is. */
async function goToRow(at, claim) {
  if (at < 0 || at >= now.rows.length) return tellLabels(at < 0 ? "This is the first row." : "This is the last row.");
  now.at = at;
  await takeRow(claim);
  drawLabels();
  byId("labels-row").scrollIntoView();
  byId("labels-row-title").focus({ preventScroll: true });
  return undefined;
}

/** Go to the next thing to label, or back: a claim, the row as a whole, the next row. */
function goToTarget(step) {
  if (!now.record) return undefined;
  const target = now.target + step;
  if (target < 0 || target >= now.targets.length) return goToRow(now.at + step, step > 0 ? undefined : null);
  now.target = target;
  drawLabels();
  byId("labels-target").focus({ preventScroll: true });
  return undefined;
}

/** The next row without a label, from here on; -1 where all have one. */
function nextOpenRow() {
  const ahead = [...now.rows.keys()].slice(now.at + 1).concat([...now.rows.keys()].slice(0, now.at + 1));
  return ahead.find((at) => !hasLabel(now.rows[at], null)) ?? -1;
}

/** Give a label to what is asked about; a label that it already has stays as it was given. */
async function giveLabel(label) {
  if (!now.record) return;
  const [row, claim] = [rowNow(), claimNow()];
  const entry = entryOf(row, claim);
  const before = labelOf(row, claim);
  const same = before?.label === label;
  const blind = !given.seen.has(row) && !orderTells();
  const weight = given.weights.get(keyOfWeight(entry.id, entry.metric)) ?? before?.weight ?? null;
  if (!same) change({ ...entry, label, note: before?.note ?? null, blind, weight, digest: now.record.digests[entry.metric] ?? null });
  const what = `${targetName()}: ${labelWord(label)}${same ? ", as before" : ""}.`;
  if (given.options.further) await goFurther();
  else drawLabels();
  tellLabels(what, progressText());
}

/** What is asked about, in words. */
const targetName = () => `${labelNames[rowNow()]}${claimNow() === null ? "" : `, claim ${now.target + 1}`}`;

/** Remove the label of what is asked about; its note stays. */
function removeLabel() {
  if (!now.record) return;
  const before = labelOf(rowNow(), claimNow());
  if ((before?.label ?? null) === null) return tellLabels(`${targetName()} has no label to remove.`);
  change({ ...before, label: null, blind: null });
  drawLabels();
  if (document.activeElement === document.body) byId("labels-row-title").focus({ preventScroll: true }); // its button is gone
  return tellLabels(`${targetName()}: label removed. Undo brings it back.`, progressText());
}

async function goFurther() {
  if (now.target + 1 < now.targets.length) return goToTarget(1);
  const next = nextOpenRow();
  if (next >= 0) return goToRow(next);
  return drawLabels();
}

function change(entry) {
  const place = { row: rowNow(), claim: claimNow(), metric: entry.metric, annotator: given.options.annotator };
  changeLabels([[keyOfLabel(entry), entry]], place);
}

/** The note about what is asked about, as one step. */
function giveNote(text) {
  const before = labelOf(rowNow(), claimNow());
  const note = text.trim() ? text : null;
  if (!now.record || (before?.note ?? null) === note) return;
  change({ label: null, blind: null, weight: null, digest: null, ...before, ...entryOf(rowNow(), claimNow()), note });
  byId("labels-undo").disabled = false;
}

async function takeBack() {
  if (!labelSteps.length) return tellLabels("There is nothing to undo.");
  const place = undoLabels();
  if (place) {
    Object.assign(given.options, { metric: place.metric, annotator: place.annotator });
    const at = now.rows.indexOf(place.row);
    if (at >= 0) await goToRow(at, place.claim);
  }
  drawLabels();
  return tellLabels(`Undone${place ? `: ${labelNames[place.row]}` : ""}.`, progressText());
}

/** Show what the judge said of this row, or hide it; that it was seen stays noted. */
function toggleScore() {
  if (!now.record) return;
  now.open = !now.open;
  if (now.open) noteSeen([rowNow()]);
  drawLabels();
  document.querySelector(".seen-score")?.scrollIntoView({ block: "nearest" });
  tellLabels(now.open ? "The score is shown. Labels that you give to this row from now on are not blind." : "The score is hidden.");
}

/** The keys of the labels and notes of the annotator whose name stands in the field. */
const ownLabels = () => [...given.labels].filter(([, entry]) => entry.annotator === annotatorNow()).map(([key]) => key);

/** Remove the annotator's labels, as one step. Labels of others stay. */
function clearLabels() {
  const keys = ownLabels();
  changeLabels(keys.map((key) => [key, null]), null);
  drawLabels();
  byId("labels-row-title").focus({ preventScroll: true });
  tellLabels(`${count(keys.length, "label")} removed. Undo brings ${keys.length === 1 ? "it" : "them"} back.`);
}

async function readLabelFile(input) {
  const [file] = input.files;
  if (!file) return;
  const told = await importLabels(await file.text());
  if (given.drawn.length) given.options.order = "drawn";
  keepLabels();
  await beginRows();
  tellLabels(told);
}

/** Take over what the fields above say. */
async function readOptions(event) {
  const name = byId("labels-annotator").value.trim();
  const adopted = name === given.options.annotator ? 0 : adoptLabels(name);
  Object.assign(given.options, {
    annotator: name,
    metric: metrics[Number(byId("labels-metric").value)].name,
    order: byId("labels-order").value,
    claims: byId("labels-claims").checked,
    further: byId("labels-further").checked,
    keys: byId("labels-keys").checked,
  });
  keepLabels();
  const where = event.target.id;
  if (where === "labels-order" || where === "labels-metric") await beginRows();
  if (where === "labels-claims") await takeRow();
  whenReleased(drawLabels);
  if (adopted) tellLabels(`${count(adopted, "label")} without a name ${adopted === 1 ? "is" : "are"} ${name}’s now.`);
}

const LABEL_KEYS = {
  y: () => gradesOf(metrics[labelMetric()]) && claimNow() === null ? null : giveLabel(true),
  n: () => gradesOf(metrics[labelMetric()]) && claimNow() === null ? null : giveLabel(false),
  j: () => goToTarget(1),
  k: () => goToTarget(-1),
  ArrowRight: () => goToRow(now.at + 1),
  ArrowLeft: () => goToRow(now.at - 1),
  m: () => byId("labels-note")?.focus(),
  x: removeLabel,
  u: takeBack,
  s: toggleScore,
  e: () => tellExport(),
};

const MOVING = new Set(["j", "k", "ArrowLeft", "ArrowRight"]);

function tellExport() {
  const told = exportLabels();
  drawLabels();
  tellLabels(told);
}

/** Whether a key chooses in a list that has the focus: an arrow, a letter that a choice begins with, or one soon after such a letter. */
function choosesIn(list, event) {
  if (event.key.startsWith("Arrow")) return true;
  const begins = [...list.options].some((choice) => choice.text.toLowerCase().startsWith(event.key.toLowerCase()));
  if (begins || event.timeStamp - letterTyped < 1000) letterTyped = event.timeStamp;
  return letterTyped === event.timeStamp;
}

/** One key for each thing to do; none of them while something is written. */
function labelKeys(event) {
  if (!isLabelling() || byId("labels-sure") || event.isComposing || event.altKey || event.ctrlKey || event.metaKey) return;
  const field = event.target.closest?.("input:not([type=checkbox]), select, textarea");
  if (event.key === "Escape" || (event.key === "Enter" && field?.id === "labels-annotator")) {
    if (field) byId("labels-row-title")?.focus({ preventScroll: true });
    else location.hash = "#rows";
    event.preventDefault();
    return;
  }
  if (!given.options.keys || (field && (field.localName !== "select" || choosesIn(field, event)))) return;
  const grades = claimNow() === null ? gradesOf(metrics[labelMetric()]) : null;
  const grade = grades?.steps?.find((step) => String(step) === event.key);
  if (grade === undefined && !Object.hasOwn(LABEL_KEYS, event.key)) return;
  event.preventDefault();
  if (event.repeat && !MOVING.has(event.key)) return; // a key that is held down labels one row, not many
  if (grade === undefined) LABEL_KEYS[event.key]();
  else giveLabel(grade);
}
