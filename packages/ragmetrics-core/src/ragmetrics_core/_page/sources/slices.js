// Slices: the means of groups of rows, by one column of the metadata.

let sliceTables = [];

/** Show the slices, if the metadata tells any. */
function startSlices(tables) {
  sliceTables = tables;
  if (!tables.length) return;
  fill(byId("slice-path"), tables.map((item, number) => option(number, item.path)));
  byId("slice-path").addEventListener("input", showSlices);
  showSlices();
}

function showSlices() {
  const { path, groups } = sliceTables[Number(byId("slice-path").value) || 0];
  const heads = [path, "rows", ...metrics.map((metric) => metric.name)];
  const head = el("tr", null, heads.map((name, number) => el("th", { scope: "col", class: number ? "number" : null, dir: "auto" }, breakable(name))));
  fill(byId("slice-table"), el("table", { class: metrics.length > MANY ? "slices wide" : "slices" }, el("thead", null, head), el("tbody", null, groups.map((group) => sliceRow(path, group)))));
}

function sliceRow(path, group) {
  const name = group.value === null ? `without ${path}` : group.value;
  const choose = el("button", { type: "button", class: "link", dir: "auto", title: "Show these rows", onclick: () => chooseSlice(path, group.value) }, name);
  const cells = group.scores.map((score, number) => el("td", { class: "number", "data-name": partsOf(metrics[number].name).join("\u200b") }, sliceScore(score, group.rows)));
  return el("tr", null, el("th", { scope: "row" }, choose), el("td", { class: "number", "data-name": "rows" }, digits(group.rows)), cells);
}

/** A mean with its interval, and on how many rows it rests where those are not all of the slice. */
function sliceScore(score, rows) {
  const some = score.scored < rows ? el("span", { class: "limits" }, `${digits(score.scored)} scored`) : null;
  if (score.mean === null) return ["–", some];
  const limits = score.low === null ? "no interval" : `${score.low.toFixed(3)} to ${score.high.toFixed(3)}`;
  return [el("b", null, score.mean.toFixed(3)), el("span", { class: "limits" }, limits), some];
}
