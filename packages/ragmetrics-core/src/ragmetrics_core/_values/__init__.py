"""The values that go into an evaluation and come out of it: samples, requests, replies, scores with their evidence, errors.

* `_errors` and `_layout` (escaping and line breaks of text for terminals) depend on nothing else here.
* `_sample` holds a row of data. `_requests` holds the requests of a metric, the replies, and the protocols of models.
* `_score` holds a score. Its evidence (`_details`) consists of plain JSON values (`_plain`); `_evidence` turns it into a sentence,
  `_findings` into a list and lines of text, `_evidence_html` into HTML (`_tags`).
* `_settings` validates settings, `_assert_score` is an assertion for tests, and `_counts` counts and groups items.
"""

from __future__ import annotations

__all__: list[str] = []
