"""Text from PDFs and other files, and why there is none in some."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.testset.test_files import documents_of
from examples import examples
from ragmetrics_core import Document, InvalidInput, MissingExtra, generate_testset
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.testing import ScriptedLLM

pypdf = pytest.importorskip("pypdf", exc_type=ImportError)
DependencyError = pypdf.errors.DependencyError


def pdf(*pages: str) -> bytes:
    """A PDF with these lines of text, one page each."""
    objects = ["<</Type/Catalog/Pages 2 0 R>>", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    kids = []
    for text in pages:
        stream = f"BT /F 12 Tf 40 700 Td ({text}) Tj ET" if text else ""
        kids.append(f"{len(objects) + 1} 0 R")
        objects += [
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>/Contents {len(objects) + 2} 0 R>>",
            f"<</Length {len(stream)}>>stream\n{stream}\nendstream",
        ]
    objects[1] = f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(kids)}]>>"
    out = "%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj{body}endobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"trailer<</Size {size}/Root 1 0 R>>\nstartxref\n{len(out)}\n%%EOF"
    return f"{out}xref\n0 {size}\n0000000000 65535 f \n{table}{end}".encode("latin-1")


def encrypted(content: bytes, password: str) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(content))
    writer.encrypt(password, "owner", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def text_of(path: Path) -> str:
    ((_, text),), _ = documents_of(path)
    return text


def message(path: Path) -> str:
    with pytest.raises(InvalidInput) as caught:
        documents_of(path)
    return str(caught.value)


def test_pages(tmp_path: Path) -> None:
    (tmp_path / "a.PDF").write_bytes(pdf("It opens at nine. It", "", "closes at ten. Bring maps."))
    assert text_of(tmp_path / "a.PDF") == "It opens at nine. It\ncloses at ten. Bring maps."
    llm = ScriptedLLM(lambda ask: "1. Who?" if ask.prompt.name == "write_questions" else '{"answer": "Ada"}')
    testset = generate_testset(tmp_path / "a.PDF", llm, 3, chunk_size=20, chunk_overlap=0)
    documents = [document for sample in testset for document in sample.reference_documents or ()]
    assert [(document.content, document.meta["page"]) for document in documents if isinstance(document, Document)] == [
        ("It opens at nine.", 1),
        ("It\ncloses at ten.", 1),
        ("Bring maps.", 3),
    ]


def test_what_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(encrypted(pdf("text"), "secret"))
    assert message(file) == "a.pdf is encrypted: save it without its password"
    file.write_bytes(encrypted(pdf("text"), ""))
    assert text_of(file) == "text"
    file.write_bytes(pdf("", ""))
    assert message(file) == "a.pdf: no text on 2 pages, perhaps only pictures: recognise the text (OCR) first"
    file.write_bytes(pdf(""))
    assert message(file).startswith("a.pdf: no text on 1 page, ")
    file.write_text("The library opens at nine.")
    assert message(file).startswith("a.pdf is not a readable PDF (Pdf")
    file.unlink()
    assert message(file).startswith("there is no file ")


def test_what_pypdf_logs_stays_out_of_the_output(tmp_path: Path) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(pdf("text").replace(b"startxref\n", b"startxref\n9"))
    code = (
        "from pathlib import Path; from ragmetrics_core import generate_testset; "
        "from ragmetrics_core.testing import ScriptedLLM; "
        f"testset = generate_testset(Path({str(file)!r}), ScriptedLLM(['1. Who?', '{{\"answer\": \"Ada\"}}']), 1); "
        "print(testset[0].reference_contexts[0])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("text\n", "")


@examples(60)
@given(data=st.data())
def test_damage_is_said_and_stops_nothing(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    content = bytearray(pdf("It opens at nine.", "It closes at ten."))
    for _ in range(data.draw(st.integers(1, 12))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    file = tmp_path_factory.mktemp("pdf") / "a.pdf"
    file.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
    (file.parent / "b.txt").write_text("text")
    documents, skipped = documents_of(file.parent)
    assert [name for name, _ in documents][-1] == "b.txt"
    assert len(documents) + len(skipped) == 2


def test_without_the_extra_a_file_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pypdf"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pypdf", None)
    (tmp_path / "a.pdf").write_bytes(pdf("text"))
    (tmp_path / "b.txt").write_text("The library opens at nine.")
    pip = 'the pypdf package is not installed: pip install "ragmetrics-core[documents]"'
    testset = generate_testset(tmp_path, LexicalJudge(), 1)
    assert (len(testset), testset.skipped) == (1, (("a.pdf", pip),))
    with pytest.raises(MissingExtra) as caught:
        documents_of(tmp_path / "a.pdf")
    assert str(caught.value) == pip
    (tmp_path / "b.txt").unlink()
    with pytest.raises(InvalidInput) as nothing:
        documents_of(tmp_path)
    assert str(nothing.value) == f"there is no text to write questions from: a.pdf: {pip}"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<p>Café".encode(), "Café"),
        ("\ufeff<p>Café".encode(), "Café"),
        ("<meta charset='iso-8859-1'><p>Café".encode("latin-1"), "Café"),
        ('<META http-equiv=x content="text/html; charset=windows-1252"><p>Café'.encode("cp1252"), "Café"),
    ],
)
def test_the_encoding_of_a_page(tmp_path: Path, content: bytes, text: str) -> None:
    (tmp_path / "a.html").write_bytes(content)
    assert text_of(tmp_path / "a.html") == text


@pytest.mark.parametrize("declaration", ["", "<meta charset=klingon>", "<meta charset=zlib>", "<meta charset=ascii>"])
def test_a_page_in_no_known_encoding(tmp_path: Path, declaration: str) -> None:
    (tmp_path / "a.htm").write_bytes(f"{declaration}<p>Café".encode("latin-1"))
    assert message(tmp_path / "a.htm") == "a.htm: not UTF-8 text: save the file as UTF-8"


def test_what_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The library\0 opens at nine.")
    assert message(tmp_path / "a.txt") == "a.txt is not a text file: it contains NUL characters"
    with (tmp_path / "a.txt").open("ab") as file:
        file.truncate(50_000_001)
    assert message(tmp_path / "a.txt") == "a.txt has 50,000,001 bytes, more than 50,000,000: split it"


@pytest.mark.parametrize("name", ["a.txt", "a.html"])
def test_a_file_that_may_not_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / name).write_text("x")

    def refuse(*arguments: object, **named: object) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert message(tmp_path / name) == f"{name} cannot be read: Permission denied"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            DependencyError("cryptography>=3.1 is required for AES algorithm"),
            "a.pdf is encrypted (cryptography>=3.1 is required for AES algorithm): save it without encryption",
        ),
        (PermissionError(13, "Permission denied"), "a.pdf cannot be read: Permission denied"),
        (KeyError("/Root"), "a.pdf is not a readable PDF (KeyError: '/Root')"),
    ],
)
def test_what_pypdf_raises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, text: str) -> None:
    def fail(*arguments: object) -> object:
        raise error

    (tmp_path / "a.pdf").write_bytes(pdf("text"))
    monkeypatch.setattr(pypdf, "PdfReader", fail)
    assert message(tmp_path / "a.pdf") == text
