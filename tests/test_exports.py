"""The public names: listed by hand, complete, sorted, documented, and those that other code is written against."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import typing
from pathlib import Path

import pytest

from source_tree import CORE, SOURCE, imports, is_core, modules, tree

PUBLIC = [module for module in modules() if not re.search(r"\._", module)]
LISTING = sorted(  # a private module needs no list; one that has a list keeps it in order
    module for module, path in modules().items() if module in PUBLIC or "\n__all__" in path.read_text("utf-8")
)

# What users, adapters and documents rely on. Names may join; none of these may go or change.
PROMISED = {
    "ragmetrics_core": """
        Metric Score Sample Document Prompt Example Steps ask embed compare together run arun evaluate aevaluate Evaluation
        run_app Calibration Comparison generate_testset agenerate_testset Testset
        RagmetricsError MissingInput InvalidInput ModelError BadReply samples_from_traces UnreadableTrace
    """,
    "ragmetrics_core.replies": "JsonReply YesNoReply ScoreReply RatingReply LinesReply",
    "ragmetrics_core.llms": "LLM OpenAILLM OpenAIServerLLM LexicalJudge llm_factory",
    "ragmetrics_core.embeddings": """
        Embeddings OpenAIEmbeddings SentenceTransformerEmbeddings HashingEmbeddings CrossEncoder embedding_factory
    """,
    "ragmetrics_core.statistics": "Interval PairedDifference holm mean_interval paired_difference rate_interval",
    "ragmetrics_core.testing": "ScriptedLLM",
    "ragmetrics_core.adapters": """
        Explained is_bug is_of_other_loop model_error seconds_to_wait conceal is_secret json_settings secret_texts readable_texts
        in_own_thread in_threads run_blocking HomeLoop Turn Background LiveJudging settled is_judging judging
        LiveEvaluation LiveSettings Finished current_names
    """,
    "ragmetrics_core.metrics": """
        catalogue ExactMatch TokenF1 AveragePrecision ReciprocalRank NDCG Recall Precision HitRate SemanticSimilarity
        Faithfulness SinglePassFaithfulness RefineFaithfulness ContextRecall ContextPrecision ContextUtilization
        FactualCorrectness AnswerCorrectness AnswerRelevancy RelevantStatements ContextRelevance ResponseGroundedness
        AnswerAccuracy Correctness RubricScore CustomJudge Relevancy AnswerRelevanceRating ContextRelevanceRating Guideline
        PairwiseComparison
    """,
}


@pytest.mark.parametrize("module", sorted(PROMISED))
def test_promised_names_are_exported(module: str) -> None:
    assert set(PROMISED[module].split()) - set(importlib.import_module(module).__all__) == set()


@pytest.mark.parametrize("module", LISTING)
def test_all_is_written_by_hand_and_sorted(module: str) -> None:
    names = written(module)
    assert names == sorted(names, key=rank)
    assert len(names) == len(set(names))


def written(module: str) -> list[str]:
    """``__all__`` as it is in the source: one list of literals, assigned once."""
    lists = [
        node.value
        for node in tree(module).body
        if (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
        or (isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "__all__" and node.value)
    ]
    assert len(lists) == 1, f"{module} assigns __all__ {len(lists)} times"
    return list(ast.literal_eval(lists[0]))


def rank(name: str) -> tuple[int, list[str | int]]:
    """Constants, then classes, then the rest, numbers in a name by their value."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


@pytest.mark.parametrize("module", PUBLIC)
def test_all_is_complete(module: str) -> None:
    """A name without an underscore in a public module is public: either in its list, or given an underscore."""
    names = {name for name in defined(module) | shown(module) if not name.startswith("_")}
    assert names - set(written(module)) == set()


def defined(module: str) -> set[str]:
    """Functions and classes of the module's own; commands of the command line are not for Python."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return {node.name for node in tree(module).body if isinstance(node, kinds) and not is_command(node)}


def is_command(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    return any(ast.unparse(decorator).startswith("app.") for decorator in node.decorator_list)


def shown(module: str) -> set[str]:
    """What a façade takes from the rest of its package; other modules import for their own use."""
    if modules()[module].name != "__init__.py":
        return set()
    return {item.name for item in imports(module) if item.name and is_core(item.target) and not item.lazy}


@pytest.mark.parametrize("module", PUBLIC)
def test_every_name_is_there_and_documented(module: str) -> None:
    loaded = importlib.import_module(module)
    undocumented = []
    for name in written(module):
        value = getattr(loaded, name)
        is_alias = typing.get_origin(value) is not None  # which Python 3.10 takes for a class
        if not is_alias and (inspect.isclass(value) or inspect.isroutine(value)):
            undocumented += [f"{module}.{name}"] if not own_doc(value) else []
            undocumented += [f"{module}.{name}.{method}" for method in bare_methods(value)]
    assert undocumented == []


def own_doc(value: object) -> bool:
    """Its own docstring, not one that ``dataclass`` made up."""
    text = vars(value).get("__doc__") if inspect.isclass(value) else value.__doc__
    name = getattr(value, "__name__", "")
    return bool(text) and not str(text).startswith(f"{name}(")


def bare_methods(value: object) -> list[str]:
    """Public methods and properties without a docstring; one that overrides a documented method inherits its words."""
    if not inspect.isclass(value) or not is_core(value.__module__):
        return []
    members = {name: member for name, member in vars(value).items() if not name.startswith("_")}
    kinds = (property, classmethod, staticmethod)
    return [
        name
        for name, member in members.items()
        if (inspect.isfunction(member) or isinstance(member, kinds)) and not inspect.getdoc(getattr(value, name))
    ]


@pytest.mark.parametrize("module", [module for module in PUBLIC if module in PROMISED])
def test_star_import_brings_exactly_the_list(module: str) -> None:
    namespace: dict[str, object] = {}
    exec(f"from {module} import *", namespace)
    assert set(namespace) - {"__builtins__"} == set(written(module))


def test_names_are_the_same_objects_everywhere() -> None:
    """A public name that two façades show means the same thing in both."""
    seen: dict[str, object] = {}
    for module in PROMISED:
        loaded = sys.modules.get(module) or importlib.import_module(module)
        for name in written(module):
            value = getattr(loaded, name)
            assert seen.setdefault(name, value) is value, f"{module}.{name}"


def test_the_core_lists_what_dir_shows() -> None:
    loaded = importlib.import_module(CORE)
    assert dir(loaded) == sorted(loaded.__all__)
    with pytest.raises(AttributeError, match=r"^module 'ragmetrics_core' has no attribute 'faithfullness'$"):
        loaded.faithfullness  # noqa: B018


@pytest.mark.parametrize("path", sorted((SOURCE / CORE / "metrics").glob("[a-z]*.py")), ids=lambda path: path.stem)
def test_a_public_module_is_an_attribute_of_metrics(path: Path) -> None:
    """Also for who has not imported it: ``ragmetrics_core.metrics.claims``."""
    metrics = importlib.import_module(f"{CORE}.metrics")
    assert metrics.__getattr__(path.stem) is importlib.import_module(f"{CORE}.metrics.{path.stem}")
