"""The package as a whole: what it imports, what it shows, how long things are."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import ragmetrics_llama_index
from package_rules import check_lengths, imported

pytestmark = pytest.mark.slow

SOURCE = Path(ragmetrics_llama_index.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
ALLOWED = {"llama_index", "ragmetrics_core", "typing_extensions", *sys.stdlib_module_names}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_it_imports_nothing_but_llama_index_core_and_the_public_core(path: Path) -> None:
    for module, name in imported(path):
        assert module.split(".")[0] in ALLOWED, module
        if module.startswith("llama_index"):
            assert module.startswith("llama_index.core")
        if module.startswith("ragmetrics_core"):
            assert "._" not in module
            assert name in importlib.import_module(module).__all__ or importlib.import_module(f"{module}.{name}")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_files_and_functions_are_short(path: Path) -> None:
    check_lengths(path, function=50)


def test_all_names_are_there_sorted_and_documented() -> None:
    names = ragmetrics_llama_index.__all__
    assert len(names) == len(set(names))
    assert names == sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    for name in names:
        assert getattr(ragmetrics_llama_index, name).__doc__


def test_importing_loads_no_client_and_touches_no_settings() -> None:
    code = (
        "import json, sys, ragmetrics_llama_index; from llama_index.core import Settings; "
        "heavy = {'openai', 'torch', 'nltk', 'pandas', 'ragmetrics_langchain'} & set(sys.modules); "
        "print(json.dumps([sorted(heavy), Settings._llm is None, Settings._embed_model is None]))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    heavy, llm, embed_model = json.loads(result.stdout)
    assert llm
    assert embed_model
    assert set(heavy) <= {"nltk"}, "LlamaIndex itself loads nltk"
