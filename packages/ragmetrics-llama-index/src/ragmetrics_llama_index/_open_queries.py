"""Which queries are open, and which one encloses which.

Strategy. The spans of the open queries stand in a context variable, which threads and asyncio tasks of LlamaIndex inherit, so a
query that begins while another one is open is nested. Query engines say by events that a query begins and ends, save those
that override ``query`` (as ``CustomQueryEngine`` does), which only have a span; so a listener hears the spans as well. What comes
first counts, the other is ignored.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.instrumentation.span_handlers import NullSpanHandler

__all__ = ["OpenQueries", "Query", "SpanListener"]


class Query(NamedTuple):
    """A query that is open: its span, its instrument tags, and whether another one was open when it began."""

    span_id: str | None
    tags: Mapping[str, Any]
    nested: bool


class OpenQueries:
    """The queries that are open in the current context."""

    def __init__(self) -> None:
        self._open: ContextVar[tuple[Query, ...]] = ContextVar("ragmetrics_open_queries", default=())

    def begin(self, span_id: str | None, tags: Mapping[str, Any] | None) -> None:
        """A query begins."""
        now = self._open.get()
        if all(query.span_id != span_id for query in now):
            self._open.set((*now, Query(span_id, dict(tags or {}), nested=bool(now))))

    def end(self, span_id: str | None) -> Query | None:
        """The query that ends; None if it is not open (any more)."""
        now = self._open.get()
        for place, query in enumerate(now):
            if query.span_id == span_id:
                self._open.set(now[:place])
                return query
        return None


class SpanListener(NullSpanHandler):
    """Hears the spans of query engines.

    Args:
        begin: told the span and the tags of a query that begins.
        end: told the span of a query that ends, its argument, and its result; None where it failed.
    """

    _begin: Callable[[str, Mapping[str, Any] | None], None] = PrivateAttr()
    _end: Callable[[str, Any, Any], None] = PrivateAttr()

    def __init__(
        self, begin: Callable[[str, Mapping[str, Any] | None], None], end: Callable[[str, Any, Any], None]
    ) -> None:
        super().__init__()
        self._begin = begin
        self._end = end

    # LlamaIndex passes everything by name, and more in newer releases
    def span_enter(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,  # noqa: ARG002
        instance: Any | None = None,
        parent_id: str | None = None,  # noqa: ARG002
        tags: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        """A span begins."""
        if _is_query(id_, instance):
            self._begin(id_, tags)

    def span_exit(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        result: Any | None = None,
        **_: Any,
    ) -> None:
        """A span ends."""
        if _is_query(id_, instance):
            self._end(id_, next(iter(bound_args.arguments.values()), ""), result)

    def span_drop(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,  # noqa: ARG002
        instance: Any | None = None,
        err: BaseException | None = None,  # noqa: ARG002
        **_: Any,
    ) -> None:
        """A span ends with an exception."""
        if _is_query(id_, instance):
            self._end(id_, "", None)


def _is_query(span_id: str, instance: Any) -> bool:
    return isinstance(instance, BaseQueryEngine) and span_id.partition("-")[0].endswith((".query", ".aquery"))
