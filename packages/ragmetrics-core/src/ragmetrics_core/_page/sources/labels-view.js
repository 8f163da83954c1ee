// What label mode shows. It is drawn anew after each change; the element with the focus keeps it by its id.

const labelWord = (label) => (typeof label === "number" ? `grade ${digits(label)}` : label ? "right" : "wrong");
const labelSign = (label) => (typeof label === "number" ? digits(label) : label ? "✔" : "✘");

let pressed = false; // a button of the mouse, or a finger
let afterwards = null;

/** Do it when the focus has moved and nothing is being pressed: what is drawn anew under a finger loses the click. */
function whenReleased(act) {
  if (pressed) afterwards = act;
  else setTimeout(act);
}

addEventListener("pointerdown", () => (pressed = true), true);
for (const name of ["pointerup", "pointercancel"]) {
  addEventListener(name, () => {
    pressed = false;
    setTimeout(() => { // after the click
      afterwards?.();
      afterwards = null;
    });
  }, true);
}

function drawLabels() {
  const focused = document.activeElement?.id;
  const draft = focused === "labels-note" ? byId("labels-note").value : null;
  const told = [...(byId("labels-told")?.childNodes || [])];
  fill(
    byId("labels"),
    el("nav", { class: "row-pages", "aria-label": "Report" }, el("a", { href: "#rows" }, "← Back to the report")),
    el("h1", { id: "labels-title" }, "Label rows"),
    labelCaveats().map((text) => el("p", { class: "caveat" }, sign("!", ""), text)),
    labelOptions(),
    labelProgress(told),
    el("section", { id: "labels-row", "aria-labelledby": "labels-row-title" }, labelRow()),
  );
  const chosen = byId("labels-target");
  if (chosen) chosen.closest("ol").scrollTop = chosen.parentElement.offsetTop - 60;
  if (draft !== null && byId("labels-note")) byId("labels-note").value = draft;
  if (focused && focused.startsWith("labels") && document.activeElement?.id !== focused) byId(focused)?.focus({ preventScroll: true });
}

/** Say what happened; the second text is for those who do not see the progress. */
const tellLabels = (text, aside) => {
  fill(byId("labels-told"), text, aside ? el("span", { class: "aside" }, ` ${aside}`) : null);
};

/** What is labelled, by whom, in which order. */
function labelOptions() {
  const { annotator, order, claims, further, keys } = given.options;
  const orders = Object.entries(ORDERS).filter(([name]) => name !== "drawn" || given.drawn.length);
  const field = (id, text, input, kind) => el("p", { class: `field ${kind || ""}` }, el("label", { for: id }, text), input);
  const check = (id, text, on) => el("p", { class: "check" }, el("input", { type: "checkbox", id, checked: on }), el("label", { for: id }, text));
  return el(
    "form",
    { class: "filters", "aria-label": "How to label", onchange: readOptions, onsubmit: (event) => event.preventDefault() },
    field("labels-metric", "Metric", el("select", { id: "labels-metric" }, metrics.map((metric, number) => option(number, metric.name, number === labelMetric())))),
    field("labels-annotator", "Your name", el("input", { id: "labels-annotator", type: "text", value: annotator, maxlength: 200, autocomplete: "name", placeholder: "who labels" })),
    field("labels-order", "Rows", el("select", { id: "labels-order" }, orders.map(([name, text]) => option(name, text, name === order)))),
    el("div", { class: "checks" }, check("labels-claims", "Claims too", claims), check("labels-further", "Go on after a label", further), check("labels-keys", "Single keys", keys)),
  );
}

const labelled = () => now.rows.filter((row) => hasLabel(row, null)).length;
const progressText = () => `${labelled().toLocaleString("en")} of ${count(now.rows.length, "row")} labelled.`;

/** How far it is, and what can be done with what is there. */
function labelProgress(told) {
  const button = (id, text, key, act, off) =>
    el("button", { type: "button", id, onclick: act, disabled: off, "aria-keyshortcuts": given.options.keys ? key : null }, text, keyHint(key));
  const file = el("input", { type: "file", id: "labels-file", class: "aside", tabindex: "-1", accept: ".jsonl,.ndjson,.json,.txt", "aria-label": "File of labels", onchange: (event) => readLabelFile(event.target) });
  const ready = [...given.labels.values()].filter((entry) => entry.label !== null).length;
  return el(
    "div",
    { class: "label-bar" },
    el("div", { class: "label-progress" }, el("p", { id: "labels-progress" }, progressText()), el("progress", { max: Math.max(1, now.rows.length), value: labelled(), "aria-labelledby": "labels-progress" })),
    el(
      "p",
      { class: "label-acts" },
      button("labels-undo", "Undo", "u", takeBack, !labelSteps.length),
      button("labels-export", ready ? `Export ${count(ready, "label")}` : "Export", "e", tellExport, false),
      button("labels-import", "Import…", null, () => file.click(), false),
      file,
      labelServer ? el("a", { href: "agreement" }, "Agreement so far") : null,
      button("labels-clear", "Remove mine…", null, askToClear, !ownLabels().length),
    ),
    el("p", { id: "labels-told", role: "status" }, told),
  );
}

