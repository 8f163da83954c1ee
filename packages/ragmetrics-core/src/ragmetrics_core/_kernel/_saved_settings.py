"""Write the settings of a metric as JSON values, and read them back.

Only settings that differ from their defaults are written, so that a saved metric gets the improved prompts of later versions.
Mappings are written in a form that keeps their order in any file. When settings are read, values are validated against the
annotations of the dataclass fields, so the message names the wrong setting. Models are never written: a field that is not compared
is not a setting. Of a prompt only the wording is written, because the reply format belongs to the code of the metric.
"""

from __future__ import annotations

import importlib
import typing
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from types import ModuleType
from typing import Any, TypeVar

from .._values._errors import InvalidInput
from .._values._plain import in_order, read_in_order
from .._values._settings import check_known
from ._prompt import Prompt

M = TypeVar("M")

JURORS = "jurors"
"""The name of the setting that contains other metrics."""


def settings_of(metric: Any, *, defaults: bool = False) -> dict[str, Any]:
    """Return the settings that differ from their defaults, by name; with ``defaults``, all settings.

    Raises:
        InvalidInput: more than the wording of a prompt was changed, which cannot be written to a file.
    """
    written = [item for item in fields(metric) if item.compare and (defaults or not _is_default(metric, item))]
    return {item.name: _written(metric, item, defaults=defaults) for item in written}


def _is_default(metric: Any, item: Field[Any]) -> bool:
    value, default = getattr(metric, item.name), default_of(metric, item)
    # equal values may look different to a model: True and 1, or mappings in another order
    return value is default or bool(value == default and repr(value) == repr(default))


def default_of(metric: Any, item: Field[Any]) -> Any:
    """Return the default value of a setting; ``MISSING`` if it has none."""
    if item.name == "name":
        return metric.usual_name
    return item.default_factory() if item.default_factory is not MISSING else item.default


def _written(metric: Any, item: Field[Any], *, defaults: bool) -> Any:
    value = getattr(metric, item.name)
    if value and isinstance(value, tuple) and value == metric.parts:
        return [part.to_dict(defaults=defaults) for part in value]
    if not isinstance(value, Prompt):
        return in_order(value)
    # a wording that has the version of another wording gets a new version when it is read back
    default, kept = item.default, value.replace(version="")
    if not isinstance(default, Prompt) or kept != default.reworded(value.to_dict()).replace(version=""):
        raise InvalidInput(
            f"{metric.name}: the prompt {item.name!r} cannot be saved, because it differs from the default prompt in more "
            "than its wording: define such a metric in code"
        )
    return value.to_dict()


def named_metric(path: str, root: type[Any]) -> Any:
    """Return the metric class or the metric object that a name stands for.

    Args:
        path: ``Name`` for the class of a built-in metric, or ``module:NAME`` for any class, or for a metric object with its
            settings.
        root: the base class of all metrics.

    Raises:
        InvalidInput: there is no such module or name, or the object with this name is not a metric.
    """
    is_own = path.rpartition(":")[0]
    target = named_object(path, "metric") if is_own else _member(path, "metric", root._built_in(), "", path)
    if not (isinstance(target, root) or (isinstance(target, type) and issubclass(target, root))):
        kind = "a class" if isinstance(target, type) else f"a {type(target).__name__}"
        raise InvalidInput(
            f"{path!r} is not a {root.__name__} but {kind}: name a subclass of {root.__name__}, or an instance of one"
        )
    return target


def named_object(path: str, what: str) -> Any:
    """Return the object of a user that a name stands for.

    Args:
        path: ``module:NAME``.
        what: what the object is, for messages.

    Raises:
        InvalidInput: there is no such module or name.
    """
    module_name, _, name = path.rpartition(":")
    return _member(
        path, what, _imported(path, what, module_name), f": the module {module_name!r} has no {name!r}", name
    )


def _member(path: str, what: str, module: ModuleType, where: str, name: str) -> Any:
    target: Any = module
    try:
        for part in name.split("."):
            target = getattr(target, part, None)
    except ImportError as error:  # our modules raise it for names of RAGAS; it says what to use instead
        raise InvalidInput(str(error)) from None
    if target is None:
        import difflib  # noqa: PLC0415  for mistakes only

        close = difflib.get_close_matches(name, dir(module), n=1)
        raise InvalidInput(f"there is no {what} {path!r}{where}{f'; did you mean {close[0]!r}?' if close else ''}")
    return target


