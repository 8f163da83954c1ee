// The evidence of one score: its claims, and whatever else its details hold.

const ASIDE = new Set(["prompts", "raw", "repeats", "exchanges"]);
const OWNERS = { response: "answer", reference: "reference" };
const ASKED = { contexts: "contexts", response: "answer", reference: "reference" };

/** Everything about a score; of one that has several judgements, also what is known of the chosen one. */
function scoreEvidence(score, { levels, score: chosen, tables }, sample) {
  if (!levels.length) return [scoreHead(score), detailsOf(score, tables, sample), origin(score)];
  const lines = levels.map((item, level) => judgementLines(item, level, sample, score.scale));
  const own = el("section", { class: "judgement" }, el("h2", { dir: "auto" }, chosen.name), scoreHead(chosen), detailsOf(chosen, tables, sample), origin(chosen));
  return [scoreHead(score), lines, own, detailsOf(score, [], sample), origin(score)];
}

/** The claims of a score, and whatever else its details hold. */
function detailsOf({ details }, tables, sample) {
  const taken = new Set(tables.map((item) => item.name));
  if (taken.has("statements")) taken.add("statement_scores");
  if (areJurors(details.jurors)) taken.add("jurors");
  const rest = Object.entries(details).filter(([name]) => !taken.has(name) && !ASIDE.has(name));
  return [
    tables.map((item) => claimList(item, sample)),
    rest.length ? el("section", { class: "details" }, el("h2", null, "Further evidence"), tree(Object.fromEntries(rest))) : null,
  ];
}

function scoreHead(score) {
  const lines = [];
  if (score.error) lines.push(el("p", { class: "bad", dir: "auto" }, sign("✘", "failed"), score.error));
  if (score.reason) lines.push(el("p", { class: "reason", dir: "auto" }, score.reason));
  return lines;
}

/** A table of claims as a list: the sign and the words of the verdict, the claim, its passages, the reason. */
function claimList(item, sample) {
  const about = OWNERS[item.about];
  const title = item.rows.some((row) => row.verdict) ? `Claims of the ${about}, by the ${ASKED[item.by]}` : `Statements of the ${about}`;
  const held = item.rows.filter((row) => row.verdict === "supported").length;
  const total = item.rows.some((row) => row.verdict) ? `${held} of ${item.rows.length} supported` : count(item.rows.length, "statement");
  const order = item.rows.map((_, number) => number).sort((one, other) => urgency(item.rows[one]) - urgency(item.rows[other]));
  const claims = order.map((number) => claim(item.rows[number], item, number, sample));
  return el("section", { class: "claims" }, el("h2", null, title), el("p", { class: "remark" }, total), el("ol", null, claims));
}

const URGENT = ["contradicted", "not supported", "not stated", null, "supported"];

/** What is rejected comes first, then what is undecided, and what is supported last; equal ones stay as they were. */
const urgency = ({ both, verdict }) => (both ? 0 : URGENT.indexOf(verdict));

function claim(row, item, number, sample) {
  const verdict = VERDICTS[row.verdict];
  const label = row.both ? `${row.verdict}, and contradicted` : row.verdict;
  return el(
    "li",
    { id: item.keys ? `claim-${item.keys[number]}` : null, tabindex: "-1", class: verdict ? verdict.kind : "open" },
    el("p", { class: "verdict" }, verdict ? sign(verdict.mark, "") : null, label || "", el("span", { class: "number" }, item.keys ? ` ${numberOf(item, number)}` : "")),
    el("p", { class: "claim", dir: "auto" }, row.text),
    row.reason ? el("p", { class: "reason", dir: "auto" }, row.reason) : null,
    passages(row, item, number, sample),
  );
}

const numberOf = (item, number) => `${item.about === "reference" ? "R" : ""}${number + 1}`;

/** Links to the passages that speak for a claim, and against it, to those that it cites, and to its place in the text. */
function passages(row, item, number, sample) {
  const link = (passage, kind, text) => passageLink(passage, kind, text, row.text, item.keys ? item.keys[number] : `cited-${passage}`, sample);
  const places = [];
  if (item.by === "contexts") {
    places.push(row.by.map((passage) => link(passage, "good", `✔ context ${passage}`)), row.against.map((passage) => link(passage, "bad", `✘ context ${passage}`)));
  }
  if (row.cited) places.push(el("span", null, row.cited.length ? ["cites ", row.cited.map((mark) => citation(mark, link))] : "cites nothing"));
  if (item.keys) places.push(el("button", { type: "button", class: "link", onclick: (event) => light(item.keys[number], false, event.currentTarget) }, "show in the text"));
  return places.flat().length ? el("p", { class: "places" }, places) : null;
}

