// What a page of two runs shows of a row in its table, and which rows its filters let through by what changed.

const CHANGE = "change";
const WORSE = "worse";
const BETTER = "better";
const BEFORE = 0;
const AFTER = 1;
const ROUNDING = 1e-6; // values stand here with six digits
let runNames = [];
let ranks = [];
let wantedKind = "";

const textsOf = (row) => [index.questions[row], index.answers[BEFORE][row], index.answers[AFTER][row]];

/** Both answers, or one where they are the same. */
function answerLines(row) {
  const [before, after] = index.answers.map((answers) => answers[row]);
  const line = (word, text) => el("span", { class: "answer" }, el("b", null, word), " ", el("bdi", null, text || "–"));
  if (inOneRun(row)) return line("answer", before || after);
  return before === after ? line("both", before) : [line("before", before), line("after", after)];
}

const SIDE_NAMES = ["before", "after"];

const exportColumns = () => [
  ["id", (row) => index.ids[row]],
  ["place", (row) => index.places[row]],
  ["question", (row) => index.questions[row]],
  ...SIDE_NAMES.map((side, at) => [`answer_${side}`, (row) => index.answers[at][row]]),
  ...metrics.flatMap(({ name }, metric) => [
    ...SIDE_NAMES.flatMap((side, at) => scoreColumns(`${name}_${side}`, index.values[metric][at], index.states[metric][at], index.passing[metric][at], index.labels[metric][at])),
    [`${name}_change`, (row) => difference(row, metric)],
  ]),
];

/** What became of a row by a metric in one of the runs. */
function sideAt(row, metric, side) {
  const labels = index.labels[metric][side];
  return {
    value: index.values[metric][side][row],
    state: index.states[metric][side][row],
    label: labels ? labels[row] : null,
  };
}

const inOneRun = (row) => index.states[0].some((states) => states[row] === "-");

/** After minus before; null where a value is missing, or where who scored forbids to compare. */
function difference(row, metric) {
  const [before, after] = index.values[metric].map((values) => values[row]);
  return before === null || after === null || !metrics[metric].credited ? null : after - before;
}

/** A difference as a share of the metric's scale, or as it is where the metric has none. */
function changeShare(row, metric) {
  const { scale } = metrics[metric];
  const change = difference(row, metric);
  return change === null || !scale || scale[1] <= scale[0] ? change : change / (scale[1] - scale[0]);
}

/** Whether a metric became better (1) or worse (-1) by a difference; 0 where it is too small, or neither end is better. */
function sense(change, metric) {
  const { better } = metrics[metric];
  return change === null || better === null || Math.abs(change) < ROUNDING ? 0 : Math.sign(change) * (better ? 1 : -1);
}

const VERDICT_KINDS = new Set(["broke", "mended"]);
const KINDS_OF_CHANGE = {
  changed: (change) => change !== null && Math.abs(change) >= ROUNDING,
  better: (change, metric) => sense(change, metric) > 0,
  worse: (change, metric) => sense(change, metric) < 0,
  same: (change) => change !== null && Math.abs(change) < ROUNDING,
  broke: (change, metric, row) => turned(row, metric, "y", "n"),
  mended: (change, metric, row) => turned(row, metric, "n", "y"),
  lost: (change, metric, row) => hasValue(row, metric, BEFORE) && inBoth(row) && !hasValue(row, metric, AFTER),
  gained: (change, metric, row) => hasValue(row, metric, AFTER) && inBoth(row) && !hasValue(row, metric, BEFORE),
  unscored: (change, metric, row) => index.states[metric].some((states) => states[row] === "u"),
  failed: (change, metric, row) => index.states[metric].some((states) => states[row] === "f"),
  before: (change, metric, row) => index.states[metric][AFTER][row] === "-",
  after: (change, metric, row) => index.states[metric][BEFORE][row] === "-",
};

/** Whether the verdicts of both runs are these; runs that cannot be compared have none. */
function turned(row, metric, before, after) {
  const [one, two] = index.passing[metric];
  return one[row] === before && two[row] === after && metrics[metric].credited;
}

const hasValue = (row, metric, side) => index.states[metric][side][row] === "s";
const inBoth = (row) => !inOneRun(row);

/** Whether the change by a metric is one that is asked for. */
const hasWanted = (row, metric) => !wantedKind || KINDS_OF_CHANGE[wantedKind](difference(row, metric), metric, row);

/** Offer the changes of verdicts where a metric gives any. */
function startWanted() {
  const gives = index.passing.some((sides) => sides.some((codes) => /[yn]/.test(codes)));
  if (!gives) [...byId("kind").options].filter((item) => VERDICT_KINDS.has(item.value)).forEach((item) => item.remove());
}

function readWanted() {
  wantedKind = byId("kind").value;
}

