"""What goes into an evaluation and comes out of it: samples, requests, replies, scores with their evidence, errors.

`_errors` and `_layout` (texts that cannot steer a terminal) are at the bottom. `_sample` is a row of data. `_requests` are what a
metric asks and what comes back, with the shapes of models. `_score` is a score; its `_details` are plain JSON values (`_plain`),
which `_evidence` turns into a sentence, `_findings` into a list and lines, `_evidence_html` into HTML (`_tags`). `_settings` checks
settings; `_assert_score` is for tests.
"""

from __future__ import annotations

__all__: list[str] = []
