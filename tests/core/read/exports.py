"""Files as people have them: what a dozen tools write, in the form in which they write it, about a library that does not exist.

Every function writes its file into a folder and returns the path. The forms are those of the tools; the words are our own.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

QUESTION, ANSWER = "Wann öffnet die Bücherei?", 'Um 9 Uhr; samstags "erst" um 10 Uhr.'
TRUTH = "Um 9 Uhr, samstags um 10 Uhr."
CONTEXTS = ["Die Bücherei öffnet um 9 Uhr.", "Samstags öffnet sie um 10 Uhr,\nsonntags gar nicht."]


def text_of(rows: Sequence[Sequence[Any]], separator: str) -> str:
    """A table as programs write it, with the line ends of Windows."""
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=separator).writerows(rows)
    return file.getvalue()


def excel(folder: Path) -> Path:
    """(1) A workbook: people's headings, a date, an empty row, a second sheet that is empty."""
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    sheet.title = "Test set"
    sheet.append(["ID", "Question", "Answer", "Ground Truth", "Contexts", "Checked"])
    sheet.append([17, QUESTION, ANSWER, TRUTH, json.dumps(CONTEXTS, ensure_ascii=False), datetime(2026, 5, 31)])
    sheet.append([])
    sheet.append([18, "How many floors are there?", 3, 4, "There are 4 floors.", None])
    book.create_sheet("Sheet2")
    book.save(folder / "test set.xlsx")
    return folder / "test set.xlsx"


def excel_csv_german(folder: Path) -> Path:
    """(2) "CSV (semicolon delimited)" of a German Excel: CP1252, quotes doubled."""
    rows = [["Question", "Answer", "Ground Truth", "Context"], [QUESTION, ANSWER, TRUTH, CONTEXTS[1]]]
    path = folder / "Fragen.csv"
    path.write_bytes(text_of(rows, ";").encode("cp1252"))
    return path


def langfuse_json(folder: Path) -> Path:
    """(3) The button of Langfuse's table of traces: a list of traces with input, output and metadata."""
    trace = {
        "id": "4bf92f3577b34da6",
        "timestamp": "2026-05-31T12:00:00.000Z",
        "name": "rag",
        "userId": None,
        "tags": ["prod"],
        "latency": 1.25,
        "input": {"question": QUESTION, "k": 2},
        "output": {"answer": ANSWER, "contexts": CONTEXTS},
        "metadata": {"env": "prod"},
    }
    path = folder / "1780228800-lf-traces-export.json"
    path.write_text(json.dumps([trace], ensure_ascii=False), encoding="utf-8")
    return path


def langfuse_csv(folder: Path) -> Path:
    """(3) The same button with CSV: input and output are JSON in a cell."""
    rows = [
        ["id", "timestamp", "name", "input", "output", "metadata"],
        [
            "4bf92f3577b34da6",
            "2026-05-31T12:00:00.000Z",
            "rag",
            json.dumps({"question": QUESTION}, ensure_ascii=False),
            json.dumps({"answer": ANSWER, "contexts": CONTEXTS}, ensure_ascii=False),
            "{}",
        ],
    ]
    path = folder / "1780228800-lf-traces-export.csv"
    path.write_text(text_of(rows, ","), encoding="utf-8")
    return path


def langsmith_csv(folder: Path) -> Path:
    """(4) An experiment of LangSmith as CSV: a column for each value of inputs, outputs and reference outputs."""
    rows = [
        ["id", "inputs.question", "outputs.answer", "outputs.documents", "reference_outputs.answer", "latency"],
        ["e1", QUESTION, ANSWER, json.dumps(CONTEXTS, ensure_ascii=False), TRUTH, "1.25"],
    ]
    path = folder / "experiment-7f3a.csv"
    path.write_text(text_of(rows, ","), encoding="utf-8")
    return path


