// Labels as a file: lines of JSON, written as a download that is made in this page, and read again to go on.

/** The labels as lines; notes without a label are not among them. */
function labelLines() {
  const ready = [...given.labels.values()].filter((entry) => entry.label !== null);
  return ready.map((entry) => `${JSON.stringify(Object.fromEntries(LABEL_FIELDS.map((name) => [name, entry[name]])))}\n`);
}

/** Hand the labels over as a file; what happened, in words. */
function exportLabels() {
  const lines = labelLines();
  const notes = given.labels.size - lines.length;
  if (!lines.length) return "There is no label to export yet.";
  const who = (given.options.annotator.match(/[\p{L}\p{N}_-]+/gu) || []).join("-").slice(0, 40);
  const name = who ? `labels-${who}.jsonl` : "labels.jsonl";
  saveFile(name, "application/jsonl", lines);
  notExported = 0;
  const left = notes ? ` ${count(notes, "note")} without a label ${notes === 1 ? "stays" : "stay"} here.` : "";
  return `${count(lines.length, "label")} exported to ${name}.${left}`;
}

/** Take labels from the text of a file, as one step; what happened, in words. */
async function importLabels(text) {
  const [changes, drawn, refused] = [new Map(), new Set(), []];
  let others = 0;
  text.replace(/^\ufeff/, "").split("\n").forEach((line, number) => {
    if (!line.trim()) return;
    try {
      const entry = checkedLine(parsedLine(line));
      if (entry.weight !== null) given.weights.set(keyOfWeight(entry.id, entry.metric), entry.weight);
      if (entry.label === null) drawn.add(rowsOfName.get(entry.id)[0]);
      const key = keyOfLabel(entry);
      const here = given.labels.get(key) || changes.get(key);
      if (here && here.label !== null && entry.label !== null && here.label !== entry.label) others += 1;
      else if (!here && (entry.label !== null || entry.note)) changes.set(key, entry);
    } catch (error) {
      refused.push(`line ${number + 1}: ${error.message}`);
    }
  });
  if (drawn.size) given.drawn = [...drawn];
  if (changes.size) changeLabels([...changes], null);
  else keepLabels();
  const parts = [`Took ${count(changes.size, "label")}${drawn.size ? ` and ${count(drawn.size, "row")} to label` : ""} from the file.`];
  const fit = await fitOf([...changes.values()]);
  if (fit.differ) parts.push(`${fit.same.toLocaleString("en")} ${fit.same === 1 ? "fits" : "fit"} the rows of this run, ${fit.differ.toLocaleString("en")} ${fit.differ === 1 ? "was" : "were"} given to other texts: labels of another run? Undo takes all of them out.`);
  if (others) parts.push(`${count(others, "label")} that ${others === 1 ? "says" : "say"} something else here stayed as they are here.`);
  if (refused.length) parts.push(`${count(refused.length, "line")} left out: ${refused.slice(0, 3).join("; ")}${refused.length > 3 ? "; ..." : ""}`);
  return parts.join(" ");
}

/** How many labels were given to the texts of this run, and how many to others; a label without a digest counts as neither. */
async function fitOf(entries) {
  const found = { same: 0, differ: 0 };
  const asked = entries.map((entry) => ({ entry, row: rowsOfName.get(entry.id)[0] })).filter(({ entry, row }) => entry.digest && placeOf.has(row));
  asked.sort((one, other) => placeOf.get(one.row)[0] - placeOf.get(other.row)[0]); // each block is unpacked once
  for (const { entry, row } of asked) {
    const digest = (await evidenceOf(row)).digests[entry.metric];
    if (digest) found[digest === entry.digest ? "same" : "differ"] += 1;
  }
  return found;
}

function parsedLine(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("this is not JSON: a file of labels has one JSON object per line");
  }
}

/** A line as it may be kept here: it is about a row and a metric of this report, and its label is one that this metric has. */
function checkedLine(line) {
  if (line === null || typeof line !== "object" || Array.isArray(line)) throw new Error("a line of labels must be a JSON object");
  const id = typeof line.id === "number" ? String(line.id) : line.id;
  const rows = typeof id === "string" ? rowsOfName.get(id) || rowsOfName.get(id.trim().normalize("NFC")) || [] : [];
  if (rows.length !== 1) throw new Error(`${rows.length ? `${rows.length} rows have` : "no row has"} the id ${brief(id)}`);
  const metric = metrics.find((item) => item.name === line.metric);
  if (!metric) throw new Error(`this report has no metric ${brief(line.metric)}`);
  const claim = textIn(line, "claim");
  return {
    id: labelNames[rows[0]],
    metric: metric.name,
    claim,
    label: checkedLabel(line.label ?? null, claim === null ? gradesOf(metric) : null),
    annotator: textIn(line, "annotator")?.trim() || null,
    note: textIn(line, "note"),
    blind: typeof line.blind === "boolean" ? line.blind : null,
    weight: typeof line.weight === "number" && line.weight > 0 ? line.weight : null,
    digest: textIn(line, "digest"),
  };
}

function checkedLabel(label, grades) {
  if (label === null) return null;
  if (grades) {
    if (typeof label === "number" && label >= grades.low && label <= grades.high) return label;
    throw new Error(`the label ${brief(label)} is no grade from ${grades.low} to ${grades.high}`);
  }
  if (label === 1 || label === 0 || typeof label === "boolean") return Boolean(label);
  throw new Error(`the label ${brief(label)} is neither true nor false`);
}

function textIn(line, name) {
  const value = line[name] ?? null;
  if (value !== null && typeof value !== "string") throw new Error(`${name} must be a text, got ${brief(value)}`);
  return value || null;
}

function brief(value) {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
