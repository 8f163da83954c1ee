"""The arguments of functions: one with those of another one, such as its asynchronous twin, and those that come by position."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


def with_arguments_of(other: Callable[P, Any]) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Have a function take the arguments of another one; type checkers, ``help`` and notebooks see these.

    It gets them all by name, those that were left out with their defaults, those of ``**options`` as one mapping ``options``. ::

        @with_arguments_of(evaluate_retriever)
        async def aevaluate_retriever(**given):
            ...

    Args:
        other: the function whose arguments are meant.
    """
    signature = inspect.signature(other)

    def named(args: Any, kwargs: Any) -> dict[str, Any]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    def decorated(function: Callable[..., R]) -> Callable[P, R]:
        @wraps(function)
        def called(*args: Any, **kwargs: Any) -> R:
            return function(**named(args, kwargs))

        @wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            return await cast("Any", function)(**named(args, kwargs))

        made: Any = awaited if inspect.iscoroutinefunction(function) else called
        made.__signature__ = signature.replace(return_annotation=inspect.signature(function).return_annotation)
        return cast("Callable[P, R]", made)

    return decorated


def by_name(
    method: str, last: str, names: Sequence[str], values: Sequence[Any], others: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments that came by position, under their names.

    Args:
        method: what messages call the function.
        last: the last argument that it names itself.
        names: what the arguments after that are called.
        values: what came by position.
        others: what came by name.

    Raises:
        TypeError: there are more values than names, or one came in both ways.
    """
    if len(values) > len(names):
        raise TypeError(f"{method} takes {len(names)} arguments by position after {last}, got {len(values)}")
    given = dict(zip(names, values, strict=False))
    twice = [name for name in given if name in others]
    if twice:
        raise TypeError(f"{method} got {twice[0]!r} twice, by position and by name")
    return given
