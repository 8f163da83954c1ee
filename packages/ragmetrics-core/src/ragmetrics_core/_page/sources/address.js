// The view in the address: filters, order and page of the table stand behind the place, such as #row=q1&state=f&page=2, so that a
// view can be sent and Back leads to the one before. Fields are named by their ids in the form. Choices are named by what stands in
// the data, not by their number, so that an address still means the same when the report is written again.
//
// An address is written by anyone. Only what the form offers is taken from it, and the page says what was ignored.

const MOST_IGNORED = 3; // shown in words
const LONGEST_IGNORED = 40;
let viewPart = null; // of the address; "" is the view at the start, null is no view yet
let typedIn = null; // the field that was typed into last: its letters are one step of the history, not one each

/** A text without half characters, which an address cannot hold. */
const wholeText = (text) => text.replace(/\p{Surrogate}/gu, "\ufffd");

/** What an address calls a choice of the form. */
const keyOf = (item) => wholeText(item.dataset.key ?? item.value);

const viewFields = () => [...byId("filters").querySelectorAll("input, select")];

/** The part of an address that tells the view; null if it tells none. */
function partOf(address) {
  const at = address.indexOf("&");
  return at < 0 || rowAt(address, true) !== null ? null : address.slice(at);
}

/** The view that is shown, as a part of the address. */
function writtenView() {
  const found = new URLSearchParams();
  for (const field of viewFields()) {
    const value = field.options ? field.selectedOptions[0] && keyOf(field.selectedOptions[0]) : wholeText(field.value);
    if (value && field.value !== firstValue(field)) found.set(field.id, value);
  }
  if (view.page > 0) found.set("page", String(view.page + 1));
  const text = found.toString();
  return text && `&${text}`;
}

const firstValue = (field) => (field.options ? field.options[0].value : "");

/** Show the view that a reader chose, and note it in the address as one step of the history. */
function showView(event) {
  const part = writtenView();
  if (part !== viewPart) {
    const field = event?.target.matches("input") ? event.target : null;
    const state = { view: part };
    viewPart = part;
    if (field && field === typedIn) history.replaceState(state, "", `#rows${part}`);
    else history.pushState(state, "", `#rows${part}`);
    typedIn = field;
  }
  tellIgnored([]);
  showTable();
}

/** Show the view that the address asks for; one that asks for none, such as that of a section, keeps the one that is shown. */
function takeView() {
  const given = partOf(location.hash);
  const part = history.state?.view ?? given ?? viewPart ?? "";
  typedIn = null;
  if (part !== viewPart) {
    const ignored = putView(part);
    const asked = view.page;
    viewPart = writtenView();
    showTable();
    if (view.page < asked) {
      ignored.push(`page=${asked + 1}`);
      viewPart = writtenView();
      showTable(); // its links hold the view
    }
    tellIgnored(ignored);
  }
  const place = location.hash.slice(0, location.hash.length - (given || "").length);
  const shows = given !== null || place === "#rows" || rowAt(place) !== null;
  history.replaceState({ view: viewPart }, "", shows ? place + viewPart : undefined);
}

/** Fill the form as a part of an address asks; what of it does not exist here. */
function putView(part) {
  const ignored = [];
  const asked = new Map();
  for (const [name, value] of new URLSearchParams(part)) {
    if (asked.has(name)) ignored.push([name, value]);
    else asked.set(name, value);
  }
  for (const field of viewFields()) {
    const value = asked.get(field.id);
    field.value = firstValue(field);
    if (value !== undefined && !putField(field, value)) ignored.push([field.id, value]);
    if (field.id === "metric") startWanted();
    asked.delete(field.id);
  }
  readView();
  const page = asked.get("page") ?? "1";
  if (/^[1-9]\d{0,8}$/.test(page)) asked.delete("page");
  view.page = asked.has("page") ? 0 : Number(page) - 1;
  return [...ignored, ...asked].map(([name, value]) => `${name}=${value}`);
}

/** Fill a field; whether it can have this value. */
function putField(field, value) {
  if (!field.options) {
    if (field.maxLength < 0 || value.length <= field.maxLength) field.value = value;
    return field.value === value;
  }
  const found = [...field.options].find((item) => keyOf(item) === value);
  if (found) field.value = found.value;
  return found !== undefined;
}

/** Say what an address asked for in vain. */
function tellIgnored(texts) {
  const some = texts.slice(0, MOST_IGNORED).map((text) => (text.length > LONGEST_IGNORED ? `${text.slice(0, LONGEST_IGNORED)}…` : text));
  const more = texts.length > some.length ? [` and ${texts.length - some.length} more`] : [];
  const named = some.map((text, number) => [number ? ", " : "", el("code", { dir: "auto" }, text)]);
  fill(byId("ignored"), texts.length ? ["This page has no such view, so a part of the address is ignored: ", named, more, "."] : null);
  byId("ignored").hidden = texts.length === 0;
}