/** What a statement cites: a link to each passage that this means. */
function citation(mark, link) {
  const found = numbers(mark?.passages);
  return [found.length === 1 ? link(found[0], "open", mark.marker) : [mark?.marker, found.map((passage) => [" ", link(passage, "open", `context ${passage}`)])], " "];
}

function passageLink(passage, kind, text, claim, key, sample) {
  if (passage < 1 || passage > contextsOf(sample).length) return el("span", null, text);
  const go = (event) => goToCited(byId(contextId(sample, passage)), claim, key, event.currentTarget);
  return el("button", { type: "button", class: `passage ${kind}`, title: `Go to the sentence in context ${passage}`, onclick: go }, text);
}

/** Any JSON value as nested lists; names and values as they stand in the data where they are `given`, else as somebody would say them. */
function tree(value, given) {
  if (Array.isArray(value)) {
    return value.length ? el("ul", { class: "tree" }, value.map((item) => el("li", null, tree(item, given)))) : el("span", { class: "open" }, "none");
  }
  if (value && typeof value === "object") {
    const entries = Object.entries(value).map(([key, item]) => el("div", null, el("dt", { dir: "auto" }, given ? key : key.replaceAll("_", " ")), el("dd", null, tree(item, given))));
    return entries.length ? el("dl", { class: "tree" }, entries) : el("span", { class: "open" }, "none");
  }
  if (given && (typeof value === "boolean" || typeof value === "number")) return el("span", null, String(value));
  if (typeof value === "boolean") return el("span", { class: value ? "good" : "bad" }, value ? "✔ yes" : "✘ no");
  if (value === null) return el("span", { class: "open" }, "–");
  return typeof value === "number" ? digits(value) : el("span", { class: "text", dir: "auto" }, value);
}

/** Where a score comes from: what was sent and replied, the versions of its prompts, calls and tokens. */
function origin(score) {
  const prompts = Object.entries(score.details.prompts || {}).map(([name, version]) => `${name} ${version}`);
  const usage = score.usage || {};
  const cached = usage.cached_calls ? `, ${usage.cached_calls.toLocaleString("en")} of them answered before` : "";
  const tokens = usage.prompt_tokens || usage.completion_tokens ? `${digits(usage.prompt_tokens || 0)} tokens in, ${digits(usage.completion_tokens || 0)} out` : null;
  const used = [prompts.length ? `prompts: ${prompts.join(", ")}` : null, `${count(usage.calls || 0, "call")}${cached}`, tokens];
  return el("footer", { class: "origin" }, exchangeList(score), rawReplies(score), el("p", { class: "remark" }, used.filter(Boolean).join(" · ")));
}

/** The exact messages of every call, and what came back; where they cannot be had, why. */
function exchangeList(score) {
  if (!score.exchanges) return score.problem && (score.usage || {}).calls ? el("p", { class: "remark", dir: "auto" }, `Messages and replies are not here: ${score.problem}.`) : null;
  if (!score.exchanges.length) return null;
  const title = `Messages and replies (${count(score.exchanges.length, "call")})`;
  return el("details", { class: "calls" }, el("summary", null, title), el("ol", null, score.exchanges.map(exchange)));
}

function exchange({ prompt, messages, reply }, number) {
  const last = reply === null ? el("p", { class: "remark" }, "No reply to this is kept: it could not be read, or the call failed.") : exact("reply", reply);
  return el("li", null, el("h3", { dir: "auto" }, `${number + 1}. ${prompt}`), messages.map((item) => exact(item.role, item.content)), last);
}

/** A text as it was, letter by letter. */
function exact(role, text, heading = "h4") {
  const whole = typeof text === "string" ? text : JSON.stringify(text);
  return el("section", { class: `message ${role === "reply" ? "reply" : ""}` }, el(heading, { dir: "auto" }, role), el("pre", { tabindex: "0", dir: "auto" }, whole));
}

function rawReplies(score) {
  const raw = score.details.raw;
  if (!Array.isArray(raw) || !raw.length) return null;
  return el("details", { class: "calls" }, el("summary", null, `Raw replies that could not be read (${raw.length})`), raw.map((text) => exact("reply", text, "h3")));
}
