"""What the tests of label mode share: how it is opened, turned over, read and exported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .conftest import Opener, until

ELEMENTS = "kbd progress textarea"
ATTRIBUTES = "accept aria-current aria-expanded aria-keyshortcuts aria-pressed checked data-view max maxlength rows"
"""What label mode is made of besides."""


def labelling(opened: Opener, path: Path, **options: Any) -> Any:
    page = opened(path, "#labelling", **options)
    page.wait_for_selector("#labels-row-title")
    return page


def title(page: Any) -> str:
    return str(page.locator("#labels-row-title bdi").text_content())


def order(page: Any) -> list[str]:
    """The ids of the rows in the order in which they are asked about, seen by turning them over."""
    found = [title(page)]
    while not page.locator("#labels-next").is_disabled():
        turned(page, "ArrowRight")
        found.append(title(page))
    for _ in found[1:]:
        turned(page, "ArrowLeft")
    return found


def turned(page: Any, key: str) -> None:
    """Press a key that leads to another row, and wait for it."""
    before = title(page)
    page.keyboard.press(key)
    until(page, f"document.querySelector('#labels-row-title bdi')?.textContent !== {json.dumps(before)}")


def told(page: Any, words: str) -> None:
    until(page, f"document.getElementById('labels-told').textContent.includes({json.dumps(words)})")


def exported(page: Any, folder: Path) -> Path:
    with page.expect_download() as download:
        page.keyboard.press("e")
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def chosen(page: Any, **fields: str) -> None:
    """Set options of label mode, one by one."""
    for name, value in fields.items():
        with redrawn(page):
            page.locator(f"#labels-{name}").select_option(value)


def ticked(page: Any, **fields: bool) -> None:
    """Tick or clear options of label mode, one by one."""
    for name, value in fields.items():
        with redrawn(page):
            page.locator(f"#labels-{name}").set_checked(value)


@contextmanager
def redrawn(page: Any) -> Iterator[None]:
    """Wait until the page has been drawn again: it is drawn a moment after an option changes."""
    page.evaluate("document.getElementById('labels-title').dataset.before = ''")
    yield
    until(page, "!('before' in document.getElementById('labels-title').dataset)")


def focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.id"))
