// The table of metrics: its headings sort it, as those of the table of rows do.

/** A heading that sorts: a button, with an arrow that says how it is sorted now. */
function sortButton(name, sorting, onclick) {
  const arrow = { ascending: "▲", descending: "▼" }[sorting];
  return el("button", { type: "button", onclick }, el("bdi", null, name), arrow && el("span", { "aria-hidden": "true" }, arrow));
}

/** Let the headings of a table sort its rows by the `data-order` of their cells; cells without one stay last. */
function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  const names = heads.map((head) => head.textContent);
  const show = (chosen, sorting) => heads.forEach((head, place) => {
    const now = place === chosen ? sorting : "none";
    const next = now === "ascending" ? "descending" : "ascending";
    head.setAttribute("aria-sort", now);
    fill(head, sortButton(names[place], now, () => sortRows(place, next)));
  });
  const sortRows = (place, sorting) => {
    const orderOf = (row) => (place ? Number(row.cells[place].dataset.order ?? NaN) : row.cells[place].dataset.order);
    const sense = sorting === "descending" ? -1 : 1;
    const compare = (a, b) => Number.isNaN(a) - Number.isNaN(b) || (Number.isNaN(a) ? 0 : sense * ((a > b) - (a < b)));
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => compare(orderOf(a), orderOf(b))));
    show(place, sorting);
    heads[place].querySelector("button").focus();
  };
  show();
}
