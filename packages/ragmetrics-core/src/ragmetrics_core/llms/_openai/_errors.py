"""What the openai package raises, in the words that all models share (see ``_failures``).

The original exception, which holds the request with its headers, is never chained. Whatever the package raises for one call is a
failure of that call, because a server can make it raise nearly anything. So the block holds the call and nothing of ours.

    errors = TranslatedErrors(failures)
    with errors:
        answer = client.embeddings.create(...)
    if errors.problem: raise errors.problem
"""

from __future__ import annotations

import json
from typing import Any

from ..._kernel._errors import ModelError, RagmetricsError
from ..._support._retry_after import seconds_to_wait
from .._wire._failures import Failures, Refused, first_line, root_of
from ._bounded import TooLong


class TranslatedErrors:
    """A block in which the openai package is called: a failure ends the block and is kept, in words, as ``problem``.

    Errors of ``ragmetrics_core``, cancellation and Ctrl-C go through.

    It is not raised from here, so that the exception raised later has nothing attached: the original holds the key.

    Attributes:
        problem: the failure; None while there was none.
        refused: the server's own words, where the failure is an answer with an error status.
    """

    def __init__(self, failures: Failures) -> None:
        self.problem: ModelError | None = None
        self.refused: Refused | None = None
        self._failures = failures

    def __enter__(self) -> None:
        self.problem = self.refused = None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, Exception) or isinstance(error, RagmetricsError):
            return False
        self.refused = _refused(error)
        self.problem = self._failures.refused(self.refused) if self.refused is not None else self._explain(error)
        return True

    def _explain(self, error: Exception) -> ModelError:
        import openai  # noqa: PLC0415  heavy

        if isinstance(error, openai.APITimeoutError):
            return self._failures.too_late()
        if isinstance(error.__cause__, TooLong):
            return self._failures.too_long()
        if type(error.__cause__).__name__ == "DecodingError":
            return self._failures.no_http(str(error.__cause__))
        if isinstance(error, openai.APIConnectionError):
            return self._failures.unreachable(root_of(error))
        if isinstance(error, json.JSONDecodeError):
            return self._failures.no_json(error.doc)
        if isinstance(error, UnicodeDecodeError):
            return self._failures.other_protocol("it is not UTF-8", transient=True)
        if isinstance(error, RecursionError):
            return self._failures.too_deep()
        if isinstance(error, openai.OpenAIError):
            return self._failures.other_protocol(first_line(error))
        return self._failures.unexpected(error)


def _refused(error: Any) -> Refused | None:
    import openai  # noqa: PLC0415  heavy

    if not isinstance(error, openai.APIStatusError):
        return None
    wait = seconds_to_wait(error.response.headers)
    location = error.response.headers.get("Location") if error.status_code < 400 else None
    body = error.body if location is None else Failures.redirected(location)
    return Refused(error.status_code, body, error.message, error.code, error.param, wait)
