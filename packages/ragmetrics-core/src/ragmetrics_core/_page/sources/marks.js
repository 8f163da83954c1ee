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
    parts.push(valid.filter(({ span, number }) => span[1] === end && number).map(reference));
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
  const go = (event) => light(item.key, true, event.currentTarget);
  return el(
    "button",
    { type: "button", class: `ref ${item.kind}`, "data-keys": item.key, onclick: go, title: item.word, "aria-label": item.word },
    `${item.mark}${item.number}`,
  );
}

/** Show which parts belong to a claim, and return them. */
function lit(key) {
  for (const item of document.querySelectorAll(".lit")) item.classList.remove("lit");
  const parts = [...document.querySelectorAll("[data-keys]")].filter((item) => item.dataset.keys.split(" ").includes(key));
  for (const item of [...parts, byId(`claim-${key}`)]) item?.classList.add("lit");
  return parts;
}

/** Go from an element to a claim, or to the first of its parts. */
function light(key, toClaim, from) {
  const [part] = lit(key);
  const target = toClaim ? byId(`claim-${key}`) : part;
  if (target) goTo(target, from);
}

/** Go to the sentence of a passage that a claim rests on. Claims of a second table about a text are marked only now. */
function goToCited(passage, claim, key, from) {
  const box = passage.querySelector(".markdown") || passage.querySelector("p.text");
  const inPassage = () => lit(key).find((item) => item.localName === "mark" && passage.contains(item));
  let part = inPassage();
  const span = part ? null : nearestSentence(claim, box.whole);
  if (span) {
    box.mark({ span, kind: "open", key });
    part = inPassage();
  }
  goTo(part || passage, from);
}

/** Go to a part of the row: it stands in the window and has the focus. The next key Tab, or a click, leads back to where one came from. */
function goTo(target, from) {
  for (const item of document.querySelectorAll(".way-back")) item.remove();
  for (let around = target.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
  target.setAttribute("tabindex", "-1");
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: target.offsetHeight < innerHeight * 0.8 ? "center" : "start" });
  const back = () => {
    button.remove();
    from.focus({ preventScroll: true });
    from.scrollIntoView({ block: "center" });
  };
  const button = el("button", { type: "button", class: "way-back", onclick: back }, `↩ ${from.closest(".claims") ? "Back to the claim" : "Back to the text"}`);
  if (target.localName === "li") target.prepend(button);
  else target.after(button);
}
