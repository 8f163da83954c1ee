"""Give a function the signature of another one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


def with_arguments_of(other: Callable[P, Any]) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Return a decorator that gives a function the arguments of another one, also for type checkers, ``help`` and notebooks.

    The function gets all arguments by name, with the defaults of those that were left out; ``**options`` arrive as one mapping
    ``options``. ::

        @with_arguments_of(evaluate_retriever)
        async def aevaluate_retriever(**given):
            ...

    Args:
        other: the function that has the arguments.
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

        wrapper: Any = awaited if inspect.iscoroutinefunction(function) else called
        wrapper.__signature__ = signature.replace(return_annotation=inspect.signature(function).return_annotation)
        return cast("Callable[P, R]", wrapper)

    return decorated
