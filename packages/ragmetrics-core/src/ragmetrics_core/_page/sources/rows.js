// What is known of every row from the start, and where its evidence lies. The page says which texts of a row are searched: textsOf(row).

let index = null;
let metrics = [];
let rowCount = 0;
const placeOf = new Map(); // of a row's evidence: its block, and the position there
const blocks = new Map(); // those that were unpacked last
const KEPT_BLOCKS = 4;
let rowsOfId = new Map();
let blockRows = []; // the rows of each block
let cutRows = 0; // rows that lost the contexts which no claim cites
let searched = []; // of each row, the texts of its columns

/** Take the index in, once it is unpacked. */
function takeIndex(found) {
  index = found.rows;
  metrics = found.metrics;
  rowCount = index.ids.length;
  blockRows = found.blocks;
  cutRows = found.cut || 0;
  found.blocks.forEach((rows, block) => rows.forEach((row, position) => placeOf.set(row, [block, position])));
  index.ids.forEach((id, row) => {
    if (id !== null) rowsOfId.set(id, [...(rowsOfId.get(id) || []), row]);
  });
  searched = index.ids.map((id, row) => [id || "", ...textsOf(row)].join("\n")).map(plain);
}

/** What a row is called: its id, else its number. */
const nameOf = (row) => (index.names || index.ids)[row] ?? `row ${row + 1}`;

/** The address of a row in this file, in the view that is shown: by its id, where no other row has it. */
function addressOf(row) {
  const id = index.ids[row];
  try {
    if (id !== null && rowsOfId.get(id).length === 1) return `#row=${encodeURIComponent(id)}${viewPart}`;
  } catch {
    // half a character, which no address can hold
  }
  return `#n=${row + 1}${viewPart}`;
}

/** The row that an address means, with or without a view behind it; null where it means none. An address that someone wrote by hand
 * may have an id with an unescaped `&`, so the `whole` of it is tried first. */
function rowAt(address, whole) {
  const at = address.indexOf("&");
  return rowNamed(address) ?? (whole || at < 0 ? null : rowNamed(address.slice(0, at)));
}

function rowNamed(address) {
  const number = /^#n=(\d+)$/.exec(address);
  if (number) return Number(number[1]) >= 1 && Number(number[1]) <= rowCount ? Number(number[1]) - 1 : null;
  if (!address.startsWith("#row=")) return null;
  try {
    const found = rowsOfId.get(decodeURIComponent(address.slice(5)));
    return found ? found[0] : null;
  } catch {
    return null;
  }
}

/** The evidence of a row; null where it is not in this file. */
async function evidenceOf(row) {
  const place = placeOf.get(row);
  if (!place) return null;
  const [block, position] = place;
  if (!blocks.has(block)) {
    blocks.set(block, await unpacked(`block-${block}`));
    if (blocks.size > KEPT_BLOCKS) blocks.delete(blocks.keys().next().value);
  }
  return blocks.get(block)[position];
}

/** A value as a share of its scale; null where there is none. */
function shareOf(value, scale) {
  if (value === null || !scale || scale[1] <= scale[0]) return null;
  return Math.min(1, Math.max(0, (value - scale[0]) / (scale[1] - scale[0])));
}
