"""What clients of model servers share: failures in words, forms of reply, refusals of parameters, addresses and keys."""

from __future__ import annotations

__all__: list[str] = []
