"""Errors of the packages of providers in the words that all models share (see ``_failures``). The packages openai and anthropic
have errors of the same names.

The original exception contains the request with its headers, so it is never chained. Every exception that the package raises for a
call counts as a failure of that call, because a server can make the package raise nearly anything. Therefore the block that
catches exceptions contains only the call.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..._support._retry_after import seconds_to_wait
from ..._values._errors import ModelError, RagmetricsError
from ._attempts import Failure
from ._failures import Failures, Refused, first_line, root_of

if TYPE_CHECKING:
    from typing_extensions import Self


class TooLong(Exception):
    """An answer has more bytes than the limit."""


class TranslatedErrors:
    """A context manager around a call of a package. An exception ends the block and is kept, as an error in our words,
    in ``failure``.

    Errors of ``ragmetrics_core``, cancellation and Ctrl-C are not caught. The failure is not raised from here, so that the
    exception raised later has no link to the original exception, which contains the key.
    """

    failure: Failure

    def __init__(self, failures: Failures) -> None:
        self._failures = failures

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, Exception) or isinstance(error, RagmetricsError):
            return False
        refused = self._refused(error)
        self.failure = Failure(self._failures.refused(refused) if refused else self._explain(error), refused)
        return True

    @staticmethod
    def package() -> Any:
        """Return the package."""
        import openai  # noqa: PLC0415  heavy

        return openai

    def _explain(self, error: Exception) -> ModelError:
        package = self.package()
        if isinstance(error, package.APITimeoutError):
            return self._failures.too_late()
        if isinstance(error.__cause__, TooLong):
            return self._failures.too_long()
        if type(error.__cause__).__name__ == "DecodingError":
            return self._failures.no_http(str(error.__cause__))
        if isinstance(error, package.APIConnectionError):
            return self._failures.unreachable(root_of(error))
        if isinstance(error, package.APIError.__base__):
            return self._failures.other_protocol(first_line(error))
        return self._of_answer(error)

    def _of_answer(self, error: Exception) -> ModelError:
        """Return the error for an answer that cannot be read."""
        if isinstance(error, json.JSONDecodeError):
            return self._failures.no_json(error.doc)
        if isinstance(error, UnicodeDecodeError):
            return self._failures.other_protocol("it is not UTF-8", transient=True)
        if isinstance(error, RecursionError):
            return self._failures.too_deep()
        return self._failures.unexpected(error)

    def _refused(self, error: Any) -> Refused | None:
        """Return the answer with an error status that the package has raised; None if it raised something else."""
        if not isinstance(error, self.package().APIStatusError):
            return None
        headers = error.response.headers
        location = headers.get("Location") if error.status_code < 400 else None
        body = error.body if location is None else Failures.redirected(location)
        if isinstance(body, dict) and isinstance(body.get("error"), dict):  # as Anthropic sends it
            body = body["error"]
        source = body if isinstance(body, dict) else error
        return Refused.of(error.status_code, body, error.message, source, seconds_to_wait(headers))
