"""Every error that this library raises on purpose.

    RagmetricsError
      +-- MissingInput   (also a ValueError)   a sample field that the metric needs is not there
      +-- InvalidInput   (also a ValueError)   a field or a setting has the wrong type or an impossible value
      +-- MissingExtra   (also an ImportError) an optional dependency is not installed
      +-- ModelError                           a model could not answer: network, key, quota, unknown model
            +-- BadReply                       a model answered, but the answer cannot be parsed

The caller can correct the first three; a ``ModelError`` is due to the model or its server. A run over many samples records a
``ModelError``, and a ``MissingInput`` or ``InvalidInput`` that concerns a sample, in the failed score. An error outside this tree
is a bug, and stops the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ._layout import harmless


@dataclass(frozen=True)
class Setting:
    """A setting that a message names: an argument in Python, an option on the command line and in pytest.

    Attributes:
        name: the name of the argument.
        value: the value that the setting has or should have; ``...`` if the user must choose one, None if only the name is shown.
        before: text in front of the setting; left out together with the setting where the setting does not exist.
        python: how the setting is written in Python, if not as a plain argument.
    """

    name: str
    value: object = None
    before: str = ""
    python: str = ""

    @property
    def text(self) -> str:
        """The value, as messages show it."""
        if isinstance(self.value, float):
            return f"{self.value:g}"
        return "..." if self.value is ... else repr(self.value)

    def __str__(self) -> str:
        return self.python or (self.name if self.value is None else f"{self.name}={self.text}")


class RagmetricsError(Exception):
    """Root of all errors of this library.

    The arguments are the parts of the message: texts and ``Setting`` objects.

    Attributes:
        partial: the part that was finished before the error stopped a run over many samples: an ``Evaluation``, or a ``Testset`` if
            one was being generated; else None.
        needs_key: True if only the API key is missing, so that the same call works with a key.
    """

    partial: Any = None
    needs_key: bool = False

    def message(self, write: Callable[[Setting], str] = str) -> str:
        """Return the message, with control characters escaped, because it may quote data and replies.

        Args:
            write: returns the name of a setting in the interface that shows the message, or an empty text if the setting does not
                exist there; default: the argument in Python.
        """
        return harmless("".join(_written(part, write) for part in self.args))

    def __str__(self) -> str:
        return self.message()


def _written(part: object, write: Callable[[Setting], str]) -> str:
    if not isinstance(part, Setting):
        return str(part)
    text = write(part)
    return text and part.before + text


class MissingInput(RagmetricsError, ValueError):
    """A field that the metric needs is absent or None, or is empty although the system under test cannot have left it empty.

    Attributes:
        metric: the name of the metric that needs the field.
        field: the name of the sample field.
        problem: what is wrong with the field, such as ``is missing``.
        cure: what the user can do; empty: the usual advice.
    """

    def __init__(self, metric: str, field: str, problem: str = "is missing", cure: str = "") -> None:
        super().__init__(metric, field, problem, cure)
        self.metric = metric
        self.field = field
        self.problem = problem
        self.cure = cure

    def message(self, write: Callable[[Setting], str] = str) -> str:  # noqa: ARG002  no setting is named
        """Return the message for the caller of a metric."""
        return self._with_cure(f"give {self.field}=... or leave the metric out for this sample")

    def message_for_data(self) -> str:
        """Return the message for samples that are rows of a data set."""
        return self._with_cure(f"add it to the data as a column {self.field!r}, or leave the metric out")

    def _with_cure(self, usual: str) -> str:
        return harmless(f"{self.metric} needs {self.field!r}, which {self.problem}: {self.cure or usual}")


class InvalidInput(RagmetricsError, ValueError):
    """A field or a setting has the wrong type or an impossible value.

    The message starts with the path of the wrong value, such as ``retrieved_contexts[2]``.
    """


class MissingExtra(RagmetricsError, ImportError):
    """An optional dependency is not installed; the message contains the pip command that installs it."""


class ModelError(RagmetricsError):
    """A model (LLM, embeddings, pair scorer) could not answer.

    Attributes:
        usage: the usage of the failed call, None if the model does not know it; on an error raised by a metric, the usage of all
            calls of the metric.
        prompts: the versions of the prompts used so far, by name of prompt; set by the metric.
        details: the evidence collected before the error; set by the metric.
        fatal: True when every further call would fail the same way (key refused, unknown model).
        transient: True when the same call may succeed later (busy server, lost connection).
        rate_limited: True when the server refused the call because there were too many at once or in too short a time (429).
        retry_after: the seconds after which the server asks to be called again; None if it named no time.
    """

    usage: Any = None
    prompts: Mapping[str, str] = {}
    details: Mapping[str, Any] = {}

    def __init__(
        self,
        *message: str | Setting,
        fatal: bool = False,
        transient: bool = False,
        rate_limited: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(*message)
        self.fatal = fatal
        self.transient = transient
        self.rate_limited = rate_limited
        self.retry_after = retry_after


class BadReply(ModelError):
    """A reply that cannot be parsed without guessing.

    Attributes:
        reason: what is wrong with the reply, in words that help a model to correct it.
        raw: the text of every reply that was tried, oldest first.
    """

    def __init__(self, reason: str, raw: str | Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.raw: tuple[str, ...] = (raw,) if isinstance(raw, str) else tuple(raw)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.reason, self.raw), vars(self))