/** Ask before the annotator's labels are removed. */
function askToClear() {
  const [name, found] = [annotatorNow(), ownLabels().length];
  const whose = name ? [" of ", el("bdi", null, name)] : " without a name";
  const answer = (text, act) => el("button", { type: "button", onclick: () => (sure.close(), act?.()) }, text);
  const keep = answer("Keep", null);
  const sure = el(
    "dialog",
    { id: "labels-sure", "aria-labelledby": "labels-sure-asked", onclose: () => sure.remove() },
    el("p", { id: "labels-sure-asked" }, `Remove ${count(found, "label")}`, whose, ", of every metric? Labels of others stay. Undo brings them back while this page is open."),
    el("p", { class: "label-acts" }, keep, answer("Remove", clearLabels)),
  );
  byId("labels").after(sure); // outside of what is drawn anew
  sure.showModal();
  keep.focus();
}

const keyHint = (key) => (key && given.options.keys ? el("kbd", { "aria-hidden": "true" }, key) : null);

/** The row: its texts on the left, without marks; what is asked about it on the right. */
function labelRow() {
  if (!now.rows.length) return el("h2", { id: "labels-row-title", tabindex: "-1" }, "There are no such rows to label.");
  if (!now.record) return el("h2", { id: "labels-row-title", tabindex: "-1" }, labelNames[rowNow()]);
  const { sample } = now.record;
  const score = scoreOf(now.record, metrics[labelMetric()]);
  const view = now.open ? viewOf(score, sample) : { tables: [] };
  redraw = drawLabels;
  const place = `row ${(now.at + 1).toLocaleString("en")} of ${now.rows.length.toLocaleString("en")}`;
  const rest = metadataPart(sample);
  if (rest) rest.open = false; // a column may tell a score
  return [
    el("h2", { id: "labels-row-title", tabindex: "-1" }, el("bdi", null, labelNames[rowNow()]), el("span", { class: "limits" }, ` ${place}`)),
    el(
      "div",
      { class: "columns" },
      el("div", { class: "texts" }, sampleTexts(sample, view.tables), contextList(sample, view.tables), rest),
      el("div", { class: "evidence label-panel" }, labelPanel(), now.open ? seenScore(score, view, sample) : null, labelHelp()),
    ),
  ];
}

function labelPanel() {
  const metric = metrics[labelMetric()];
  return [
    el("section", { class: "ask" }, el("h3", { dir: "auto" }, metric.name), labelAsks[labelMetric()] ? el("p", { class: "remark" }, labelAsks[labelMetric()]) : null, metric.better === false && !gradesOf(metric) ? el("p", { class: "remark" }, "Low scores are good here: “right” says that there is nothing to object to.") : null),
    now.targets.length > 1 ? targetList() : null,
    verdictPart(metric),
    notePart(),
    el("div", { class: "label-seen" }, el("p", null, blindWords()), el("button", { type: "button", id: "labels-score", onclick: toggleScore, "aria-expanded": now.open ? "true" : "false", "aria-keyshortcuts": given.options.keys ? "s" : null }, now.open ? "Hide the score" : "Show the score", keyHint("s"))),
  ];
}

/** The claims and the row as a whole, each with its label; one of them is asked about. */
function targetList() {
  const items = now.targets.map((claim, number) => {
    const label = labelOf(rowNow(), claim)?.label ?? null;
    const chosen = number === now.target;
    const go = () => goToTarget(number - now.target);
    return el(
      "li",
      { class: chosen ? "chosen" : null },
      el("button", { type: "button", id: chosen ? "labels-target" : `labels-target-${number}`, "aria-current": chosen ? "true" : null, onclick: go }, el("span", { class: `state ${label === null ? "open" : label ? "good" : "bad"}` }, label === null ? sign("○", "no label:") : sign(labelSign(label), `${labelWord(label)}:`)), el("span", { dir: "auto" }, claim === null ? el("b", null, "The row as a whole") : claim)),
    );
  });
  return el("section", { class: "targets" }, el("h4", null, "Claims, then the row"), el("ol", null, items));
}

