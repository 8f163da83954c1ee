"""A metric as a Runnable, which works wherever a LangChain chain works.

Strategy. All inherited methods (``batch``, ``stream``, ``|``, ``assign``, ``with_retry``, ...) call ``invoke`` or ``ainvoke``.
These two use the core's own program and drivers, so a score is the same as without LangChain. Every call of the judge gets the
config that LangChain makes for children of the metric's run, and so becomes a child run. No call stores anything on the object,
because ``batch`` uses it from many threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Literal, cast

from langchain_core.load.serializable import SerializedConstructor, SerializedNotImplemented
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from langchain_core.tools import BaseTool
from langchain_core.utils.pydantic import create_model_v2

from ragmetrics_core import InvalidInput, Metric, Models, RagmetricsError, Score, Steps, arun, run
from ragmetrics_core.adapters import check_known, failed_score, judging

from ._models import called_below, models_of
from ._samples import sample_of


class MetricRunnable(RunnableSerializable[Any, Score]):
    """Scores one sample: ``MetricRunnable(Faithfulness(), llm=chat_model).invoke({"question": ..., "answer": ..., "context":
    ...})``.

    The input is a mapping (or a ``Sample``, or a list of messages; a text or a message alone is the response). Its keys are
    the core's field names or the ones that are usual in LangChain. Keyword arguments of ``invoke`` (so also
    ``bind(reference=...)``) are fields as well. The output is the core's ``Score``.

    Args:
        metric: any metric, or what ``metric.to_dict()`` wrote.
        llm: a judge for a metric without one: a LangChain chat model, or any LLM of the core.
        embeddings: an embedding model for a metric without one, of LangChain or of the core.
        on_error: ``raise`` errors of the model and of the input, or ``record`` them as failed scores.
        name: name of the runs; default: the metric's.

    Raises:
        InvalidInput: an argument is not a metric or not a model, or there is no such setting.
    """

    metric: Any
    llm: Any = None
    embeddings: Any = None
    on_error: Literal["raise", "record"] = "raise"
    _models: Models

    def __init__(self, metric: Metric | Mapping[str, Any], **settings: Any) -> None:
        metric_given: Any = metric
        if isinstance(metric_given, Mapping):
            metric_given = Metric.from_dict(metric_given)
        if not isinstance(metric_given, Metric):
            name = getattr(metric_given, "__name__", "")
            got = f"the class {name}: write {name}(...)" if isinstance(metric_given, type) else repr(metric_given)
            raise InvalidInput(f"metric must be a Metric, got {got}")
        setting_names = [name for name in type(self).model_fields if name != "metric"]
        # pydantic would ignore unknown settings
        check_known(type(self).__name__, settings, setting_names, "; a metric's own are its arguments")
        if settings.get("on_error", "raise") not in ("raise", "record"):
            raise InvalidInput(f"on_error is 'raise' or 'record', got {settings['on_error']!r}")
        settings.setdefault("name", metric_given.name)
        super().__init__(**{"metric": metric_given, **settings})
        self._models = models_of(metric_given, self.llm, self.embeddings)

    @property
    def models(self) -> Models:
        """The models that judge: the metric's own models, else the given ones."""
        return self._models

    @property
    def InputType(self) -> Any:  # noqa: N802  LangChain's name
        """A mapping; ``get_input_schema`` lists its fields."""
        return dict[str, Any]

    def get_input_schema(self, config: RunnableConfig | None = None) -> Any:  # noqa: ARG002  the fields are always the same
        """Return the fields that the metric takes, under the core's names. LangChain's names are accepted too."""
        return _schema(self.metric, self.get_name("Input"))

    @classmethod
    def is_lc_serializable(cls) -> bool:
        """True: the settings of the metric are written. To ``load`` the metric, its models must be serialisable as well."""
        return True

    @classmethod
    def get_lc_namespace(cls) -> list[str]:
        """Return the module path where ``load`` finds the class."""
        return ["ragmetrics_langchain"]

    def to_json(self) -> SerializedConstructor | SerializedNotImplemented:
        """Return what ``langchain_core.load.dumpd`` writes: the settings of the metric, without its models."""
        data = super().to_json()
        if data["type"] == "constructor":
            data["kwargs"]["metric"] = self.metric.to_dict()
        return data

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Score:  # noqa: A002  LangChain's name
        """Score one sample.

        Raises:
            MissingInput: a needed field is absent; raised before any model is asked.
            InvalidInput: a field has the wrong type, or two keys disagree.
            ModelError: a model could not answer; ``BadReply`` if its answer is unreadable.
        """
        with judging():
            return self._call_with_config(cast("Any", self._score), input, config, run_type="chain", **kwargs)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Score:  # noqa: A002  LangChain's name
        """Score one sample without blocking the running loop. Arguments and errors are the same as for ``invoke``."""
        with judging():
            score: Score = await self._acall_with_config(
                cast("Any", self._ascore), input, config, run_type="chain", **kwargs
            )
            return score

    def as_tool(self, args_schema: Any = None, **settings: Any) -> BaseTool:
        """Make a tool for an agent. Its description is the first line of the metric's documentation; it takes the fields under
        any of their names.

        The content of its answer is the score and its evidence, in words. The artifact is ``score.to_dict()``.

        Args:
            args_schema: the schema of the tool's arguments; default: the metric's fields.
            settings: ``name``, ``description`` and ``arg_types`` of LangChain's ``as_tool``.
        """
        described = (type(self.metric).__doc__ or self.metric.name).strip().splitlines()[0]
        settings = {"name": self.get_name(), "description": described, **settings}
        schema = args_schema or (None if settings.get("arg_types") else _schema(self.metric, self.metric.name))
        worded: Any = self | _words_for_agent
        tool: Any = worded.as_tool(schema, **settings)
        tool.response_format = "content_and_artifact"
        return cast("BaseTool", tool)

    def _program(self, value: Any, fields: Mapping[str, Any]) -> Steps[Score]:
        sample = sample_of(value)
        if fields:
            given = vars(sample_of(fields))
            sample = sample.updated({name: field for name, field in given.items() if field is not None})
        program: Steps[Score] = self.metric.told_of(self._models).program(sample)
        return program

    def _score(self, value: Any, config: RunnableConfig, **fields: Any) -> Score:
        try:
            with called_below(config):
                return run(self._program(value, fields), self._models)
        except RagmetricsError as error:
            return self._failed(error)

    async def _ascore(self, value: Any, config: RunnableConfig, **fields: Any) -> Score:
        try:
            with called_below(config):
                return await arun(self._program(value, fields), self._models)
        except RagmetricsError as error:
            return self._failed(error)

    def _failed(self, error: RagmetricsError) -> Score:
        if self.on_error == "raise":
            raise error
        return failed_score(self.metric, error)


