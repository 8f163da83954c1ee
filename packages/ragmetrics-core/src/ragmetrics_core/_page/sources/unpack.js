// What lies packed in the file: base64 of deflated JSON, unpacked by the browser itself when it is looked at.

/** The bytes of base64 text. */
function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

/** The value in the element with this id; in a served page, what its server answers. */
async function unpacked(id) {
  if (byId("served")) return answerOf(await fetch(`${id}?v=${byId("served").textContent.split(" ")[0]}`));
  const stream = new Blob([bytesOf(byId(id).textContent)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

/** The value in an answer of the server; what went wrong where there is none. */
async function answerOf(response) {
  if (!response.ok) throw new Error((await response.text()).slice(0, 1000));
  return response.json();
}
