// What a page of one run shows of a row in its table, and which rows its filters let through by their scores.

const WORST = "worst";
const wanted = { below: null, state: "", label: "" };

const textsOf = (row) => [index.questions[row], index.answers[row]];
const answerLines = (row) => el("span", { class: "answer", dir: "auto" }, index.answers[row]);
const scoreCell = (row, metric) => scoreText(scoreAt(row, metric), metrics[metric].scale, metrics[metric].better);

/** What became of a row by a metric, as the table shows it. */
function scoreAt(row, metric) {
  const labels = index.labels[metric];
  return {
    value: index.values[metric][row],
    state: index.states[metric][row],
    passing: index.passing[metric][row],
    label: labels ? labels[row] : null,
  };
}

const exportColumns = () => [
  ["id", (row) => index.ids[row]],
  ["place", (row) => index.places[row]],
  ["question", (row) => index.questions[row]],
  ["answer", (row) => index.answers[row]],
  ...metrics.flatMap(({ name }, metric) => scoreColumns(name, index.values[metric], index.states[metric], index.passing[metric], index.labels[metric])),
];

/** Whether the score by a metric is one that is asked for. */
function hasWanted(row, metric) {
  const value = index.values[metric][row];
  if (wanted.below !== null && (value === null || value >= wanted.below)) return false;
  if (wanted.state && index.states[metric][row] !== wanted.state) return false;
  return !wanted.label || (index.labels[metric] || [])[row] === wanted.label;
}

/** The numbers that an order goes by, one per row. */
const sortColumn = (sort) => (sort === WORST ? index.worst : index.values[Number(sort)]);
const downAtFirst = () => false;

/** The order where the reader chose none, and its name: the worst first, by the metric that is asked for. */
function startOrder(metric) {
  if (metric === ANY) return [`${WORST} up`, "worst first"];
  const { name, better } = metrics[metric];
  return better === false ? [`${metric} down`, `${name}, highest first`] : [`${metric} up`, `${name}, lowest first`];
}

const sortOptions = () => [
  option(`${WORST} up`, "worst first"),
  option(`${INPUT} up`, "as in the data"),
  option(`${INPUT} down`, "last of the data first"),
  metrics.map((metric, number) => [
    choice(`${number} up`, `${metric.name}, lowest first`, `by ${metric.name} up`),
    choice(`${number} down`, `${metric.name}, highest first`, `by ${metric.name} down`),
  ]),
];

/** Fill the fields of the form that ask for scores: the labels of the chosen metric. */
function startWanted() {
  const chosen = Number(byId("metric").value);
  const labels = [...new Set(metrics.flatMap((metric, number) => (chosen === ANY || chosen === number ? metric.labels : [])))];
  fill(byId("label"), option("", labels.length ? "any" : "has none"), labels.map((label) => option(label, label)));
  byId("label").disabled = labels.length === 0;
}

function readWanted(event) {
  if (event && event.target === byId("metric")) startWanted();
  const below = byId("below").value.trim();
  Object.assign(wanted, {
    below: below === "" || Number.isNaN(Number(below)) ? null : Number(below),
    state: byId("state").value,
    label: byId("label").value,
  });
}
