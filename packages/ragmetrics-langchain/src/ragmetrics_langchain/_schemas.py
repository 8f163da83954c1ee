"""Schemas of what a metric takes: for LangChain's ``get_input_schema``, and for the arguments of a tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.utils.pydantic import create_model_v2

from ragmetrics_core import Input, Metric

__all__ = ["definition", "tool_schema"]

TYPES: Mapping[str, Any] = {
    "text": str,
    "texts": list[str],
    "documents": list[Any],
    "rubric": dict[int, str],
    "any": Any,
}
"""What the input schema says of each kind of input."""


def definition(item: Input) -> tuple[Any, Any]:
    """Type and default of an input, as pydantic takes them."""
    kind = TYPES[item.kind]
    return (kind, ...) if item.required else (kind | None if kind is not Any else Any, None)


def tool_schema(metric: Metric) -> Any:
    """The arguments of a tool, as a pydantic model: the core's names are shown, the usual other ones are taken too.

    What is missing is told by the metric, so pydantic demands nothing.
    """
    optional: Any = {
        str(item): (TYPES[item.kind] | None if item.kind != "any" else Any, None) for item in metric.inputs
    }
    schema: Any = create_model_v2(metric.name, field_definitions=optional)
    required = [str(item) for item in metric.inputs if item.required]
    schema.model_config.update(extra="allow", json_schema_extra={"required": required})
    schema.model_rebuild(force=True)
    return schema
