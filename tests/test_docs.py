"""README, docs and examples tell the truth: every code block runs, shown output is real output, lists match the code."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import runpy
import shlex
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from pages import Block, blocks, commands, shows
from ragmetrics_core._support._providers import SERVERS
from source_tree import ROOT

pytestmark = pytest.mark.slow

TOP = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES = sorted([*TOP, *ROOT.glob("packages/*/README.md"), *ROOT.glob("docs/**/*.md")])
# those of LangChain need a server, and run in the tests of their adapter
EXAMPLES = [path for path in sorted(ROOT.glob("examples/*.py")) if not path.name.startswith("langchain_")]
HAYSTACK = importlib.util.find_spec("haystack")
if (
    HAYSTACK is None or HAYSTACK.origin is None
):  # it needs Python 3.11; without it, the folder of its tests has the name
    PAGES = [path for path in PAGES if not {"ragmetrics-haystack", "coming-from-haystack.md"} & {*path.parts}]
    EXAMPLES = [path for path in EXAMPLES if not path.name.startswith("haystack_")]
if importlib.util.find_spec("ragmetrics_mlflow") is None:
    PAGES = [path for path in PAGES if not {"ragmetrics-mlflow", "mlflow.md"} & {*path.parts}]
WALL_TIME = re.compile(r"(?<=metric|etrics), \d+(?:\.\d+)? s$", re.MULTILINE)
"""The end of a summary's first line, which is another one in every run."""
SCRIPT = Path(sys.executable).with_name("ragmetrics")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples in it, as a reader has who follows the pages; no key is set there."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("OPENAI_API_KEY", *(name for server in SERVERS.values() for name in server.url_variables)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_code_blocks_run(
    page: Path, checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The python blocks of a page, one after the other in one namespace, and its ``$ ragmetrics`` commands."""
    module = ModuleType(f"page_{page.stem.replace('-', '_').lower()}")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # dataclasses look their module up
    for block in blocks(page):
        if block.file:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.text, encoding="utf-8")
        if block.language == "python":
            run_python(block, module, capsys)
        elif block.language == "console":
            run_console(block)


def run_python(block: Block, module: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    code = compile("\n" * (block.line - 1) + block.text, str(block.page), "exec")
    if not block.runs:
        return
    capsys.readouterr()
    exec(code, vars(module))
    printed = capsys.readouterr().out
    if block.output is not None:
        compare(block.page, block.output, printed)


def run_console(block: Block) -> None:
    for command, output in commands(block.text):
        if block.runs and command.startswith("ragmetrics "):
            compare(block.page, output, run_command(command))
        elif block.runs and command.startswith("pytest "):
            compare(block.page, output, run_pytest(command))


def compare(page: Path, shown: str, printed: str) -> None:
    """Shown output is real output; with ``UPDATE_DOCS=1`` in the environment it is exchanged for what is real now."""
    if shows(shown, printed):
        return
    if os.environ.get("UPDATE_DOCS") and shown.strip():
        lasting = WALL_TIME.sub(", ... s", printed)
        page.write_text(page.read_text(encoding="utf-8").replace(shown, lasting, 1), encoding="utf-8")
        return
    pytest.fail(f"{name_of(page)} shows\n{shown}\nbut what is printed is\n{printed}")


def run_command(command: str) -> str:
    """What ``ragmetrics ...`` prints on standard output."""
    name, *arguments = shlex.split(command)
    assert name == "ragmetrics"
    result = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{command}\n{result.stderr}"
    return result.stdout


def run_pytest(command: str) -> str:
    """What ``pytest ...`` prints on standard output, red or green; plugins that these pages do not use are left out."""
    unused = (f"-pno:{name}" for name in ("anyio", "hypothesispytest", "langsmith_plugin", "pytest_cov", "xdist"))
    arguments = [sys.executable, "-m", "pytest", *unused, *shlex.split(command)[1:]]
    result = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert result.returncode in (0, 1), f"{command}\n{result.stderr}"
    return result.stdout


def test_blocks_that_do_not_run_say_why_and_are_few() -> None:
    skipped = [block for page in PAGES for block in blocks(page) if not block.runs]
    reasons = {block.marker.removeprefix("not run: ") for block in skipped}
    assert reasons <= {"needs a key", "needs a server"}
    assert len(skipped) <= 8


def test_blocks_are_of_known_languages() -> None:
    """A misspelt language would keep a block from being run."""
    known = {"python", "console", "text", "bash", "json", "toml", "yaml"}
    unknown = [
        f"{name_of(page)}:{block.line}" for page in PAGES for block in blocks(page) if block.language not in known
    ]
    assert unknown == []


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        ("a\nb\n", "a\nb", True),
        ("a\nb\n", "a\nc", False),
        ("took ... s", "took 1.5 s", True),
        ("first\n...\nlast", "first\n2\n3\nlast", True),
        ("first ...", "first 1\nsecond", False),
        ("", "something", False),
    ],
)
def test_comparison_of_output(expected: str, actual: str, *, same: bool) -> None:
    assert shows(expected, actual) is same


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = [target for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text) if "://" not in target]
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_examples_print_what_they_say(example: Path, checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An example's docstring ends with what it prints, indented."""
    namespace = runpy.run_path(str(example), run_name="__main__")
    shown = namespace["__doc__"].split("Prints:\n\n")[1]
    compare(example, shown, textwrap.indent(capsys.readouterr().out, "    "))


