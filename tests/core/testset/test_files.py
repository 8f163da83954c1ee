"""Test sets in files, documents from files, and the JSON that LlamaIndex wrote."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragmetrics_core import Document, InvalidInput, Sample, Testset, evaluate, generate_testset
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import ExactMatch, Recall
from ragmetrics_core.testing import ScriptedLLM


def documents_of(documents: Any) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The ids and texts of the documents that are asked about, and what was skipped."""
    llm = ScriptedLLM(lambda ask: "1. Who?" if ask.prompt.name == "write_questions" else '{"answer": "Ada"}')
    testset = generate_testset(documents, llm, 1)
    found = [(str(sample.metadata["document_id"]), (sample.reference_contexts or [""])[0]) for sample in testset]
    return found, [(item.name, item.reason) for item in testset.skipped]


KINDS = ".htm, .html, .markdown, .md, .pdf, .rst, .txt, .xhtml"
FORMS = "documents must be a list of texts, Documents or mappings with 'content', or the Path of a file or a folder"
MODEL = {"model_name": "gpt-4", "type": "ai"}
EXAMPLES = {
    "examples": [
        {
            "query": "Who?",
            "query_by": MODEL,
            "reference_contexts": ["c1", "c2"],
            "reference_answer": "Ada",
            "reference_answer_by": None,
        },
        {"query": "When?", "query_by": None, "reference_contexts": None, "reference_answer": ""},
    ]
}
EMBEDDING_QA = {
    "queries": {"q1": "Who?", "q2": "When?"},
    "corpus": {"n1": "text one", "n2": "text two"},
    "relevant_docs": {"q1": ["n1"], "q2": ["n2", "n1"]},
    "mode": "text",
}


def sample(**changes: Any) -> Sample:
    return Sample(user_input="Wer?", reference="Zoë \ud800", reference_contexts=["c"], id="d-1", **changes)


class TestSaveAndLoad:
    def test_columns_of_another_file(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text("Prompt,Expected Answer\nWho?,Zoë\n", encoding="utf-8")
        assert Testset.load(tmp_path / "t.csv", columns={"question": "prompt"}) == Testset(
            (Sample("Who?", reference="Zoë"),)
        )

    def test_round_trip(self, tmp_path: Path) -> None:
        testset = Testset((sample(metadata={"document_id": "d"}), Sample(user_input="q", reference="r")))
        testset.save(tmp_path / "t.jsonl")
        assert Testset.load(tmp_path / "t.jsonl") == testset
        assert json.loads((tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()[0]) == {
            "user_input": "Wer?",
            "reference": "Zoë \ud800",
            "reference_contexts": ["c"],
            "id": "d-1",
            "metadata": {"document_id": "d"},
        }

    def test_evaluate_takes_the_samples_and_the_file(self, tmp_path: Path) -> None:
        testset = Testset((Sample(user_input="q", reference="r"),))
        answered = Testset(tuple(item.updated({"response": "r"}) for item in testset))
        answered.save(tmp_path / "t.jsonl")
        for samples in (answered, tmp_path / "t.jsonl"):
            assert evaluate(samples, ExactMatch(), progress=False).scores["exact_match"][0].value == 1.0

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "t.jsonl holds no rows"),
            ('{"user_input": "q"}\n{"reference": "r"}', "t.jsonl, line 2: a row of a test set needs a question"),
            ('{"user_input": " "}', "t.jsonl, line 1: a row of a test set needs a question: give it a 'user_input'"),
            ('{"question": 3}', "t.jsonl, line 1: a row of a test set needs a question"),
            (
                '{"user_input": "q"}\n{"question": "a", "query": "b"}',
                "t.jsonl, line 2: the columns 'question' and 'query'",
            ),
        ],
    )
    def test_what_cannot_be_loaded(self, tmp_path: Path, text: str, message: str) -> None:
        (tmp_path / "t.jsonl").write_text(text)
        with pytest.raises(InvalidInput) as caught:
            Testset.load(tmp_path / "t.jsonl")
        assert str(caught.value).startswith(message)

    def test_it_is_a_sequence_and_a_value(self) -> None:
        testset = Testset([sample()])  # type: ignore[arg-type]  # a list becomes a tuple
        assert (testset[0], testset[:1], list(testset), len(testset)) == (sample(), (sample(),), [sample()], 1)
        assert sample() in testset
        assert pickle.loads(pickle.dumps(testset)) == testset
        assert testset.caveats == ()


