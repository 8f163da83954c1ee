// Marks in a text: which part of it a claim comes from, or which part of a passage speaks for it or against it.

/** A text with marks; a mark is {span, kind, mark, number, word, key}, its span counted in characters as Python does. */
function marked(text, marks) {
  const letters = Array.from(text);
  const valid = marks.filter(({ span }) => span && span[0] >= 0 && span[0] < span[1] && span[1] <= letters.length);
  const edges = [...new Set([0, letters.length, ...valid.flatMap((item) => item.span)])].sort((a, b) => a - b);
  const parts = [];
  for (let at = 0; at + 1 < edges.length; at += 1) {
    const [start, end] = [edges[at], edges[at + 1]];
    const here = valid.filter(({ span }) => span[0] <= start && end <= span[1]);
    const piece = letters.slice(start, end).join("");
    parts.push(here.length && piece.trim() ? markedPiece(piece, here) : piece);
    parts.push(valid.filter(({ span }) => span[1] === end).map(reference));
  }
  return parts;
}

/** A piece as a mark, with the blanks at its ends outside of it. */
function markedPiece(piece, marks) {
  const [, before, core, after] = /^(\s*)([\s\S]*?)(\s*)$/.exec(piece);
  return [before, el("mark", { class: worstKind(marks), "data-keys": marks.map((item) => item.key).join(" ") }, core), after];
}

const KINDS = ["bad", "open", "good"];
const worstKind = (marks) => KINDS.find((kind) => marks.some((item) => item.kind === kind)) || "open";

/** The sign and the number behind a marked part; it leads to the claim. */
function reference(item) {
  const go = () => light(item.key, true);
  return el(
    "button",
    { type: "button", class: `ref ${item.kind}`, "data-keys": item.key, onclick: go, title: item.word, "aria-label": item.word },
    `${item.mark}${item.number}`,
  );
}

/** Show which parts belong to a claim; go to the claim, or to the first of the parts. */
function light(key, toClaim) {
  for (const item of document.querySelectorAll(".lit")) item.classList.remove("lit");
  const parts = [...document.querySelectorAll("[data-keys]")].filter((item) => item.dataset.keys.split(" ").includes(key));
  const claim = document.getElementById(`claim-${key}`);
  for (const item of [...parts, claim]) if (item) item.classList.add("lit");
  const target = toClaim ? claim : parts[0];
  if (!target) return;
  target.scrollIntoView({ block: "nearest" });
  if (toClaim) claim.focus({ preventScroll: true });
}
