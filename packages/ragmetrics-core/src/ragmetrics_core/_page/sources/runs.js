// The list of runs: it is loaded anew when it has changed, unless something is ticked, which would be lost.

const table = document.querySelector("table.runs");
const events = table && new EventSource("/events");
if (events) {
  events.onmessage = (event) => {
    const { state } = JSON.parse(event.data);
    if (state !== table.dataset.state && !table.querySelector("input:checked")) location.reload();
  };
}