/** The question, and a button for each answer. */
function verdictPart(metric) {
  const claim = claimNow();
  const label = labelOf(rowNow(), claim)?.label ?? null;
  const grades = claim === null ? gradesOf(metric) : null;
  const asked = claim === null ? (grades ? "Which grade does this row deserve?" : "Is this row right, by this metric?") : `Is claim ${now.target + 1} right?`;
  const button = (value, mark, word, key, kind) =>
    el("button", { type: "button", id: `labels-give-${String(value)}`, class: `give ${kind}`, "aria-pressed": label === value ? "true" : "false", "aria-keyshortcuts": given.options.keys && key ? key : null, onclick: () => giveLabel(value) }, mark ? el("span", { class: "sign", "aria-hidden": "true" }, mark) : null, word, keyHint(key));
  const answers = grades
    ? grades.steps
      ? grades.steps.map((step) => button(step, null, digits(step), null, "grade"))
      : gradeField(grades, label)
    : [button(true, "✔", "Right", "y", "good"), button(false, "✘", "Wrong", "n", "bad")];
  return el(
    "div",
    { class: "verdict-bar", role: "group", "aria-labelledby": "labels-asked" },
    el("p", { id: "labels-asked", class: "asked" }, asked, claim === null ? null : el("span", { class: "asked-claim", dir: "auto" }, ` ${claim}`), grades ? el("span", { class: "limits" }, ` ${digits(grades.low)} to ${digits(grades.high)}${metric.better === false ? ", low is good" : ""}`) : null),
    el("div", { class: grades && grades.steps ? "gives grades" : "gives" }, answers),
    label === null ? null : el("p", { class: "steps" }, el("button", { type: "button", id: "labels-remove", onclick: removeLabel, "aria-keyshortcuts": given.options.keys ? "x" : null }, "Remove this label", keyHint("x"))),
    el("p", { class: "steps" }, el("button", { type: "button", id: "labels-previous", onclick: () => goToRow(now.at - 1), disabled: now.at === 0 }, "← Previous row"), el("span", { class: "so-far", "aria-hidden": "true" }, `${labelled()} / ${now.rows.length}`), el("button", { type: "button", id: "labels-next", onclick: () => goToRow(now.at + 1), disabled: now.at + 1 >= now.rows.length }, "Next row →")),
  );
}

/** Where grades are too many for buttons: a number, taken by Enter or by its button. */
function gradeField(grades, label) {
  const input = el("input", { type: "number", id: "labels-grade", min: grades.low, max: grades.high, step: "any", value: label, "aria-labelledby": "labels-asked" });
  const take = (event) => {
    event.preventDefault();
    const value = Number(input.value);
    if (input.value.trim() === "" || !(value >= grades.low && value <= grades.high)) tellLabels(`Write a number from ${grades.low} to ${grades.high}.`);
    else giveLabel(value);
  };
  return el("form", { class: "grade-form", onsubmit: take }, input, el("button", { type: "submit" }, "Set"));
}

function notePart() {
  const what = claimNow() === null ? "Note on the row" : `Note on claim ${now.target + 1}`;
  const area = el("textarea", { id: "labels-note", rows: 2, maxlength: 10000, dir: "auto", "aria-keyshortcuts": given.options.keys ? "m" : null, onchange: (event) => giveNote(event.target.value) });
  area.value = labelOf(rowNow(), claimNow())?.note ?? "";
  return el("p", { class: "note" }, el("label", { for: "labels-note" }, what, keyHint("m")), area);
}

function blindWords() {
  if (orderTells()) return [sign("◉", ""), "Not blind: the order or the filters of the table tell of the scores."];
  if (given.seen.has(rowNow())) return [sign("◉", ""), "Not blind: you have seen this row’s scores."];
  return [sign("◌", ""), "Blind: you have not seen this row’s scores."];
}

function seenScore(score, view, sample) {
  return el("div", { class: "seen-score" }, el("h3", null, "What the judge said"), el("p", { class: "score" }, scoreCell(rowNow(), labelMetric())), scoreEvidence(score, view, sample));
}

function labelHelp() {
  const grades = gradesOf(metrics[labelMetric()]);
  const keys = [
    grades && grades.steps ? [`${grades.low} … ${Math.min(9, grades.high)}`, "give a grade"] : ["y, n", "right, wrong"],
    ["j, k", given.options.claims ? "next, previous claim or row" : "next, previous row"],
    ["→, ←", "next, previous row"],
    ["m", "write a note; Escape leaves it"],
    ["x", "remove the label"],
    ["u", "undo"],
    ["s", "show or hide the score"],
    ["e", "export"],
    ["Esc", "back to the report"],
  ];
  const list = el("dl", { class: "keys" }, keys.map(([key, what]) => el("div", null, el("dt", null, el("kbd", null, key)), el("dd", null, what))));
  return el("section", { class: "key-help" }, el("h3", null, "Keys"), given.options.keys ? list : el("p", { class: "remark" }, "Single keys are off; Tab and Enter reach everything."));
}
