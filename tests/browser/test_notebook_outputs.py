"""Outputs of notebooks in a real browser: hostile texts are shown and do nothing; light and dark; no wider than a notebook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from notebook_data import HOSTILE, outputs
from ragmetrics_core import Metric, Score, evaluate

ELEMENTS = (
    "html head body title style div p strong table thead tbody tr th td span details summary ol ul li svg rect line"
)
ATTRIBUTES = """
class scope open viewBox role aria-label preserveAspectRatio x y width height rx x1 x2 y1 y2
"""


def shown(text: str) -> str:
    return "".join(output._repr_html_() for output in outputs(text).values())


@pytest.fixture(scope="module")
def page(browser: Any) -> Any:
    opened = browser.new_page()
    yield opened
    opened.close()


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_do_nothing(page: Any, text: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_content(f"<title>x</title>{shown(text)}")
    page.evaluate("document.querySelectorAll('details').forEach((item) => item.open = true)")
    for move in ((20, 20), (300, 200), (500, 400)):
        page.mouse.move(*move)
    page.wait_for_timeout(30)
    assert page.evaluate("window.hacked") is None
    assert asked == []
    names = page.evaluate("[...new Set([...document.querySelectorAll('*')].map((item) => item.localName))]")
    assert set(names) <= set(ELEMENTS.split())
    attributes = "[...new Set([...document.querySelectorAll('*')].flatMap((item) => item.getAttributeNames()))]"
    assert set(page.evaluate(attributes)) <= set(ATTRIBUTES.split())
    if text.isprintable():
        assert page.locator("summary", has_text=text).count() > 0


CONTRAST = """(colours) => {
  const light = (text) => {
    const parts = text.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
    const [r, g, b] = parts.map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [low, high] = colours.map(light).sort((one, other) => one - other);
  return (high + 0.05) / (low + 0.05);
}"""


@pytest.mark.parametrize("ground", ["#ffffff", "#111111", "#1e1e1e"], ids=["light", "dark", "editor"])
def test_marks_can_be_read_on_light_and_dark_ground(page: Any, ground: str) -> None:
    """Marks are bold signs, so 3 : 1 is what WCAG 2.2 (1.4.11) asks for; their words have the colour of the notebook."""
    classes = ("good", "bad", "open")
    marks = "".join(f"<span class='mark {name}'>x</span>" for name in classes)
    style = outputs("word")["score"]._repr_html_().partition("</style>")[0]
    page.set_content(f"<body style='background:{ground}'>{style}</style>{marks}</div>")
    colours = page.evaluate("[...document.querySelectorAll('.mark')].map((item) => getComputedStyle(item).color)")
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert len(set(colours)) == len(classes)
    for colour in colours:
        assert page.evaluate(CONTRAST, [colour, back]) >= 3


@pytest.mark.parametrize("width", [390, 1280])
def test_no_output_is_wider_than_its_cell(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.set_content(shown("a few words of some text, " * 20))
    page.evaluate("document.querySelectorAll('details').forEach((item) => item.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def drawn() -> str:
    """A run, a comparison in which one metric is better and one is worse, and a calibration."""
    rows = [{"id": str(n), "response": "a" * (1 + n % 4), "reference": "a" * (4 - n % 4)} for n in range(24)]
    longer = [{**row, "response": "a" * (6 + n % 3)} for n, row in enumerate(rows)]
    metrics = [Length(name="up"), LowIsGood(name="down")]
    before, after = (evaluate(each, metrics, progress=False) for each in (rows, longer))
    labels = [{"id": row["id"], "metric": "up", "label": n % 4 > 1, "annotator": "ada"} for n, row in enumerate(rows)]
    found = (before, before.compare(after), before.calibrate(labels))
    return "".join(each._repr_html_() for each in found)


@dataclass(frozen=True)
class Length(Metric):
    """A tenth of the length of the response."""

    def measure(self, response: str) -> Score:
        return Score(len(response) / 10)


@dataclass(frozen=True)
class LowIsGood(Length):
    """The same, of which little is good."""

    higher_is_better: ClassVar[bool | None] = False


@pytest.mark.parametrize(("width", "ground"), [(390, "#ffffff"), (1280, "#111111")])
def test_intervals_are_drawn_in_the_lines_of_their_numbers(page: Any, width: int, ground: str) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.set_content(f"<body style='background:{ground}'>{drawn()}")
    bars = page.locator("svg.strip")
    assert bars.count() == 2 + 2 + 5
    assert page.locator("svg.strip.good").count() == page.locator("svg.strip.bad").count() == 1
    for bar, line in page.evaluate(BOXES):
        assert 150 <= bar["width"] <= 170
        assert 8 <= bar["height"] <= 24
        assert bar["x"] - 1 <= line["x"] <= line["x"] + line["width"] <= bar["x"] + bar["width"] + 1
        assert line["width"] >= 3
    assert page.locator("p > strong").first.inner_text().startswith("Up is 0.25 (")
    for name in ("good", "bad"):
        stroke = page.evaluate(f"getComputedStyle(document.querySelector('.strip.{name} .interval')).stroke")
        assert page.evaluate(CONTRAST, [stroke, page.evaluate("getComputedStyle(document.body).backgroundColor")]) >= 3


BOXES = """[...document.querySelectorAll('svg.strip')].map(
  (bar) => [bar, bar.querySelector('.interval')].map((item) => item.getBoundingClientRect().toJSON())
)"""
