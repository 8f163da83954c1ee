"""The guide for users of RAGAS is whole and true: each of their public names, arguments and columns is in it, and ours exist."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Ask, BadReply, Metric, Sample
from ragmetrics_core.metrics import (
    AnswerAccuracy,
    AnswerCorrectness,
    ContextPrecision,
    ContextRecall,
    Faithfulness,
    NoiseSensitivity,
)
from ragmetrics_core.testing import ScriptedLLM
from source_tree import ROOT

FACTS: dict[str, Any] = json.loads(Path(__file__).with_name("ragas_names.json").read_text(encoding="utf-8"))
"""Public names, arguments, columns and methods of RAGAS by the releases that had them, read from the sources of each release.

0.1.17 to 0.1.20 were early forms of 0.2: they count only for what no other release had, and then as 0.2. Constants, loggers and
modules that RAGAS uses for itself are left out. ``metrics`` in ``arguments`` are those of all metrics that have a counterpart.
"""
PAGE = (ROOT / "docs" / "coming-from-ragas.md").read_text(encoding="utf-8")
HOMES = ("", ".metrics", ".llms", ".embeddings", ".replies")
ADAPTERS = ("ragmetrics_langchain", "ragmetrics_llama_index", "ragmetrics_haystack")
CODE = re.compile(r"`([^`]+)`")


def flat(table: dict[str, str]) -> dict[str, str]:
    """From each name to the releases that had it, as the page writes them."""
    return {name: releases.replace("-", "–") for releases, names in table.items() for name in names.split()}


def rows(heading: str, last: str = "") -> Iterator[list[str]]:
    """The rows of the tables below a heading, up to another one."""
    start = PAGE.index(f"## {heading}\n")
    end = PAGE.index(f"\n## {last}\n") if last else len(PAGE)
    for line in PAGE[start:end].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| `") and len(cells) == 3:
            yield cells


ARGUMENT_ROWS = list(rows("Arguments and methods", "What differs in the numbers"))
COLUMN_ROWS = list(rows("Columns", "Arguments and methods"))
NAME_ROWS = list(rows("Every name"))


def ours() -> dict[str, Any]:
    """Every public name of the core, by itself and behind its module."""
    found: dict[str, Any] = {}
    for home in HOMES:
        module = importlib.import_module(f"ragmetrics_core{home}")
        found[f"ragmetrics_core{home}"] = module
        for name in module.__all__:
            found[name] = found[f"ragmetrics_core{home}.{name}"] = getattr(module, name)
    return found


OURS = ours()


def exists(code: str) -> bool | None:
    """Whether the name of ours with which the code begins exists, and takes the arguments; None where it begins otherwise."""
    path, bracket, call = code.partition("(")
    if path.startswith(ADAPTERS):
        module, _, name = path.partition(".")
        return name in (importlib.import_module(module).__all__ if importlib.util.find_spec(module) else [name])
    name = path if path in OURS else path.rpartition(".")[0]
    if name not in OURS:
        return None
    value = OURS[name]
    if name != path:
        member = path.rpartition(".")[2]
        return hasattr(value, member) or member in getattr(value, "__dataclass_fields__", {})
    given = set(re.findall(r"(\w+)=", re.sub(r'"[^"]*"', "", call)))
    taken = inspect.signature(value).parameters if bracket else {}
    return given <= set(taken) or any(item.kind is item.VAR_KEYWORD for item in taken.values())


def test_every_name_is_on_the_page_with_its_releases() -> None:
    shown = {name: releases for names, releases, _ in NAME_ROWS for name in CODE.findall(names)}
    assert shown == {
        name: releases for part in FACTS["names"].values() for name, releases in flat(part["names"]).items()
    }
    assert len(shown) > 400


PLACES = {name: place for names, _, place in NAME_ROWS for name in CODE.findall(names)}
"""From each name of RAGAS to what the page says of it."""


def test_a_name_exists_here_where_the_page_says_so() -> None:
    assert [name for name, place in PLACES.items() if place == "the same name" and name not in OURS] == []
    assert [name for name, place in PLACES.items() if place.startswith("not here") and name in OURS] == []


def test_all_of_ours_on_the_page_exists() -> None:
    """Code in the last column begins with a name of ours, unless it is no call: a value, a field, a setting, or RAGAS' own name."""
    wrong, seen = [], set()
    for _, _, place in [*ARGUMENT_ROWS, *NAME_ROWS]:
        for code in CODE.findall(place):
            found = exists(code)
            seen.add(found)
            if found is False or (found is None and re.match(r"[\w.]+\(", code)):
                wrong.append(code)
    assert wrong == []
    assert True in seen


