"""The architecture, held by reading the source: which way imports may point, what a metric may use, how long things may be."""

from __future__ import annotations

import ast
import json
import os
import re
import statistics
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import private_imports
from source_tree import CORE, ROOT, SOURCE, Import, all_imports, imports, is_core, last_name, modules, nodes, tree

# From the bottom up. A room is a folder; "" is the façade of the whole. A room imports from floors below its own, so rooms of one
# floor do not know each other. Every room is named here: a new one needs a decision.
FLOORS: list[set[str]] = [
    {"_support"},
    {"_values"},
    {"_kernel"},
    {"", "_engine", "_lexical", "_read", "_show", "llms._wire", "statistics", "testing"},
    {"_store", "_traces", "llms._native", "llms._openai", "llms._server"},
    {"_application", "_run", "embeddings", "llms"},
    {"_calibrate", "replies"},
    {"_gate", "_summary", "metrics"},
    {"_compare", "_names"},
    {"_page", "adapters"},
    {"_evaluate", "_testset", "_view"},
    {"cli"},
    {"__main__"},
]
MOST_WAYS = 20
MOST_ROOMS, MOST_FLOORS, MOST_ARROWS = 32, 13, 166
BY_NAME = {f"{CORE}._kernel._saved_settings", f"{CORE}._support._other_names", f"{CORE}.metrics"}
"""Who imports modules by a name that is only known at run time: that of a saved metric, that of a mistake, that of a metric."""
HEAVY = (
    "aiohttp",
    "anthropic",
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


def room_of(module: str) -> str:
    """The folder of a module, below the core; a folder's own ``__init__`` belongs to it."""
    below = module.removeprefix(CORE).lstrip(".")
    if below == "__main__" or modules()[module].name == "__init__.py":
        return below
    return below.rpartition(".")[0]


def part_of(module: str) -> str:
    """The first folder below the core."""
    return room_of(module).split(".")[0]


def floor_of(room: str) -> int:
    for level, rooms in enumerate(FLOORS):
        if room in rooms:
            return level
    raise AssertionError(f"the room {room!r} is on no floor: give it a place in FLOORS")


def inner_imports() -> list[Import]:
    return [item for item in all_imports() if is_core(item.target) and item.target != item.source]


def arrows() -> dict[tuple[str, str], list[Import]]:
    """Which room needs which other one, at run time, inside a function or for types, and where it says so.

    A name that a room shows comes from that room, wherever in it the name is defined; only the façade of the whole is no room to
    come from. And one thing is no need: what that façade loads only when it is asked for a name.
    """
    found: dict[tuple[str, str], list[Import]] = {}
    for item in inner_imports():
        through = item.statement if item.statement in modules() and item.statement != CORE else item.target
        target = item.target if f"{item.statement}.{item.name}" in modules() else through
        above, below = room_of(item.source), room_of(target)
        if above != below and not (above == "" and (item.lazy or item.typing_only)):
            found.setdefault((above, below), []).append(item)
    return found


def test_only_folders_stand_at_the_top() -> None:
    assert {path.name for path in (SOURCE / CORE).glob("*.py")} == {"__init__.py", "__main__.py"}


def test_every_room_has_a_floor_and_every_floor_its_rooms() -> None:
    rooms = {room_of(module) for module in modules()}
    assert {room for floor in FLOORS for room in floor} == rooms
    assert len(rooms - {"", "__main__"}) <= MOST_ROOMS
    assert len(FLOORS) <= MOST_FLOORS


def test_imports_point_downwards() -> None:
    wrong = [
        str(item) for (above, below), items in arrows().items() if floor_of(below) >= floor_of(above) for item in items
    ]
    assert wrong == []
    assert len(arrows()) <= MOST_ARROWS


def test_no_import_hides_behind_a_name() -> None:
    """``import_module`` of a part of the core, where no reader and no test of arrows would see it."""
    wrong = [
        f"{module}:{node.lineno}"
        for module in modules()
        for node in nodes(module)
        if isinstance(node, ast.Call) and last_name(node.func).endswith("import_module") and module not in BY_NAME
        if not isinstance(node.args[0], ast.Constant) or is_core(str(node.args[0].value))
    ]
    assert wrong == []


def test_saved_settings_name_no_module_of_the_core() -> None:
    """They import modules of users by name; the built-in metrics above them are given to them by the package."""
    named = [
        node.value
        for node in ast.walk(tree(f"{CORE}._kernel._saved_settings"))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(CORE)
    ]
    assert named == []


def test_no_two_modules_need_each_other() -> None:
    """Counting imports inside functions, which only hide a cycle, and those for types.

    One thing is no cycle: a function that looks at its own package's façade, as the catalogue of all metrics does.
    """
    edges: dict[str, set[str]] = {module: set() for module in modules()}
    for item in inner_imports():
        own_facade = item.lazy and item.source.startswith(f"{item.target}.")
        shown = (item.lazy or item.typing_only) and item.source == CORE
        if not own_facade and not shown:
            edges[item.source].add(item.target)
    assert cycles(edges) == []


def test_nothing_is_loaded_in_a_circle() -> None:
    """While modules are imported a façade counts as all that it loads: an import through one needs it to be complete."""
    edges: dict[str, set[str]] = {module: set() for module in modules()}
    for item in all_imports():
        if is_core(item.target) and not item.lazy and not item.typing_only:
            is_module = f"{item.statement}.{item.name}" in modules()
            edges[item.source] |= {item.target, *([] if is_module else [item.statement])} - {item.source}
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


FAMILY = {"llms": {"_lexical"}, "embeddings": {"llms"}, "_lexical": set(), "testing": set()}
"""Models, and those that they are built on."""
BASICS = {
    f"{CORE}._{name}"
    for name in (
        "kernel._model_traits",
        "values._batches",
        "values._errors",
        "values._plain",
        "values._requests",
        "values._settings",
    )
}


@pytest.mark.parametrize("part", sorted(FAMILY))
def test_models_know_only_requests_errors_and_public_names(part: str) -> None:
    """A model answers requests: it knows nothing of metrics, prompts, drivers or runs but what a stranger knows of them."""
    public = {(item.target, item.name) for item in imports(CORE) if item.name in exported(CORE)}
    wrong = [
        f"{item} ({item.name})"
        for item in inner_imports()
        if part_of(item.source) == part and part_of(item.target) not in {part, "_support", *FAMILY[part]}
        if item.target not in BASICS and not is_public(item) and (item.target, item.name) not in public
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


def test_functions_are_short() -> None:
    lengths = {f"{module}:{node.name}": length_of(node) for module, node in functions()}
    assert {name: length for name, length in lengths.items() if length > 50} == {}


def test_functions_are_simple() -> None:
    """Ways through a function, where each ``and`` and each ``or`` is a fork too; the aim is 10."""
    ways = {f"{module}:{node.name}": ways_through(node) for module, node in functions()}
    assert {name: count for name, count in ways.items() if count > MOST_WAYS} == {}


@pytest.mark.parametrize(
    ("body", "ways"),
    [
        ("return [item for item in values]", 1),
        ("return 1 if a and b or c else 2", 4),
        ("""
            for item in values:
                try:
                    yield [part for part in item if part]
                except ValueError:
                    while item: item.pop()
            """, 5),
    ],
)  # fmt: skip
def test_the_counter_of_ways(body: str, ways: int) -> None:
    (node,) = ast.parse(f"def work():\n{textwrap.indent(textwrap.dedent(body), '    ')}").body
    assert isinstance(node, ast.FunctionDef)
    assert ways_through(node) == ways


FORKS = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)


def ways_through(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The cyclomatic complexity, with boolean operators and the conditions of comprehensions."""
    inside = list(ast.walk(function))
    forks = sum(isinstance(node, FORKS) for node in inside)
    conditions = sum(len(node.ifs) for node in inside if isinstance(node, ast.comprehension))
    operators = sum(len(node.values) - 1 for node in inside if isinstance(node, ast.BoolOp))
    return 1 + forks + conditions + operators


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
        for node in nodes(module):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield module, node


def test_tests_go_through_public_doors() -> None:
    """A ratchet: this number only falls; 25 is the aim."""
    assert len(private_imports.files()) <= 25


def test_no_handler_hides_everything() -> None:
    """A handler that takes whatever comes hides bugs, unless it passes on what it caught."""
    wrong = [
        f"{module}:{node.lineno}"
        for module in modules()
        for node in nodes(module)
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


ADAPTERS = sorted(
    set(ROOT.glob("packages/*/pyproject.toml")) - {ROOT / "packages" / "ragmetrics-core" / "pyproject.toml"}
)


@pytest.mark.parametrize("path", ADAPTERS, ids=lambda path: path.parent.name)
def test_every_package_takes_the_same_releases_of_the_core(path: Path) -> None:
    """A release with other names must not be installed below an adapter that is older."""
    asked = re.findall(r'"ragmetrics-core(?:\[[\w-]+\])?([^"]*)"', path.read_text(encoding="utf-8"))
    assert set(asked) == {">=0.1.0,<0.2"}
