"""Schemas of what a metric takes: for LangChain's ``get_input_schema``, and for the arguments of a tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.utils.pydantic import create_model_v2

from ragmetrics_core import Metric

__all__ = ["input_schema"]

TYPES: Mapping[str, Any] = {
    "text": str,
    "texts": list[str],
    "documents": list[Any],
    "rubric": dict[int, str],
    "any": Any,
}
"""What the input schema says of each kind of input."""


def input_schema(metric: Metric, name: str) -> Any:
    """The fields of a metric as a pydantic model: the core's names are shown, the usual other ones are let through.

    What is missing is told by the metric, so pydantic demands nothing.
    """
    optional: Any = {
        str(item): (TYPES[item.kind] if item.required else TYPES[item.kind] | None, None) for item in metric.inputs
    }
    schema: Any = create_model_v2(name, field_definitions=optional)
    required = [str(item) for item in metric.inputs if item.required]
    schema.model_config.update(extra="allow", json_schema_extra={"required": required})
    schema.model_rebuild(force=True)
    return schema
