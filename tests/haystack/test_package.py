"""The package itself: what it exports, what it imports, where its classes live, and that importing it stays cheap."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from haystack.components.generators.chat import MockChatGenerator

import haystack_integrations.components.evaluators.ragmetrics as home
import ragmetrics_haystack
from haystack import Pipeline
from package_rules import check_lengths, imported
from ragmetrics_core.metrics import ExactMatch

pytestmark = pytest.mark.slow

SOURCE = Path(__file__).resolve().parents[2] / "packages" / "ragmetrics-haystack" / "src"
FILES = sorted(SOURCE.rglob("*.py"))
HOME = "haystack_integrations.components.evaluators.ragmetrics"
COMPONENTS = [name for name in home.__all__ if name.endswith("Evaluator")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_imports_haystack_and_public_names_of_the_core_alone(path: Path) -> None:
    lazy = {"sentence_transformers", "transformers"}  # only where SASEvaluator loads its model
    allowed = {*sys.stdlib_module_names, "haystack", "pydantic", "ragmetrics_core", "haystack_integrations", *lazy}
    for module, name in imported(path):
        assert module.split(".")[0] in allowed, module
        assert not any(part.startswith("_") for part in f"{module}.{name}".split(".") if part != "__future__")
        if module.split(".")[0] == "ragmetrics_core" and name:
            assert name in importlib.import_module(module).__all__, f"{module}.{name}"


def test_the_folders_that_are_shared_with_others_have_no_init() -> None:
    assert SOURCE in Path(home.__file__).parents
    folder = SOURCE
    for part in HOME.split(".")[:-1]:
        folder /= part
        assert [path.name for path in folder.iterdir() if path.is_file()] == []
    assert (folder / "ragmetrics" / "py.typed").exists()
    assert (SOURCE / "ragmetrics_haystack" / "py.typed").exists()


def test_both_modules_export_the_same() -> None:
    assert ragmetrics_haystack.__all__ == home.__all__ == sorted(home.__all__)
    for name in home.__all__:
        assert getattr(ragmetrics_haystack, name) is getattr(home, name)
        assert inspect.getdoc(getattr(home, name))


@pytest.mark.parametrize("name", COMPONENTS)
def test_components_say_that_they_live_in_the_public_module(name: str) -> None:
    assert getattr(home, name).__module__ == HOME


def test_pipelines_of_drop_in_evaluators_are_saved_and_loaded() -> None:
    pipeline = Pipeline()
    for name in COMPONENTS:
        if name in ("MetricEvaluator", "SASEvaluator", "LLMEvaluator"):
            continue
        takes = inspect.signature(getattr(home, name)).parameters
        settings = {"chat_generator": MockChatGenerator("{}")} if "chat_generator" in takes else {}
        pipeline.add_component(name, getattr(home, name)(**settings))
    own = home.LLMEvaluator("Is it so?", [("a", list[str])], ["score"], [], chat_generator=MockChatGenerator("{}"))
    pipeline.add_component("own", own)
    text = pipeline.dumps()
    assert f"type: {HOME}.FaithfulnessEvaluator" in text
    assert Pipeline.loads(text).dumps() == text


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_and_functions_are_short(path: Path) -> None:
    check_lengths(path)


def test_no_handler_hides_everything() -> None:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ExceptHandler):
                assert node.type is not None
                assert "Exception" not in ast.unparse(node.type).replace("(", " ").replace(",", " ").split()


def test_haystack_is_loaded_when_a_name_is_asked_for() -> None:
    code = (
        "import sys, ragmetrics_haystack as r; loaded = 'haystack' in sys.modules; r.MetricEvaluator; "
        "print(loaded, 'haystack' in sys.modules, 'FaithfulnessEvaluator' in dir(r))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False True True"
    for module in (home, ragmetrics_haystack):
        with pytest.raises(AttributeError, match=f"^module '{module.__name__}' has no attribute 'Faithfulnes'$"):
            module.Faithfulnes  # noqa: B018


def test_a_saved_pipeline_is_loaded_in_a_new_process(tmp_path: Path) -> None:
    pipeline = Pipeline()
    pipeline.add_component("exact", ragmetrics_haystack.MetricEvaluator(ExactMatch()))
    pipeline.add_component("rank", ragmetrics_haystack.DocumentMAPEvaluator())
    saved = tmp_path / "pipeline.yaml"
    saved.write_text(pipeline.dumps(), encoding="utf-8")
    code = "import pathlib, sys, haystack; print(*haystack.Pipeline.loads(pathlib.Path(sys.argv[1]).read_text()).graph)"
    result = subprocess.run([sys.executable, "-c", code, str(saved)], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["exact", "rank"]


def test_importing_it_loads_no_model_library() -> None:
    """Haystack itself loads torch where it is installed."""
    code = "import sys, ragmetrics_haystack; print({'transformers', 'sentence_transformers'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"