/** The numbers that an order goes by: the place among all changes; the most that any metric became worse or better; the size of a
 * metric's change; how much better it became. */
function sortColumn(sort) {
  if (sort === CHANGE) return ranks;
  if (sort === WORSE || sort === BETTER) return ranks.map((_, row) => -mostOf(row, sort));
  const metric = Number(sort.replace("size-", ""));
  const sign = metrics[metric].better === false ? -1 : 1;
  const changes = ranks.map((_, row) => difference(row, metric));
  return sort.startsWith("size-") ? changes.map((change) => (change === null ? null : -Math.abs(change))) : changes.map((change) => (change === null ? null : sign * change));
}

/** The largest share of a scale by which a metric of the row became worse, or better; 0 where none did. */
function mostOf(row, kind) {
  const shares = [...metrics.keys()].filter((metric) => KINDS_OF_CHANGE[kind](difference(row, metric), metric));
  return Math.max(0, ...shares.map((metric) => Math.abs(changeShare(row, metric))));
}

const downAtFirst = () => false;

const DIRECTIONS = { worse: WORSE, broke: WORSE, better: BETTER, mended: BETTER };

/** The order where the reader chose none, and its name: the largest change first, in the direction and by the metric that are asked for. */
function startOrder(metric) {
  const direction = own(DIRECTIONS, wantedKind);
  const words = direction ? `most ${direction} first` : "largest change first";
  if (!metrics.some(({ credited }) => credited)) return [`${INPUT} up`, "as in the data"];
  if (metric === ANY) return [`${direction ?? CHANGE} up`, words];
  return [direction ? `${metric} ${direction === WORSE ? "up" : "down"}` : `size-${metric} up`, `${metrics[metric].name}, ${words}`];
}

function sortOptions() {
  const [low, high] = ["most worse first", "most better first"];
  return [
    metrics.some((metric) => metric.credited) ? option(`${CHANGE} up`, "largest change first") : [],
    option(`${INPUT} up`, "as in the data"),
    option(`${INPUT} down`, "last of the data first"),
    metrics.map(({ name, better, credited }, metric) =>
      credited
        ? [
            choice(`size-${metric} up`, `${name}, largest change first`, `size of ${name} up`),
            choice(`${metric} up`, `${name}, ${better === null ? "largest fall first" : low}`, `by ${name} up`),
            choice(`${metric} down`, `${name}, ${better === null ? "largest rise first" : high}`, `by ${name} down`),
          ]
        : [],
    ),
  ];
}

/** Both scores of a row by a metric, and below them what changed. */
function scoreCell(row, metric) {
  const { scale } = metrics[metric];
  const sides = [BEFORE, AFTER].map((side) => sideText(sideAt(row, metric, side), scale));
  return [el("span", { class: "move" }, sides[BEFORE], el("span", { "aria-hidden": "true" }, " → "), el("span", { class: "aside" }, " to "), sides[AFTER]), changeText(row, metric)];
}

/** One score in a sign or a number. */
function sideText({ value, state }) {
  if (state === "f") return el("span", { class: "bad" }, sign("✘", ""), "failed");
  if (state === "-") return el("span", { class: "open", title: "not in this run" }, "absent");
  if (value === null) return el("span", { class: "open" }, sign("–", ""), state === "n" ? "not asked" : "unscored");
  return el("span", { class: "value" }, digits(value));
}

/** The difference with a sign that says which way it went, and whether that is better. */
function changeText(row, metric) {
  const change = difference(row, metric);
  if (change === null) return null;
  const way = sense(change, metric);
  const [mark, word, kind] = Math.abs(change) < ROUNDING ? ["=", "no change", "open"] : [change > 0 ? "▲" : "▼", { 1: "better", "-1": "worse", 0: "" }[way], { 1: "good", "-1": "bad", 0: "open" }[way]];
  const size = Math.abs(change) < ROUNDING ? "" : ` ${signed(change)}`;
  return [el("span", { class: `delta ${kind}` }, sign(mark, ""), `${word}${size}`), changeBar(change, metric, kind)];
}

const signed = (change) => `${change > 0 ? "+" : "−"}${digits(Math.abs(change))}`;

/** A bar from the middle of the scale's width, to the right for a rise, to the left for a fall. */
function changeBar(change, metric, kind) {
  const { scale } = metrics[metric];
  if (!scale || scale[1] <= scale[0]) return null;
  const share = Math.min(1, Math.abs(change) / (scale[1] - scale[0])) * 50;
  const inner = el("span", { class: `bar-inner ${kind}` });
  inner.style.width = `${share}%`;
  inner.style.marginLeft = `${change < 0 ? 50 - share : 50}%`;
  return el("span", { class: "bar-outer from-middle", "aria-hidden": "true" }, inner);
}
