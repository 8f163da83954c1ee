"""Adapters register under the name of their framework's package, and are loaded only for objects of that framework."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FRAMEWORK = """
class Engine:
    def query(self, question):
        return Response(f"{question} Paris")

class Response:
    def __init__(self, text):
        self.text = text
"""
ADAPTER = """
print("loaded")
import acme

def function_of(app):
    return app.query if isinstance(app, acme.Engine) else None

def fields_of(answer):
    return {"answer": answer.text, "contexts": ["c"]} if isinstance(answer, acme.Response) else None
"""
MINE = """
import acme
from ragmetrics_core import run_app

class Own(acme.Engine):
    pass

def show(app):
    (row,) = run_app(app, [{"question": "Where?"}])
    print(row.response, row.retrieved_contexts, row.metadata.get("app_error"))

show(lambda question: "text")
show(Own())
show(lambda question: acme.Response("Lyon"))
show(lambda question: acme.Engine())
"""


def test_an_adapter_asks_and_reads(tmp_path: Path) -> None:
    files = {
        "acme.py": FRAMEWORK,
        "acme_adapter.py": ADAPTER,
        "acme_adapter-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: acme-adapter\nVersion: 1.0\n",
        "acme_adapter-1.0.dist-info/entry_points.txt": "[ragmetrics.apps]\nacme = acme_adapter\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    done = subprocess.run([sys.executable, "-c", MINE], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "text None None",
        "loaded",
        "Where? Paris ['c'] None",
        "Lyon ['c'] None",
        (
            "None None it returned a value of type Engine: return a text, or a mapping such as {'response': ..., "
            "'retrieved_contexts': [...]}"
        ),
    ]
