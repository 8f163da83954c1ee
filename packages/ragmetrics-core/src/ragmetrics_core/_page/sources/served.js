// What only a served page does: it asks its server for the rows, follows its run while that goes on, and loads itself anew once all
// rows are there.

askServer = async (id) => answerOf(await fetch(`${id}?v=${byId("served").textContent.split(" ")[0]}`));

/** The value in an answer of the server; what went wrong where there is none. */
async function answerOf(response) {
  if (!response.ok) throw new Error((await response.text()).slice(0, 1000));
  return response.json();
}

if (byId("live")) {
  const events = new EventSource("events");
  events.onmessage = (event) => {
    const { rows, means, going_on: goingOn, ready } = JSON.parse(event.data);
    if (ready && byId("served").textContent.endsWith(" first")) {
      events.close();
      location.reload();
      return;
    }
    const live = byId("live");
    live.hidden = !goingOn;
    const parts = Object.entries(means || {}).map(([name, mean]) => [", ", el("bdi", null, name), ` ${digits(mean)}`]);
    fill(live, `This run is going on: ${count(rows || 0, "row")} so far`, parts, ".");
  };
}
