"""Outputs of notebooks in a real browser: hostile texts are shown and do nothing; light and dark; no wider than a notebook."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_data import HOSTILE, outputs

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
