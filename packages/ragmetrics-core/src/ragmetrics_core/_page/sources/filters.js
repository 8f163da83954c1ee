// Which rows are shown, and in which order. The page says what its own fields ask for: hasWanted(row, metric),
// startWanted(), readWanted(event); and how rows are sorted: sortOptions(), startOrder(metric), sortColumn(sort), downAtFirst(sort).

const INPUT = "input";
const ANY = -1; // metric
const view = { text: "", metric: ANY, slice: null, sort: INPUT, down: false, page: 0 };
let shown = [];

/** The rows that the filters let through, in order. */
function chosenRows() {
  const words = plain(view.text).split(/\s+/).filter(Boolean);
  searchEvidence(words);
  return orderedRows().filter((row) => isChosen(row, words));
}

function isChosen(row, words) {
  if (view.metric === ANY ? !metrics.some((_, metric) => hasWanted(row, metric)) : !hasWanted(row, view.metric)) return false;
  if (view.slice && index.metadata[view.slice.path][row] !== view.slice.value) return false;
  return words.every((word) => searched[row].includes(word)) || deep.found.has(row);
}

let ordered = { key: null, rows: [] };

/** All rows in the order that was chosen, sorted once. */
function orderedRows() {
  const key = `${view.sort} ${view.down}`;
  if (ordered.key !== key) ordered = { key, rows: sorted(Array.from({ length: rowCount }, (_, row) => row)) };
  return ordered.rows;
}

function sorted(rows) {
  if (view.sort === INPUT) return view.down ? rows.reverse() : rows;
  const column = sortColumn(view.sort);
  const sense = view.down ? -1 : 1;
  // rows without a value stay behind all others, whichever way the others are sorted
  return rows.sort((a, b) => {
    const [left, right] = [column[a], column[b]];
    if (left === right) return a - b;
    if (left === null) return 1;
    if (right === null) return -1;
    return sense * (left - right);
  });
}

/** Fill the choices of the form with what there is, and listen to it. */
function startFilters() {
  const form = byId("filters");
  fill(byId("metric"), option(ANY, "any metric"), metrics.map((metric, number) => choice(number, metric.name, metric.name)));
  fill(byId("slice"), option("", "all rows"), sliceOptions());
  byId("slice-field").hidden = Object.keys(index.metadata).length === 0;
  fill(byId("sort"), sortOptions());
  startWanted();
  form.addEventListener("input", readFilters);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => { startWanted(); readFilters(); }));
}

let slices = [];
function sliceOptions() {
  slices = [];
  return Object.entries(index.metadata).map(([path, column]) => {
    const values = [...new Set(column)].sort((a, b) => (a === null) - (b === null) || (a < b ? -1 : 1));
    const options = values.map((value) => {
      slices.push({ path, value });
      const key = [path.replace(/[%=]/g, encodeURIComponent), ...(value === null ? [] : [value])].join("=");
      return choice(slices.length - 1, value === null ? `without ${path}` : `${path} = ${value}`, key);
    });
    return el("optgroup", { label: path }, options);
  });
}

/** Take over what the form says, and show it. */
function readFilters(event) {
  readView(event);
  showView(event);
}

function readView(event) {
  readWanted(event);
  const slice = byId("slice").value;
  const metric = Number(byId("metric").value);
  const [start] = byId("sort").options;
  const [order, words] = startOrder(metric);
  start.textContent = words;
  const [sort, way] = (start.selected ? order : byId("sort").value).split(" ");
  Object.assign(view, {
    text: byId("text").value,
    metric,
    slice: slice === "" ? null : slices[Number(slice)],
    sort,
    down: way === "down",
    page: 0,
  });
}

/** Show the rows of one slice. */
function chooseSlice(path, value) {
  byId("slice").value = String(slices.findIndex((slice) => slice.path === path && slice.value === value));
  readFilters();
  byId("rows").scrollIntoView();
  byId("rows").focus({ preventScroll: true });
}

/** Sort by a column; a second time, the other way. */
function sortBy(sort) {
  const down = view.sort === sort ? !view.down : downAtFirst(sort);
  byId("sort").value = `${sort} ${down ? "down" : "up"}`;
  Object.assign(view, { sort, down, page: 0 });
  showView();
}
