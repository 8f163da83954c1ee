"""Answers in Markdown: shown as what they mean, with nothing lost, and as harmless as any other text."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest

from growth import slowness_on_clock
from report_data import XSS, claim, line, score, written

from .conftest import Opener, until
from .test_hostile_page import check
from .test_report_page import violations
from .test_row_page import page_of

ANSWER = """# The tower

It is *in* **Paris**,
on the left bank. Call `tower()` \\* twice.

1. one
2. two
   - ~~deep~~

> said

```python
print("x")
```

| place | height |
|:------|-------:|
| Paris | 330 |

---
[a link](https://example.org) <https://example.org> ![an image](x.png) &lt;b&gt; <b>bold</b>
"""

HTML = (
    '<p class="heading">The tower</p>'
    "<p>It is <em>in</em> <strong>Paris</strong>,\non the left bank. Call <code>tower()</code> * twice.</p>"
    '<ol><li value="1">one</li><li value="2">two<ul><li><s>deep</s></li></ul></li></ol>'
    "<blockquote><p>said</p></blockquote>"
    '<pre tabindex="0"><span class="language">python</span>print("x")\n</pre>'
    "<table><thead><tr><th>place</th><th>height</th></tr></thead><tbody><tr><td>Paris</td><td>330</td></tr></tbody></table>"
    "<hr><p>[a link](https://example.org) &lt;https://example.org&gt; ![an image](x.png) "
    "&amp;lt;b&amp;gt; &lt;b&gt;bold&lt;/b&gt;</p>"
)


def shown(page: Any) -> str:
    found: str = page.locator("#row .formatted").first.evaluate("(item) => item.innerHTML")
    return found


def test_markdown_is_shown_as_what_it_means_and_a_button_shows_it_as_it_is_written(
    opened: Opener, tmp_path: Path
) -> None:
    page = opened(page_of(tmp_path, {"response": ANSWER}, score("m", 1.0)), "#row=q")
    assert shown(page) == HTML
    page.get_by_role("button", name="Show as written").click()
    assert page.locator(".markdown p.text").evaluate("(item) => item.textContent") == ANSWER
    assert page.evaluate("document.activeElement.textContent") == "Show formatted"
    page.keyboard.press("Enter")
    assert shown(page) == HTML


def test_what_a_reader_chose_stays_for_the_next_row(opened: Opener, tmp_path: Path) -> None:
    lines = [line(number, {"id": f"q{number}", "response": "**bold**"}, score("m", 1.0)) for number in (1, 2)]
    written(tmp_path / "scores.jsonl", lines).to_html(tmp_path / "report.html")
    page = opened(tmp_path / "report.html", "#row=q1")
    page.get_by_role("button", name="Show as written").click()
    page.keyboard.press("ArrowRight")
    until(page, "document.getElementById('row-title').textContent === 'q2'")
    assert page.locator(".formatted").count() == 0
    assert page.locator(".markdown p.text").inner_text() == "**bold**"


def test_marks_stand_in_both_views(opened: Opener, tmp_path: Path) -> None:
    verdicts = [claim("It is in Paris.", "supported", [2, 18], [1], [])]
    sample = {"response": "- It is **in** Paris.", "retrieved_contexts": ["- Rome.\n- The tower is in *Paris*."]}
    page = opened(page_of(tmp_path, sample, score("m", 1.0, details={"verdicts": verdicts})), "#row=q")
    assert shown(page) == (
        '<ul><li><mark class="good" data-keys="0-0">It is</mark> '
        '<strong><mark class="good" data-keys="0-0">in</mark></strong> '
        '<mark class="good" data-keys="0-0">Par</mark>'
        '<button type="button" class="ref good" data-keys="0-0" title="claim 1: supported" '
        'aria-label="claim 1: supported">✔1</button>is.</li></ul>'
    )
    page.get_by_role("button", name="show in the text").click()
    assert page.evaluate("document.activeElement.textContent") == "It is"
    page.locator(".passage").click()
    assert page.evaluate("document.activeElement.textContent") == "The tower is in"
    page.get_by_role("button", name="Show as written").first.click()
    assert page.locator("mark").first.inner_text() == "It is **in** Par"


def test_a_mark_of_a_second_table_joins_the_formatted_text(opened: Opener, tmp_path: Path) -> None:
    first = [claim("Rome is large.", "supported", None, [1], [])]
    second = [claim("Paris is small.", "supported", None, [1], [])]
    sample = {"response": "- Yes.", "retrieved_contexts": ["- Rome is **large**\n- Paris is **small**"]}
    details = {"verdicts": first, "others": second}
    page = opened(page_of(tmp_path, sample, score("m", 1.0, details=details)), "#row=q")
    assert page.locator(".contexts mark").all_inner_texts() == ["Rome is", "large"]
    page.locator(".claims .passage").nth(1).click()
    assert page.locator(".contexts mark.lit").all_inner_texts() == ["Paris is", "small"]


def test_every_mark_stands_on_the_letters_that_it_is_about(opened: Opener, tmp_path: Path) -> None:
    """Marks of every length and beginning, over all that Markdown has, and over letters of two UTF-16 units."""
    text = f"🗼🗼 {ANSWER}"
    spans = [[start, start + length] for start in range(0, len(text) - 40, 5) for length in (1, 9, 40)]
    verdicts = [claim(f"Claim {number}.", "supported", span, [], []) for number, span in enumerate(spans)]
    page = opened(page_of(tmp_path, {"response": text}, score("m", 1.0, details={"verdicts": verdicts})), "#row=q")
    assert page.locator(".formatted").count() == 1
    found = page.evaluate(
        "[...document.querySelectorAll('.formatted mark')].map((item) => [item.dataset.keys.split(' '), item.textContent])"
    )
    numbers = page.locator(".formatted .ref").all_inner_texts()
    letters = re.sub(r"1\.(?= one)|2\.(?= two)|python", lambda match: " " * len(match[0]), text)  # these are no text
    for number, (start, end) in enumerate(spans):
        marked = "".join(piece for keys, piece in found if f"0-{number}" in keys)
        assert signs(marked) == signs(letters[start:end])
        assert numbers.count(f"✔{number + 1}") == bool(signs(letters[start:end]))


def signs(text: str) -> str:
    """All that is no sign of Markdown and no blank."""
    return re.sub(r"[\s#*_`~>|:=+\\-]", "", text)


LOST = {
    "a cell without a column": "| a |\n|---|\n| 1 | hidden |",
    "quotes within quotes, beyond all reading": "> " * 60 + "hidden",
    "lists within lists": "\n".join(f"{'  ' * depth}- {depth}" for depth in range(60)),
    "no letter": "- a\x00b",
}


@pytest.mark.parametrize("text", LOST.values(), ids=LOST.keys())
def test_a_text_that_would_lose_a_part_stays_as_it_is_written(opened: Opener, tmp_path: Path, text: str) -> None:
    page = opened(page_of(tmp_path, {"response": text}, score("m", 1.0)), "#row=q")
    assert page.locator(".formatted").count() == 0
    assert page.locator(".markdown .limits").inner_text() == "As written: formatted, a part of it would be lost."
    assert page.locator(".markdown p.text").evaluate("(item) => item.textContent") == text


ATTACKS = [
    "[click](javascript:window.hacked=1)",
    "[click]: javascript:window.hacked=1\n\n[click]",
    "<javascript:window.hacked=1>",
    '![x](x"onerror="window.hacked=1)',
    "![x](data:image/svg+xml,<svg/onload=window.hacked=1>)",
    "<img src=x onerror=window.hacked=1>",
    "`<img src=x onerror=window.hacked=1>`",
    "```<img/src=x/onerror=window.hacked=1>\n<script>window.hacked=1</script>\n```",
    "    <script>window.hacked=1</script>",
    "| <img src=x onerror=window.hacked=1> | <b>\n|---|---|\n| </td></table><script>window.hacked=1</script> | x |",
    "www.example.org https://example.org mailto:a@example.org <a@example.org>",
    "__proto__ **constructor** `toString`",
    "**<script>window.hacked=1</script>**",
    "1. x\n1000000000) y\n999999999. z",
    "&lt;img src=x onerror=window.hacked=1&gt; &#60;script&#62;",
]


def test_markdown_that_would_do_something_does_nothing(opened: Opener, tmp_path: Path) -> None:
    texts = ATTACKS + [f"- {text}\n- **x**" for text in XSS]
    lines = [
        line(number, {"user_input": text, "response": text, "retrieved_contexts": [text]}, score("m", 1.0))
        for number, text in enumerate([f"{text}\n\n**x**" for text in texts], 1)
    ]
    written(tmp_path / "scores.jsonl", lines).to_html(tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    done = 0
    for number in range(1, len(lines) + 1):
        page.evaluate(f"location.hash = 'n={number}'")
        until(page, f"document.querySelector('.row-pages')?.textContent.includes(' {number} of {len(lines)} ')")
        check(page, "blockquote br em hr pre s strong", "value")
        done += page.locator(".formatted").count() > 0
        assert page.locator(".formatted a, .formatted img, .formatted script, .formatted b").count() == 0
    assert done >= len(ATTACKS)


def repeated(part: str) -> str:
    return f"- {part * 10_000}"[:9_990]


SLOW = [
    *(
        "> ",
        "[",
        "*a_ ",
        "**a *b ",
        "- ",
        "|a",
        "~~a~",
        "_a_ ",
        "a**b*c* ",
        "# \n",
        "`a",
        "a\n=\n",
        "[a]: b\n",
        "![a](",
    ),
    *("\\`", "```\n", "&amp;", "<http://a>", "<a ", "\t- ", "1)\n", "***a** b* ", "> - 1. ", "*"),
]


def test_texts_made_to_take_long_are_shown_soon(opened: Opener, tmp_path: Path) -> None:
    texts = [repeated(part) for part in SLOW]
    texts.append("a|" * 1_000 + "\n" + "-|" * 1_000 + "\n" + "|\n" * 2_000)
    texts.append(" ".join("`" * number for number in range(1, 140)))
    texts.append("- " + "a" * 3_000_000)
    lines = [line(number, {"response": text}, score("m", 1.0)) for number, text in enumerate(texts, 1)]
    written(tmp_path / "scores.jsonl", lines).to_html(tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    for number, text in enumerate(texts, 1):
        start = time.perf_counter()
        page.evaluate(f"location.hash = 'n={number}'")
        until(page, f"document.querySelector('.row-pages')?.textContent.includes(' {number} of {len(lines)} ')")
        taken = (time.perf_counter() - start) / slowness_on_clock()
        assert taken < 3, text[:20]
    assert page.locator(".markdown").count() == 0, "the last one is too long"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_assistive_technology_can_use_it_on_a_phone_too(opened: Opener, tmp_path: Path, axe: str, scheme: str) -> None:
    sample = {"response": ANSWER, "retrieved_contexts": [ANSWER]}
    page = opened(page_of(tmp_path, sample, score("m", 1.0)), "#row=q", width=360, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert violations(page, axe) == []
