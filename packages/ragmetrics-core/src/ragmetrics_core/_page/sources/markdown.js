// Markdown in answers and passages, shown as what it means. No text becomes markup: markdown-it finds the parts of a text, and the
// elements for them come from the lists below. HTML, images and links stay as they are written. A text of which a part would be
// lost, such as a cell that has no column, is shown as it is written.

const LONGEST_MARKDOWN = 10000; // characters: the worst texts of this length take a tenth of a second
const MOST_PARTS = 5000;
const MARKDOWN = /^(?:#{1,6} |[-*+] |\d{1,9}[.)] |> |```|~~~|\|.*\|)|\*\*\S|`[^`\n]+`/m; // also in _rows.py
const LITERAL = ["autolink", "entity", "html_block", "html_inline", "image", "link", "reference"];
const markdown = globalThis.markdownit?.({ html: false, linkify: false, typographer: false, maxNesting: 20 }).disable(LITERAL);

const PARTS = { paragraph: "p", heading: "p", bullet_list: "ul", ordered_list: "ol", list_item: "li", blockquote: "blockquote", em: "em", strong: "strong", s: "s", table: "table", thead: "thead", tbody: "tbody", tr: "tr", th: "th", td: "td" };
const CODE = ["fence", "code_block", "code_inline"];
const formattedWish = { plain: true, marked: false }; // what a reader wants to see, of texts without marks and of those with marks

/** The text as elements; null where that is not possible. */
function formatted(text) {
  const tokens = markdown.parse(text, {}).flatMap((token) => token.children ?? [token]);
  if (tokens.length > MOST_PARTS) return null;
  const root = el("div", { class: "formatted", dir: "auto" });
  const around = [root];
  const said = [];
  for (const token of tokens) {
    const [, name, way] = /^(.*?)(_open|_close)?$/.exec(token.type);
    const info = name === "fence" || name === "list_item" ? token.info : "";
    said.push(info, token.content);
    if (way === "_close") around.pop();
    else if (token.hidden) around.push(around.at(-1)); // a paragraph of a list without blank lines
    else around.at(-1).append(way ? el(own(PARTS, name) || "span", { class: name === "heading" && name, value: info || null }) : leaf(token, name, info));
    if (way === "_open" && !token.hidden) around.push(around.at(-1).lastChild);
  }
  return signsOf(text) === signsOf(said.join("")) ? root : null;
}

/** All that is no sign of Markdown, without the blanks. */
const signsOf = (text) => text.replace(/[\s#*_`~>|:=+.)\\-]/g, "");

function leaf({ content }, name, info) {
  if (name === "softbreak" || name === "hardbreak") return "\n";
  if (name === "hr") return el("hr");
  if (name === "code_inline") return el("code", null, content);
  return CODE.includes(name) ? el("pre", { tabindex: "0" }, info ? el("span", { class: "language" }, info) : null, content) : content;
}

/** A text with its marks; where it is Markdown, with a button to see what it means, where no marks are shown. */
function textBox(text, marks) {
  const raw = el("p", { class: "text", dir: "auto" }, text.trim() ? marked(text, marks || []) : el("span", { class: "open" }, "blank"));
  Object.assign(raw, { whole: text, marks: marks || [] });
  if (!marks || !markdown || text.length > LONGEST_MARKDOWN || !MARKDOWN.test(text)) return raw;
  const wish = marks.length ? "marked" : "plain";
  const box = el("div", { class: "markdown" });
  const show = (wanted) => {
    const found = wanted ? formatted(text) : null;
    const words = found ? (marks.length ? "Show as written, with marks" : "Show as written") : "Show formatted";
    const button = el("button", { type: "button", class: "link", onclick: () => choose(!found) }, words);
    fill(box, wanted && !found ? el("p", { class: "limits" }, "As written: formatted, a part of it would be lost.") : button, found || raw);
  };
  const choose = (wanted) => {
    formattedWish[wish] = wanted;
    show(wanted);
    box.querySelector("button")?.focus({ preventScroll: true });
  };
  show(formattedWish[wish]);
  return Object.assign(box, { marks, asWritten: () => show(false) });
}
