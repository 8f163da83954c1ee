"""Helpers that do not depend on metrics.

`_threads` and `_blocking` connect synchronous and asynchronous code and run coroutines concurrently. `_secrets` masks keys in
texts. `_retry_after` parses the waiting time in the refusal of a server. `_other_names` suggests the right module or name for a
wrong one. `_signatures` copies signatures, `_strict_schema` converts JSON schemas, and `_tokens` estimates numbers of tokens.
"""

from __future__ import annotations

__all__: list[str] = []
