"""References that come with the config of a run, in its metadata.

Strategy. Nobody stands near when they are read, so a reference that cannot be used must cost nothing but itself: it stays empty,
the record says why, and all the rest of the sample is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage

from ragmetrics_core import Input, Sample
from ragmetrics_core.adapters import settled

from .._reading._documents import contexts_and_documents
from .._reading._fields import REFERENCES

__all__ = ["FROM_METADATA", "references_in"]

NAMES: Mapping[str, tuple[str, ...]] = {
    "reference": REFERENCES,
    "reference_contexts": ("reference_contexts",),
    "reference_documents": ("reference_documents",),
    "rubric": ("rubric",),
}

FROM_METADATA = frozenset(name for names in NAMES.values() for name in names)


def references_in(metadata: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The fields that the metadata fill, and what is wrong with those that they cannot fill."""
    fields: dict[str, Any] = {}
    problems: list[str] = []
    for field, names in NAMES.items():
        given = {name: _plain(metadata[name]) for name in names if metadata.get(name) is not None}
        if not given:
            continue
        outcome = settled(lambda field=field, given=given: _checked(field, given))  # type: ignore[misc]
        error = outcome.exception()
        if error is None:
            fields[field] = outcome.result()
        else:
            problems.append(f"{type(error).__name__}: {error}")
    return fields, problems


def _checked(field: str, given: Mapping[str, Any]) -> Any:
    sample = Sample.from_mapping(given)
    Input.named(field, required=False).read("the run's metadata", sample)
    return getattr(sample, field)


def _plain(value: Any) -> Any:
    """A message as its text, LangChain's documents as the core's."""
    if isinstance(value, BaseMessage):
        return str(value.text)
    if isinstance(value, list | tuple) and any(hasattr(item, "page_content") for item in value):
        return contexts_and_documents(value)[1]
    return value
