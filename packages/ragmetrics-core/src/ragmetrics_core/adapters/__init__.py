"""What every adapter of a framework needs: failures, secrets, threads, and judging in the background.

An adapter makes models of the core out of the models of a framework, so it meets the same questions whatever the framework is.
``LLMBridge`` and ``EmbeddingsBridge`` answer all those about models at once (``Bridge`` is what they have in common): an adapter
derives from them and says what its framework makes necessary. What they are made of, and what else an adapter needs:

* What did the model raise? ``Explained`` and ``model_error`` make a ``ModelError`` of any library's exception, or let a bug
  through; ``is_bug``, ``is_of_a_client``, ``is_of_other_loop`` and ``seconds_to_wait`` are its parts. ``Kept`` keeps it as it is.
* Which form of reply is it asked for, and what if its server refuses that form? ``FormsOfReply``; ``strict_schema``.
* What did the answer cost, and why does it end? ``usage_of``, ``finish_reason_of``, ``is_cut_off``.
* What if it can only block? ``blocking``.
* Who makes a lost call again? Only ``evaluate``: ``without_retries``.
* What may be shown and stored? ``name_of``, ``conceal``, ``is_secret``, ``secret_texts``; ``json_settings`` for an ``identity``,
  ``declared_settings`` where models are of pydantic;
  ``readable_texts`` for embedding models; ``in_order`` and ``read_in_order`` for what a file must not sort; ``metric_paths``
  for those who load metrics only of modules that they trust.
* On which thread, in which loop? ``in_own_thread``, ``in_threads``, ``run_blocking``, ``HomeLoop``, ``Turn``.
* How is an application asked the questions of a data set? ``asked_rows``. How does any value become JSON? ``json_walk``.
  How are the arguments of two functions written once? ``with_arguments_of``.
* Is a setting what it should be? ``check_whole``, ``check_switch``, ``check_calls``, ``check_known``; ``kind_of`` for messages.
* What does a metric ask a model? ``prompts_of``.
* How is a running application evaluated? An adapter's callback or handler is a ``LiveEvaluation``, with ``LiveSettings``
  (``current_names`` knows their former names, ``shows_settings`` shows them), and hands each ``Finished`` call to it.
  ``LiveJudging`` makes the judgements in the background and accounts for them (``Background`` is one of its lines, ``settled``
  is the outcome of a job); ``judging`` marks it, so that the calls of a judge are not evaluated. ``Counts`` are counters
  for many threads.

Importing this loads no framework, no model client and no asyncio.
"""

from __future__ import annotations

from .._kernel._metric import prompts_of
from .._kernel._model_traits import readable_texts
from .._kernel._saved_settings import metric_paths
from .._support._retry_after import seconds_to_wait
from .._support._secrets import Kept, conceal, is_secret
from .._support._signatures import with_arguments_of
from .._support._strict_schema import strict_schema
from .._support._threads import in_own_thread, in_threads
from .._values._plain import in_order, json_walk, read_in_order
from .._values._settings import check_calls, check_known, check_switch, check_whole
from ..llms._wire._attempts import Attempts
from ._answers import finish_reason_of, is_cut_off, usage_of
from ._background import Background, Counts, settled
from ._bridge import Bridge, EmbeddingsBridge, FormsOfReply, LLMBridge, without_retries
from ._failures import Explained, is_bug, is_of_a_client, is_of_other_loop, model_error
from ._judging import is_judging, judging
from ._live_evaluation import Finished, LiveEvaluation, LiveSettings, current_names, shows_settings
from ._live_judging import LiveJudging
from ._loops import HomeLoop, Turn, run_blocking
from ._rows import asked_rows
from ._settings import (
    blocking,
    declared_settings,
    json_settings,
    kind_of,
    name_of,
    secret_texts,
)

__all__ = [
    "Attempts",
    "Background",
    "Bridge",
    "Counts",
    "EmbeddingsBridge",
    "Explained",
    "Finished",
    "FormsOfReply",
    "HomeLoop",
    "Kept",
    "LLMBridge",
    "LiveEvaluation",
    "LiveJudging",
    "LiveSettings",
    "Turn",
    "asked_rows",
    "blocking",
    "check_calls",
    "check_known",
    "check_switch",
    "check_whole",
    "conceal",
    "current_names",
    "declared_settings",
    "finish_reason_of",
    "in_order",
    "in_own_thread",
    "in_threads",
    "is_bug",
    "is_cut_off",
    "is_judging",
    "is_of_a_client",
    "is_of_other_loop",
    "is_secret",
    "json_settings",
    "json_walk",
    "judging",
    "kind_of",
    "metric_paths",
    "model_error",
    "name_of",
    "prompts_of",
    "read_in_order",
    "readable_texts",
    "run_blocking",
    "seconds_to_wait",
    "secret_texts",
    "settled",
    "shows_settings",
    "strict_schema",
    "usage_of",
    "with_arguments_of",
    "without_retries",
]
