// One row in the place of the table: the ways to it and out of it, and its scores to choose from.
// The page says what it shows of a row: firstMetric(row, among), rowParts(row, record), scoreCell(row, metric).

let currentRow = null;
let currentMetric = null;

/** Show a row in the place of the table. */
async function showRow(row) {
  const record = await evidenceOf(row);
  if (row !== currentRow) currentMetric = metricToOpen(row);
  currentRow = row;
  byId("overview").hidden = true;
  byId("top").hidden = true;
  byId("row").hidden = false;
  draw(row, record);
  scrollTo(0, 0);
  byId("row").focus({ preventScroll: true });
}

/** The metric of the filters, else the one to look at first among those that let the row through. */
function metricToOpen(row) {
  if (view.metric !== ANY) return view.metric;
  const all = [...metrics.keys()];
  const asked = all.filter((metric) => hasWanted(row, metric));
  return firstMetric(row, asked.length ? asked : all);
}

function draw(row, record) {
  redraw = () => draw(row, record);
  const head = [
    el("p", { class: "kicker" }, index.places[row]),
    el("h1", { id: "row-title", dir: "auto" }, nameOf(row)),
    copyButtons(row, record),
  ];
  fill(byId("row"), rowPages(row), head, rowParts(row, record));
}

/** Buttons that copy the address of the row, and all that is known of it. */
function copyButtons(row, record) {
  const link = () => location.href.split("#")[0] + addressOf(row).split("&")[0];
  const json = () => JSON.stringify(exportedLine(row, record), null, 2);
  const told = el("span", { id: "copied", role: "status" });
  const button = (words, text, done) => el("button", { type: "button", class: "link", onclick: () => copy(text(), told, done) }, words);
  return el("p", { class: "row-acts" }, button("Copy link", link, "The link is copied."), record ? button("Copy as JSON", json, record.cut ? "The row is copied, without contexts that are not in this file." : "The row is copied.") : null, told);
}

/** Copy a text; where the browser does not let a page do that, show it, selected. */
async function copy(text, told, done) {
  for (const item of document.querySelectorAll(".to-copy")) item.remove();
  try {
    await navigator.clipboard.writeText(text);
    told.textContent = done;
  } catch {
    const area = el("textarea", { class: "to-copy", readonly: true, rows: 4, "aria-labelledby": "copied" });
    area.value = text;
    told.textContent = "The browser does not let this page copy. The text is selected: copy it with the keys, Ctrl+C or ⌘C.";
    told.parentElement.after(area);
    area.select();
  }
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

/** The scores of the row; the chosen one is the one whose evidence is shown. */
function scoreTabs(row, record) {
  const tabs = metrics.map((metric, number) => {
    const chosen = number === currentMetric;
    return el(
      "button",
      { type: "button", role: "tab", id: `tab-${number}`, "aria-selected": chosen ? "true" : "false", "aria-controls": "panel", tabindex: chosen ? "0" : "-1", onclick: () => chooseMetric(row, record, number) },
      el("bdi", { class: "name" }, metric.name),
      scoreCell(row, number),
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
