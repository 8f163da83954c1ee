"""The Batch API of OpenAI and Azure, called through the ``openai`` package.

Creating a batch is the one call that costs money, and it is not idempotent: a second one pays for all questions again. So it is
made without any retry, and a failure that does not prove that nothing was created has its own result. All other calls may be
repeated.

An answer is read by the code that reads online answers (``read_answer``), so a reply has the same meaning in both.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from ..._values._batches import FULL, BatchState, LostBatch
from ..._values._errors import InvalidInput, ModelError, Setting
from ..._values._requests import Ask, Reply
from ._attempts import Failure, field_of, read_answer
from ._failures import Failures, Refused
from ._package_errors import TranslatedErrors

if TYPE_CHECKING:
    import openai

T = TypeVar("T")

MARK = "ragmetrics"
"""The name of the mark in the metadata of a batch."""

RETRIES = 2
"""Retries of calls that cost nothing."""

CREATING = 60.0
"""Seconds to wait for the answer to the creation of a batch. After that it is looked for in the list of batches."""

PAGE = 100
"""Batches in one page of the list: the most that OpenAI gives."""

LINE_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}
"""The escapes of characters that end a line for some servers, but not in JSON."""

UNKNOWN = frozenset({408, 409})
"""Statuses below 500 that do not prove that nothing was created."""


class OpenAIBatches:
    """The batches of one model on a server of the OpenAI protocol.

    Args:
        client: returns the client of the openai package.
        failures: the error messages of the model.
        body: returns the parameters of the request for a question, as they are sent online.
    """

    def __init__(
        self, client: Callable[[], openai.OpenAI], failures: Failures, body: Callable[[Ask], dict[str, Any]]
    ) -> None:
        self._client = client
        self._failures = failures
        self._body = body
        # Azure's addresses contain /openai, and its endpoints have no version
        azure = "/openai" in urlsplit(self.base_url).path
        self._endpoint = "/chat/completions" if azure else "/v1/chat/completions"

    @property
    def base_url(self) -> str:
        """The address of the server, without credentials and query."""
        return self._failures.place.base_url

    def check(self) -> None:
        """Check that the server has batches.

        Raises:
            InvalidInput: it has none.
            ModelError: the server cannot be reached, or refuses the key.
        """
        files, _ = self._resources()
        found = self._tried(lambda: files.list(purpose="batch", limit=1))
        if not isinstance(found, Failure):
            return
        if found.refused is not None and found.refused.status in (404, 405, 501):
            why = f"{self._failures.model}: {self.base_url} has no batches: leave out "
            raise InvalidInput(why, Setting("batch"), ", or use another model")
        raise found.problem

    def upload(self, path: Path) -> str:
        """Upload a file of questions, and return its id."""
        files, _ = self._resources()
        with path.open("rb") as file:
            answer = self._done(lambda: files.create(file=(path.name, file), purpose="batch"))
        return self._id(answer)

    def create(self, file: str, mark: str) -> BatchState | None:
        """Create a batch of an uploaded file; see ``BatchApi.create``."""
        _, once = self._resources(retries=0)
        endpoint: Any = self._endpoint
        answer = self._tried(
            lambda: once.create(
                input_file_id=file,
                endpoint=endpoint,
                completion_window="24h",
                metadata={MARK: mark},
                timeout=CREATING,
            )
        )
        if not isinstance(answer, Failure):
            return self._state(answer) if isinstance(field_of(answer, "id"), str) else None
        refused = answer.refused
        if refused is None or refused.status >= 500 or refused.status in UNKNOWN or refused.status < 400:
            return None
        if refused.code == FULL:
            return BatchState("", "failed", file, mark, code=FULL, message=refused.message)
        raise answer.problem

    def retrieve(self, batch: str) -> BatchState:
        """Return the present state of a batch."""
        _, batches = self._resources()
        answer = self._done(lambda: batches.retrieve(batch), batch)
        self._id(answer)
        return self._state(answer)

    def list(self) -> Iterator[BatchState]:
        """Yield all batches of the account, newest first."""
        _, batches = self._resources()
        after: dict[str, str] = {}
        while True:
            page = self._done(partial(batches.list, limit=PAGE, **after))
            found = [self._state(item) for item in field_of(page, "data") or []]
            yield from found
            if not found or not field_of(page, "has_more"):
                return
            after = {"after": found[-1].id}

    def download(self, file: str, path: Path) -> None:
        """Write a file of the provider to this path. Its size is compared with the one that the provider names."""
        files, _ = self._resources()
        size = field_of(self._done(lambda: files.retrieve(file), file), "bytes")
        if not isinstance(size, int):
            raise self._failures.other_protocol(f"it does not say how many bytes {file} has")

        def save() -> None:
            try:
                with files.with_streaming_response.content(file) as response:
                    response.stream_to_file(path)
            except Exception as error:  # the package translates only what is raised before the answer
                if all(kind.__name__ != "TransportError" for kind in type(error).__mro__):  # of httpx or httpx2
                    raise
                raise self._failures.no_http(str(error)) from None

        self._done(save, file)
        there = path.stat().st_size
        if there != size:
            raise self._failures.no_http(f"{there:,} of {size:,} bytes of {file} arrived")

    def cancel(self, batch: str) -> None:
        """Ask for the end of a batch. A batch that has ended stays as it is."""
        _, batches = self._resources()
        self._done(lambda: batches.cancel(batch), batch, harmless=(400, 409))

    def line(self, ask: Ask, custom_id: str) -> bytes:
        """Return the line of an input file for a question."""
        request = {"custom_id": custom_id, "method": "POST", "url": self._endpoint, "body": self._body(ask)}
        return json.dumps(request, ensure_ascii=False, separators=(",", ":")).translate(LINE_ENDS).encode() + b"\n"

    def read(self, line: Mapping[str, Any]) -> Reply[str] | ModelError:
        """Read one line of a file of answers or errors; see ``BatchApi.read``."""
        response, error = line.get("response"), line.get("error")
        status, body = field_of(response, "status_code"), field_of(response, "body")
        if type(status) is not int:
            said = str(field_of(error, "message") or field_of(error, "code") or "the line has no response")
            return self._failures.other_protocol(said, transient=True)
        if status >= 300:
            problem = field_of(body, "error") or body
            return self._failures.refused(Refused.of(status, problem, "it gives no reason", problem))
        try:
            return read_answer(body, self._failures)
        except ModelError as problem:
            return problem

    def _resources(self, retries: int = RETRIES) -> tuple[Any, Any]:
        """Return the files and the batches of the client."""
        import openai.resources  # noqa: PLC0415  heavy

        client = copy.copy(self._client())  # unlike ``with_options``, this serves any subclass
        client.max_retries = retries
        return openai.resources.Files(client), openai.resources.Batches(client)

    def _tried(self, call: Callable[[], T]) -> T | Failure:
        with TranslatedErrors(self._failures) as errors:
            return call()
        return errors.failure

    def _done(self, call: Callable[[], T], called: str = "", harmless: tuple[int, ...] = ()) -> T | None:
        """Make a call about the batch or file of this id; return None if it is refused with a harmless status."""
        answer = self._tried(call)
        if not isinstance(answer, Failure):
            return answer
        status = answer.refused.status if answer.refused else None
        if status in harmless:
            return None
        if status == 404 and called:
            raise LostBatch(
                f"{self._failures.model}: {self.base_url} does not know {called}: it was deleted, or belongs to the project of "
                "another key; its questions may be paid for"
            )
        raise answer.problem

    def _id(self, answer: Any) -> str:
        found = field_of(answer, "id")
        if not isinstance(found, str) or not found:
            raise self._failures.other_protocol("an object of it has no id", transient=True)
        return found

    def _state(self, answer: Any) -> BatchState:
        counts, metadata = field_of(answer, "request_counts"), field_of(answer, "metadata")
        errors = field_of(field_of(answer, "errors"), "data")
        first = errors[0] if isinstance(errors, list) and errors else None
        codes = [str(field_of(error, "code")) for error in errors or ()]
        files = (field_of(answer, name) for name in ("output_file_id", "error_file_id"))
        return BatchState(
            id=str(field_of(answer, "id")),
            status=str(field_of(answer, "status")),
            input_file=field_of(answer, "input_file_id"),
            mark=field_of(metadata, MARK),
            files=tuple(file for file in files if isinstance(file, str) and file),  # an absent file may be ""
            **{name: field_of(counts, name) or 0 for name in ("total", "completed", "failed")},
            code=FULL if FULL in codes else next(iter(codes), ""),
            message=str(field_of(first, "message") or ""),
        )
