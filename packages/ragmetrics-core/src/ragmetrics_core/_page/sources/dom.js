// Elements out of texts. Nothing in this script reads markup, so no text under judgement can become any.

const byId = (id) => document.getElementById(id);

/** An element with attributes and children; keys such as "onclick" are listeners. What is null or false is left out. */
function el(name, given, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(given || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Put these children in the place of those that an element has. */
function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A sign that says with its shape what its colour says too; its word is for those who hear the page. */
function sign(mark, word) {
  return [el("span", { class: "sign", "aria-hidden": "true" }, mark), el("span", { class: "aside" }, word)];
}

/** What a table says of a name out of the data; undefined where it says nothing, also of "constructor", which every object inherits. */
const own = (table, name) => (Object.hasOwn(table, name) ? table[name] : undefined);

/** A number with as many digits as anybody reads; what is nearly a whole number, such as 0.9996, is not shown as one. */
function digits(value) {
  if (value === null || value === undefined) return "–";
  if (Number.isInteger(value)) return Math.abs(value) >= 1000 ? value.toLocaleString("en") : String(value);
  const shortest = [3, 4, 5].map((places) => Number(value.toFixed(places))).find((rounded) => !Number.isInteger(rounded));
  return String(shortest ?? Number(value.toFixed(6)));
}

/** A name that a line may break between its parts, and nowhere else if there is room. */
const partsOf = (name) => name.split(/(?<=[_.:/-])(?=\w)/);
const breakable = (name) => partsOf(name).flatMap((part, place) => (place ? [el("wbr"), part] : [part]));

const count = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many || `${one}s`}`;
const option = (value, text, chosen) => el("option", { value, selected: chosen }, text);

/** An option that the address calls by a key, as its value says nothing outside of this file. */
const choice = (value, text, key) => el("option", { value, "data-key": key }, text);
