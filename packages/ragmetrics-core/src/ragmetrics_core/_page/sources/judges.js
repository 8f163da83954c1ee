// A row that was judged several times, by repeats or by jurors: a line for each judgement. The evidence of the chosen one is shown,
// and its claims are marked in the texts.

const chosenJudgement = new WeakMap(); // by the details of a score
let redraw = null; // shows the row again, when another judgement is chosen

/** What is shown of a score: the evidence of the score itself, or of one of its judgements, which may be a jury again. */
function viewOf(score, sample) {
  const levels = [];
  let at = score;
  for (let all = judgementsOf(at); all; all = judgementsOf(at)) {
    const { details } = at;
    const number = chosenJudgement.get(details) ?? usualJudgement(at, all);
    levels.push({ all, number, details });
    at = { ...all[number], details: all[number].details || {} };
  }
  return { levels, score: at, tables: keyed(claimTables(at.details, sample), sample) };
}

/** The judgements in a score with what they are called; null where it was judged once. */
function judgementsOf({ details: { repeats, jurors } }) {
  if (areRepeats(repeats)) return repeats.map((item, number) => ({ ...item, name: `Judgement ${number + 1}` }));
  return areJurors(jurors) ? jurors.map((item) => ({ ...item, name: jurorName(item) })) : null;
}

/** Whether these are judgements: other metrics may call something else so. */
const areRepeats = (value) => Array.isArray(value) && value.length > 0 && value.every((item) => item && typeof item.state === "string");
const areJurors = (value) => areRepeats(value) && value.every((item) => typeof item.juror === "string");

/** What a juror is called, with its model where the name does not tell it. */
const jurorName = ({ juror, model }) => (!model || juror.includes(`(${model})`) ? juror : `${juror} (${model})`);

const valueOf = ({ value }) => (typeof value === "number" ? value : null);

/** The first judgement that says what most say: its value is nearest to that of the score; if that has none, the first with a value. */
function usualJudgement(score, all) {
  const gaps = all.map((item) => (valueOf(item) === null ? Infinity : Math.abs(item.value - (valueOf(score) ?? item.value))));
  return gaps.indexOf(Math.min(...gaps));
}

/** A line for each judgement: who gave it and what it says. */
function judgementLines({ all, number, details }, level, sample, scale) {
  const lines = all.map((item, at) => {
    const id = `judgement-${sample[SIDE] || ""}${level}-${at}`;
    const choose = () => {
      const { scrollTop } = document.querySelector(".evidence") || {};
      chosenJudgement.set(details, at);
      redraw();
      if (scrollTop) document.querySelector(".evidence").scrollTop = scrollTop;
      byId(id).focus({ preventScroll: true });
    };
    return el("li", null, el("button", { type: "button", id, "aria-pressed": at === number ? "true" : "false", onclick: choose }, el("bdi", null, item.name), el("span", { class: "said" }, judgementText(item, scale))));
  });
  return el("section", { class: "judgements" }, el("h2", null, all[0].juror === undefined ? "Judgements" : "Jurors"), el("ul", null, lines));
}

function judgementText(item, scale) {
  const label = typeof item.label === "string" ? item.label : null;
  const passing = { true: "y", false: "n" }[String(item.passing)] || "-";
  return scoreText({ value: valueOf(item), state: item.state === "failed" ? "f" : "s", passing, label }, scale);
}
