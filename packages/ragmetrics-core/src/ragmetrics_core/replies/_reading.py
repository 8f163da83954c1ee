"""What a reader makes of what it finds, and what each form of reply has to tell of itself so that it can be read.

The steps from the text of a reply to its answer are the same for all forms and stand in ``_pipeline``. A ``Reader`` fills in
what differs: which of the JSON values in a text may be the answer, what such a value says, what words say, and when two
answers are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

from ._json_text._scan import Found
from ._prose._unreadable import Unreadable

T = TypeVar("T")


@dataclass(frozen=True)
class Fit(Generic[T]):
    """An answer."""

    value: T


class Bad(NamedTuple):
    """Something that was meant as an answer and is none."""

    reason: str


Reading: TypeAlias = Fit[T] | Bad | None
"""What a JSON value is to a reader: an answer, a bad one, or (None) nothing of the kind."""

TWO_ANSWERS = Bad("the reply gives two different answers; give one")


class Reader(Generic[T]):
    """What one form of reply looks for."""

    takes_scalars = True
    """Whether a number, true, false or null that is the whole reply is read as JSON, and not as words."""

    @property
    def missing(self) -> str:
        """What is wrong with JSON in which there is nothing of the kind."""
        raise NotImplementedError

    def in_value(self, data: Any, depth: int = 0) -> Reading[T]:
        """What a JSON value says; ``depth`` counts the values around it."""
        raise NotImplementedError

    def in_words(self, part: str) -> T:
        """What a text says in which no JSON value is the answer.

        Raises:
            Unreadable: nothing, or several things that disagree.
        """
        raise NotImplementedError

    def same(self, one: T, two: T) -> bool:
        """Whether two answers say the same."""
        return one == two

    def candidates(self, found: list[Found], view: str) -> list[Found]:
        """Those of the JSON values in a text that may be the answer."""
        raise NotImplementedError

    def together(self, found: list[Found], view: str) -> Reading[T]:  # noqa: ARG002
        """What all the candidates are when they are parts of one answer (None: they are not)."""
        return None

    def rejected(self, found: list[Found]) -> Bad | None:  # noqa: ARG002
        """What is wrong when none of the candidates is meant as an answer (None: the answer may stand elsewhere)."""
        return None

    def confirmed(self, answer: T, before: str, after: str) -> T:  # noqa: ARG002
        """The answer of a JSON value, given the words before and after it.

        Raises:
            Unreadable: they say something else.
        """
        return answer

    def settled(self, reading: Reading[T]) -> T:
        """The answer that a reading is.

        Raises:
            Unreadable: it is none.
        """
        if isinstance(reading, Fit):
            value: T = reading.value
            return value
        raise Unreadable(reading.reason if reading else self.missing)
