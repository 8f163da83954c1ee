"""Helpers that know nothing of metrics: threads, tasks, secrets, how long a server asks to wait.

`_threads` and `_blocking` lead from synchronous code to asynchronous code and back, and run coroutines side by side,
`_secrets` hides keys in texts, `_retry_after` reads a server's refusal, `_other_names` knows what people look for in the wrong
module or under other names.
"""

from __future__ import annotations

__all__: list[str] = []
