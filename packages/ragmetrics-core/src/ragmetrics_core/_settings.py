"""A metric's settings as JSON values, and back.

Values are checked against the annotations of the dataclass fields, so that a wrong setting in a file is named when it is
read. Models are never written: a field that takes no part in equality is not a setting.
"""

from __future__ import annotations

import difflib
import importlib
import typing
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

from ._errors import InvalidInput
from ._prompt import Prompt
from ._score import plain

__all__ = ["load_metric", "metric_class", "settings_of"]

M = TypeVar("M")


def settings_of(metric: Any) -> dict[str, Any]:
    """Every setting by name."""
    values = {item.name: getattr(metric, item.name) for item in fields(metric) if item.compare}
    return {name: value.to_dict() if isinstance(value, Prompt) else plain(value) for name, value in values.items()}


def metric_class(path: str, root: type[M]) -> type[M]:
    """The class that ``Name`` (a built-in metric) or ``module:Name`` stands for; ``root`` is the class that all metrics are.

    Raises:
        InvalidInput: there is no such module or class, or it is not a metric.
    """
    module_name, _, name = path.rpartition(":")
    try:
        found: Any = importlib.import_module(module_name or "ragmetrics_core.metrics")
        for part in name.split("."):
            found = getattr(found, part)
    except ModuleNotFoundError as error:
        if error.name is None or not (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise  # the module is there, but something that it imports is not
        raise InvalidInput(f"the metric {path!r} names the module {module_name!r}, which is not found") from None
    except AttributeError:
        close = difflib.get_close_matches(name, vars(found), n=1)
        raise InvalidInput(f"there is no metric {path!r}{f'; did you mean {close[0]!r}?' if close else ''}") from None
    if not (isinstance(found, type) and issubclass(found, root)):
        raise InvalidInput(f"{path!r} is not a {root.__name__}")
    return found


def load_metric(base: type[M], data: Mapping[str, Any]) -> M:
    """The metric that ``to_dict`` wrote; ``base`` is the class it must be."""
    cls: Any = metric_class(str(data.get("metric")), base)
    known = {item.name: item for item in fields(cls) if item.compare}
    settings = data.get("settings") or {}
    unknown = sorted(set(settings) - set(known))
    if unknown:
        raise InvalidInput(f"{cls.__name__} has no setting {unknown[0]!r}; it has {', '.join(sorted(known)) or 'none'}")
    hints = typing.get_type_hints(cls)
    return cls(**{name: _setting(cls, known[name], hints[name], value) for name, value in settings.items()})


def _setting(cls: type, item: Field[Any], hint: Any, value: Any) -> Any:
    default = item.default if item.default is not MISSING else None
    if isinstance(default, Prompt) and isinstance(value, Mapping):
        return default.reworded(value)
    from pydantic import TypeAdapter, ValidationError  # noqa: PLC0415  heavy, and needed for files only

    try:
        return TypeAdapter(hint, config={"arbitrary_types_allowed": True}).validate_python(value)
    except ValidationError as error:
        problem = error.errors()[0]["msg"]
        raise InvalidInput(f"{cls.__name__}: the setting {item.name!r} cannot be {value!r}: {problem}") from None