def load_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_up_to_date() -> None:
    """``python docs/generate.py`` writes them anew."""
    stale = [
        path.name for path, text in load_script("generate").pages().items() if path.read_text(encoding="utf-8") != text
    ]
    assert stale == []


def test_the_names_of_all_metrics_are_up_to_date() -> None:
    """``python docs/metric_names.py`` writes them anew."""
    script = load_script("metric_names")
    assert script.FACADE.read_text(encoding="utf-8") == script.facade()


def test_the_map_of_the_rooms_is_up_to_date() -> None:
    """``python docs/rooms.py`` writes it anew."""
    script = load_script("rooms")
    assert script.PAGE.read_text(encoding="utf-8") == script.page()


def readme_command(marker: str) -> str:
    """The one command below a marker of the README, on one line."""
    (block,) = [block for block in blocks(ROOT / "README.md") if block.marker == marker]
    return block.text.replace("\\\n", " ").strip()


def test_the_first_command_of_the_readme_scores_the_examples(checkout: Path) -> None:
    """Its last part, run here; the parts before it only install."""
    steps = [step.strip() for step in readme_command("main job").split("&&")]
    assert steps[0].startswith("python3 -m venv ")
    assert steps[1].endswith("pip install -q ./packages/ragmetrics-core")
    printed = run_command(steps[2].removeprefix(".venv/bin/"))
    assert "lexical baseline" in printed
    assert all(word in printed for word in ("scored", "unscored", "failed"))


