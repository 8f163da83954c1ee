"""``run.json``: what a run was, so that a later one knows whether it goes on with it, and what it has cost.

Strategy. Two runs are the same run if nothing differs that decides about scores: the metrics with their settings and the words of
their prompts, the models, the number of repeats, the choice of rows. Of all these only digests are written, by name: they tell
which setting differs and give none away. Names and addresses of models stand there in plain.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from hashlib import blake2b
from pathlib import Path
from typing import Any

from .._engine import Judge
from .._kernel._errors import InvalidInput
from .._kernel._metric import Metric
from .._kernel._plain import plain
from .._kernel._prompt import Prompt
from .._kernel._requests import Usage
from ._files import replaced
from ._prices import ModelUsage

__all__ = ["ACCOUNT", "carried_on", "difference", "digest_of", "judged_by", "read_account", "write_account"]

ACCOUNT = "run.json"
VERSION = 1

OLDER = (
    "other settings (which ones, its run.json does not tell: it is of an older version, whose built-in prompts had "
    "other words too)"
)
KINDS = {"llm": "the LLM", "embeddings": "the embedding model"}
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
"""Where an object stands in memory, which is another place in each process."""


def judged_by(judges: Iterable[Judge], run: Mapping[str, Any], chosen: Mapping[str, Any] | None) -> dict[str, Any]:
    """The account of a run that begins: all that decides about the scores of a row, besides the row.

    Args:
        judges: the metrics with their models.
        run: settings of the run that decide about scores, by the names of the arguments of ``evaluate``.
        chosen: the choice of rows; None: all.
    """
    first = [judge for judge in judges if judge.repeat == 0]
    return {
        "version": VERSION,
        "metrics": [
            {
                "name": judge.metric.name,
                "scale": list(judge.metric.scale) if judge.metric.scale else None,
                "settings": repr(judge.metric),
            }
            for judge in first
        ],
        "chosen": chosen,
        "run": dict(run),
        "judged": {
            judge.metric.name: {
                "settings": _settings(judge.metric),
                "llm": _model(judge.models.llm),
                "embeddings": _model(judge.models.embeddings),
            }
            for judge in first
        },
        "settings": _in_one(first, run, chosen),
    }


def carried_on(here: Mapping[str, Any], there: Mapping[str, Any]) -> dict[str, Any]:
    """The account with the models that an earlier part of the run had, where this one names none."""
    earlier = there.get("judged") or {}
    judged = {}
    for name, parts in here["judged"].items():
        known = earlier.get(name) or {}
        judged[name] = {**parts, **{kind: parts[kind] or known.get(kind) for kind in KINDS}}
    return {**here, "judged": judged}


def difference(there: Mapping[str, Any], here: Mapping[str, Any]) -> str | None:
    """What two runs differ in; completes the sentence "the scores are those of ...". None: they are the same run.

    A model that one of them does not name is no difference: who was not asked has decided nothing.
    """
    names = [[item["name"] for item in account["metrics"]] for account in (there, here)]
    if sorted(names[0]) != sorted(names[1]):
        return f"other metrics (there: {', '.join(names[0])}; here: {', '.join(names[1])})"
    if "judged" not in there:  # written by an older version, which knew one digest of everything
        same = there["settings"] == here["settings"]
        return None if same else OLDER
    found = list(_differences(there, here))
    return f"other settings: {'; '.join(found)}" if found else None


def _differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> Iterable[str]:
    for name, value in here["run"].items():
        if there["run"].get(name) != value:
            yield f"{name}={there['run'].get(name)} there, {name}={value} here"
    if there["chosen"] != here["chosen"]:
        yield f"{_choice(there['chosen'])} there, {_choice(here['chosen'])} here"
    found: dict[str, list[str]] = {}
    for name, parts in here["judged"].items():
        known = there["judged"][name]
        for kind, words in KINDS.items():
            if known[kind] and parts[kind]:
                text = _other_model(words, known[kind], parts[kind])
                found.setdefault(text, []).append(name)
        for setting in _unequal(known["settings"], parts["settings"]):
            found.setdefault(f"another {setting}", []).append(name)
    found.pop("", None)
    for text, names in found.items():
        yield text if len(names) == len(here["judged"]) else f"{', '.join(names)}: {text}"


def _other_model(words: str, there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    if there["parts"] == here["parts"]:
        return ""
    if there["name"] != here["name"]:
        return f"{words} is {there['name']} there, {here['name']} here"
    if here["parts"].keys() == {"unknown"}:
        return f"{words}, {here['name']}, has no attribute `identity`, so nobody knows whether it is the same"
    return f"{words}, {here['name']}, has another {', '.join(_unequal(there['parts'], here['parts']))}"


def _unequal(there: Mapping[str, str], here: Mapping[str, str]) -> Sequence[str]:
    return sorted(name for name in there.keys() | here.keys() if there.get(name) != here.get(name))


def _choice(chosen: Mapping[str, Any] | None) -> str:
    given = {name: value for name, value in (chosen or {}).items() if value is not None}
    return ", ".join(f"{name}={value}" for name, value in given.items()) or "all rows"


def _settings(metric: Metric) -> dict[str, str]:
    """By name a digest of each setting; of a prompt, of all the words that are sent."""
    found = {}
    for item in fields(metric):
        if item.compare:
            value = getattr(metric, item.name)
            found[item.name] = digest_of(value.system if isinstance(value, Prompt) else _text(value))
    return found


def _text(value: Any) -> str:
    try:
        return json.dumps(plain(value), sort_keys=True)
    except (TypeError, ValueError):  # what has no form in JSON, such as a function
        return ADDRESS.sub("", repr(value))


def _model(model: Any) -> dict[str, Any] | None:
    if model is None:
        return None
    identity = getattr(model, "identity", None)
    if not identity:  # never the same as another
        return {"name": type(model).__name__, "parts": {"unknown": str(uuid.uuid4())}}
    if not isinstance(identity, Mapping):
        return {"name": type(model).__name__, "parts": {"identity": digest_of(str(identity))}}
    known = ModelUsage.of(model, Usage(), 0)
    name = f"{known.name} at {known.base_url}" if known.base_url else known.name
    return {"name": name, "parts": dict(_parts(identity))}


def _parts(identity: Mapping[str, Any], above: str = "") -> Iterable[tuple[str, str]]:
    for name, value in identity.items():
        if isinstance(value, Mapping) and value:
            yield from _parts(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", digest_of(json.dumps(value, sort_keys=True, default=str))


def _in_one(judges: Sequence[Judge], run: Mapping[str, Any], chosen: Mapping[str, Any] | None) -> str:
    """One digest of everything, as the first version wrote it and nothing else."""
    settings = {
        "repeats": run["repeats"],
        **({"empty": "zero"} if run["empty"] == "zero" else {}),
        "chosen": chosen,
        "metrics": [_as_written(judge.metric) for judge in judges],
        "models": [
            [
                model and (getattr(model, "identity", None) or str(uuid.uuid4()))
                for model in (judge.models.llm, judge.models.embeddings)
            ]
            for judge in judges
        ],
    }
    return digest_of(json.dumps(settings, sort_keys=True, default=str))


def _as_written(metric: Metric) -> object:
    try:
        return metric.to_dict(defaults=True)
    except (InvalidInput, TypeError, ValueError):  # what no file can hold, and only its repr shows
        return repr(metric)


def digest_of(text: str) -> str:
    """A short digest of a text."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def write_account(path: Path, account: Mapping[str, Any]) -> None:
    """Write the account into the directory of its run.

    Raises:
        RagmetricsError: it cannot be written.
    """
    with replaced(path / ACCOUNT) as file:
        file.write((json.dumps(account, ensure_ascii=True, indent=1) + "\n").encode())


