"""How a metric works: programs, prompts, inputs, drivers. No IO: programs yield requests and are sent replies.

`_steps` is the language of programs, and `_drive` has the two drivers that answer a program. `_inputs` is what a metric takes of a
sample. `_wording` is what prompts are made of, `_prompt` asks and reads, `_repeated` finds what a reply only repeats. `_metric` is
the base class of metrics, `_saved_settings` a metric as JSON and back. `_model_traits` reads and checks models and their answers.
"""

from __future__ import annotations

__all__: list[str] = []
