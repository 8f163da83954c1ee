// Markdown in answers and passages, shown as what it means. No text becomes markup: markdown-it finds the parts of a text, and the
// elements for them come from the lists below. HTML, images and links stay as they are written.
//
// All that is no sign of Markdown must be shown, in the same order: a text of which a part would be lost, such as a cell that has no
// column, is shown as it is written. So a mark finds its place by counting.

const LONGEST_MARKDOWN = 10000; // characters: the worst texts of this length take a tenth of a second
const MOST_PARTS = 5000;
const MARKDOWN = /^(?:#{1,6} |[-*+] |\d{1,9}[.)] |> |```|~~~|\|.*\|)|\*\*\S|`[^`\n]+`/m; // also in _rows.py
const LITERAL = ["autolink", "entity", "html_block", "html_inline", "image", "link", "reference"];
const markdown = globalThis.markdownit?.({ html: false, linkify: false, typographer: false, maxNesting: 20 }).disable(LITERAL);

const PARTS = { paragraph: "p", heading: "p", bullet_list: "ul", ordered_list: "ol", list_item: "li", blockquote: "blockquote", em: "em", strong: "strong", s: "s", table: "table", thead: "thead", tbody: "tbody", tr: "tr", th: "th", td: "td" };
const CODE = ["fence", "code_block", "code_inline"];
const SYNTAX = /[\s#*_`~>|:=+\\-]/;
let wishFormatted = true; // what a reader wants to see

/** The text with its marks as elements; null where that is not possible. */
function formatted(text, marks) {
  const tokens = markdown.parse(text, {}).flatMap((token) => token.children ?? [token]);
  if (tokens.length > MOST_PARTS) return null;
  const [signs, before] = counted(Array.from(text));
  const placed = marks.map((item) => ({ ...item, span: (item.span || []).map((at) => before[at]) })).filter(({ span }) => span[0] < span[1]);
  const root = el("div", { class: "formatted", dir: "auto" });
  const around = [root];
  let [said, at] = ["", 0]; // the signs so far, and their number
  const say = (text) => {
    const [found, before] = counted(Array.from(text), at);
    [said, at] = [said + found, before.at(-1)];
  };
  for (const token of tokens) {
    const [, name, way] = /^(.*?)(_open|_close)?$/.exec(token.type);
    const info = name === "fence" || name === "list_item" ? token.info : "";
    say(info && name === "list_item" ? info + token.markup : info); // "1.", "python"
    if (way === "_close") around.pop();
    else if (token.hidden) around.push(around.at(-1)); // a paragraph of a list without blank lines
    else around.at(-1).append(...[way ? el(own(PARTS, name) || "span", { class: name === "heading" && name, value: info || null }) : leaf(token, name, info, placed, at)].flat(Infinity));
    if (way === "_open" && !token.hidden) around.push(around.at(-1).lastChild);
    say(token.content);
  }
  if (signs !== said) return null;
  const pieces = [...root.querySelectorAll("mark")];
  for (const item of [...placed].reverse()) pieces.findLast((piece) => item.number && piece.dataset.keys.split(" ").includes(item.key))?.after(reference(item));
  return root;
}

/** What is no sign of Markdown and no blank in these letters, and how many of them stand before each letter, and before the end. */
function counted(letters, from = 0) {
  const signs = [];
  const before = letters.map((letter) => from + (SYNTAX.test(letter) ? signs.length : signs.push(letter) - 1));
  return [signs.join(""), [...before, from + signs.length]];
}

function leaf({ content }, name, info, marks, from) {
  if (name === "softbreak" || name === "hardbreak") return "\n";
  if (name === "hr") return el("hr");
  const parts = markedPart(content, marks, from);
  if (name === "code_inline") return el("code", null, parts);
  return CODE.includes(name) ? el("pre", { tabindex: "0" }, info ? el("span", { class: "language" }, info) : null, parts) : parts;
}

/** A part of a text with its share of the marks, which count signs, without their numbers. */
function markedPart(content, marks, from) {
  const letters = Array.from(content);
  const [, before] = counted(letters, from);
  const isIn = ({ span }, at) => !SYNTAX.test(letters[at]) && span[0] <= before[at] && before[at] < span[1];
  const own = marks.map((item) => {
    const inside = [...letters.keys()].filter((at) => isIn(item, at));
    return { ...item, span: inside.length ? [inside[0], inside.at(-1) + 1] : null, number: null };
  });
  return marked(content, own);
}

/** A text with its marks, to which others can be added; where it is Markdown, with a button to see it as it is written. */
function textBox(text, marks) {
  const raw = el("p", { class: "text", dir: "auto" });
  const isMarkdown = marks && markdown && text.length <= LONGEST_MARKDOWN && MARKDOWN.test(text);
  const box = isMarkdown ? el("div", { class: "markdown" }) : raw;
  const show = (all) => {
    const found = isMarkdown && wishFormatted ? formatted(text, all) : null;
    fill(raw, text.trim() ? marked(text, all) : el("span", { class: "open" }, "blank"));
    if (!isMarkdown) return;
    const choose = () => {
      wishFormatted = !wishFormatted;
      show(all);
      box.querySelector("button")?.focus({ preventScroll: true });
    };
    const button = el("button", { type: "button", class: "link", onclick: choose }, found ? "Show as written" : "Show formatted");
    fill(box, wishFormatted && !found ? el("p", { class: "limits" }, "As written: formatted, a part of it would be lost.") : button, found || raw);
  };
  show(marks || []);
  return Object.assign(box, { whole: text, mark: (item) => show([...(marks || []), item]) });
}
