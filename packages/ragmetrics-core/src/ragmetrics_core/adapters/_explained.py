"""A block in which a model may fail, and which puts the failure into words."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .._kernel._errors import BadReply, ModelError, RagmetricsError
from ..llms._wire._failures import Refused
from ._failures import is_bug as is_error_of_programming
from ._failures import is_failure, is_of_other_loop, model_error, refused_by


class Explained:
    """A block in which a model may fail: the failure ends the block and is kept, in words, as ``problem``.

    It is not raised from here, so that nothing is attached to the exception raised later: the original may hold the key.
    Errors of ``ragmetrics_core``, bugs, cancellation and Ctrl-C go through. ::

        explained = Explained("ChatOpenAI 'judge'", secret_texts(vars(chat_model)))
        with explained:
            return Reply(chat_model.invoke(...))
        raise explained.problem

    Args:
        model: name of the model, with which messages begin.
        secrets: texts that must never be shown.
        fatal: whether whatever goes wrong will go wrong with every further call, as where a client cannot be made.
        is_bug: which exceptions go through, unless they carry an HTTP status or tell of a lost connection; by default errors
            of programming.

    Attributes:
        is_of_other_loop: whether the cause is a connection that belongs to another event loop, or to one that has ended.
        refused: the answer with an error status, where there was one.
    """

    def __init__(
        self,
        model: str,
        secrets: Iterable[str] = (),
        *,
        fatal: bool = False,
        is_bug: Callable[[Exception], bool] = is_error_of_programming,
    ) -> None:
        self.is_of_other_loop = False
        self.refused: Refused | None = None
        self._problem: ModelError | None = None
        self._model = model
        self._secrets = tuple(secrets)
        self._fatal = fatal
        self._is_bug = is_bug

    @property
    def problem(self) -> ModelError:
        """The failure that ended the block.

        Raises:
            RuntimeError: nothing has failed.
        """
        if self._problem is None:
            raise RuntimeError(f"{self._model} has not failed: raise explained.problem after a block that returns")
        return self._problem

    @property
    def is_filtered(self) -> bool:
        """Whether a content filter refused the question."""
        return isinstance(self._problem, BadReply)

    def __enter__(self) -> None:
        self._problem = self.refused = None
        self.is_of_other_loop = False

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, Exception) or isinstance(error, RagmetricsError):
            return False
        if not is_failure(error, self._is_bug):
            return False
        self.is_of_other_loop = is_of_other_loop(error)
        self.refused = refused_by(error)
        self._problem = model_error(error, self._model, self._secrets)
        if self._fatal:
            self._problem.fatal, self._problem.transient, self._problem.rate_limited = True, False, False
        return True
