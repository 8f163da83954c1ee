// The table of rows: one page of those that the filters let through. The page says what stands in it: scoreCell(row, metric),
// answerLines(row).

const PAGE = 50;

/** Show the page of the table that the view asks for. */
function showTable() {
  shown = chosenRows();
  const pages = Math.max(1, Math.ceil(shown.length / PAGE));
  const page = Math.min(view.page, pages - 1);
  if (!deep.running) view.page = page; // the rows of later pages may not have been found yet
  const first = page * PAGE;
  const rows = shown.slice(first, first + PAGE);
  byId("found").textContent = foundText(first, rows.length);
  fill(byId("table"), rows.length ? table(rows) : el("p", { class: "remark" }, "No row is like that. “Clear” shows all of them again."));
  showPages(page, pages);
}

function foundText(first, length) {
  const all = shown.length === rowCount ? count(rowCount, "row") : `${shown.length.toLocaleString("en")} of ${count(rowCount, "row")}`;
  return length && shown.length > PAGE ? `${all}: ${first + 1} to ${first + length}` : all;
}

function table(rows) {
  const heads = [
    heading("Row", INPUT),
    el("th", { scope: "col" }, "Question"),
    metrics.map((metric, number) => heading(metric.name, String(number), "number")),
  ];
  const made = el("table", { class: metrics.length > MANY ? "rows wide" : "rows" }, columnWidths(), el("thead", null, el("tr", null, heads)), el("tbody", null, rows.map(tableRow)));
  made.style.setProperty("--least", `${NAME_WIDTH + TEXT_WIDTH + metrics.map(scoreWidth).reduce((sum, width) => sum + width, 0)}rem`);
  return made;
}

const MANY = 6; // with more metrics the table scrolls in its region, and is printed as blocks
const NAME_WIDTH = 8; // rem
const TEXT_WIDTH = 17;

/** Widths that are known before the texts are measured: measuring fifty rows takes longer than all else. */
function columnWidths() {
  const column = (width) => {
    const made = el("col");
    if (width) made.style.width = `${width}rem`;
    return made;
  };
  return el("colgroup", null, column(NAME_WIDTH), column(null), metrics.map((metric) => column(scoreWidth(metric))));
}

/** As wide as the longest part of its name, its labels and a value need, within limits. */
function scoreWidth(metric) {
  const part = Math.max(...partsOf(metric.name).map((text) => text.length));
  const label = Math.max(0, ...(metric.labels || []).map((text) => text.length));
  return Math.min(12, Math.max(7.2, part * 0.53 + 2.7, label && label * 0.41 + 2.5));
}

function heading(name, sort, kind) {
  const sorting = view.sort === sort ? (view.down ? "descending" : "ascending") : "none";
  return el("th", { scope: "col", class: kind, "aria-sort": sorting, "data-sort": sort }, sortButton(breakable(name), sorting, () => again(sort)));
}

/** Sort, and keep the focus on the heading, which is a new one now. */
function again(sort) {
  sortBy(sort);
  const head = [...document.querySelectorAll("#table th[data-sort]")].find((item) => item.dataset.sort === sort);
  if (head) head.querySelector("button").focus();
}

function tableRow(row) {
  const address = addressOf(row);
  const link = el("a", { href: address, dir: "auto" }, nameOf(row));
  const texts = [
    el("span", { class: "question", dir: "auto" }, index.questions[row] || el("i", null, "no question")),
    answerLines(row),
    hitOf(row),
  ];
  const cells = metrics.map((metric, number) => cell(row, metric, number));
  const open = (event) => {
    if (!event.target.closest("a, button") && !String(getSelection())) location.hash = address;
  };
  return el("tr", { onclick: open }, el("th", { scope: "row" }, link), el("td", { class: "texts" }, texts), cells);
}

function cell(row, metric, number) {
  return el("td", { class: "score", "data-name": partsOf(metric.name).join("\u200b") }, scoreCell(row, number));
}

/** A score in a few signs: its value with a bar, or why there is none. */
function scoreText(score, scale, better = null) {
  const label = score.label ? el("span", { class: "label", dir: "auto" }, breakable(score.label)) : null;
  if (score.state === "f") return [el("span", { class: "bad" }, sign("✘", ""), "failed"), label];
  if (score.value === null) return [el("span", { class: "open" }, sign("–", ""), "unscored"), label];
  const verdict = { y: el("span", { class: "good" }, sign("✔", "passed")), n: el("span", { class: "bad" }, sign("✘", "not passed")) };
  const poor = isPoor(score, scale, better);
  const kind = poor ? " poor" : "";
  return [el("span", { class: `value${kind}` }, verdict[score.passing] || (poor ? sign("▾", "poor") : null), digits(score.value)), bar(score.value, scale, kind), label];
}

/** Whether a value is in the worse half of its scale, and did not pass. */
function isPoor({ value, passing }, scale, better) {
  const share = shareOf(value, scale);
  return passing !== "y" && share !== null && better !== null && (better ? share : 1 - share) < 0.5;
}

function bar(value, scale, kind) {
  const share = shareOf(value, scale);
  if (share === null) return null;
  const inner = el("span", { class: `bar-inner${kind}` });
  inner.style.width = `${share * 100}%`;
  return el("span", { class: "bar-outer", "aria-hidden": "true" }, inner);
}

function showPages(shownPage, pages) {
  const go = (page, text, name) =>
    el("button", { type: "button", disabled: page < 0 || page >= pages, "data-go": name, onclick: () => turn(page, name) }, text);
  const parts = [
    go(shownPage - 1, "← Previous", "previous"),
    el("span", null, `page ${shownPage + 1} of ${pages}`),
    go(shownPage + 1, "Next →", "next"),
  ];
  fill(byId("pages"), pages > 1 ? parts : null);
}

function turn(page, name) {
  view.page = page;
  showView();
  byId("rows").scrollIntoView();
  const button = document.querySelector(`#pages [data-go=${name}]`);
  (button && !button.disabled ? button : byId("table")).focus({ preventScroll: true });
}
