// The start, and the way between the table and a row: the address says which of them is shown, and in which view. What a page shows besides starts
// with startPage(found), and leftOut(megabytes) says which evidence is not in the file.

let returnTo = null;

async function start() {
  document.querySelectorAll("table.metrics").forEach(makeSortable);
  if (!("DecompressionStream" in window)) {
    trouble("This browser is too old to unpack the rows: it has no DecompressionStream. The summary above is complete.");
    return;
  }
  const found = await unpacked("index");
  takeIndex(found);
  byId("rows").hidden = false;
  byId("size").textContent = [
    placeOf.size < rowCount ? leftOut(found.megabytes) : "",
    cutRows ? `Contexts that no claim cites are left out of ${count(cutRows, "row")}, as this file holds at most ${found.megabytes} MB.` : "",
  ].join(" ").trim();
  startPage(found);
  startFilters();
  startExport();
  addEventListener("hashchange", route);
  addEventListener("keydown", keys);
  await route();
  if (location.hash.startsWith("#rows&")) byId("rows").scrollIntoView();
  document.documentElement.dataset.ready = "true";
}

/** Show what the address asks for. */
async function route() {
  const row = rowAt(location.hash);
  const wanted = /^#(row|n)=/.test(location.hash);
  byId("trouble").hidden = true;
  takeView();
  if (row !== null) {
    if (byId("row").hidden) returnTo = scrollY;
    await showRow(row);
    return;
  }
  if (wanted) trouble("This report has no such row.");
  if (!byId("row").hidden) leaveRow();
}

/** Back to the table, to where it was left. */
function leaveRow() {
  const last = currentRow;
  byId("row").hidden = true;
  byId("overview").hidden = false;
  byId("top").hidden = false;
  currentRow = null;
  if (returnTo !== null) scrollTo(0, returnTo);
  returnTo = null;
  const link = [...document.querySelectorAll("#table tbody a")].find((item) => item.getAttribute("href") === addressOf(last));
  if (link) link.focus({ preventScroll: true });
}

/** The arrow keys turn to the row before and after; Escape leads back to the table. */
function keys(event) {
  if (currentRow === null || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.target.closest("input, select, textarea")) return;
  const inTabs = event.target.closest("[role=tablist]"); // where the arrows choose a score
  const step = inTabs ? 0 : { ArrowLeft: -1, ArrowRight: 1, k: -1, j: 1 }[event.key];
  if (event.key === "Escape") location.hash = "#rows";
  else if (step) toNeighbour(step);
  else return;
  event.preventDefault();
}

function trouble(text) {
  byId("trouble").textContent = text;
  byId("trouble").hidden = false;
}

start().catch((error) => {
  trouble(`The rows cannot be shown: ${error.message}`);
  throw error;
});