class TestDocuments:
    def test_in_memory(self) -> None:
        given = ["one", Document("two", id="b"), {"content": "three", "id": 7, "page": 1}]
        assert documents_of(iter(given)) == (
            [("document-1", "one"), ("b", "two"), ("7", "three")],
            [],
        )

    def test_a_folder(self, tmp_path: Path) -> None:
        (tmp_path / "sub").mkdir()
        for name in ("b.txt", "a.md", "sub/c.RST", "image.png"):
            (tmp_path / name).write_text(name)
        assert documents_of(tmp_path) == (
            [(name, name) for name in ("a.md", "b.txt", "sub/c.RST")],
            [("image.png", f"only {KINDS} are read")],
        )

    def test_what_cannot_be_read_in_a_folder_costs_nothing_else_and_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "sub").mkdir()
        (tmp_path / ".git").mkdir()
        for name in (
            "a.md",
            *(f"{letter}.png" for letter in "abcdefg"),
            "sub/page.docx",
            ".git/index",
            ".git/x.md",
            ".b.md",
        ):
            (tmp_path / name).write_text("The library opens at nine.")
        (tmp_path / "empty.txt").write_text("\n")
        (tmp_path / "sub" / "old.txt").write_bytes("Caf\u00e9".encode("cp1252"))
        testset = generate_testset(tmp_path, LexicalJudge(), 1)
        assert [sample.metadata["document_id"] for sample in testset] == ["a.md"]
        assert testset.problems == ()
        assert testset.skipped == (
            *((f"{letter}.png", f"only {KINDS} are read") for letter in "abcde"),
            ("empty.txt", "the document has no text"),
            *((f"{letter}.png", f"only {KINDS} are read") for letter in "fg"),
            ("sub/old.txt", "old.txt, line 1: not UTF-8 text: save the file as UTF-8"),
            ("sub/page.docx", f"only {KINDS} are read"),
        )
        assert str(testset).splitlines()[1:4] == [
            f"skipped: a.png, b.png, c.png, d.png, e.png and 3 more: only {KINDS} are read",
            "skipped: empty.txt: the document has no text",
            "skipped: sub/old.txt: old.txt, line 1: not UTF-8 text: save the file as UTF-8",
        ]
        (tmp_path / "a.md").unlink()
        with pytest.raises(InvalidInput) as caught:
            documents_of(tmp_path)
        assert str(caught.value) == (
            f"there is no text to write questions from: a.png: only {KINDS} are read (and 9 more)"
        )

    def test_what_is_no_file_and_what_leads_in_a_circle(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("text")
        (tmp_path / "sub").mkdir()
        (tmp_path / "sub" / "up").symlink_to(tmp_path)
        (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
        os.mkfifo(tmp_path / "pipe.txt")
        assert documents_of(tmp_path) == (
            [("a.txt", "text")],
            [
                ("gone.txt", "gone.txt cannot be read: No such file or directory"),
                ("pipe.txt", "not a regular file"),
            ],
        )

    def test_a_folder_that_cannot_be_opened_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "a.txt").write_text("text")
        (tmp_path / "locked").mkdir()
        scan = os.scandir

        def refuse(path: Any) -> Any:
            if Path(path).name == "locked":
                raise PermissionError(13, "Permission denied", str(path))
            return scan(path)

        monkeypatch.setattr(os, "scandir", refuse)
        assert documents_of(tmp_path)[1] == [("locked", "the folder cannot be read: Permission denied")]

    def test_documents_of_frameworks(self) -> None:
        page = SimpleNamespace(page_content="one", metadata={"source": "x"}, id=None)
        node = SimpleNamespace(text="two", node_id="n")
        row = {"page_content": "{'content': 'three'}"}
        assert documents_of([page, node, row, "{'content': 'four'}"]) == (
            [
                ("document-1", "one"),
                ("n", "two"),
                ("document-3", "{'content': 'three'}"),
                ("document-4", "{'content': 'four'}"),
            ],
            [],
        )

    def test_a_text_file(self, tmp_path: Path) -> None:
        (tmp_path / "a.txt").write_text("line\nline\n")
        assert documents_of(tmp_path / "a.txt") == ([("a.txt", "line\nline\n")], [])

    def test_rows(self, tmp_path: Path) -> None:
        rows = [{"content": "one", "text": "no"}, {"text": "two", "id": "t"}, {"page_content": "three"}]
        (tmp_path / "d.jsonl").write_text("\n".join(map(json.dumps, rows)))
        found = [("document-1", "one"), ("t", "two"), ("document-3", "three")]
        assert documents_of(tmp_path / "d.jsonl") == (found, [])

    @pytest.mark.parametrize(
        ("documents", "message"),
        [
            ([], "documents is empty: give at least one"),
            ("text", f"{FORMS}, got str"),
            (
                Document("x"),
                f"{FORMS}, got Document",
            ),
            (
                3,
                f"{FORMS}, got int",
            ),
            (["a", 3], "documents[1] must be a Document, a mapping or a str, got int"),
            ([Document(id="x")], "documents[0] has no content to write questions about"),
            (
                [Document("a", id="x"), Document("b", id="x")],
                "two documents have the id 'x', so their questions could not be distinguished: give each its own id",
            ),
        ],
    )
    def test_what_is_no_list_of_documents(self, documents: Any, message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            documents_of(documents)
        assert str(caught.value) == message

    def test_files_that_cannot_be_read(self, tmp_path: Path) -> None:
        def message(path: Path) -> str:
            with pytest.raises(InvalidInput) as caught:
                documents_of(path)
            return str(caught.value)

        assert message(tmp_path).startswith("there is no text in the folder ")
        assert message(tmp_path / "no.txt").startswith("there is no file ")
        (tmp_path / "a.png").write_text("x")
        assert message(tmp_path / "a.png") == (
            f"'a.png' is not a file of documents: give a folder of documents, a document ({KINDS}), or rows "
            "with a column 'content' (.jsonl, .json, .csv, .parquet)"
        )
        (tmp_path / "a.txt").write_bytes(b"\xfc\xfe")
        assert message(tmp_path / "a.txt") == "a.txt, line 1: not UTF-8 text: save the file as UTF-8"
        (tmp_path / "d.jsonl").write_text('{"content": "x"}\n{"title": "y"}')
        assert (
            message(tmp_path / "d.jsonl")
            == "d.jsonl, line 2: no text to write questions about: give it in a column 'content'"
        )
        (tmp_path / "d.jsonl").write_text('{"content": "x"}\n[1]')
        assert message(tmp_path / "d.jsonl").startswith("d.jsonl, line 2: a row must be a JSON object")


def written(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


class TestLabelledRagDataset:
    def test_examples(self, tmp_path: Path) -> None:
        testset = Testset.from_labelled_rag_dataset(written(tmp_path / "rag.json", EXAMPLES))
        assert testset.samples == (
            Sample(
                user_input="Who?",
                reference="Ada",
                reference_contexts=["c1", "c2"],
                id="1",
                metadata={"query_by": MODEL},
            ),
            Sample(user_input="When?", id="2"),
        )
        testset.save(tmp_path / "t.jsonl")
        assert Testset.load(tmp_path / "t.jsonl") == testset

    def test_predictions(self, tmp_path: Path) -> None:
        predictions = {"predictions": [{"response": "Ada", "contexts": ["c1"]}, {"response": "1815", "contexts": None}]}
        testset = Testset.from_labelled_rag_dataset(
            written(tmp_path / "rag.json", EXAMPLES), predictions=written(tmp_path / "p.json", predictions)
        )
        assert [(item.response, item.retrieved_contexts) for item in testset] == [("Ada", ["c1"]), ("1815", None)]

    @pytest.mark.parametrize(
        ("examples", "predictions", "message"),
        [
            ([], None, "rag.json: 'examples' must be a list that is not empty, got None"),
            ({"examples": {}}, None, "rag.json: 'examples' must be a list that is not empty, got {}"),
            ({"examples": ["x"]}, None, "rag.json, example 1: 'query' must be a text that is not empty, got None"),
            (
                {"examples": [{"query": ""}]},
                None,
                "rag.json, example 1: 'query' must be a text that is not empty, got ''",
            ),
            (EXAMPLES, {}, "p.json: 'predictions' must be a list that is not empty, got None"),
            (
                EXAMPLES,
                {"predictions": [{}]},
                "p.json has 1 predictions for the 2 examples of rag.json: both files must come from the same data set",
            ),
            (EXAMPLES, {"predictions": [{}, 3]}, "p.json, prediction 2 must be an object, got 3"),
        ],
    )
    def test_what_is_none(self, tmp_path: Path, examples: Any, predictions: Any, message: str) -> None:
        path = written(tmp_path / "rag.json", examples)
        second = None if predictions is None else written(tmp_path / "p.json", predictions)
        with pytest.raises(InvalidInput) as caught:
            Testset.from_labelled_rag_dataset(path, predictions=second)
        assert str(caught.value) == message

    def test_no_json(self, tmp_path: Path) -> None:
        (tmp_path / "rag.json").write_text('{"examples":\n [}')
        with pytest.raises(InvalidInput, match=r"^rag.json, line 2: not JSON \(Expecting value\)$"):
            Testset.from_labelled_rag_dataset(tmp_path / "rag.json")
        with pytest.raises(InvalidInput, match="^none.json cannot be read: No such file or directory$"):
            Testset.from_labelled_rag_dataset(tmp_path / "none.json")


class TestEmbeddingQADataset:
    def test_queries(self, tmp_path: Path) -> None:
        testset = Testset.from_embedding_qa_dataset(written(tmp_path / "qa.json", EMBEDDING_QA))
        assert testset.samples == (
            Sample(
                user_input="Who?",
                reference_contexts=["text one"],
                reference_documents=[Document("text one", "n1")],
                id="q1",
            ),
            Sample(
                user_input="When?",
                reference_contexts=["text two", "text one"],
                reference_documents=[Document("text two", "n2"), Document("text one", "n1")],
                id="q2",
            ),
        )
        found = [item.updated({"retrieved_documents": [Document("changed", "n1")]}) for item in testset]
        values = [score.value for score in evaluate(found, Recall(field="id"), progress=False).scores["recall"]]
        assert values == [1.0, 0.5]

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"corpus": []}, "qa.json: 'corpus' must be an object that is not empty, got []"),
            (
                {"relevant_docs": {"q1": ["n1"]}},
                "qa.json, query 'q2': relevant_docs: 'q2' must be a list that is not empty, got None",
            ),
            (
                {"relevant_docs": {"q1": ["n1", "n9"], "q2": ["n1"]}},
                "qa.json, query 'q1': corpus: 'n9' must be a text that is not empty, got None",
            ),
            (
                {"relevant_docs": {"q1": [["n1"]], "q2": ["n1"]}},
                "qa.json, query 'q1': corpus: \"['n1']\" must be a text that is not empty, got None",
            ),
            ({"queries": {"q1": None}}, "qa.json: queries: 'q1' must be a text that is not empty, got None"),
        ],
    )
    def test_what_is_none(self, tmp_path: Path, changes: Any, message: str) -> None:
        path = written(tmp_path / "qa.json", {**EMBEDDING_QA, **changes})
        with pytest.raises(InvalidInput) as caught:
            Testset.from_embedding_qa_dataset(path)
        assert str(caught.value) == message
