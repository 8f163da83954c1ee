"""The text of web pages, and of Markdown, as their readers see it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import examples
from ragmetrics_core import MissingExtra
from ragmetrics_core._testset._documents import text_of_file
from ragmetrics_core._testset._markup import text_of_html

PAGE = """<!doctype html><html><head><title>A title</title><style>p > b {}</style>
<script>document.write("<p>written</p><!--");</script></head>
<body><nav><ul><li>Home<li>Maps</ul></nav>
<h1>Opening   <em>hours</em></h1><p>It opens
at nine.<p>Caf&eacute; &lt;b&gt;<br>upstairs.
<table><tr><th>Day<th>Opens<tr><td>Monday<td>nine<tr><td>Sunday<td><tr><td colspan=2>holidays: never</table>
<h2>Rules</h2><ol start="3"><li><p>No dogs.</p><li>No ice</ol><ul><li>a <ul><li>b</ul></ul>
<dl><dt>Map<dd>a drawing</dl><pre>
 one
   two
</pre><footer>Imprint</footer>The end.<svg><text>drawn</text></svg></body></html>"""

TEXT = """Opening hours

It opens at nine.

Café <b>
upstairs.

Day; Opens
Day: Monday; Opens: nine
Day: Sunday
holidays: never

Rules
3. No dogs.
4. No ice
- a
- b

Map
a drawing

 one
   two

The end."""


def test_a_page() -> None:
    found = text_of_html(PAGE)
    assert found.text == TEXT
    assert found.headings == ((0, 1, "Opening hours"), (TEXT.index("Rules"), 2, "Rules"))


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("", ""),
        ("no tags & <none", "no tags & <none"),
        ("a<!-- b -->c<!-->d<!-- <p>e", "a c d"),
        ("a<![CDATA[b]]><?php c ?>d", "a d"),
        ("a<script>b", "a"),
        ("a<STYLE>b</STYLE >c", "a c"),
        ("<nav>never closed<p>The text.", "never closed\n\nThe text."),
        ("<footer>one<nav>two", "one\n\ntwo"),
        ("one<nav>x</nav>two<button>x</button>", "one\n\ntwo"),
        ("<nav><nav>a</nav>b</nav>c", "c"),
        ("</p></ul></pre></td></nav>a", "a"),
        ("<li>a<li>b", "- a\n- b"),
        ('<ol start="-x"><li>a</ol>', "1. a"),
        ('<ol start="0"><li>a<li>b</ol>', "0. a\n1. b"),
        ("<table><tr><th>only a head</table>", "only a head"),
        ("<table><tr><td><table><tr><td>in<td>side</table>after</table>", "in; side\n\nafter"),
        ("<table><tr><td><p>a</p><p>b</p></td><td>c", "a b; c"),
        (
            "<table><tr><th>A<th>B</tr><tr><td>1<td>2</td> <td></td></tr><tr><td>3 <td>4</td> </tr>",
            "A; B\n1; 2\nA: 3; B: 4",
        ),
        ("<table>a<td>b</td><td>c</td>", "a\n\nb\nc"),
        ("<table><tr><td><table><tr><td>in</table><h2>Of the layout</h2>text<td>b", "in\n\nOf the layout\n\ntext\n\nb"),
        ("<ul><li><img></ul>text", "text"),
        ("<li><hr>a<p>b", "- a\n\nb"),
        ("<ruby>a<rt>b</rt></ruby>", "ab"),
        ('<p title="x<y">a <b onclick="alert(1)">b</b>', "a b"),
        ("<h2>two\n<br>lines</h2>x", "two\nlines\n\nx"),
        ("a\u00a0\u00a0b", "a\u00a0\u00a0b"),
        ("&#0;&#x110000;", "\ufffd\ufffd"),
    ],
)
def test_what_pages_do(page: str, text: str) -> None:
    assert text_of_html(page).text == text


@examples(200)
@given(
    st.lists(
        st.sampled_from(
            ["<p>", "</p>", "<h1>", "</h1>", "<h3>", "<td>", "<tr>", "<table>", "</table>", "<li>", "<ol>", "</ol>", "<pre>",
             "</pre>", "<nav>", "</nav>", "<br>", "<!--", "-->", "<", ">", "word", " ", "\n", "&amp;", "<th>", "<script>"]
        ),
        max_size=30,
    ).map("".join)
)  # fmt: skip
def test_headings_stand_where_they_are_said_to_stand(page: str) -> None:
    found = text_of_html(page)
    assert [start for start, _, _ in found.headings] == sorted({start for start, _, _ in found.headings})
    for start, level, words in found.headings:
        assert " ".join(found.text[start:].split()).startswith(" ".join(words.split())) or found.text[start] in "-1"
        assert level in {1, 3}


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["<a ", "<!--", "<a x='", "</a ", "<", "<div>", "<table><tr><td>", "<nav>", "&#", "<![foo["]
)
def test_a_page_of_one_kind_takes_no_longer_than_another(piece: str) -> None:
    """Some took minutes if the time grew with the square of the length, as it does in older releases of the parser."""
    assert "word" in text_of_html(f"word {piece * 20_000}").text


def test_markdown(tmp_path: Path) -> None:
    lines = [
        "---", "title: Hours", "---", "# Opening *hours*", "", "It opens", 'at [nine](http://x "t"), `sharp`. ![map](m.png)', "",
        "| Day | Opens |", "|---|---|", "| Monday | **nine** |", "", "Rules", "-----", "* one", "* two", "", "```",
        "a = [1]", "```",
        "<div>raw <b>html</b></div><script>no()</script>", "", "1 < 2 &amp; ~~3~~",
    ]  # fmt: skip
    (tmp_path / "a.md").write_bytes("\r\n".join(lines).encode())
    found = text_of_file(tmp_path / "a.md")
    assert found.text == (
        "Opening hours\n\nIt opens at nine, sharp.\n\nDay; Opens\nDay: Monday; Opens: nine\n\nRules\n- one\n- two\n\n"
        "a = [1]\n\nraw html\n\n1 < 2 & 3"
    )
    assert found.headings == ((0, 1, "Opening hours"), (found.text.index("Rules"), 2, "Rules"))


def test_html_in_markdown_needs_no_extra(tmp_path: Path, without_bs4: None) -> None:
    lines = [
        "a<br>b &lt; <kbd>c</kbd><script>no()</script><i>d", "<svg>no</svg></i></td>", "", "<nav>no</nav>", "<footer>never closed",
        "",
        "<table><tr><th>Day<th>Opens<tr><td>Monday<td><p>nine</p>sharp</table>", "", "1. x", "", "   <ul><li>y<!-- no -->",
    ]  # fmt: skip
    (tmp_path / "a.md").write_text("\n".join(lines))
    assert text_of_file(tmp_path / "a.md").text == (
        "a\nb < c d\n\nnever closed\n\nDay; Opens\nDay: Monday; Opens: nine sharp\n1. x\n- y"
    )


def test_html_needs_the_extra(tmp_path: Path, without_bs4: None) -> None:
    (tmp_path / "a.html").write_text("<p>text")
    with pytest.raises(MissingExtra) as caught:
        text_of_file(tmp_path / "a.html")
    assert str(caught.value) == 'beautifulsoup4 is not installed: pip install "ragmetrics-core[documents]"'


@pytest.fixture
def without_bs4(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "bs4"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "bs4", None)


def test_a_line_at_the_top_is_no_front_matter(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\n\nThe text.\n\n---\nMore.\n")
    assert text_of_file(tmp_path / "a.md").text == "The text.\n\nMore."