def test_a_name_that_is_gone_would_be_noticed() -> None:
    assert exists("Faithfulness(verify=)") is True
    assert exists("Faithfulness(verfy=)") is False
    assert exists("Score.detials") is False
    assert exists("ragmetrics_core.Metrc") is False
    assert exists("score.value >= 0.8") is None


@pytest.mark.parametrize("name", sorted(set(FACTS["arguments"]) - {"aevaluate"}))
def test_every_argument_is_on_the_page(name: str) -> None:
    shown = {
        argument.removesuffix("="): releases
        for codes, releases, _ in ARGUMENT_ROWS
        for code in CODE.findall(codes)
        if code.startswith(f"{'metric' if name == 'metrics' else name}(")
        for argument in code[code.index("(") + 1 : -1].split(", ")
    }
    assert shown == flat(FACTS["arguments"][name])


def test_the_async_one_takes_the_same() -> None:
    assert set(flat(FACTS["arguments"]["aevaluate"])) <= set(flat(FACTS["arguments"]["evaluate"]))


@pytest.mark.parametrize("name", sorted(FACTS["methods"]))
def test_every_method_is_on_the_page(name: str) -> None:
    shown = {
        code.partition(".")[2]: releases
        for codes, releases, _ in ARGUMENT_ROWS
        for code in CODE.findall(codes)
        if code.startswith(f"{name}.") and "(" not in code
    }
    assert shown == flat(FACTS["methods"][name])


def test_every_column_is_on_the_page() -> None:
    assert {name: releases for names, releases, _ in COLUMN_ROWS for name in CODE.findall(names)} == flat(
        FACTS["columns"]
    )


@pytest.mark.parametrize(
    ("column", "place"), [(name, row[2]) for row in COLUMN_ROWS for name in CODE.findall(row[0])], ids=lambda text: text
)
def test_a_column_is_the_field_that_the_page_says(column: str, place: str) -> None:
    value: Any = {"a": "b"} if place.startswith(("`metadata`", "`rubric`")) else "text"
    sample = Sample.from_mapping({column: value})
    if place.startswith("not here: "):
        assert sample == Sample(metadata={column: "text"})
    else:
        field = CODE.findall(place)[0]
        assert sample == Sample(**{field: value})


@pytest.mark.parametrize("module", ["", ".metrics", ".llms", ".embeddings"])
def test_the_import_of_a_name_with_a_replacement_says_what_the_page_says(module: str) -> None:
    loaded = importlib.import_module(f"ragmetrics_core{module}")
    replaced = {}
    for name in PLACES.keys() - set(dir(loaded)):
        with pytest.raises((ImportError, AttributeError)) as caught:
            getattr(loaded, name)
        _, instead, use = str(caught.value).partition(f": instead of RAGAS' {name}, use ")
        if instead:
            replaced[name] = use
            assert isinstance(caught.value, ImportError), "the text of another is lost on the way out of an import"
    assert len(replaced) == 59
    for name, use in replaced.items():
        assert use, name
        assert use in PLACES[name].replace("`", ""), name


