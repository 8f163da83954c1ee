"""The architecture, held by reading the source: which way imports may point, what a metric may use, how long things may be."""

from __future__ import annotations

import ast
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator

import pytest

from source_tree import CORE, ROOT, SOURCE, Import, all_imports, imports, is_core, modules, tree

# From the bottom up. A module imports from layers below its own, or from its own; parts of one layer that stand in different
# rows do not know each other. Every part of the core is named here, so a new one needs a decision.
LAYERS: list[list[set[str]]] = [
    [
        {
            "_asked",
            "_errors",
            "_files",
            "_in_order",
            "_other_names",
            "_plain",
            "_protocols",
            "_requests",
            "_secrets",
            "_table",
            "_texts",
            "_threads",
            "_waiting",
        }
    ],
    [{"_answers", "_explain", "_inputs", "_sample", "_score", "_steps", "replies"}],
    [{"_metric", "_prompt", "_run", "_settings", "_tasks"}],
    [
        {
            "_account",
            "_arguments",
            "_engine",
            "_evaluate",
            "_evaluation",
            "_evaluation_run",
            "_journal",
            "_keeping",
            "_metric_summary",
            "_named_metrics",
            "_named_models",
            "_prices",
            "_progress",
            "_read",
            "_reasons",
            "_silence",
            "_records",
            "_repeats",
            "_run_dir",
            "_same_rows",
            "_scores_file",
            "_statistics",
            "_summary",
            "_summary_text",
            "_testset",
            "",
        }
    ],
    [{"metrics"}, {"llms", "embeddings"}, {"testing"}],
    [{"adapters"}],
    [{"__main__", "_cli_generate", "_cli_metrics", "_cli_models", "_cli_output", "_cli_report", "_cli_words", "cli"}],
]
HEAVY = (
    "aiohttp",
    "httpx",
    "httpx2",
    "langchain_core",
    "numpy",
    "openai",
    "pandas",
    "pydantic",
    "torch",
    "tqdm",
    "typer",
)


def part_of(module: str) -> str:
    """The first name below the package; the package itself is the part without a name."""
    return module.removeprefix(CORE).lstrip(".").split(".")[0]


def place_of(module: str) -> tuple[int, int]:
    """Number of the layer, and of the row in it."""
    for level, rows in enumerate(LAYERS):
        for row, parts in enumerate(rows):
            if part_of(module) in parts:
                return level, row
    raise AssertionError(f"{module} is in no layer: give {part_of(module)!r} a place in LAYERS")


def inner_imports() -> list[Import]:
    return [item for item in all_imports() if is_core(item.target) and item.target != item.source]


def test_every_module_has_a_place_and_every_place_a_module() -> None:
    parts = {part_of(module) for module in modules()}
    assert {part for rows in LAYERS for row in rows for part in row} == parts


def test_imports_point_downwards() -> None:
    wrong = []
    for item in inner_imports():
        (above, row), (below, other) = place_of(item.source), place_of(item.target)
        if below > above or (below == above and row != other):
            wrong.append(str(item))
    assert wrong == []


def test_no_two_modules_need_each_other() -> None:
    """At run time, and counting imports inside functions: those only hide a cycle.

    One thing is no cycle: a function that looks at the façade of its own package, as the catalogue of all metrics does.
    """
    edges: dict[str, set[str]] = {module: set() for module in modules()}
    for item in inner_imports():
        own_facade = item.lazy and item.source.startswith(f"{item.target}.")
        if not item.typing_only and not own_facade:
            edges[item.source].add(item.target)
    assert cycles(edges) == []


def test_the_cycle_finder_finds_cycles() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == [["b", "c"]]
    assert cycles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """The groups of modules that reach each other."""
    reach = {module: reachable(module, edges) for module in edges}
    groups = {frozenset(other for other in reach[module] if module in reach[other]) for module in edges}
    return sorted(sorted(group) for group in groups if group)


