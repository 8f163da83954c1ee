"""Every error this library raises on purpose.

    RagmetricsError
      +-- MissingInput   (also a ValueError)   a sample field that the metric needs is not there
      +-- InvalidInput   (also a ValueError)   a field or a setting has the wrong type or an impossible value
      +-- MissingExtra   (also an ImportError) an optional dependency is not installed
      +-- ModelError                           a model could not answer: network, key, quota, unknown model
            +-- BadReply                       a model answered, but the answer has no honest reading

The first three are the caller's to mend, ``ModelError`` is the model's or its server's. Only ``ModelError`` is
ever recorded in a score by a run over many samples; anything outside this tree is a bug and propagates.
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
        name: of the argument.
        value: that it has or should have; ``...`` where the user is to choose one, None where only the name matters.
        before: words that come before it; left out with it where there is no such setting.
        python: how it is given in Python, where that is not as a plain argument.
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

    The arguments are the parts of the message: texts, and each ``Setting`` that is named between them.

    Attributes:
        partial: what was finished, where the error stopped a run over many samples: an ``Evaluation``, or the ``Testset`` of a
            generation.
        needs_key: True where nothing is wrong but that there is no API key, so the same call works with a key.
    """

    partial: Any = None
    needs_key: bool = False

    def message(self, write: Callable[[Setting], str] = str) -> str:
        """The message, with control characters as escapes, as it may quote data and replies.

        Args:
            write: how a setting is called where the message is shown, empty where there is no such setting; default: as an
                argument in Python.
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
    """A field that the metric needs is absent or None, or it is empty where that cannot be the system's own result.

    Attributes:
        metric: name of the metric that asked for the field.
        field: name of the sample field.
    """

    def __init__(self, metric: str, field: str, problem: str = "is missing", cure: str = "") -> None:
        super().__init__(metric, field, problem, cure)
        self.metric = metric
        self.field = field
        self.problem = problem
        self.cure = cure

    def message(self, write: Callable[[Setting], str] = str) -> str:  # noqa: ARG002  no setting is named
        """The message for the caller of a metric."""
        return self._with_cure(f"give {self.field}=... or leave the metric out for this sample")

    def message_for_data(self) -> str:
        """The message where the samples are rows of a data set."""
        return self._with_cure(f"add it to the data as a column {self.field!r}, or leave the metric out")

    def _with_cure(self, usual: str) -> str:
        return harmless(f"{self.metric} needs {self.field!r}, which {self.problem}: {self.cure or usual}")


class InvalidInput(RagmetricsError, ValueError):
    """A field or a setting has the wrong type or an impossible value.

    The message starts with the path of the culprit, such as ``retrieved_contexts[2]``.
    """


class MissingExtra(RagmetricsError, ImportError):
    """An optional dependency is not installed; the message holds the pip command that installs it."""


class ModelError(RagmetricsError):
    """A model (LLM, embeddings, pair scorer) could not answer.

    Attributes:
        usage: what the failed call cost, where the model knows it; on an error raised by a metric, everything that the metric
            spent.
        prompts: the versions of the prompts that were asked, by name; set by the metric that asked.
        details: evidence that was gathered all the same; set by the metric that asked.
        fatal: True when every further call would fail the same way (key refused, unknown model).
        transient: True when the same call may succeed later (busy server, lost connection).
        rate_limited: True when the server took too many calls at once or in too short a time (429).
        retry_after: seconds after which the server asks to be called again, where it said so.
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
    """A reply that cannot be read honestly.

    Attributes:
        reason: what is wrong with the reply, in words a model can act upon.
        raw: the text of every reply that was tried, oldest first.
    """

    def __init__(self, reason: str, raw: str | Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.raw: tuple[str, ...] = (raw,) if isinstance(raw, str) else tuple(raw)

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.reason, self.raw), vars(self))