GIVEN = {"user_input": "q", "response": "a", "reference": "r", "retrieved_contexts": ["c1", "c2", "c3"]}
YES, NO, TWO = '{"answer": "yes"}', '{"answer": "no"}', '{"answer": 2}'
ONE_VERDICT = {
    "extract_claims": '{"claims": ["one", "two"]}',
    "verify_claims": '{"verdicts": [{"number": 1, "reason": "", "supported": true}]}',
}
VERDICT_2 = {
    "extract_claims": '{"claims": ["one"]}',
    "verify_claims": '{"verdicts": [{"number": 1, "reason": "", "supported": 2}]}',
}
MISCOUNT = "exactly one verdict is needed for each of the claims 1 to 2, got numbers [1]"


@pytest.mark.parametrize(
    ("metric", "replies", "value"),
    [
        (ContextPrecision, [YES, NO, YES], 0.8333333333333333),
        (ContextPrecision, [YES, YES, YES], 1.0),
        (Faithfulness, ['{"claims": []}'], None),
    ],
)
def test_the_numbers_of_the_page(metric: type[Metric], replies: list[str], value: float | None) -> None:
    score = metric(llm=ScriptedLLM(replies)).score(GIVEN)
    assert (score.value, score.error) == (value, None)


@pytest.mark.parametrize(
    ("metric", "replies", "calls", "problem"),
    [
        (ContextPrecision, [TWO] * 6, 6, "useful must be true or false, not 2"),
        (ContextRecall, ONE_VERDICT, 3, MISCOUNT),
        (ContextRecall, VERDICT_2, 3, "verdicts[0].supported must be true or false, not 2"),
        (Faithfulness, ONE_VERDICT, 3, MISCOUNT),
        (AnswerAccuracy, ['{"rating": 3}'] * 4, 4, "'rating': 3 is not on the scale; give one of 0, 2, 4"),
    ],
)
def test_what_the_page_says_is_asked_again(metric: type[Metric], replies: Any, calls: int, problem: str) -> None:
    llm = ScriptedLLM(replies)
    with pytest.raises(BadReply) as caught:
        metric(llm=llm).score(GIVEN)
    assert str(caught.value).endswith(problem)
    assert len(llm.asks) == calls


def test_a_response_without_claims_is_not_right() -> None:
    llm = ScriptedLLM(lambda ask: '{"claims": []}' if ask.inputs["answer"] == "a" else '{"claims": ["one"]}')
    assert AnswerCorrectness(weights=(1.0, 0.0), llm=llm).score(GIVEN).value == 0.0


@pytest.mark.parametrize(
    ("wanted", "claimed", "right", "values"),
    [
        ([[1, 0], [0, 0]], [[1, 0, 1], [0, 1, 0]], [1, 0, 0], (1 / 3, 1 / 3)),
        ([[0], [0]], [[1, 0], [0, 1]], [0, 0], (0.0, 1.0)),
        ([[1], [0]], [[1, 1], [1, 0]], [0, 1], (0.5, 0.0)),
    ],
)
def test_noise_sensitivity_as_ragas_has_it(
    wanted: list[list[int]], claimed: list[list[int]], right: list[int], values: tuple[float, float]
) -> None:
    """The values of RAGAS 0.4.3 for these verdicts: a row per context on the claims of the reference, and of the response."""

    def reply(ask: Ask) -> str:
        data = ask.inputs
        if "answer" in data:
            name, count = ("response", len(right)) if data["answer"] == "a" else ("reference", len(wanted[0]))
            return json.dumps({"claims": [f"{name} {number}" for number in range(count)]})
        of_response = "response 0" in json.dumps(data["claims"])
        table = {"c0": 0, "c1": 1}.get(data["contexts"][0])
        found = right if table is None else (claimed if of_response else wanted)[table]
        verdicts = [
            {
                "number": number,
                "reason": "",
                "supported": bool(yes),
                "supported_by": [1] if yes else [],
                "contradicted_by": [],
            }
            for number, yes in enumerate(found, 1)
        ]
        return json.dumps({"verdicts": verdicts})

    given = {**GIVEN, "retrieved_contexts": ["c0", "c1"]}
    metrics = [
        NoiseSensitivity(relevant=relevant, per_passage=True, llm=ScriptedLLM(reply)) for relevant in (True, False)
    ]
    assert tuple(metric.score(given).value for metric in metrics) == values
