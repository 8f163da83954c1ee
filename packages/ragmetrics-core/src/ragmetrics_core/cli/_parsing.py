"""Parse the options of a command before anything is paid for: columns, metrics, models, budgets, gates."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from .._evaluate._evaluation import Comparison, Evaluation, gated
from .._evaluate._options import Batch, Stop
from .._gate._gates import FORMS, SHARES, Conditions, Gate, Of, check_mean, parsed_gates
from .._gate._results import Decision, GateResult
from .._kernel._metric import Metric, prompts_of
from .._kernel._saved_settings import unset
from .._names._named import (
    embeddings_named,
    embeddings_to_price,
    is_server,
    llm_named,
    llm_to_price,
    metrics_named,
    split,
)
from .._read._columns import Columns
from .._read._input_file import FileOptions
from .._read._rows import open_rows
from .._run._slices import RowGroups
from .._show._tables import first_of
from .._store._prices import priced_as
from .._summary._summary import MetricSummary, Summary
from .._values._errors import InvalidInput, Setting
from .._values._sample import Sample
from ..metrics import Jury, catalogue
from ._options import flag, option
from ._output import as_option

SHORT = {"user_input": "question", "response": "answer", "retrieved_contexts": "contexts", "reference": "reference"}
"""The fields that most metrics need, with short names that --map accepts too."""

COLUMNS = option(
    "FIELD=COLUMN",
    "The column that a field is read from: question=prompt,answer=outputs.text,contexts='passage_*'. Repeatable.",
    "--map",
)
SEPARATOR = option("TEXT", "The text between the items of a list in one cell, such as '||'.")


def parse_columns(texts: Iterable[str]) -> dict[str, str]:
    """Parse columns into the form of ``evaluate``'s argument ``columns``; a name with a comma is in quotes.

    Raises:
        InvalidInput: a part is not a pair of names, or a name is given twice.
    """
    columns: dict[str, str] = {}
    for part in (part for text in texts for part in split(text)):
        first, equals, second = (_unquoted(name) for name in part.partition("="))
        if not (first and equals and second):
            raise InvalidInput(f"--map: {part!r} is not a pair of names: write FIELD=COLUMN, such as question=prompt")
        if first in columns:
            raise InvalidInput(f"--map: {first!r} is given twice: name one column, or a pattern such as 'context_*'")
        columns[first] = second
    return columns


def map_for(fields: Iterable[str]) -> str:
    """Return the option that names the columns of these fields, with a placeholder for each column."""
    return f"--map {','.join(f'{SHORT.get(field, field)}=COLUMN' for field in fields)}"


def _unquoted(name: str) -> str:
    name = name.strip()
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] and name[0] in "'\"" else name


def parse_metrics(texts: Iterable[str]) -> list[Metric]:
    """Return the metrics that the texts name; a user's own metrics are also searched in the current directory, as ``python -m``
    does.

    Raises:
        InvalidInput: a metric is unknown, or its settings cannot be parsed or are wrong.
    """
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    return metrics_named(texts)


def fitting_metrics(sample: Sample) -> list[str]:
    """Return the names of the built-in metrics whose inputs the sample has, and which work without settings."""
    fitting = []
    for entry in catalogue():
        required = [item.name for item in entry.inputs if item.required]
        # a metric without required inputs gets its fields from its settings
        if required and all(sample.get(name) is not None for name in required) and not unset(entry.cls, {}):
            fitting.append(entry.name)
    return fitting


def propose_metrics(data: str, samples: Any, columns: Columns, file: FileOptions) -> NoReturn:
    """Raise an error that names the metrics that fit the columns of a file.

    Raises:
        InvalidInput: always; the message contains the names.
    """
    choose = "choose metrics with --metrics a,b; "
    opened = open_rows(samples, 1, columns, file)
    name, row = opened.name or Path(data).name, next(opened.rows)
    if row.problem is not None:
        raise InvalidInput(f"{choose}none can be proposed, because the first row cannot be read: ", *row.problem.args)
    if fitting := ", ".join(fitting_metrics(row.sample)):
        raise InvalidInput(f"{choose}these fit the columns of {name}: {fitting}")
    fields = [name for name in row.sample.to_dict() if name != "metadata"]
    raise InvalidInput(
        f"{choose}no built-in one fits the columns of {name}: {first_of([*fields, *map(str, row.sample.metadata)])} "
        f"(`ragmetrics metrics` lists what each needs, `ragmetrics look {shlex.quote(data)}` what was read)"
    )


def parse_batch(given: Mapping[str, Any]) -> Batch | None:
    """Return the settings of batches; None without batches.

    Raises:
        InvalidInput: an option about batches is given without batches, or --no-wait with --finish-online.
    """
    seconds = {name: given[f"batch_{name}"] for name in ("poll", "grace") if given[f"batch_{name}"] is not None}
    if not given["batch"] and not given["finish_online"]:
        for name in ["no_wait"] * given["no_wait"] + [f"batch_{name}" for name in seconds]:
            raise InvalidInput(f"--{name.replace('_', '-')} is about batches: add --batch, or leave it out")
        return None
    return Batch(**seconds, wait=not given["no_wait"], finish_online=given["finish_online"])


BUDGETS = ("calls", "tokens", "dollars")


def parse_models(
    llm: str | None, embeddings: str | None, base_url: str | None, jury: str | None = None, *, called: bool = True
) -> dict[str, Any]:
    """Return the models that the options name, as ``evaluate`` accepts them; models of OpenAI's protocol use ``base_url``.

    If they are not called, and only a price is needed, their packages may be missing. The models of a ``jury`` are made
    elsewhere, and may use the base URL too.

    Raises:
        InvalidInput: there is no such provider, or no model uses the base URL.
        MissingExtra: the package that a provider needs is not installed.
    """
    provider = (embeddings or "").partition(":")[0]
    takes_address = llm not in (None, "lexical") or provider == "openai" or is_server(provider)
    if base_url is not None and not takes_address and all(map(has_address, _jurors(jury))):
        raise InvalidInput(
            "--base-url needs openai:MODEL or server:MODEL in --llm or --jury, or --embeddings openai:MODEL; other jurors take "
            "their address from a variable"
        )
    models: dict[str, Any] = {}
    if llm is not None:
        models["llm"] = (llm_named if called else llm_to_price)(llm, base_url)
    if embeddings is not None:
        models["embeddings"] = (embeddings_named if called else embeddings_to_price)(embeddings, base_url)
    return models


def priced(models: Mapping[str, Any], price_as: str | None) -> None:
    """Set the name in the price table of the model of ``--llm``.

    Raises:
        InvalidInput: there is no such model, or it is in no price table.
        MissingExtra: the table of prices is not installed.
    """
    if price_as is None:
        return
    if "llm" not in models:
        raise InvalidInput("--price-as names the model of --llm: add --llm, or leave it out")
    priced_as(models["llm"], price_as)


def has_address(name: str) -> bool:
    """Whether a juror needs no ``--base-url``, because its provider has an address or it works offline."""
    return name == "lexical" or is_server(name.partition(":")[0].strip())


def _jurors(text: str | None) -> list[str]:
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def parse_budget(texts: list[str]) -> dict[str, float] | None:
    """Parse a budget from texts such as ``calls=1000``, as ``evaluate`` accepts it.

    Raises:
        InvalidInput: a text has another form.
    """
    budget: dict[str, float] = {}
    for text in texts:
        name, _, number = (part.strip() for part in text.partition("="))
        try:
            amount = float(number) if name == "dollars" and "." in number else int(number)
        except ValueError:
            amount = 0
        if name not in BUDGETS or not 0 < amount < math.inf:
            raise InvalidInput(f"--budget takes calls=NUMBER, tokens=NUMBER or dollars=NUMBER, got {text!r}")
        if name in budget:
            raise InvalidInput(f"--budget: {name} is given twice: give it once")
        budget[name] = amount
    return budget or None


def with_jury(
    metrics: Sequence[Metric], text: str | None, llm: str | None, base_url: str | None = None, *, called: bool = True
) -> list[Metric]:
    """Return the metrics; those that ask an LLM become juries of the models that the text names, and keep their names.

    Models whose names imply no address, such as ``server:MODEL`` and ``openai:MODEL``, use ``base_url``.
    If the models are not called, and only a price is needed, their packages may be missing.

    Raises:
        InvalidInput: fewer than two models are named, a model is unknown, no metric asks an LLM, or ``--llm`` is given too.
        MissingExtra: the package that a provider needs is not installed.
    """
    if text is None:
        return list(metrics)
    if llm is not None:
        raise InvalidInput("--llm and --jury both choose the judge: give only one of them")
    names = _jurors(text)
    if len(names) < 2:
        example = "openai:gpt-4o-mini,ollama:qwen3"
        raise InvalidInput(f"--jury takes at least two models, separated by commas, such as {example}, got {text!r}")
    if not any(map(asks, metrics)):
        raise InvalidInput(f"--jury: none of the metrics asks an LLM: {', '.join(item.name for item in metrics)}")
    make = llm_named if called else llm_to_price
    models: list[Any] = [make(name, None if has_address(name) else base_url) for name in names]
    return [
        Jury([replace(item, llm=model) for model in models], name=item.name) if asks(item) else item for item in metrics
    ]


def asks(metric: Metric) -> bool:
    """Whether a metric has prompts and no model of its own to answer them."""
    return metric.llm is None and bool(prompts_of(metric))


MOST_FAILED = 0.5
"""The share of failed rows above which a mean no longer passes ``--fail-under``, because the failed rows may be the bad ones."""


def parse_least(texts: Iterable[str], scales: Mapping[str, tuple[float, float] | None]) -> dict[str, float]:
    """Parse the lowest mean for each metric from texts such as ``faithfulness=0.8``.

    Raises:
        InvalidInput: a text has another form, names a metric that the run does not have, or has a value off the scale.
    """
    least: dict[str, float] = {}
    for text in texts:
        name, _, number = (part.strip() for part in text.partition("="))
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InvalidInput(f"--fail-under takes METRIC=NUMBER, got {text!r}")
        if name not in scales:
            raise InvalidInput(f"--fail-under: {name!r} is not among the metrics of this run: {', '.join(scales)}")
        low, high = scales[name] or (-math.inf, math.inf)
        if not low <= value <= high:
            raise InvalidInput(f"--fail-under: {value:g} is not on the scale of {name}, {low:g} to {high:g}")
        least[name] = max(value, least.get(name, value))
    return least


def compared_with_least(summary: Summary, least: Mapping[str, float]) -> tuple[list[str], list[str]]:
    """Return one sentence per metric of ``--fail-under``: first for the metrics whose mean reaches the required minimum, then
    for those that miss it (mean too low, no score, or too many failed rows).
    """
    reached: list[str] = []
    missed: list[str] = []
    for name, value in least.items():
        item = summary[name]
        mean = item.mean
        if mean is None:
            missed.append(f"{name} has no score, so it is not known to reach {value:g}")
        elif item.failed > MOST_FAILED * item.rows:
            missed.append(f"{name} failed on {item.failed} of {item.rows} rows, so its mean says too little for a gate")
        else:
            is_under = mean < value and not math.isclose(mean, value, rel_tol=1e-9)
            side, sentences = ("under", missed) if is_under else ("not under", reached)
            sentences.append(f"{name} is {mean:.6g}, {side} {value:g}{_certainty(item, value, is_under=is_under)}")
    return reached, missed


def _certainty(item: MetricSummary, least: float, *, is_under: bool) -> str:
    """Say how certain it is that the mean lies on this side of the lowest mean."""
    if item.interval is None:
        return " (one row says nothing of the others)" if item.scored == 1 else ""
    sure = item.interval.high < least if is_under else item.interval.low >= least
    chance = "" if sure else ", so this may be chance: --gate decides on the interval"
    return f" (95 % interval {item.interval}{chance})"


ALLOW_DIFFERENT_JUDGES = flag(
    "--allow-different-judges",
    "Compare also where judge, prompts, parameters or settings differ; the warning stays on everything.",
)
MIN_COVERAGE = option("SHARE", "A --gate fails if less than this share of its rows has a score; 0.9 if not given.")
MAX_FAILED = option("SHARE", "A --gate fails if more than this share of its rows failed; 0.05 if not given.")
UNDECIDED = option("WORD", "pass: an undecided --gate ends with status 0; fail: with 1. Without it, with status 3.")

STATUS = {"pass": 0, "fail": 1, None: 3}
"""The exit status for an undecided gate."""

MOST_NAMES = 5


@dataclass(frozen=True)
class Wanted:
    """What a run or a comparison must show.

    Attributes:
        gates: the gates of ``--gate``.
        conditions: the shares of scored and failed rows that gates require.
        undecided: the exit status for undecided gates.
        by: the column that defines the slices of the table and the gates; None for no slices.
        cluster: the column that defines clusters; None if rows are independent.
        least: the lowest mean for each metric, from ``--fail-under``.
    """

    gates: Sequence[Gate]
    conditions: Conditions
    undecided: int
    by: str | None
    cluster: str | None
    least: Mapping[str, float]

    def decide(self, evaluation: Evaluation, comparison: Comparison | None = None) -> Decision:
        """Return the decision on a run or a comparison; it is empty if there are no gates.

        Raises:
            InvalidInput: a gate names a metric that does not exist here, or is out of reach, or there is no such column.
        """
        if not self.gates:
            return Decision(())
        if evaluation.decision is not None:
            return evaluation.decision
        conditions = replace(self.conditions, stopped=evaluation.stopped)
        return gated(evaluation, self.gates, conditions, by=self.by, cluster=self.cluster, comparison=comparison)

    def stopping(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments ``gates`` and ``stop`` of ``evaluate``.

        Raises:
            InvalidInput: an option makes sense only with another one.
        """
        how = {name: given[name] for name in ("baseline", "allow_different_judges")}
        if not given["stop_when_decided"]:
            if lonely := [as_option(Setting(name)) for name, value in how.items() if value]:
                why = "only applies to --stop-when-decided: `ragmetrics compare` compares finished runs"
                raise InvalidInput(f"{lonely[0]} {why}")
            return {"gates": (), "stop": None}
        if not self.gates:
            raise InvalidInput("--stop-when-decided needs a gate: add --gate 'METRIC >= NUMBER'")
        conditions = {name: getattr(self.conditions, name) for name in SHARES}
        return {"gates": self.gates, "stop": Stop(self.by, self.cluster, **conditions, **how)}

    def status(self, decision: Decision) -> int:
        """Return the exit status of a decision."""
        status = {"failed": 1, "undecided": self.undecided, "passed": 0}[decision.verdict]
        void = any(result.void for result in decision.results)  # more rows would not decide
        return status or (STATUS[None] if void else 0)

    def complaint(self, decision: Decision) -> str:
        """Return what is wrong, in one line; empty if nothing is wrong."""
        failed, open_ = decision.of("failed"), decision.of("undecided")
        parts = [f"{word}: {_names(found)}" for word, found in (("failed", failed), ("undecided", open_)) if found]
        if open_ and not failed and self.undecided == STATUS[None] and not all(result.void for result in open_):
            looked = any(result.interval is not None and result.interval.is_always_valid for result in open_)
            fix = "" if looked else " (fix the number before you look)"
            parts.append(f"a new run of more rows may decide{fix}; --undecided pass or --undecided fail decides now")
        return "; ".join(parts)