@pytest.mark.parametrize("status", [0, 3])
def test_continuous_integration_runs_the_test_command_of_the_readme_and_then_slow_tests(
    tmp_path: Path, status: int
) -> None:
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci" / "run")
    nox = tmp_path / ".venv-test" / "bin" / "nox"
    nox.parent.mkdir(parents=True)
    nox.write_text('#!/bin/sh\necho "nox $@, CI is $CI"\n', encoding="utf-8")
    nox.chmod(0o755)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    command = readme_command("tests")
    assert text.count(command) == 1
    echo = f'echo "CI is $CI" && (exit {status})'
    (tmp_path / "README.md").write_text(text.replace(command, echo), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    result = subprocess.run(
        [tmp_path / ".ci" / "run"], capture_output=True, text=True, check=False, cwd="/", env=environment
    )
    slow = [] if status else ["nox -s slow, CI is true"]
    assert result.stdout.splitlines() == [echo, "CI is true", *slow]
    assert result.returncode == status


def test_the_workflow_of_the_recipes_evaluates_and_pays_for_nothing_twice(checkout: Path) -> None:
    """Its command as it stands, with the offline judge and the example rows, in two jobs that share the cached directory."""
    (block,) = [block for block in blocks(ROOT / "docs" / "recipes.md") if block.file == ".github/workflows/rag.yml"]
    steps = yaml.safe_load(block.text)["jobs"]["evaluate"]["steps"]
    (step,) = [step for step in steps if step.get("run", "").startswith("ragmetrics ")]
    assert step["env"] == {"OPENAI_API_KEY": "${{ secrets.OPENAI_API_KEY }}"}
    (cached,) = [step["with"]["path"] for step in steps if step.get("uses", "").startswith("actions/cache@")]
    shutil.copy("examples/questions.jsonl", "answers.jsonl")
    command = step["run"].strip().replace("openai:gpt-4o-mini", "lexical")
    first = run_command(command)
    with closing(sqlite3.connect(f"{cached}/journal.sqlite")) as journal:
        (kept,) = journal.execute("select count(*) from replies").fetchone()
    assert kept > 0
    answers = Path("answers.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("answers.jsonl").write_text("".join(answers[1:]), encoding="utf-8")  # a pull request that drops a question
    assert run_command(command) != first
    with closing(sqlite3.connect(f"{cached}/journal.sqlite")) as journal:
        assert journal.execute("select count(*) from replies").fetchone() == (kept,)
    assert len(Path("scores.jsonl").read_text(encoding="utf-8").splitlines()) == len(answers) - 1


def test_the_workflow_of_the_page_on_pytest_keeps_what_it_paid_for(checkout: Path) -> None:
    """Its commands as they stand, with the offline judge, in two jobs of which the first is red."""
    page = ROOT / "docs" / "pytest.md"
    named = {block.file: block.text for block in blocks(page)}
    steps = yaml.safe_load(named[".github/workflows/tests.yml"])["jobs"]["rag"]["steps"]
    test, report = (step["run"].strip() for step in steps if step.get("run", "").startswith(("pytest ", "ragmetrics ")))
    restored, saved = (step for step in steps if step.get("uses", "").startswith("actions/cache/"))
    assert restored["with"]["path"] == saved["with"]["path"] == ".ragmetrics"
    assert restored["with"]["key"] == saved["with"]["key"]
    assert saved["with"]["key"].startswith(restored["with"]["restore-keys"])
    assert saved["if"] == "always()"
    Path("test_answers.py").write_text(named["test_answers.py"], encoding="utf-8")
    command = test.replace("openai:gpt-4o-mini", "lexical")
    first = run_pytest(command)
    assert "3 failed, 9 passed" in first
    assert re.search(r"^faithfulness +23 +23 ", run_pytest(command), re.MULTILINE)
    run_command(report)
    uploaded = next(step for step in steps if step.get("uses", "").startswith("actions/upload-artifact@"))
    assert all(Path(name).stat().st_size for name in uploaded["with"]["path"].split())


def test_the_label_on_the_page_of_reports_is_of_its_row(checkout: Path) -> None:
    """Otherwise a reader who tries it gets the message that the row has changed since."""
    page = {block.language: block.text for block in reversed(blocks(ROOT / "docs" / "report.md"))}
    namespace: dict[str, Any] = {}
    exec(page["python"], namespace)
    label = json.loads(page["json"])
    lines = namespace["evaluation"].rows_to_label(2, label["metric"])
    assert [line["digest"] for line in lines if line["id"] == label["id"]] == [label["digest"]]


@pytest.mark.parametrize("package", sorted(ROOT.glob("packages/*")), ids=name_of)
def test_every_package_carries_the_licence(package: Path) -> None:
    assert (package / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
