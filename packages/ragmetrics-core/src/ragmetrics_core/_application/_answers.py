"""Reads what an application returns: a text, a mapping in the names of our fields, a sample, or an object that an adapter knows.

Strategy. A mapping is read as rows of data are, so the usual other names of fields are understood and ``columns`` can name any
place. Only the answer and what was retrieved are taken from it. The question, the reference and the id stay those of the data set,
as the application must not choose what it is compared with. What has another name becomes metadata.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass, replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from .._kernel._inputs import Input
from .._read._columns import Columns, is_model
from .._read._plan import mapped_columns
from .._read._rows import rows_of
from .._show._tables import first_of
from .._values._errors import InvalidInput
from .._values._sample import Sample
from ._kept import ANSWER, with_answer

READERS = "ragmetrics.apps"
"""The group of entry points of adapters. The name of an entry is the package of a framework, and its object has two functions:
``function_of(app)`` returns a function that asks an application of the framework, given a question; ``fields_of(answer)`` returns a
text, a mapping or a ``Sample`` for what the framework returned. Both return None for what they do not know.
"""

FORM = "return a text, or a mapping such as {'response': ..., 'retrieved_contexts': [...]}"
PLACES = "or name the place of each, as in response=result.text"


@cache
def _adapters() -> Mapping[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=READERS)}


def readers_of(value: object) -> Iterator[Any]:
    """Return the readers of the frameworks that define the class of a value, one of its bases, or a value inside it."""
    packages = {base.__module__.partition(".")[0] for part in _parts(value) for base in type(part).__mro__}
    for name in sorted(packages - {"builtins"}):
        if name in _adapters():
            yield _adapters()[name].load()


def _parts(value: Any, depth: int = 3) -> Iterator[Any]:
    yield value
    inner = value.values() if isinstance(value, Mapping) else value[:1] if isinstance(value, list | tuple) else ()
    for item in inner if depth else ():
        yield from _parts(item, depth - 1)


class AnswerReader:
    """Reads the answers of one application.

    Args:
        columns: the place of each field: in an answer for those that an application fills, in the questions for all others.
        separator: between the items of a list in one text.

    Attributes:
        columns: the part of ``columns`` about the questions.
    """

    def __init__(self, columns: Mapping[str, str] | None, separator: str | None) -> None:
        mapped = mapped_columns(columns)
        of_answers = {
            pair: item.field in ANSWER for pair, item in zip(dict(columns or {}).items(), mapped, strict=True)
        }
        self.columns = dict(pair for pair, inside in of_answers.items() if not inside)
        self._reading = dict(pair for pair, inside in of_answers.items() if inside), separator

    def row(self, question: Sample, answer: Any, *, keeps: frozenset[str] = frozenset()) -> Sample:
        """Return the row of a question with an answer.

        Args:
            question: the question.
            answer: what the application returned.
            keeps: the fields of the question that the application was given, and that stay if it returns no others.

        Raises:
            InvalidInput: the answer cannot be read, or has nothing that can be judged.
        """
        found = self._sample(answer)
        if all(getattr(found, name) is None for name in ANSWER):
            keys = f" in {first_of([*map(str, answer)])}" if isinstance(answer, Mapping) and answer else ""
            raise InvalidInput(f"there is no response and nothing retrieved{keys}: {FORM}, {PLACES}")
        for name in ANSWER:
            Input.named(name, required=False).read("the answer", found)
        gaps = {name: getattr(question, name) for name in keeps & set(ANSWER) if getattr(found, name) is None}
        return with_answer(question, replace(found, **gaps))

    def _sample(self, answer: Any) -> Sample:
        named_by_user = self._reading[0] and isinstance(answer, Mapping)
        for reader in () if named_by_user else readers_of(answer):
            fields = reader.fields_of(answer)
            if fields is not None:
                answer = fields
                break
        if isinstance(answer, str):
            return Sample(response=answer)
        if not (isinstance(answer, Sample | Mapping) or is_model(answer) or is_dataclass(answer)):
            raise InvalidInput(f"it returned a value of type {type(answer).__name__}: {FORM}")
        (row,) = rows_of([("the answer", answer)], Columns(*self._reading))
        if row.problem is not None:
            raise row.problem
        return row.sample