def built_in_metric(name: str, root: type[Any]) -> Any:
    """Return the built-in metric with this class name, or with this name of a column in a file of scores; None if there is none.

    The names of some columns end in a setting, such as ``noise_sensitivity_relevant``.
    """
    module = root._built_in()
    found = (getattr(module, each) for each in module.__all__)
    classes: list[Any] = [each for each in found if isinstance(each, type) and issubclass(each, root)]
    for cls in classes:
        own_names = "usual_name" in vars(cls)
        if name in (cls.__name__, cls.default_name()) or (own_names and name.startswith(f"{cls.default_name()}_")):
            return cls
    return None


def _imported(path: str, what: str, name: str) -> ModuleType:
    """Import the module of the user that a path names."""
    if name.startswith(".") or not name:
        raise InvalidInput(f"the {what} {path!r} names a module by a relative path: give its full name")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise  # the module exists, but imports a module that does not
        raise InvalidInput(f"the {what} {path!r} names the module {name!r}, which is not found") from None


def load_metric(base: type[M], data: Mapping[str, Any]) -> M:
    """Return the metric that ``to_dict`` wrote; its class must be ``base`` or a subclass."""
    if not isinstance(data, Mapping) or not isinstance(data.get("metric"), str):
        raise InvalidInput(f"a saved metric must have the form {{'metric': name, 'settings': {{...}}}}, got {data!r}")
    settings = data.get("settings") or {}
    if not isinstance(settings, Mapping):
        raise InvalidInput(f"{data['metric']}: settings must be a mapping, got {type(settings).__name__}")
    cls = named_metric(data["metric"], base)
    if isinstance(cls, base):
        raise InvalidInput(f"{data['metric']!r} is a metric object, not a class: name its class, {type(cls).__name__}")
    settable = {item.name: item for item in fields(cls) if item.compare}
    check_known(cls.__name__, map(str, settings), sorted(settable))
    if missing := unset(cls, settings):
        raise InvalidInput(f"{cls.__name__} needs the setting {missing[0]!r}")
    return cls(**{name: _setting(cls, settable[name], _read(cls, name, value)) for name, value in settings.items()})


def metric_paths(data: Any) -> Iterator[str]:
    """Yield the names of the classes that ``Metric.from_dict`` would load: the class of the metric, and the classes of its jurors.

    Yields nothing for data that are not a metric; ``from_dict`` reports the error.

    Raises:
        InvalidInput: the jurors are written as a text that is not JSON.
    """
    if not isinstance(data, Mapping):
        return
    if isinstance(data.get("metric"), str):
        yield data["metric"]
    settings = data.get("settings")
    try:
        jurors = read_in_order(settings.get(JURORS)) if isinstance(settings, Mapping) else None
    except ValueError as error:
        raise InvalidInput(f"the setting {JURORS!r} contains a text that is not JSON: {error}") from None
    for juror in jurors if isinstance(jurors, list) else ():
        yield from metric_paths(juror)


def unset(cls: type[Any], settings: Mapping[str, Any]) -> list[str]:
    """Return the settings of a metric that have no default and are not given."""
    needed = (item for item in fields(cls) if item.init and item.default is MISSING and item.default_factory is MISSING)
    return [item.name for item in needed if item.name not in settings]


def _read(cls: type, name: str, value: Any) -> Any:
    try:
        return read_in_order(value)
    except ValueError as error:
        raise InvalidInput(f"{cls.__name__}: the setting {name!r} contains a text that is not JSON: {error}") from None


def _setting(cls: type, item: Field[Any], value: Any) -> Any:
    if isinstance(item.default, Prompt):
        if not isinstance(value, Mapping):
            raise InvalidInput(
                f"{cls.__name__}: the setting {item.name!r} must be a mapping with the wording of a prompt, got "
                f"{type(value).__name__}: write {{'instructions': '...'}}"
            )
        return item.default.reworded(value)
    from pydantic import PydanticUserError, TypeAdapter, ValidationError  # noqa: PLC0415  slow to import, and needed only for files

    try:
        adapter: TypeAdapter[Any] = TypeAdapter(typing.get_type_hints(cls)[item.name])
    except (NameError, PydanticUserError):
        return value  # only the metric itself can validate a value of this type
    try:
        # a bool is not a number, although Python treats it as one
        return adapter.validate_python(value, strict=isinstance(value, bool))
    except ValidationError as error:
        problem = error.errors()[0]["msg"]
        raise InvalidInput(f"{cls.__name__}: the setting {item.name!r} cannot be {value!r}: {problem}") from None
