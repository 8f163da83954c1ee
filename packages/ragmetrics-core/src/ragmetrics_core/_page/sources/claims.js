// Claims in the evidence of a score: tables of what was said of each, whose claims they are, and who was asked.

const VERDICTS = {
  supported: { mark: "✔", kind: "good" },
  contradicted: { mark: "✘", kind: "bad" },
  "not stated": { mark: "–", kind: "open" },
  "not supported": { mark: "–", kind: "open" },
};

/** Tables of the built-in metrics that are about the reference; where both texts say the same, the name decides. */
const OF_REFERENCE = new Set(["reference_claims", "response_verdicts"]);

/** Who was asked about the claims of a table, where its name tells. The names are those of the built-in metrics. */
function askedOf(name, details) {
  if (name === "reference_verdicts" || name === "response_claims") return "reference";
  if (name === "response_verdicts") return "response";
  if (name === "reference_claims" && ("response_claims" in details || "recall" in details)) return "response";
  return "contexts";
}

/** The tables of claims in the details of a score. */
function claimTables(details, sample) {
  const tables = [];
  for (const [name, value] of Object.entries(details)) {
    const rows = Array.isArray(value) && value.length ? value.map(claimOf) : [];
    if (!rows.length || rows.includes(null)) continue;
    const about = ownerOf(rows, sample, OF_REFERENCE.has(name) ? "reference" : "response");
    const by = askedOf(name, details);
    tables.push({ name, rows, about, by: by === about ? "contexts" : by });
  }
  return tables.concat(statementTables(details, sample));
}

/** A claim as all tables have it; null where this is none. */
function claimOf(item) {
  const text = item && typeof item === "object" ? item.claim ?? item.quote : undefined;
  if (typeof text !== "string") return null;
  return {
    text,
    verdict: verdictOf(item),
    by: numbers(item.supported_by ?? item.passages),
    against: numbers(item.contradicted_by),
    reason: typeof item.reason === "string" ? item.reason : "",
    span: Array.isArray(item.span) && item.span.length === 2 ? item.span : null,
    both: item.contradicted === true && item.supported === true,
    cited: Array.isArray(item.citations) ? item.citations : null,
  };
}

/** The passages that a statement itself names. */
const citedPassages = ({ cited }) => (cited || []).flatMap((mark) => numbers(mark?.passages));

const numbers = (value) => (Array.isArray(value) ? value.filter((item) => Number.isInteger(item)) : []);

function verdictOf(item) {
  if (typeof item.verdict === "string" && Object.hasOwn(VERDICTS, item.verdict)) return item.verdict;
  if (Array.isArray(item.passages)) return item.passages.length ? "supported" : "not stated";
  if (item.supported === true) return "supported";
  if (item.contradicted === true) return "contradicted";
  return item.supported === false ? "not supported" : null;
}

/** Statements with a score of 0 or 1 beside each, as a single pass gives them. */
function statementTables(details, sample) {
  const { statements, statement_scores: scores } = details;
  if (!Array.isArray(statements) || !Array.isArray(scores) || statements.length !== scores.length) return [];
  if (!statements.every((item) => typeof item === "string")) return [];
  const rows = statements.map((claim, number) => claimOf({ claim, supported: scores[number] === 1 }));
  return [{ name: "statements", rows, about: ownerOf(rows, sample, "response"), by: "contexts" }];
}

/** Whose claims these are, the response's or the reference's: in that text their words stand where they are said to stand. */
function ownerOf(rows, sample, usual) {
  if (typeof sample.reference !== "string") return "response";
  const [response, reference] = [wordsHeld(rows, sample.response), wordsHeld(rows, sample.reference)];
  if (Math.abs(response - reference) < 1e-9) return usual;
  return reference > response ? "reference" : "response";
}

function wordsHeld(rows, text) {
  if (typeof text !== "string") return -1;
  const letters = Array.from(text);
  let held = 0;
  for (const { text: claim, span } of rows) {
    const part = wordsOf(span ? letters.slice(span[0], span[1]).join("") : text);
    const said = [...wordsOf(claim)];
    held += said.filter((word) => part.has(word)).length / Math.max(1, said.length);
  }
  return held;
}

const WORDS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}\p{M}]+/gu;
const wordsOf = (text) => new Set(text.normalize("NFKC").toLowerCase().match(WORDS) || []);

/** The sentence of a passage whose words are nearest to a claim, as a span; null where none shares a quarter of their weight. */
function nearestSentence(claim, passage) {
  const said = [...wordsOf(claim)];
  const sentences = sentencesOf(passage).map(([start, end, text]) => ({ span: [start, end], words: wordsOf(text) }));
  const spread = new Map();
  sentences.forEach(({ words }) => words.forEach((word) => spread.set(word, (spread.get(word) || 0) + 1)));
  const weight = (word) => 1 / (spread.get(word) || 1);
  let [best, most] = [null, 0];
  for (const { span, words } of sentences) {
    const share = said.reduce((sum, word) => sum + (words.has(word) ? weight(word) : 0), 0);
    if (share > most) [best, most] = [span, share];
  }
  const whole = said.reduce((sum, word) => sum + weight(word), 0);
  return most > whole / 4 ? best : null;
}

/** The sentences of a text with their places, counted in characters as Python does. */
function sentencesOf(text) {
  const found = [];
  let at = 0;
  for (const part of text.split(/(?<=[.!?。！？])(?=\s|[^\x00-\x7f])|\n+/u)) {
    const start = text.indexOf(part, at);
    at = start + part.length;
    const blank = part.length - part.trimStart().length;
    if (part.trim()) {
      const before = Array.from(text.slice(0, start + blank)).length;
      found.push([before, before + Array.from(part.trim()).length, part]);
    }
  }
  return found;
}
