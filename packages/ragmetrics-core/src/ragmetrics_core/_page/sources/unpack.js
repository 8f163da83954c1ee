// What lies packed in the file: base64 of deflated JSON, unpacked by the browser itself when it is looked at.

/** The bytes of base64 text. */
function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

let askServer = null; // a served page asks its server: the value with this id

/** The value in the element with this id; in a served page, what its server answers. */
async function unpacked(id) {
  if (askServer) return askServer(id);
  const stream = new Blob([bytesOf(byId(id).textContent)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}