def reachable(module: str, edges: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    todo = [module]
    while todo:
        for target in edges[todo.pop()] - found:
            found.add(target)
            todo.append(target)
    return found


def test_metrics_import_only_what_a_stranger_may_import() -> None:
    """Public names of public modules, by these modules: any metric file can be copied into a notebook as it is."""
    wrong = [
        str(item)
        for item in inner_imports()
        if part_of(item.source) == "metrics" and item.source != f"{CORE}.metrics" and not is_public(item)
    ]
    assert wrong == []


def is_public(item: Import) -> bool:
    """A public module, or a name that a public module exports."""
    if any(name.startswith("_") for name in f"{item.statement}.{item.name or ''}".split(".")):
        return False
    return item.name is None or f"{item.statement}.{item.name}" in modules() or item.name in exported(item.statement)


@pytest.mark.parametrize("part", ["llms", "embeddings", "testing"])
def test_models_know_only_requests_errors_and_public_names(part: str) -> None:
    """A model answers requests: it knows nothing of metrics, prompts, drivers or runs but what a stranger knows of them."""
    public = {(item.target, item.name) for item in imports(CORE) if item.name in exported(CORE)}
    wrong = [
        f"{item} ({item.name})"
        for item in inner_imports()
        if part_of(item.source) == part and place_of(item.target) not in {(0, 0), place_of(item.source)}
        if not is_public(item) and (item.target, item.name) not in public
    ]
    assert wrong == []


def exported(module: str) -> list[str]:
    """The ``__all__`` of a module."""
    for node in tree(module).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []


def test_metrics_need_nothing_but_the_core_and_pydantic() -> None:
    allowed = {*sys.stdlib_module_names, "pydantic", CORE}
    wrong = [
        str(item)
        for module in modules()
        if part_of(module) == "metrics"
        for item in imports(module)
        if item.statement.split(".")[0] not in allowed
    ]
    assert wrong == []


def test_files_are_short() -> None:
    lengths = {module: len(path.read_text(encoding="utf-8").splitlines()) for module, path in modules().items()}
    assert {module: length for module, length in lengths.items() if length > 300} == {}


def test_functions_are_short() -> None:
    lengths = {f"{module}:{node.name}": length_of(node) for module, node in functions()}
    assert {name: length for name, length in lengths.items() if length > 50} == {}


def test_metrics_are_short() -> None:
    """The class that is a metric: settings, checks, documentation and ``measure``. The aim is 80 lines; a few need some more."""
    lengths = {
        f"{module}:{node.name}": length_of(node)
        for module in modules()
        if part_of(module) == "metrics"
        for node in tree(module).body
        if isinstance(node, ast.ClassDef)
    }
    assert {name: length for name, length in lengths.items() if length > 90} == {}


def length_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for module in modules():
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield module, node


def test_no_handler_hides_everything() -> None:
    """A handler that takes whatever comes hides bugs, unless it passes on what it caught."""
    wrong = [
        f"{module}:{node.lineno}"
        for module in modules()
        for node in ast.walk(tree(module))
        if isinstance(node, ast.ExceptHandler) and catches_all(node) and not passes_on(node)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("handler", "hides"),
    [
        ("except: pass", True),
        ("except Exception: return None", True),
        ("except (ValueError, builtins.BaseException) as error: log(error)", True),
        ("except ValueError: pass", False),
        ("except BaseException: raise", False),
        ("except BaseException as error: future.set_exception(error)", False),
        ("except Exception as error: future.set_exception(other)", True),
    ],
)
def test_the_finder_of_broad_handlers(handler: str, *, hides: bool) -> None:
    (statement,) = ast.parse(f"try: work()\n{handler}").body
    assert isinstance(statement, ast.Try)
    (node,) = statement.handlers
    assert (catches_all(node) and not passes_on(node)) is hides


def catches_all(node: ast.ExceptHandler) -> bool:
    if node.type is None:
        return True
    caught = {ast.unparse(item).split(".")[-1] for item in ast.walk(node.type)}
    return bool(caught & {"Exception", "BaseException"})


def passes_on(node: ast.ExceptHandler) -> bool:
    """It raises, or hands the error to those who wait for a future."""
    inside = list(ast.walk(node))
    calls = {ast.unparse(item).split(".")[-1] for item in inside if isinstance(item, ast.Call)}
    return any(isinstance(item, ast.Raise) for item in inside) or f"set_exception({node.name})" in calls


def test_no_import_of_unsafe_or_patching_modules() -> None:
    banned = {"cloudpickle", "dill", "marshal", "nest_asyncio", "pickle", "shelve"}
    assert [str(item) for item in all_imports() if item.statement.split(".")[0] in banned] == []


def fresh(code: str) -> str:
    """What a new interpreter prints; coverage must not follow it there, as it would be measured too."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COV_", "COVERAGE_"))}
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize(
    "module", ["ragmetrics_core", "ragmetrics_core.adapters", "ragmetrics_core.llms", "ragmetrics_core.embeddings"]
)
def test_importing_loads_nothing_heavy(module: str) -> None:
    loaded = json.loads(fresh(f"import json, sys, {module}; print(json.dumps(sorted(sys.modules)))"))
    heavy = {*HEAVY, "asyncio"} if module in {CORE, f"{CORE}.adapters"} else set(HEAVY) - {"pydantic"}
    assert heavy & set(loaded) == set()


def test_importing_is_cheap() -> None:
    """At most twice the processor time of ``import pydantic``; measured in turn, so that a busy machine slows both."""
    code = "import time; start = time.process_time(); import {}; print(time.process_time() - start)"
    seconds: dict[str, list[float]] = {"pydantic": [], CORE: []}
    for _ in range(7):
        for module, times in seconds.items():
            times.append(float(fresh(code.format(module))))
    medians = {module: statistics.median(times) for module, times in seconds.items()}
    assert medians[CORE] <= 2 * medians["pydantic"], medians


def test_the_source_tree_is_the_installed_package() -> None:
    """Else the tests above would speak of other code than the rest of the suite."""
    assert fresh(f"import {CORE}; print({CORE}.__file__)").strip() == str(SOURCE / CORE / "__init__.py")
