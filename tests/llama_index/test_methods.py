"""Which methods a model has, and which of them are its own."""

from __future__ import annotations

from functools import wraps
from typing import Any

from ragmetrics_llama_index._models import has_methods, overrides


class Base:
    def answer(self) -> str:
        return "a"


class Heir(Base):
    @wraps(Base.answer)
    def answer(self) -> str:
        return Base.answer(self)


class Other(Base):
    def answer(self) -> str:
        return "b"


class Mock:
    def __getattr__(self, name: str) -> Any:
        return name


def test_methods_of_models() -> None:
    assert [overrides(cls, Base, "answer") for cls in (Base, Heir, Other)] == [False, False, True]
    assert [has_methods(model, "generate", "answer") for model in (Base(), Mock(), 3)] == [True, False, False]
