"""``evaluate``: rows in, an ``Evaluation`` out.

`_api` holds the two public functions; `_options` checks their arguments; `_run` puts a run together from the rows (`_read`),
the engine (`_engine`), what keeps finished rows (`_store`) and the result (`_report`).
"""

from __future__ import annotations

__all__: list[str] = []
