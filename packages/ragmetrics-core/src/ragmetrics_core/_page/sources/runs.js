// The list of runs: two of them are ticked to be compared. The list is loaded anew when it has changed, unless something is ticked,
// which would be lost.

const table = document.querySelector("table.runs");
const compare = document.querySelector("form button");
const ticked = () => table.querySelectorAll("input:checked").length;

const events = table && new EventSource("/events");
if (events) {
  events.onmessage = (event) => {
    const { state } = JSON.parse(event.data);
    if (state !== table.dataset.state && !ticked()) location.reload();
  };
}

if (compare) {
  addEventListener("change", drawTicked);
  addEventListener("pageshow", drawTicked); // a browser that goes back ticks what was ticked
}

function drawTicked() {
  compare.disabled = ticked() !== 2;
  const words = { 0: "Tick two runs to compare them.", 1: "Tick one more run to compare the two.", 2: "" };
  byId("ticked").textContent = words[ticked()] ?? `${ticked()} runs are ticked: a comparison needs two.`;
}
