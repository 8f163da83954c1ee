"""What a metric is made of: samples, requests, programs, prompts, scores. No IO: programs yield requests and are sent replies.

From the bottom up: `_errors`; `_requests` and their replies; `_protocols`, the shapes of models; `_steps`, the language that
programs are written in; `_sample`; `_row`, a sample and its place in the input; `_inputs`, what a metric takes of a sample;
`_details`, the evidence of scores; `_score`, which `_explain` puts into words, `_assert_score` asserts and `_not_asked` stands
in for; `_wording`, what prompts are made of; `_prompt`, which asks and reads; `_metric`; `_drive`, the two drivers that answer a
program; `_saved_settings`, a metric as JSON and back.
"""

from __future__ import annotations

__all__: list[str] = []