def read_account(path: Path) -> dict[str, Any] | None:
    """The account in the directory of a run; empty where it is damaged, None where there is none.

    Raises:
        InvalidInput: it is that of something else, or of another version.
    """
    file = path / ACCOUNT
    if not file.exists():
        return None
    if not file.is_file():
        raise InvalidInput(f"{file} is not that of a run, for it is no regular file: give another run_dir")
    try:
        account: Any = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return {}
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from None
    ours = isinstance(account, dict) and isinstance(account.get("metrics"), list) and "settings" in account
    if not ours or account.get("version") != VERSION:
        raise InvalidInput(f"{file} was not written by this version of ragmetrics: give another run_dir")
    return account if _is_whole(account) else {}


def _is_whole(account: Mapping[str, Any]) -> bool:
    """Whether all parts have the shape in which they were written."""
    try:
        metrics = all(
            isinstance(item["name"], str)
            and isinstance(item["settings"], str)
            and (item["scale"] is None or [type(number) for number in map(float, item["scale"])] == [float, float])
            for item in account["metrics"]
        )
        usage = [ModelUsage.from_dict(item) for part in ("models", "earlier") for item in account.get(part, ())]
        sum(item.usage.calls + item.usage.prompt_tokens + item.usage.completion_tokens for item in usage)
        sum(float(value) for value in account.get("waited", {}).values())
        float(account.get("seconds") or 0)
        judged = account.get("judged", {})
        models = [parts[kind] for parts in judged.values() for kind in KINDS if parts[kind] is not None]
        parts = [part for model in models for part in (model["parts"].values(), [model["name"]])]
        parts += [item["settings"].values() for item in judged.values()]
        parts += [account.get("caveats", ()), [account.get("source", ""), account.get("stopped") or ""]]
        texts = all(isinstance(text, str) for part in parts for text in part)
        known = "judged" not in account or (
            judged.keys() == {item["name"] for item in account["metrics"]} and isinstance(account["run"], dict)
        )
        chosen = isinstance(account.get("chosen"), dict | None)
    except (
        AttributeError,
        LookupError,
        OverflowError,
        TypeError,
        ValueError,
    ):  # whatever a file of another shape makes of this
        return False
    return metrics and texts and known and chosen
