// The rows that the filters let through as a file, made in this page: JSONL with everything that is known of each row, which
// `ragmetrics report` reads again, and CSV with the columns of the table. The page says what a row is in each: exportedLine(row,
// evidence), exportColumns().

/** Hand a file over that is made here, out of parts. */
function saveFile(name, type, parts) {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

function startExport() {
  byId("export-jsonl").addEventListener("click", exportJsonl);
  byId("export-csv").addEventListener("click", exportCsv);
}

/** Evidence that is not in this file cannot be in another one: such rows are counted, and left out. */
async function exportJsonl() {
  const rows = [...shown];
  const wantedRows = new Set(rows.filter((row) => placeOf.has(row)));
  const lines = new Map();
  let cut = 0;
  for (const [block, inside] of blockRows.entries()) {
    if (!inside.some((row) => wantedRows.has(row))) continue;
    const evidence = blocks.get(block) ?? (await unpacked(`block-${block}`));
    inside.forEach((row, position) => {
      if (!wantedRows.has(row)) return;
      if (evidence[position].cut) cut += 1;
      lines.set(row, `${JSON.stringify(exportedLine(row, evidence[position]))}\n`);
    });
    tellExported(`${lines.size.toLocaleString("en")} of ${count(wantedRows.size, "row")} …`);
  }
  const left = rows.length - lines.size;
  const short = cut ? ` ${count(cut, "row")} without contexts that no claim cites, which are not in this file.` : "";
  const without = left ? ` ${count(left, "row")} left out: their evidence is not in this file.` : "";
  if (lines.size) saveFile("rows.jsonl", "application/jsonl", rows.filter((row) => lines.has(row)).map((row) => lines.get(row)));
  tellExported(`${lines.size ? `${count(lines.size, "row")} exported to rows.jsonl.` : "Nothing was exported."}${short}${without}`);
}

function exportCsv() {
  const columns = exportColumns().concat(Object.entries(index.metadata).map(([path, values]) => [`metadata.${path}`, (row) => values[row]]));
  const lines = shown.map((row) => csvLine(columns.map(([, cellOf]) => cellOf(row))));
  saveFile("rows.csv", "text/csv", ["\ufeff", csvLine(columns.map(([name]) => name)), ...lines]); // the mark tells spreadsheets UTF-8
  tellExported(`${count(shown.length, "row")} exported to rows.csv.`);
}

const csvLine = (cells) => `${cells.map(csvCell).join(",")}\r\n`;

/** A cell of a CSV file; a text that a spreadsheet would take for a formula gets an apostrophe, as in `to_csv`. */
function csvCell(value) {
  if (typeof value !== "string") return String(value ?? "");
  const text = value.replaceAll("\0", "\ufffd"); // readers of CSV refuse NUL
  const safe = /^ *[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const STATE_WORDS = { s: "scored", u: "unscored", f: "failed", n: "not asked", "-": "absent" };
const PASSING_WORDS = { y: "true", n: "false" };

/** The columns of a metric, or of one side of it: those that say something of a row. */
function scoreColumns(name, values, states, passing, labels) {
  return [
    [name, (row) => values[row]],
    /[yn]/.test(passing) ? [`${name}_passing`, (row) => PASSING_WORDS[passing[row]] ?? null] : null,
    labels ? [`${name}_label`, (row) => labels[row]] : null,
    [`${name}_state`, (row) => STATE_WORDS[states[row]]],
  ].filter(Boolean);
}

function tellExported(text) {
  byId("exported").textContent = text;
}