TYPES: Mapping[str, Any] = {
    "text": str,
    "texts": list[str],
    "documents": list[Any],
    "rubric": dict[int, str],
    "turns": list[Any],
    "any": Any,
}
"""The type of each kind of input in the schema."""


def _schema(metric: Metric, name: str) -> Any:
    """Make a pydantic model of a metric's fields. It lists the core's names and accepts all other names.

    No field is required there, because the metric itself reports missing fields.
    """
    types = {item: TYPES[item.kind] for item in metric.inputs}
    optional: Any = {str(item): (kind if item.required else kind | None, None) for item, kind in types.items()}
    schema: Any = create_model_v2(name, field_definitions=optional)
    required = [str(item) for item in metric.inputs if item.required]
    schema.model_config.update(extra="allow", json_schema_extra={"required": required})
    schema.model_rebuild(force=True)
    return schema


def _words_for_agent(score: Score) -> tuple[str, dict[str, Any]]:
    """Describe a score for an agent: in words, and as plain values that any checkpoint can store."""
    return f"{score}: {score.explain()}", score.to_dict()


def no_tracing() -> AbstractContextManager[Any]:
    """A ``with`` block in which nothing is sent to LangSmith."""
    from langsmith.run_helpers import tracing_context  # noqa: PLC0415  slow to load, and only needed here

    return tracing_context(enabled=False)