def langsmith_jsonl(folder: Path) -> Path:
    """(4) A data set of LangSmith as JSON lines, whose outputs are the expected ones."""
    example = {
        "id": "e1",
        "dataset_id": "d1",
        "inputs": {"question": QUESTION},
        "outputs": {"answer": TRUTH},
        "metadata": {"dataset_split": ["base"]},
    }
    path = folder / "ds-bold-ink-12.jsonl"
    path.write_text(json.dumps(example, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def promptfoo(folder: Path) -> Path:
    """(5) ``promptfoo eval --output results.json``."""
    result = {
        "promptIdx": 0,
        "testIdx": 0,
        "vars": {"question": QUESTION, "context": CONTEXTS[0], "ground_truth": TRUTH},
        "prompt": {"raw": "Answer ...", "label": "Answer {{question}}"},
        "provider": {"id": "openai:gpt-4o-mini", "label": ""},
        "response": {"output": ANSWER, "tokenUsage": {"total": 120}, "cached": False},
        "success": True,
        "score": 1,
        "latencyMs": 812,
    }
    whole = {
        "evalId": "eval-abc-2026-05-31T12:00:00",
        "results": {
            "version": 3,
            "timestamp": "2026-05-31T12:00:00.000Z",
            "prompts": [{"raw": "Answer {{question}}", "label": "Answer {{question}}"}],
            "results": [result],
            "stats": {"successes": 1, "failures": 0},
        },
        "config": {"providers": ["openai:gpt-4o-mini"], "tests": [{"vars": {"question": QUESTION}}]},
        "shareableUrl": None,
    }
    path = folder / "results.json"
    path.write_text(json.dumps(whole, ensure_ascii=False, indent=2), encoding="utf-8")
    return path


def bigquery_json(folder: Path) -> Path:
    """(6) ``bq query --format=json``, or "Save results: JSON (newline delimited)" under the name that people give it."""
    row = {"question": QUESTION, "answer": ANSWER, "contexts": CONTEXTS, "n_tokens": "120", "ground_truth": None}
    path = folder / "bq-results-20260531.json"
    path.write_text(f"{json.dumps(row)}\n{json.dumps(row)}\n", encoding="utf-8")
    return path


def bigquery_csv(folder: Path) -> Path:
    """(6) CSV of BigQuery, where repeated fields are written with ``TO_JSON_STRING``."""
    rows = [["question", "answer", "contexts"], [QUESTION, ANSWER, json.dumps(CONTEXTS)]]
    path = folder / "bq-results-20260531.csv"
    path.write_text(text_of(rows, ",").replace("\r\n", "\n"), encoding="utf-8")
    return path


def colleague(folder: Path) -> Path:
    """(7) A colleague's table: a context in each column, some of them empty, and notes."""
    rows = [
        ["Question", "Ground Truth", "Bot said", "Context 1", "Context 2", "Context 3", "Notes"],
        [QUESTION, TRUTH, ANSWER, *CONTEXTS, "", "ok?"],
    ]
    path = folder / "eval_final_v2 (1).csv"
    path.write_text(text_of(rows, ","), encoding="utf-8-sig")
    return path


def pandas_csv(folder: Path) -> Path:
    """(8) ``to_csv`` of a frame: an index without a name, lists as Python and arrays as numpy print them."""
    rows = [
        ["", "user_input", "response", "retrieved_contexts", "reference_contexts"],
        ["0", QUESTION, ANSWER, str(CONTEXTS), "['Die Bücherei öffnet um 9 Uhr.'\n 'Samstags öffnet sie um 10 Uhr.']"],
    ]
    path = folder / "results.csv"
    path.write_text(text_of(rows, ",").replace("\r\n", "\n"), encoding="utf-8")
    return path


def hugging_face_parquet(folder: Path) -> Path:
    """(9) A data set of the Hub: columns under RAGAS' names, lists of texts."""
    import pyarrow as pa
    from pyarrow import parquet

    columns = {
        "user_input": [QUESTION],
        "retrieved_contexts": [CONTEXTS],
        "response": [ANSWER],
        "reference": [TRUTH],
    }
    path = folder / "train-00000-of-00001.parquet"
    parquet.write_table(pa.table(columns), path)
    return path


def excel_unicode_text(folder: Path) -> Path:
    """(10) "Unicode text" of Excel: UTF-16 with tabs, named .txt."""
    rows = [["Question", "Answer", "Context"], [QUESTION, ANSWER, CONTEXTS[1]]]
    path = folder / "Fragen.txt"
    path.write_text(text_of(rows, "\t"), encoding="utf-16")
    return path


def google_sheets(folder: Path) -> Path:
    """(11) "Tab-separated values" of Google Sheets, which writes line ends in cells as blanks and no quotes."""
    path = folder / "RAG eval - Sheet1.tsv"
    path.write_text(
        f"question\tanswer\tcontext\r\n{QUESTION}\t{TRUTH}\t{CONTEXTS[0]}\r\n", encoding="utf-8", newline=""
    )
    return path


def phoenix_csv(folder: Path) -> Path:
    """(12) Spans of Arize Phoenix: attributes under long names, documents as Python prints them."""
    documents = [{"document.content": text, "document.score": 0.5} for text in CONTEXTS]
    attributes = ["attributes.input.value", "attributes.output.value", "attributes.retrieval.documents"]
    rows = [
        ["name", "span_kind", *attributes, "context.span_id"],
        ["rag", "CHAIN", QUESTION, ANSWER, str(documents), "a1b2"],
    ]
    path = folder / "spans.csv"
    path.write_text(text_of(rows, ","), encoding="utf-8")
    return path


def braintrust(folder: Path) -> Path:
    """(12) Rows of an experiment of Braintrust as JSON lines."""
    row = {
        "id": "b1",
        "input": {"question": QUESTION},
        "output": {"answer": ANSWER, "contexts": CONTEXTS},
        "expected": TRUTH,
        "scores": {"Factuality": 1},
        "metadata": {"model": "gpt-4o-mini"},
        "tags": None,
    }
    path = folder / "experiment.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    return path


def deepeval_json(folder: Path) -> Path:
    """(13) ``save_as("json")`` of a data set of DeepEval: ``context``, of which there is none, is the ideal one."""
    case = {
        "input": QUESTION,
        "actual_output": ANSWER,
        "expected_output": TRUTH,
        "retrieval_context": CONTEXTS,
        "context": None,
        "source_file": None,
    }
    path = folder / "test cases.json"
    path.write_text(json.dumps([case], indent=4), encoding="utf-8")
    return path


def deepeval_csv(folder: Path) -> Path:
    """(13) ``save_as("csv")`` of the same: lists are joined by a bar."""
    header = ["input", "actual_output", "expected_output", "retrieval_context", "context"]
    path = folder / "test cases.csv"
    path.write_text(text_of([header, [QUESTION, ANSWER, TRUTH, "|".join(CONTEXTS), ""]], ","), encoding="utf-8")
    return path


def wrapped(folder: Path) -> Path:
    """An object of an unknown tool around the rows."""
    whole = {"run": {"at": "2026-05-31", "rows": [{"question": QUESTION, "answer": ANSWER}]}, "version": 2}
    path = folder / "run.json"
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path


def two_lists(folder: Path) -> Path:
    """The same with two lists of objects."""
    whole = {"train": [{"question": "a"}], "test": [{"question": QUESTION, "answer": ANSWER}, {"question": "b"}]}
    path = folder / "splits.json"
    path.write_text(json.dumps(whole), encoding="utf-8")
    return path
