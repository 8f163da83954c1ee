"""Forty texts that would run a script or change the page, in every field: they are shown, and do nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ragmetrics_core import Ask, Reply, evaluate
from ragmetrics_core.metrics import Faithfulness
from report_data import XSS

from .conftest import Opener, until

PARTS = """({
  names: [...new Set([...document.querySelectorAll('*')].map((item) => item.localName))],
  attributes: [...new Set([...document.querySelectorAll('*')].flatMap((item) => item.getAttributeNames()))],
  links: [...document.querySelectorAll('[href], [src]')].map((item) => item.getAttribute('href') ?? item.src),
})"""

ELEMENTS = """
a article b bdi body button code col colgroup dd details div dl dt em footer form h1 h2 h3 h4 head header html i input label
li line main mark meta nav noscript ol optgroup option p pre rect script section select span style summary svg table tbody td
th thead title tr ul wbr
"""
ATTRIBUTES = """
aria-controls aria-hidden aria-label aria-labelledby aria-pressed aria-selected aria-sort autocomplete charset class content data-go
data-key data-keys data-name data-order data-ready data-sort dir disabled for height hidden href http-equiv id inputmode label lang
maxlength name open placeholder preserveAspectRatio role rx scope selected step style tabindex title type value viewBox
width x x1 x2 y y1 y2
"""
"""All that the page is made of: what else is found was made by a text."""


def check(page: Any, elements: str = "", attributes: str = "") -> None:
    """Nothing was made by a text; ``elements`` and ``attributes`` are those that a part of the page has besides."""
    assert page.evaluate("window.hacked") is None
    found = page.evaluate(PARTS)
    assert set(found["names"]) - set(ELEMENTS.split()) - set(elements.split()) == set()
    assert set(found["attributes"]) - set(ATTRIBUTES.split()) - set(attributes.split()) == set()
    assert [link for link in found["links"] if not link.startswith("#")] == []
    assert page.evaluate("document.querySelectorAll('script:not([type])').length") == 1
    assert page.evaluate("document.querySelectorAll('style, main').length") == 2


def choose_each(page: Any, *fields: str) -> None:
    """Choose whatever these fields of the table offer, one after the other; nothing of it does anything else."""
    for name in fields:
        values = page.locator(f"#{name} option").evaluate_all("(options) => options.map((option) => option.value)")
        for value in values[:45]:
            page.locator(f"#{name}").select_option(value)
            assert page.evaluate("window.hacked") is None
        page.get_by_role("button", name="Clear").click()
        until(page, "document.getElementById('found').textContent.startsWith('40 rows')")


def test_the_summary_and_the_table(opened: Opener, hostile_report: Path) -> None:
    page = opened(hostile_report)
    assert page.locator("#table tbody tr").count() == len(XSS) == 40
    check(page)
    assert page.locator("h1").inner_text() == XSS[4]
    assert XSS[0] in page.locator(".metrics .name").first.inner_text()
    shown = page.locator(".caveat").all_text_contents()
    assert all(any(text in caveat for caveat in shown) for text in XSS if text.isprintable())


def test_each_row(opened: Opener, hostile_report: Path) -> None:
    page = opened(hostile_report)
    page.locator("#sort").select_option("input up")
    for number, text in enumerate(XSS, 1):
        page.evaluate(f"location.hash = 'n={number}'")
        until(page, f"document.querySelector('.row-pages')?.textContent.includes(' {number} of 40 ')")
        for metric in (0, 1):
            page.locator(f"#tab-{metric}").click()
            page.evaluate("document.querySelectorAll('#row summary').forEach((item) => item.click())")
            check(page)
        shown = page.evaluate("document.querySelector('.part p.text').textContent")
        if text.isprintable():
            assert (page.locator("#row-title").text_content(), shown) == (text, text)


class Hostile:
    """A judge that says nothing but such texts, and is called by one."""

    def __init__(self) -> None:
        self.identity = {"model": XSS[1], "base_url": f"http://{XSS[3]}"}

    def generate(self, ask: Ask) -> Reply[str]:
        text = ask.inputs["question"] if "question" in ask.inputs else XSS[0]
        if ask.prompt.name == "extract_claims":
            return Reply(json.dumps({"claims": [f"It says {text}"]}))
        return Reply(
            json.dumps({"verdicts": [{"number": 1, "reason": text, "supported": False, "verdict": "not stated"}]})
        )


def test_messages_and_replies(opened: Opener, tmp_path: Path) -> None:
    rows = [
        {"id": text, "user_input": text, "response": text, "retrieved_contexts": [text], "metadata": {text: text}}
        for text in XSS
    ]
    named = Faithfulness(name=XSS[2])
    evaluation = evaluate(rows, [named], llm=Hostile(), run_dir=tmp_path / "run")
    evaluation.to_html(tmp_path / "report.html")
    page = opened(tmp_path / "report.html")
    check(page)
    for number, text in enumerate(XSS, 1):
        page.evaluate(f"location.hash = 'n={number}'")
        until(
            page, f"document.querySelector('#row .kicker')?.textContent === {json.dumps(evaluation.places[number - 1])}"
        )
        page.evaluate("document.querySelectorAll('.calls summary').forEach((item) => item.click())")
        check(page)
        shown = page.locator(".calls .reply pre").first.text_content()
        if text.isprintable():
            assert json.loads(shown or "") == {"claims": [f"It says {text}"]}


def test_choices_made_of_hostile_texts(opened: Opener, hostile_report: Path) -> None:
    page = opened(hostile_report)
    choose_each(page, "label", "slice", "slice-path", "sort", "metric")
    check(page)


def test_without_scripts(opened: Opener, hostile_report: Path) -> None:
    page = opened(hostile_report, scripts=False)
    assert page.locator("h1").inner_text() == XSS[4]
    assert page.locator("style, main, h1").count() == 3
    assert page.locator("img, iframe, object, embed, base, link, video, template, math").count() == 0


def test_no_text_is_taken_for_markup_not_even_by_mistake(browser: Any, hostile_report: Path) -> None:
    page = browser.new_page()
    page.goto(hostile_report.as_uri())
    refused = "(() => { try { document.body.innerHTML = '<b>x</b>'; return 'taken'; } catch (error) { return error.name; } })()"
    assert page.evaluate(refused) == "TypeError"
    run = "document.body.append(Object.assign(document.createElement('a'), {id: 'bait', href: 'javascript:window.hacked=1'}))"
    page.evaluate(run)
    page.evaluate("document.getElementById('bait').click()")
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    page.close()
