"""What every adapter of a framework needs: failures, secrets, threads, and judging in the background.

An adapter turns the models of a framework into models of the core. The same questions arise for every framework. ``LLMBridge``
and ``EmbeddingsBridge`` answer them for models (``Bridge`` has what they share): an adapter derives from them and adds what is
special about its framework. These are their parts, and what else an adapter needs:

* What did the model raise? ``Explained`` and ``model_error`` make a ``ModelError`` of the exceptions of any library, and let bugs
  pass; ``is_bug``, ``is_of_a_client``, ``is_of_other_loop`` and ``seconds_to_wait`` are their parts. ``Kept`` keeps an exception
  unchanged.
* Which form of reply is requested, and what if the server refuses it? ``FormsOfReply``; ``strict_schema``.
* What did the answer cost, and why does it end? ``usage_of``, ``cost_of``, ``finish_reason_of``, ``is_cut_off``.
* What if the model can only block? ``blocking``.
* Who repeats a lost call? Only ``evaluate``: ``without_retries``.
* What may be shown and stored? ``name_of``, ``conceal``, ``is_secret``, ``secret_texts``; ``json_settings`` for an ``identity``,
  ``declared_settings`` for pydantic models; ``readable_texts`` for embedding models; ``in_order`` and ``read_in_order`` for data
  that a file must not sort; ``metric_paths`` to load metrics from trusted modules only.
* In which thread, in which loop? ``in_own_thread``, ``in_threads``, ``run_blocking``, ``HomeLoop``, ``Turn``.
* How is an application asked the questions of a data set? ``asked_rows``. How does a value become JSON? ``json_walk``. How do two
  functions share one list of arguments? ``with_arguments_of``.
* Is a setting valid? ``check_whole``, ``check_switch``, ``check_calls``, ``check_known``; ``kind_of`` for messages.
* What does a metric ask a model? ``prompts_of``, ``asks_an_llm``. By which models is it judged? ``with_models``.
* How is a running application evaluated? The callback or handler of an adapter is a ``LiveEvaluation`` with ``LiveSettings``
  (``current_names`` knows former names, ``shows_settings`` shows them), and hands over each ``Finished`` call. ``LiveJudging``
  judges in the background and counts the results (``Background`` is one of its queues, ``settled`` makes the outcome of a job).
  Judgements that are coroutine functions run in one event loop, and the metrics that they compute share their calls.
  ``judging`` marks this work, so that the calls of a judge are not evaluated. ``Counts`` are counters for many threads.
  ``score_of_outcome`` and ``failed_score`` make scores of what judgements gave or raised (``NotAsked``: nothing).
  ``row_digest`` says whether two calls are equal for a metric. ``Spool`` keeps calls on disk until they are judged, and
  ``stored_sample`` reads their samples.
  ``drain_on_sigterm`` judges what is pending before a signal ends the program. ``observe`` is the handler of plain Python.
  ``JsonlSink`` writes the records to a file of scores, ``RunDirSink`` to a directory; ``LangfuseSink``, ``OTelSink`` and
  ``PhoenixSink`` send the scores.
  ``turns_of`` and ``earlier_turns`` read the messages of a chat, and ``way_of`` the setting of its question.
  ``current_span`` and ``in_span`` find the span of a call, and make it current for the sinks that get its scores.

Importing this loads no framework, no model client and no asyncio.
"""

from __future__ import annotations

from .._kernel._metric import prompts_of
from .._kernel._model_traits import readable_texts
from .._kernel._saved_settings import metric_paths
from .._store._spool import Spool
from .._support._retry_after import seconds_to_wait
from .._support._secrets import Kept, conceal, is_secret
from .._support._signatures import with_arguments_of
from .._support._strict_schema import strict_schema
from .._support._threads import in_own_thread, in_threads
from .._values._plain import in_order, json_walk, read_in_order
from .._values._settings import check_calls, check_known, check_switch, check_whole
from .._values._turns import earlier_turns, turns_of
from ..llms._wire._attempts import Attempts
from ._answers import cost_of, finish_reason_of, is_cut_off, usage_of
from ._background import Background, Counts, settled
from ._bridge import Bridge, EmbeddingsBridge, FormsOfReply, LLMBridge, without_retries
from ._failures import Explained, is_bug, is_of_a_client, is_of_other_loop, model_error
from ._history import way_of
from ._judging import is_judging, judging
from ._live_evaluation import Finished, LiveEvaluation, LiveSettings, current_names, shows_settings
from ._live_judging import LiveJudging
from ._loops import HomeLoop, Turn, run_blocking
from ._observe import Observation, Observer, asks_an_llm, failed_score, observe, score_of_outcome, with_models
from ._rows import asked_rows
from ._selection import NotAsked, row_digest
from ._settings import (
    blocking,
    declared_settings,
    json_settings,
    kind_of,
    name_of,
    secret_texts,
)
from ._signals import drain_on_sigterm
from ._sink_jsonl import JsonlSink
from ._sink_langfuse import LangfuseSink
from ._sink_otel import OTelSink
from ._sink_phoenix import PhoenixSink
from ._sink_run_dir import RunDirSink
from ._spans import current_span, in_span
from ._spooling import stored_sample

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
    "JsonlSink",
    "Kept",
    "LLMBridge",
    "LangfuseSink",
    "LiveEvaluation",
    "LiveJudging",
    "LiveSettings",
    "NotAsked",
    "OTelSink",
    "Observation",
    "Observer",
    "PhoenixSink",
    "RunDirSink",
    "Spool",
    "Turn",
    "asked_rows",
    "asks_an_llm",
    "blocking",
    "check_calls",
    "check_known",
    "check_switch",
    "check_whole",
    "conceal",
    "cost_of",
    "current_names",
    "current_span",
    "declared_settings",
    "drain_on_sigterm",
    "earlier_turns",
    "failed_score",
    "finish_reason_of",
    "in_order",
    "in_own_thread",
    "in_span",
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
    "observe",
    "prompts_of",
    "read_in_order",
    "readable_texts",
    "row_digest",
    "run_blocking",
    "score_of_outcome",
    "seconds_to_wait",
    "secret_texts",
    "settled",
    "shows_settings",
    "stored_sample",
    "strict_schema",
    "turns_of",
    "usage_of",
    "way_of",
    "with_arguments_of",
    "with_models",
    "without_retries",
]
