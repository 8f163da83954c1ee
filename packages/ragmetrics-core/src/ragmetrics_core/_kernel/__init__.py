"""How a metric works: programs, prompts, inputs, drivers. No IO: programs yield requests and are sent replies.

`_steps` defines programs, and `_drive` has the two drivers that answer them. `_inputs` reads the inputs of a metric from a sample.
`_wording` holds the parts of prompts, `_prompt` asks questions and parses replies, and `_repeated` finds the parts of a reply that
only repeat the data. `_metric` holds the base class of metrics, `_saved_settings` writes a metric as JSON and reads it back.
`_model_traits` reads the attributes of models, and validates models and their answers.
"""

from __future__ import annotations

__all__: list[str] = []
