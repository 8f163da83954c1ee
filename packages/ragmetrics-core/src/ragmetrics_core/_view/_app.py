"""What the viewer answers: a list of runs, the page of a run, a comparison, and what these pages ask for."""

from __future__ import annotations

import html
import json
import re
import traceback
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from .._page._runs_list import runs_overview, state_of
from .._page._served import ServedPage, agreement_page, message_page, runs_page, with_labels
from .._store._found_runs import FoundRun
from .._store._label_file import checked_lines
from .._support._secrets import conceal
from .._values._errors import InvalidInput, RagmetricsError
from ._guard import POLICY, TOO_LARGE, TooLarge
from ._library import Library, wait_for

MOST_LISTENERS = 24
"""How many pages may follow their runs at the same time."""

PAUSE = 1.0
"""The seconds between two looks at the files of a run."""

LARGE = 20_000_000
"""The bytes of a run from which on its first rows are shown without waiting for the others."""

OWN_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')

Say = Callable[[str], None]


class Viewer:
    """Answers requests about the runs in a folder.

    Args:
        library: the runs.
        say: tells the person at the terminal what no browser may see, such as the traceback of a bug.
        pause: the seconds between two looks at the files of a run that a page follows.
    """

    def __init__(self, library: Library, say: Say, pause: float = PAUSE) -> None:
        self._library = library
        self._say = say
        self._pause = pause
        self._listeners = 0
        self.ending = False

    def app(self) -> Starlette:
        """Return the application."""
        routes = [
            Route("/", self.home),
            Route("/events", self.home_events),
            Route("/compare", self.choose),
            Route("/compare/{before}/{after}/", self.comparison),
            Route("/compare/{before}/{after}/index", self.index),
            Route("/compare/{before}/{after}/block-{number:int}", self.block),
            Route("/run/{key}/", self.run),
            Route("/run/{key}/index", self.index),
            Route("/run/{key}/block-{number:int}", self.block),
            Route("/run/{key}/events", self.run_events),
            Route("/run/{key}/labels", self.labels),
            Route("/run/{key}/labels", self.save_labels, methods=["POST"]),
            Route("/run/{key}/agreement", self.agreement),
        ]
        handlers: dict[Any, Any] = {HTTPException: self._refused, RagmetricsError: self._failed, Exception: self._bug}
        handlers[TooLarge] = self._too_large
        app = Starlette(routes=routes, exception_handlers=handlers)
        app.router.redirect_slashes = False
        return app

    def home(self, _: Request) -> Response:
        """The list of runs."""
        return _page(runs_page(self._library.root.name or "Runs", runs_overview(self._library.listed(waiting=True))))

    def choose(self, request: Request) -> Response:
        """Two ticked runs lead to their comparison, the earlier one first."""
        chosen = [self._found(key) for key in dict.fromkeys(request.query_params.getlist("run"))]
        if len(chosen) != 2:
            return _page(
                message_page("Tick two runs", f"A comparison needs two runs, and {len(chosen)} are ticked."), 400
            )
        before, after = sorted(chosen, key=lambda run: run.changed)
        return RedirectResponse(f"/compare/{before.key}/{after.key}/", 303)

    def comparison(self, request: Request) -> Response:
        """The page of a comparison; until it is made, one that asks again."""
        made = wait_for(self._compared(request))
        if made is not None:
            return _page(self._library.without_folder(made.html))
        waiting = _page(message_page("The runs are being compared", "This page shows the comparison when it is made."))
        waiting.headers["refresh"] = "2"
        return waiting

    def run(self, request: Request) -> Response:
        """The page of a run; of its first rows until all are read."""
        run = self._asked(request)
        page = with_labels(self._now(run).html, self._library.labels(run).lines())
        return _page(self._library.without_folder(page))

    def index(self, request: Request) -> Response:
        """The columns of the rows of a page."""
        return _deflated(self._sent(request).index)

    def block(self, request: Request) -> Response:
        """The evidence of some rows of a page."""
        data = self._sent(request).block(request.path_params["number"])
        if data is None:
            raise HTTPException(404)
        return _deflated(data)

    async def home_events(self, _: Request) -> Response:
        """Tell the list of runs when it has changed."""
        return self._followed(lambda: {"state": state_of(self._library.listed(waiting=False))})

    async def run_events(self, request: Request) -> Response:
        """Tell the page of a run how far the run is, and when all its rows are read."""
        key = (await run_in_threadpool(self._asked, request)).key

        def look() -> dict[str, Any]:
            run = self._found(key)
            progress = self._library.progress(run).read() if run.going_on else {}
            return {**progress, "going_on": run.going_on, "ready": not run.going_on and self._library.page(run).done()}

        return self._followed(look)

    def labels(self, request: Request) -> Response:
        """The labels of a run."""
        return _json({"labels": self._library.labels(self._asked(request)).lines()})

    async def save_labels(self, request: Request) -> Response:
        """Save labels of a run."""
        body = await request.body()
        return await run_in_threadpool(self._saved, request, body)

    def _saved(self, request: Request, body: bytes) -> Response:
        run = self._asked(request)
        try:
            given = json.loads(body, parse_constant=_no_number)
        except (ValueError, RecursionError):
            raise InvalidInput("labels must be sent as JSON") from None
        page = self._now(run)
        lines = checked_lines(given, page.names, page.metrics)
        self._library.labels(run).add(lines)
        return _json({"saved": len(lines)})

    def agreement(self, request: Request) -> Response:
        """How far the judge of a run agrees with its labels."""
        run = self._asked(request)
        try:
            return _page(agreement_page(run.path, run.name, self._library.labels(run).lines()))
        except InvalidInput as error:
            text = self._library.without_folder(str(error))
            return _page(message_page("Agreement so far", f"Nothing can be said yet: {text}", "./#labelling"))

    def _now(self, run: FoundRun) -> ServedPage:
        """Return the page of a run if it is made within a moment, else that of its first rows."""
        page = self._library.page(run)
        if not page.done() and sum(size for _, _, size in run.stamp) > LARGE:
            return self._library.first_page(run)
        return wait_for(page) or self._library.first_page(run)

    def _sent(self, request: Request) -> ServedPage:
        """Return the page that asks, as it was sent."""
        page = self._library.version(request.query_params.get("v", ""))
        if page is None:
            raise HTTPException(410)
        return page

    def _compared(self, request: Request) -> Future[ServedPage]:
        before, after = (self._found(request.path_params[name]) for name in ("before", "after"))
        return self._library.comparison(before, after)

    def _asked(self, request: Request) -> FoundRun:
        return self._found(request.path_params["key"])

    def _found(self, key: str) -> FoundRun:
        run = self._library.run(key)
        if run is None:
            raise HTTPException(404)
        return run

    def _followed(self, look: Callable[[], dict[str, Any]]) -> Response:
        if self._listeners >= MOST_LISTENERS:
            raise HTTPException(503)
        return StreamingResponse(self._told(look), media_type="text/event-stream")

    async def _told(self, look: Callable[[], dict[str, Any]]) -> AsyncIterator[str]:
        """Yield what a look finds, whenever it has changed, until the browser leaves or the server ends."""
        import asyncio  # noqa: PLC0415  needed by few

        last = None
        self._listeners += 1
        try:
            while not self.ending:
                try:
                    found = await run_in_threadpool(look)
                except HTTPException:  # the run was removed
                    return
                yield f"data: {json.dumps(found)}\n\n" if found != last else ": still here\n\n"
                last = found
                await asyncio.sleep(self._pause)
        finally:
            self._listeners -= 1

    def _refused(self, _: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        words = {
            404: "There is nothing here.",
            410: "This page is no longer kept by the viewer: load it again.",
            405: "There is nothing that can be done so.",
            503: "Too many pages are open.",
        }
        return PlainTextResponse(words.get(status, "The request cannot be answered.") + "\n", status)

    def _failed(self, request: Request, error: Exception) -> Response:
        text = self._library.without_folder(str(error))
        if request.url.path.endswith("/"):
            return _page(message_page("This cannot be shown", text), 422)
        return PlainTextResponse(text + "\n", 422)

    def _too_large(self, _: Request, __: Exception) -> Response:
        return PlainTextResponse(TOO_LARGE.text, TOO_LARGE.status)

    def _bug(self, _: Request, error: Exception) -> Response:
        self._say(conceal("".join(traceback.format_exception(error)).rstrip()))
        return PlainTextResponse("This is a bug in ragmetrics; the terminal shows where.\n", 500)


def _page(text: str, status: int = 200) -> Response:
    """Return a page; its policy is a header too, as some parts of a policy count only there."""
    found = OWN_POLICY.search(text)
    policy = html.unescape(found[1]) if found else "default-src 'none'"
    return HTMLResponse(text, status, {POLICY: f"{policy}; frame-ancestors 'none'"})


def _json(value: Any) -> Response:
    """Return plain values as JSON, with escapes for what UTF-8 cannot encode, such as half a character."""
    return Response(json.dumps(value), media_type="application/json")


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _deflated(data: bytes) -> Response:
    return Response(data, media_type="application/json", headers={"content-encoding": "deflate"})
