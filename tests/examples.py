"""How many examples a test of hypothesis draws."""

from __future__ import annotations

from hypothesis import settings

__all__ = ["examples"]

USUAL = 100


def examples(count: int) -> settings:
    """So many examples; the profile of `nox -s fast` draws as small a part of them as of the usual 100."""
    return settings(max_examples=max(1, count * settings.default.max_examples // USUAL))