def _names(results: Sequence[GateResult]) -> str:
    more = [f"and {len(results) - MOST_NAMES} more"] if len(results) > MOST_NAMES else []
    return "; ".join([*(result.name for result in results[:MOST_NAMES]), *more])


def parse_wanted(given: Mapping[str, Any], metrics: Sequence[Metric] | None = None) -> Wanted:
    """Parse the options that say what a run or a comparison must show; checked before anything is paid for.

    Args:
        given: the options of the command, by name; None for an option that was not given.
        metrics: the metrics of the run; None if two runs are compared.

    Raises:
        InvalidInput: an option cannot be parsed, or makes sense only with gates and there are none; or a limit is off its
            metric's scale.
    """
    usual: Of = "drop" if metrics is None else "mean"
    gates, undecided = given["gates"], given["undecided"]
    shares = {name: given[name] for name in SHARES if given[name] is not None}
    about_gates = {"cluster": None if metrics is None else given["cluster"], **shares, "undecided": undecided}
    options = [as_option(Setting(name)) for name, value in about_gates.items() if value is not None]
    if options and not gates:
        example = FORMS[usual].partition(" or ")[0]
        raise InvalidInput(f"{options[0]} only applies to gates: add --gate '{example}', or leave {options[0]} out")
    if undecided not in STATUS:
        raise InvalidInput(f"--undecided must be pass or fail, got {undecided!r}")
    RowGroups(given["by"], given["cluster"])
    parsed = parsed_gates(gates, usual) if gates else ()
    scales = {metric.name: metric.scale for metric in metrics or ()}
    for gate in parsed if metrics is not None and given.get("baseline") is None else ():
        check_mean(gate, scales)
    least = parse_least(given.get("fail_under") or (), scales)
    conditions = Conditions(**shares, write=as_option)
    return Wanted(parsed, conditions, STATUS[undecided], given["by"], given["cluster"], least)
